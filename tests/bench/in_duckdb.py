"""One query in DuckDB; our functions are registered for either side, so that the peaks of memory compare."""

from time import perf_counter

import duckdb

import reid_sql
from tests.bench.spill import watched


def run(sql: str, settings: dict[str, str], database: str = "", prepare: str = "") -> tuple[float, dict[str, int]]:
    """Answer the query on a connection of its own, and say how long the query alone took."""
    with duckdb.connect(database or ":memory:", read_only=bool(database), config=dict(settings)) as con:
        reid_sql.register(con)
        con.execute(f"SET enable_progress_bar = false; {prepare}")
        with watched(settings.get("temp_directory")) as spilled:
            start = perf_counter()
            found = con.execute(sql).fetchall()
            seconds = perf_counter() - start
        names = [column[0] for column in con.description or ()]
        return seconds, dict(zip(names, map(int, found[0]), strict=True)) | spilled
