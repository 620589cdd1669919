"""Hierarchies: how the values of a column become coarser, step by step, in SQL, in Polars and in words."""
