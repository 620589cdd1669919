"""What the first tier leaves of tests/engines/duckdb/test_register.py."""

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

import reid_sql
from tests.engines.duckdb.test_register import *
from tests.tables import Row

pytestmark = pytest.mark.threads


@pytest.mark.parametrize(
    "ways_out", [[""], WAYS_OUT], ids=["outside transactions", "inside transactions"]
)
def test_threads_with_cursors_of_one_database_register_at_once(
    con: duckdb.DuckDBPyConnection, ways_out: list[str]
) -> None:
    def work(cursor: duckdb.DuckDBPyConnection, way_out: str) -> list[Row]:
        if way_out:
            cursor.execute("BEGIN")
        for _ in range(2):
            reid_sql.register(cursor)
            assert records(cursor) == 3
        if way_out:
            cursor.execute(way_out)
        return cursor.execute(WILDCARD).fetchall()

    cursors = [con.cursor() for _ in range(8)]
    with ThreadPoolExecutor(8) as threads:
        assert (
            list(threads.map(work, cursors, ways_out * (8 // len(ways_out))))
            == [ANSWERS[WILDCARD]] * 8
        )


def test_closing_the_connection_that_registered_first_breaks_nothing(file: Path) -> None:
    first, second, third = (duckdb.connect(file) for _ in range(3))
    reid_sql.register(first)
    reid_sql.register(second)
    first.close()
    del first
    gc.collect()
    check(second)
    reid_sql.register(third)
    check(third)
    second.close()
    gc.collect()
    check(third)
    third.close()
