"""Polars' adapter: what its spellings of the reductions are made of, and how its functions are bound."""
