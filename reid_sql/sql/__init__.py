"""The SQL of the reductions: Python functions that return one text for every SQL engine, in DuckDB's dialect."""
