"""Attacks on a synthetic table: each share as in loops over people, on both engines; and what is refused."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reid_sql.polars as rp
from reid_sql.models.synthetic.audit import newcombe_interval
from tests.tables import by_duckdb

Rows = list[tuple[Any, ...]]
COLUMNS = ["a", "b", "x", "y"]
VALUE = st.sampled_from(["p", "q", "r", None])
TABLES = st.lists(st.tuples(VALUE, VALUE, VALUE, VALUE), min_size=1, max_size=9)
SQL = "FROM audit_synthetic(o, s, ['a', 'b'], sensitive := ['x', 'y']{})"


def frame(rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


def answers(original: Rows, synthetic: Rows, holdout: Rows | None) -> list[list[dict[str, Any]]]:
    """The answers of both engines."""
    frames = {"o": frame(original), "s": frame(synthetic)}
    if holdout is not None:
        frames["h"] = frame(holdout)
    polars = rp.audit_synthetic(
        frames["o"], frames["s"], ["a", "b"], sensitive=["x", "y"], holdout=frames.get("h")
    )
    return [
        by_duckdb(SQL.format(", holdout := h" if "h" in frames else ""), **frames),
        polars.collect().to_dicts(),
    ]


def right(people: Rows, synthetic: Rows) -> list[float]:
    """Share of the people that each attack is right about, person by person."""
    shares = []
    known, seen = [row[:2] for row in people], [row[:2] for row in synthetic]
    shares.append(sum(known.count(row[:2]) == 1 and seen.count(row[:2]) == 1 for row in people))
    shares.append(sum(row in synthetic for row in people))
    for column in (2, 3):
        reported = [{other[column] for other in synthetic if other[:2] == row[:2]} for row in people]
        shares.append(sum(values == {row[column]} for values, row in zip(reported, people, strict=True)))
    return [share / len(people) for share in shares]


@given(TABLES, TABLES, st.none() | TABLES)
@settings(max_examples=40)
def test_every_share_is_that_of_loops_over_people(
    original: Rows, synthetic: Rows, holdout: Rows | None
) -> None:
    for answer in answers(original, synthetic, holdout):
        assert [(row["attack"], row["column_name"]) for row in answer] == [
            ("replicated_uniques", None),
            ("exact_presence", None),
            ("disclosive_correct", "x"),
            ("disclosive_correct", "y"),
        ]
        assert [row["original"] for row in answer] == pytest.approx(right(original, synthetic))
        if holdout is None:
            assert {(row["holdout"], row["excess"], row["low"], row["high"]) for row in answer} == {
                (None, None, None, None)
            }
            assert all("needs holdout" in row["status"] for row in answer)
            continue
        assert [row["holdout"] for row in answer] == pytest.approx(right(holdout, synthetic))
        for row in answer:
            assert row["excess"] == pytest.approx(row["original"] - row["holdout"])
            assert row["low"] <= row["excess"] <= row["high"]
            unlike = abs(len(holdout) / len(original) - 1) > 0.1 and row["attack"] == "replicated_uniques"
            assert (row["status"] == "ok") == (not unlike)


def people(rng: random.Random, records: int) -> Rows:
    return [
        (str(rng.randrange(60)), str(rng.randrange(60)), str(rng.randrange(5)), str(rng.randrange(2)))
        for _ in range(records)
    ]


@pytest.mark.parametrize("copied", [0, 60])
def test_copies_are_found_and_a_table_without_them_is_not_blamed(copied: int) -> None:
    """Of 2,000 records 60 copies, in 20 pairs of tables: found in 9 of 10; without copies, in 1 of 20."""
    rng = random.Random(11)  # noqa: S311 - no secret
    found = 0
    for _ in range(20):
        original, holdout = people(rng, 2000), people(rng, 2000)
        synthetic = people(rng, 2000 - copied) + original[:copied]
        one, other, unused = (frame(each) for each in (original, synthetic, holdout))
        audited = rp.audit_synthetic(one, other, ["a", "b"], sensitive=["x", "y"], holdout=unused)
        found += audited.collect()["low"][1] > 0
    assert found >= 18 if copied else found <= 2


def test_the_interval_of_an_excess_contains_it_in_95_of_100_draws() -> None:
    rng, contained = np.random.default_rng(3), 0
    for _ in range(1000):
        one, other = rng.binomial(300, 0.1) / 300, rng.binomial(200, 0.04) / 200
        low, high = newcombe_interval((one, 300), (other, 200))
        contained += low <= 0.06 <= high
    assert 930 <= contained <= 970


@pytest.mark.parametrize("empty", ["o", "s", "h"])
def test_an_empty_table_is_refused(empty: str) -> None:
    rows = [("p", "q", "r", None)]
    tables = [[] if name == empty else rows for name in ("o", "s", "h")]
    word = {"o": "original", "s": "synthetic", "h": "holdout"}[empty]
    one, other, unused = (frame(each) for each in tables)
    with pytest.raises(Exception, match=f"{word} must hold at least one record, got 0"):
        rp.audit_synthetic(one, other, ["a"], sensitive=["x"], holdout=unused).collect()
    with pytest.raises(Exception, match=f"{word} must hold at least one record, got 0"):
        by_duckdb(SQL.format(", holdout := h"), **dict(zip("osh", map(frame, tables), strict=True)))


@pytest.mark.parametrize("table", ["s", "h"])
def test_a_table_with_other_columns_or_types_is_refused(table: str) -> None:
    rows = frame([("p", "q", "r", None)])
    for other, rule in (
        (rows.drop("x"), "must be columns of the table, got 'x'"),
        (rows.with_columns(pl.lit(1).alias("a")), "the same type"),
    ):
        frames = {name: other if name == table else rows for name in ("o", "s", "h")}
        with pytest.raises(Exception, match=rule):
            by_duckdb(SQL.format(", holdout := h"), **frames)
        with pytest.raises(Exception, match=rule):
            rp.audit_synthetic(
                frames["o"], frames["s"], ["a", "b"], sensitive=["x"], holdout=frames["h"]
            ).collect()
