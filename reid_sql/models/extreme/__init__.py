"""Extreme re-identification risk and record contributions (Béra et al. 2023)."""
