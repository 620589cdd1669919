"""What the first tier leaves of tests/prepare/test_people.py."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.prepare.brute import K, made_by, policy, present
from tests.prepare.test_dialects import on_postgres, ordered
from tests.prepare.test_local import made_of
from tests.prepare.test_people import QI, prepared, visits


def test_postgres_gives_the_rows_of_duckdb(tmp_path: Path, postgres: str) -> None:
    frame = visits(6)
    made = prepared(tmp_path, frame)
    here = made_by(made.sql, "people_released")
    at = here.columns.index("patient")
    there = on_postgres(postgres, frame, made.sql_in("postgres"))
    assert rows_by_person(there, at) == rows_by_person(here.rows(), at)


def rows_by_person(rows: Sequence[tuple[Any, ...]], at: int) -> list[list[str]]:
    """The rows of each person, who has a random number at this place."""
    people: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        people[row[at]].append((*row[:at], *row[at + 1 :]))
    return sorted(map(ordered, people.values()))


L2 = 'measure = "l_diversity"\nat_least = 2'


def test_other_measures_of_people_are_left_to_the_gate(tmp_path: Path) -> None:
    made = prepared(tmp_path, visits(5), "suppression = 0.0", K.format(2), L2)
    assert made.passed
    released = made_by(made.sql, "people_released")
    assert (
        min(released.group_by(present(released, QI)).agg(pl.col("ill").n_unique())["ill"].to_list())
        >= 2
    )
    assert made.page["tables"][0]["measured_on_the_release"] == ["l_diversity"]


@pytest.mark.parametrize("method", ["global", "local"])
def test_the_risk_of_households_is_measured_on_each_release(tmp_path: Path, method: str) -> None:
    frame = visits(9).with_columns(home=pl.Series([at // 3 for at in range(700)]))
    check = 'measure = "household_highest_risk"\nhousehold = "home"\nat_most = 0.6'
    asked = policy(
        "people.parquet", QI, K.format(4), check, prepare=f'method = "{method}"\nsuppression = 0.1'
    )
    made = made_of(tmp_path, frame, asked)
    assert made.passed, made.page
    released = made_by(made.sql, "people_released")
    safe = (
        released.with_columns(safe=1 - 1 / pl.len().over(present(released, QI)))
        .group_by("home")
        .agg(pl.col("safe").product())
    )
    assert 1 - min(safe["safe"].to_list()) <= 0.6
    assert made.page["tables"][0]["measured_on_the_release"] == ["household_highest_risk"]
