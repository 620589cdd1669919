"""A perturbed table as its user gets it: other columns as they were, and attacks that are compare's."""

from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import reid_sql
from reid_sql.errors import ReidError
from reid_sql.release import perturb


def table(records: int = 120) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    return pl.DataFrame(
        {
            'a"ge': [
                None if at % 40 == 3 else int(each)
                for at, each in enumerate(rng.integers(18, 90, records))
            ],
            "pay": rng.normal(3000, 700, records).round(2),
            "sex": [["F", "M", None][each] for each in rng.choice(3, records, p=[0.5, 0.45, 0.05])],
            "town": [f"it's {each}" for each in rng.integers(0, 9, records)],
        }
    )


ASKED: dict[str, Any] = {
    "microaggregate": ['a"ge', "pay"],
    "group_size": 4,
    "pram": {"sex": 0.6},
    "rank_swap": {"town": 0.1},
}


@pytest.mark.parametrize("kind", ["name", "polars", "arrow", "relation"])
def test_columns_that_are_not_named_and_the_order_of_rows_stay(kind: str) -> None:
    frame, con = table(), duckdb.connect()
    con.register("people", frame)
    given = {
        "name": "people",
        "polars": frame,
        "arrow": frame.to_arrow(),
        "relation": con.table("people"),
    }
    released = perturb(con, given[kind], rank_swap={"town": 0.2}, seed=5).relation.pl()
    assert released.columns == frame.columns
    assert released.drop("town").equals(frame.drop("town"))
    assert sorted(released["town"]) == sorted(frame["town"])
    assert not released["town"].equals(frame["town"])


def test_a_seed_gives_the_same_table_again() -> None:
    con, frame = duckdb.connect(), table()
    first, again, other = (
        perturb(con, frame, **ASKED, seed=seed).relation.pl() for seed in (1, 1, 2)
    )
    assert first.equals(again)
    assert not first.equals(other)
    pairs = first.group_by('a"ge', "pay").len().filter(pl.col("pay").is_not_null())
    assert min(pairs["len"].to_list()) >= 4
    assert first["pay"].null_count() == first['a"ge'].null_count() == 3  # fewer than 4 lack an age


def test_the_attacks_are_those_of_compare() -> None:
    con, frame = duckdb.connect(), table()
    made = perturb(con, frame, **ASKED, seed=1)
    mine = {row["measure"]: row["released"] for row in made.attacks(["pay", "sex", "town"])}
    original = frame.with_row_index("key")
    released = made.relation.pl().with_row_index("key")
    other = duckdb.connect()  # an older DuckDB's relation ends with its connection
    answer = reid_sql.compare(other, original, released, ["pay", "sex", "town"], key="key")
    theirs = {row[0]: row[answer.columns.index("released")] for row in answer.fetchall()}
    assert mine == theirs
    assert 0 < theirs["correct_links"] < 1


REFUSED = [
    ({}, "perturb must have a column to perturb, got none"),
    ({"pram": {"sexx": 0.5}}, "perturb must name columns of the table, got 'sexx'"),
    ({"pram": {"sex": 1.5}}, "pram.sex must be a probability between 0 and 1, got 1.5"),
    ({"rank_swap": {"sex": -1}}, "rank_swap.sex must be a probability"),
    (
        {"pram": {"sex": 0.5}, "rank_swap": {"sex": 0.5}},
        "each column once, got 'sex' twice",
    ),
    (
        {"microaggregate": ["sex"]},
        "microaggregate must name columns of numbers, got 'sex' of type VARCHAR",
    ),
    (
        {"microaggregate": ["pay"], "group_size": 1},
        "group_size must be a whole number from 2 to 1000, got 1",
    ),
    ({"pram": {"sex": 0.5}, "seed": -1}, "seed must be a whole number"),
    ({"microaggregate": ["huge"]}, "microaggregate must have finite numbers"),
]


@pytest.mark.parametrize(("asked", "message"), REFUSED, ids=lambda each: str(each)[:30])
def test_what_cannot_be_perturbed_is_refused(asked: dict[str, Any], message: str) -> None:
    con, frame = duckdb.connect(), table().with_columns(huge=pl.lit(float("inf")))
    with pytest.raises(ReidError) as refused:
        perturb(con, frame, **asked)
    assert message in str(refused.value)


def test_tables_that_are_not_there_or_use_reserved_names_are_refused() -> None:
    con = duckdb.connect()
    with pytest.raises(
        ReidError, match="table must be a table of the connection or a frame, got 'peopel'"
    ):
        perturb(con, "peopel", pram={"sex": 0.5})
    with pytest.raises(ReidError, match="no column whose name begins with reid_"):
        perturb(con, table().with_columns(reid_row=1), pram={"sex": 0.5})


@pytest.mark.parametrize("records", [0, 1])
def test_a_table_of_no_or_one_row_stays_and_lacks_its_mean(records: int) -> None:
    frame = table().head(records)
    con = duckdb.connect()
    released = perturb(con, frame, **ASKED).relation.pl()
    assert len(released) == records
    assert released["pay"].null_count() == records
    assert released["town"].to_list() == frame["town"].to_list()
