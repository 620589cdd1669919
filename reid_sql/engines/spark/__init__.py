"""Spark's adapter: what spellings of reductions are made of, and how functions are bound.

Importing it needs no Spark.
"""
