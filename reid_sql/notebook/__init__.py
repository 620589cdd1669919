"""`%load_ext reid_sql`: the functions on a notebook's connections, answers as cards and figures."""

import sys
from typing import Any

import duckdb

from reid_sql.engines.duckdb import register
from reid_sql.notebook.display import hide, show
from reid_sql_udfs import declared


def load(shell: Any) -> None:  # noqa: ANN401 - IPython's shell
    """Register the functions on the default connection and on JupySQL's, and show answers as figures."""
    for con in [duckdb.default_connection(), *_jupysql_connections()]:
        register(con, declared())
    show(shell.display_formatter)


def unload(shell: Any) -> None:  # noqa: ANN401 - IPython's shell
    """Show answers as before; the functions stay registered."""
    hide(shell.display_formatter)


def _jupysql_connections() -> list[duckdb.DuckDBPyConnection]:
    """Return the DuckDB connection of JupySQL's `%sql`, if it is loaded and has one."""
    module = sys.modules.get("sql.connection")
    current = module.ConnectionManager.current if module else None
    connection = getattr(current, "_connection", None)  # of the DBAPI itself, or SQLAlchemy's
    connection = getattr(getattr(connection, "connection", connection), "driver_connection", connection)
    connection = getattr(
        connection, "_ConnectionWrapper__c", connection
    )  # duckdb-engine has no other name for it
    return [connection] if isinstance(connection, duckdb.DuckDBPyConnection) else []
