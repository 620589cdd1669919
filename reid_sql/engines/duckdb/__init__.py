"""DuckDB: the reductions as planned SQL, the functions as macros and vectorised Arrow functions."""

from reid_sql.engines.duckdb.macros import needs_python
from reid_sql.engines.duckdb.registering import register
from reid_sql.engines.duckdb.scripting import script
from reid_sql.engines.duckdb.showing import plan

__all__ = ["needs_python", "plan", "register", "script"]
