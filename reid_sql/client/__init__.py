"""What a place does not count, answered by DuckDB from what the place reads."""
