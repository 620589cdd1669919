"""The SQL of the reductions: functions that return one text for every SQL engine, in DuckDB's dialect."""
