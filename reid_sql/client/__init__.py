"""What a place of records does not count, DuckDB answers in this process: the call, and its tables' rows."""
