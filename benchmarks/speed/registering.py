"""How long it takes to register the functions, imports not counted."""

import duckdb

import reid_sql
import reid_sql.engines.duckdb
from benchmarks.speed.stopwatch import Stopwatch
from reid_sql_udfs import declared


def run(time: str) -> tuple[Stopwatch, dict[str, int]]:
    """Register in a connection, again in it, and in a cursor of it; say how long the asked one took."""
    declared()
    con = duckdb.connect()
    took = {"first": _took(con), "again": _took(con), "cursor": _took(con.cursor())}
    return took[time], {}


def _took(con: duckdb.DuckDBPyConnection) -> Stopwatch:
    with Stopwatch() as took:
        reid_sql.register(con)
    return took
