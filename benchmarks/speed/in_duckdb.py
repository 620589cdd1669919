"""One query in DuckDB; our functions are registered for either side, so that the peaks of memory compare."""

import duckdb

import reid_sql
from benchmarks.speed.spill import watched
from benchmarks.speed.stopwatch import Stopwatch


def run(
    sql: str, settings: dict[str, str], database: str = "", prepare: str = "", times: int = 1
) -> tuple[Stopwatch, dict[str, int]]:
    """Answer the query on its own connection, and say how long the query alone took.

    Or would take so many times.
    """
    with duckdb.connect(
        database or ":memory:", read_only=bool(database), config=dict(settings)
    ) as con:
        reid_sql.register(con)
        con.execute(f"SET enable_progress_bar = false; {prepare}")
        with watched(settings.get("temp_directory")) as spilled, Stopwatch() as took:
            found = con.execute(sql).fetchall()
        took.seconds, took.cpu_seconds = took.seconds * times, took.cpu_seconds * times
        names = [column[0] for column in con.description or ()]
        return took, dict(zip(names, map(int, found[0]), strict=True)) | spilled
