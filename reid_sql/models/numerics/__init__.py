"""Numerical methods that know nothing of records or classes."""
