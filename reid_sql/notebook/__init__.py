"""`%load_ext reid_sql`: the functions on a notebook's connections, answers as cards and pictures."""

import sys
from typing import Any

import duckdb

from reid_sql.engines.duckdb import register
from reid_sql.notebook.display import hide, show
from reid_sql_udfs import declared


def load(shell: Any) -> None:  # noqa: ANN401 - IPython's shell
    """Register the functions on the default connection and on JupySQL's, and show answers as pictures."""
    for con in [duckdb.default_connection(), *_of_jupysql()]:
        register(con, declared())
    show(shell.display_formatter)


def unload(shell: Any) -> None:  # noqa: ANN401 - IPython's shell
    """Show answers as before; what is registered stays."""
    hide(shell.display_formatter)


def _of_jupysql() -> list[duckdb.DuckDBPyConnection]:
    """The DuckDB connection that JupySQL's `%sql` has now, if it is loaded and has one."""
    module = sys.modules.get("sql.connection")
    current = module.ConnectionManager.current if module else None
    held = getattr(current, "_connection", None)  # of the DBAPI itself, or SQLAlchemy's
    held = getattr(getattr(held, "connection", held), "driver_connection", held)
    held = getattr(held, "_ConnectionWrapper__c", held)  # duckdb-engine has no other name for it
    return [held] if isinstance(held, duckdb.DuckDBPyConnection) else []
