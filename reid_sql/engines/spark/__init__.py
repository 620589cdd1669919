"""Spark's kit: what its spellings of the reductions are made of, and how its functions are bound. Importing it needs no Spark."""
