"""Answers for every DuckDB client: a statement is read, its calls are answered, and no row leaves."""
