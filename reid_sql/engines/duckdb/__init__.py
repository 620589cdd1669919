"""DuckDB: the reductions as planned SQL, the functions as macros and vectorised Arrow functions."""

from reid_sql.engines.duckdb.macros import needs_python
from reid_sql.engines.duckdb.registering import connection_of, register
from reid_sql.engines.duckdb.scripting import script
from reid_sql.engines.duckdb.showing import plan

__all__ = ["connection_of", "needs_python", "plan", "register", "script"]
