"""DuckDB: the functions as macros that ask a planner for their SQL, bodies as vectorised Arrow functions."""

from reid_sql.engines.duckdb.registering import (
    connection_of,
    make_functions,
    open_cursor,
    open_private,
    register,
)

__all__ = ["connection_of", "make_functions", "open_cursor", "open_private", "register"]
