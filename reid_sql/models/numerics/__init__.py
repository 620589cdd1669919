"""Numerical methods that stand by themselves."""
