"""What the first tier leaves of tests/release/test_local.py."""

from pathlib import Path

from tests.release.brute import K, made_by
from tests.release.test_dialects import on_postgres, ordered
from tests.release.test_local import L2, asked, made_of, people


def test_postgres_gives_the_rows_of_duckdb(tmp_path: Path, postgres: str) -> None:
    for case, (qi, checks) in enumerate(
        [(["age", "zip", "born"], [K.format(3), L2]), (["score", "job"], [K.format(4)])]
    ):
        table = people(500, case)
        made = made_of(tmp_path, table, asked(qi, *checks))
        here = made_by(made.sql, "people_released")
        there = on_postgres(postgres, table, made.sql_in("postgres"))
        assert ordered(there) == ordered(here.rows())
