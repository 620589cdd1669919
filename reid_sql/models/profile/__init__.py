"""Uniqueness by subsets of the attributes under a fitted model, of one person and of a population."""
