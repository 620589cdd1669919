"""Equivalence classes, and what follows from counting them."""
