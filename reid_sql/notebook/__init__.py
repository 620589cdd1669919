"""`%load_ext reid_sql`: the functions on a notebook's connections, answers as cards and figures."""

from typing import Any

from reid_sql.engines.duckdb import register
from reid_sql.notebook import display
from reid_sql.notebook.display import connections, hide, show
from reid_sql_udfs import declared


def load(shell: Any) -> None:  # noqa: ANN401 - IPython's shell
    """Register the functions on the default connection and on JupySQL's, and show answers as figures."""
    for con in connections():
        register(con, declared())
    display.begin()
    show(shell.display_formatter)


def unload(shell: Any) -> None:  # noqa: ANN401 - IPython's shell
    """Show answers as before; the functions stay registered."""
    hide(shell.display_formatter)
    display.end()
