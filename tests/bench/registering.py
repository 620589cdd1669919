"""How long it takes to register the functions."""

from time import perf_counter

import duckdb

import reid_sql


def run(time: str) -> tuple[float, dict[str, int]]:
    """Register in a connection, again in the same one, and in a cursor of it; say how long the asked one took."""
    con = duckdb.connect()
    seconds = {"first": _seconds(con), "again": _seconds(con), "cursor": _seconds(con.cursor())}
    return seconds[time], {}


def _seconds(con: duckdb.DuckDBPyConnection) -> float:
    start = perf_counter()
    reid_sql.register(con)
    return perf_counter() - start
