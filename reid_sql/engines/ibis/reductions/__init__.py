"""The reductions that the engine counts itself, a file for each family; DuckDB answers all others."""
