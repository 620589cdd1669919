"""What is inferred from a released table: the same from every face, whatever the order, and refusals."""

from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from tests.tables import by_duckdb

ANY: Any = rp
SQL_API: Any = reid_sql
SQL = "FROM inference_risk(t, ['a', 'b', 'c'], ['x', 'y']{})"


def people(seed: int, rows: int = 400) -> pl.DataFrame:
    """Places with one value of x each, and a y that is known of single people alone."""
    rng = np.random.default_rng(seed)
    place = rng.integers(0, 12, rows)
    return pl.DataFrame(
        {
            "a": [None if each == 3 else f"p{each}" for each in place],
            "b": rng.integers(0, 3, rows),
            "c": rng.integers(0, 60, rows),
            "x": [f"v{each % 5}" if each else None for each in place],
            "y": rng.integers(0, 4, rows),
            "person": np.arange(rows) // 2,
        }
    )


@pytest.mark.parametrize(
    "options", [{}, {"entity": "person"}, {"max_size": 1, "targets": 100, "seed": 3}]
)
@pytest.mark.first(cells=1)
def test_every_face_answers_alike(options: dict[str, Any]) -> None:
    table, others = people(1), people(2)
    con = duckdb.connect()
    reid_sql.register(con)
    con.register("t", table.to_arrow())
    for holdout in (None, others):
        named = {"t": table} | ({} if holdout is None else {"h": holdout})
        given = "".join(f", {name} := {value!r}" for name, value in options.items())
        duck = by_duckdb(SQL.format(given + ("" if holdout is None else ", holdout := h")), **named)
        polars = ANY.inference_risk(
            table, ["a", "b", "c"], ["x", "y"], holdout=holdout, **options
        ).collect()
        assert duck == polars.to_dicts()
        if holdout is None:
            python = SQL_API.inference_risk(con, "t", ["a", "b", "c"], ["x", "y"], **options)
            assert duck == pl.DataFrame(python).to_dicts()


def test_the_order_of_rows_and_columns_changes_no_figure() -> None:
    table = people(3)
    shuffled = table.sample(fraction=1, shuffle=True, seed=4)
    one = ANY.inference_risk(table, ["a", "b", "c"], ["x", "y"]).collect()
    other = ANY.inference_risk(shuffled, ["c", "a", "b"], ["y", "x"]).collect()
    assert one.equals(other)


def test_the_worst_column_and_what_reveals_it_come_first() -> None:
    """Every place has one x, which its other people reveal; y is sure of people who are alone."""
    answer = ANY.inference_risk(people(5), ["a", "b", "c"], ["y", "x"]).collect().to_dicts()
    assert [(row["sensitive"], row["rank"]) for row in answer] == [
        (name, rank) for name in "xy" for rank in range(1, 8)
    ]
    first, second = answer[0], answer[7]
    assert first["columns"] == ["a"]
    assert (first["precision"], first["recall"], first["excess"]) == (1, 1, 0)
    assert second["columns"] == ["a", "b", "c"]
    assert second["excess_low"] > 0.5


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (
            "['a', 'x'], ['x']",
            "quasi-identifiers and sensitive columns must be distinct, got 'x' twice",
        ),
        (
            "['a'], ['z']",
            "quasi-identifiers and sensitive columns must be columns of the table, got 'z'",
        ),
        (
            "['a'], 'x', min_precision := 0.4",
            "min_precision must be a share from 0.5 to 1, got 0.4",
        ),
        ("['a'], 'x', entity := 'a'", "entity must not be a quasi-identifier, got 'a'"),
        ("['a'], 'x', holdout := h", "columns of the holdout, got 'x'"),
    ],
)
def test_what_cannot_be_attacked_is_refused(call: str, rule: str) -> None:
    with pytest.raises(Exception, match=rule):
        by_duckdb(f"FROM inference_risk(t, {call})", t=people(6), h=people(6).drop("x"))


def test_an_empty_table_and_too_many_sets_are_refused() -> None:
    table = people(7)
    with pytest.raises(Exception, match="must contain at least one record, got 0"):
        ANY.inference_risk(table.clear(), ["a"], "x").collect()
    wide = pl.DataFrame({f"c{at}": [1, 2] for at in range(30)})
    with pytest.raises(Exception, match="sets of known columns must be at most 10,000, got 27,840"):
        ANY.inference_risk(wide, wide.columns[1:], "c0", max_size=4).collect()
