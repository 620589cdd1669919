"""What the first tier leaves of tests/prepare/test_dialects.py."""

from pathlib import Path

import duckdb
import pytest
import sqlglot

from tests.prepare.brute import made_by
from tests.prepare.test_dialects import CASES, on_postgres, ordered, people, prepared


@pytest.mark.parametrize("case", CASES, ids=["plain", "cells", "rules", "dates"])
def test_postgres_gives_the_rows_of_duckdb(
    tmp_path: Path, postgres: str, case: tuple[str, str, list[str], list[str]]
) -> None:
    frame = people()
    made = prepared(tmp_path, frame, case)
    assert made.passed
    here = made_by(made.sql, "people_released")
    there = on_postgres(postgres, frame, made.sql_in("postgres"))
    assert len(there) > 0
    assert ordered(there) == ordered(here.rows())


def test_every_step_gives_on_postgres_what_it_gives_here(tmp_path: Path, postgres: str) -> None:
    """Every level of every hierarchy, whatever the search takes: by columns of its own in one table."""
    made = prepared(tmp_path, people(), CASES[0]).tables[0]
    frame = people()
    steps = [
        (hierarchy, level)
        for hierarchy in made.generalization.hierarchies
        for level in range(1, hierarchy.levels)
    ]
    listed = ", ".join(
        f"{hierarchy.sql(level)} AS c{at}" for at, (hierarchy, level) in enumerate(steps)
    )
    with duckdb.connect() as con:
        here = con.execute(f"SELECT name, {listed} FROM '{tmp_path}/people.parquet'").fetchall()
    view = sqlglot.transpile(
        f'CREATE VIEW "people_released" AS SELECT name, {listed} FROM people',
        "duckdb",
        "postgres",
        identify=True,
    )[0]
    assert len(steps) > 9
    assert ordered(on_postgres(postgres, frame, view)) == ordered(here)
