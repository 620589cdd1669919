"""Estimators of uniqueness in the population."""
