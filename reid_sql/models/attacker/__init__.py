"""Attackers with partial knowledge (Xia et al. 2021)."""
