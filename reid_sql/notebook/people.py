"""Whether the rows of the tables that a cell counted are people: a sentence under the cell's answer."""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import duckdb

from reid_sql.engines.duckdb.planned_calls import Calls, PlannedCall, listen, stop_listening
from reid_sql.sources.identifiers import describe_calls

LISTENING: Final[list[Calls]] = []  # one, while the extension is loaded


def begin() -> None:
    """Remember the calls that are planned from now on."""
    end()
    LISTENING.append(listen())


def end() -> None:
    """Remember none."""
    while LISTENING:
        stop_listening(LISTENING.pop())


def caution_of(function: str, answer: Any) -> str:  # noqa: ANN401 - a relation or a frame
    """Say whether rows of the function's latest call may not be people; it is then forgotten."""
    calls = [call for each in LISTENING for call in each if call.function == function]
    for each in LISTENING:
        each.clear()
    return _describe(calls[-1], answer) if calls else ""


def _describe(call: PlannedCall, answer: Any) -> str:  # noqa: ANN401 - a relation or a frame
    """Ask the answer's own connection, else those of the notebook; frames are found by their names there."""
    namespace = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    known = getattr(namespace, "user_ns", {})

    def asking(run: Callable[[str], Any]) -> Callable[[str], Any]:
        # DuckDB finds a frame among the names of the line that asks: here, those of the notebook.
        return lambda sql: eval("reid_run(reid_text)", known, {"reid_run": run, "reid_text": sql})  # noqa: S307

    of_relation = isinstance(answer, duckdb.DuckDBPyRelation)
    own: list[Callable[[str], Any]] = [partial(answer.query, "reid_answer")] if of_relation else []
    for ask in [*own, *(each.sql for each in connections())]:
        if found := describe_calls([call], asking(ask)):
            return found
    return ""


def connections() -> list[duckdb.DuckDBPyConnection]:
    """Return the default connection, and JupySQL's."""
    return [duckdb.default_connection(), *_jupysql_connections()]


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
