"""A release against its original: every figure as in loops over people, on every way to ask."""

import random
import re
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reid_sql
import reid_sql.polars as rp
from reid_sql.errors import ReidError
from tests.mechanisms import MECHANISMS, PEOPLE, draw_people
from tests.releases import People, changes, exactly_matched, linked, loss
from tests.tables import by_both, by_duckdb, class_sizes, risk

NO_KEY = "no_key: changes and links need key, a column of both tables that identifies records"
COLUMNS = ["a", "b", "c"]
VALUES = st.sampled_from(["x", "y", "z"])
FORMS = st.sampled_from(["x", "y", "z", "x or y", None])


@st.composite
def releases(draw: st.DrawFn) -> tuple[People, People]:
    """People, and what was released of some of them and of others: as it was, recoded or anything."""
    rows = draw(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=9))
    original = dict(enumerate(rows))
    coarser = draw(st.fixed_dictionaries({"x": FORMS, "y": FORMS, "z": FORMS}))
    remaining = draw(st.sets(st.integers(0, len(rows) + 1), min_size=1))
    cell = st.tuples(st.sampled_from(["kept", "recoded", "drawn"]), FORMS)
    released = {}
    for key in sorted(remaining | {0}):
        whose = original.get(key, ("x", "y", "z"))
        how = draw(st.tuples(cell, cell, cell))
        forms = zip(whose, how, strict=True)
        released[key] = tuple(
            v if way == "kept" else coarser[v] if way == "recoded" else form
            for v, (way, form) in forms
        )
    return original, released


def frame(people: People) -> pl.DataFrame:
    rows = [(key, *row) for key, row in people.items()]
    return pl.DataFrame(
        rows, schema={"id": pl.Int64, **dict.fromkeys(COLUMNS, pl.String)}, orient="row"
    )


def row_of(rows: list[dict[str, Any]], column: str = "released") -> dict[str, Any]:
    return {row["measure"]: row[column] for row in rows}


@given(releases())
def test_every_figure_is_that_of_loops_over_people(tables: tuple[People, People]) -> None:
    original, released = tables
    frames = {"o": frame(original), "r": frame(released)}
    for answer in by_both("compare", frames, COLUMNS, key="id", threshold=0.4):
        found, before = row_of(answer), row_of(answer, "original")
        for people, figures in ((original, before), (released, found)):
            rows = list(people.values())
            expected = risk(rows, class_sizes(rows, rows, "value"), 0.4)
            del expected["threshold"]
            assert {name: figures[name] for name in expected} == pytest.approx(expected, rel=1e-12)
        counts = {name: Fraction(count) for name, count in changes(original, released).items()}
        for name, figure in counts.items():
            assert found[name] == pytest.approx(float(figure), rel=1e-9), name
        check_links(found, original, released)
        mean = sum(loss(original, released, j) for j in range(3)) / 3
        assert found["information_loss"] == pytest.approx(mean, abs=1e-9)
        assert before["correct_links"] == before["average_risk"]
        for row in answer:
            assert row["low"] is row["high"] is None
            if row["released"] is not None:
                assert row["status"] == "ok"
                assert row["change"] == row["released"] - row["original"]


def check_links(found: dict[str, Any], original: People, released: People) -> None:
    """Each attack's links are those of loops, and the best attack's are the figures."""
    likeliest, exact = linked(original, released), exactly_matched(original, released)
    on_all = exact[0, 1, 2]
    best = max(figures["correct_links"] for figures in exact.values())
    assert found["correct_candidates"] == pytest.approx(float(likeliest["correct_candidates"]))
    assert found["links_by_likelihood"] == pytest.approx(float(likeliest["correct_links"]))
    assert found["links_by_exact_match"] == pytest.approx(float(on_all["correct_links"]))
    assert found["links_by_distance"] is None
    if best > on_all["correct_links"]:
        assert found["links_by_some_columns"] == pytest.approx(float(best))
    else:
        assert found["links_by_some_columns"] is None
    assert found["correct_links"] == pytest.approx(float(max(best, likeliest["correct_links"])))
    for name in ("certain_links", "highest_link"):
        least = max(likeliest[name], on_all[name])
        assert float(least) - 1e-9 <= found[name]
        assert (
            found[name] <= float(max(least, *(figures[name] for figures in exact.values()))) + 1e-9
        )


@given(releases())
def test_an_attack_on_the_original_itself_is_its_own_risk(tables: tuple[People, People]) -> None:
    whole = frame(tables[0])
    for answer in by_both("compare", {"o": whole, "r": whole}, COLUMNS, key="id"):
        known = [row for row in answer if row["released"] is not None]
        assert len(known) == len(answer) - 2  # no numbers, and no set of columns is better than all
        assert row_of(known) == pytest.approx(row_of(known, "original"), rel=1e-12)


@given(releases())
def test_without_a_key_the_risk_is_reported_and_nothing_is_guessed(
    tables: tuple[People, People],
) -> None:
    frames = {"o": frame(tables[0]), "r": frame(tables[1])}
    for alone, keyed in zip(
        by_both("compare", frames, COLUMNS),
        by_both("compare", frames, COLUMNS, key="id"),
        strict=True,
    ):
        assert alone[:9] == keyed[:9]
        assert {(row["released"], row["change"], row["status"]) for row in alone[9:]} == {
            (None, None, NO_KEY)
        }


def disturbed(records: int) -> tuple[list[float], list[float]]:
    rng = random.Random(7)  # noqa: S311 - no secret
    mine = [rng.gauss(50, 10) for _ in range(records)]
    return mine, [value + rng.gauss(0, 2) for value in mine]


def test_disturbed_numbers_are_linked_by_distance_at_least_as_in_a_loop() -> None:
    mine, theirs = disturbed(60)
    n = len(mine)
    right = 0
    for at, a in enumerate(mine):
        distances = [abs(b - a) for b in theirs]
        right += distances.index(min(distances)) == at
    frames = {
        "o": pl.DataFrame({"id": range(n), "v": mine}),
        "r": pl.DataFrame({"id": range(n), "v": theirs}),
    }
    for answer in by_both("compare", frames, ["v"], key="id"):
        found = row_of(answer)
        assert 0 < right < n
        assert found["correct_links"] >= found["links_by_distance"] >= right / n - 1e-9
        assert found["links_by_exact_match"] == 0
        assert found["correct_candidates"] == pytest.approx(1 / n)
        # each disturbed value stands alone, and is linked far less often
        assert found["average_risk"] == 1.0
    for columns in by_both("compare", frames, ["v"], key="id", output="columns"):
        assert columns[0]["understood"] == "by distance"


def test_a_mixture_of_changes_is_understood_alike_by_both_engines() -> None:
    people = draw_people(5)
    columns, disturb = MECHANISMS["mixture of four"]
    own = {name: people[name] for name in columns}
    released = own | disturb(people, np.random.default_rng(5))
    frames = {
        name: pl.DataFrame({"id": range(PEOPLE), **table}).sample(fraction=1, shuffle=True, seed=3)
        for name, table in (("o", own), ("r", released))
    }
    duck, polars = (
        row_of(answer) for answer in by_both("compare", frames, list(columns), key="id")
    )
    assert {name: duck[name] is None for name in duck} == {
        name: polars[name] is None for name in polars
    }
    for name in duck:
        assert duck[name] is None or duck[name] == pytest.approx(polars[name], rel=1e-12), name
    assert (
        duck["links_by_likelihood"] > duck["links_by_distance"] > duck["links_by_exact_match"] > 0
    )
    assert duck["correct_links"] == duck["links_by_likelihood"]


def test_rounded_numbers_are_linked_by_what_they_stand_for() -> None:
    ages = list(range(20, 60))
    original = pl.DataFrame({"id": range(40), "age": ages})
    released = pl.DataFrame({"id": range(40), "age": [age // 10 * 10 for age in ages]})
    for answer in by_both("compare", {"o": original, "r": released}, ["age"], key="id"):
        # 39 is one of ten, though 40 is nearer
        assert row_of(answer)["correct_links"] == pytest.approx(0.1)


def test_more_pairs_than_can_be_compared_are_linked_by_a_draw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reid_sql.models.comparison.linkage.MAX_PAIRS", 100)
    rng = random.Random(3)  # noqa: S311 - no secret
    rows = {key: tuple(rng.choice("xyz") for _ in COLUMNS) for key in range(150)}
    forms = {
        key: tuple(v if rng.random() < 0.7 else None for v in row) for key, row in rows.items()
    }
    original, released = frame(rows), frame(forms)
    exact = linked(rows, forms)
    answers = [
        rp.compare(original, released, COLUMNS, key="id", targets=75, seed=seed)
        .collect()
        .to_dicts()
        for seed in (0, 0, 1)
    ]
    first, again, other = (
        row_of([row for row in answer if row["released"] is not None]) for answer in answers
    )
    assert first == pytest.approx(again, rel=1e-12)
    assert first != pytest.approx(other, rel=1e-12)
    for answer in answers:
        row = next(row for row in answer if row["measure"] == "links_by_likelihood")
        assert row["status"] == "records_drawn: the attack used 75 records, drawn at random"
        assert row["released"] == pytest.approx(float(exact["correct_links"]), abs=0.03)
        assert row["low"] < float(exact["correct_links"]) < row["high"]
        best = next(row for row in answer if row["measure"] == "correct_links")
        assert row["low"] <= best["low"] <= best["released"] <= best["high"] == row["high"]
        assert row["attack"] == "likelihood"
        whole = next(row for row in answer if row["measure"] == "links_by_exact_match")
        assert whole["status"] == "ok"  # exact matches take all records


@pytest.mark.newest
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"key": "ix"}, "quasi-identifiers and key must be columns of the original, got 'ix'"),
        ({"key": "a"}, "key must not be a quasi-identifier, got 'a'"),
        ({"key": "twice"}, "key must differ between records, got a value "),
        ({"key": "unlike"}, "key must have the same type in both tables, got "),
        ({"threshold": 2.0}, "threshold must be a risk between 0 and 1, got 2"),
        ({"targets": 0}, "targets must be a whole number of records from 1 to 1e+9, got 0"),
    ],
)
def test_what_cannot_be_answered_is_refused(options: dict[str, Any], message: str) -> None:
    people = pl.DataFrame({"id": [1, 2], "a": ["x", "y"], "twice": [1, 1], "unlike": [1, 2]})
    other = people.with_columns(pl.col("unlike").cast(pl.String))
    with pytest.raises(Exception, match=re.escape(message)):
        rp.compare(people, other, ["a"], **options).collect()
    extras = "".join(f", {name} := {value!r}" for name, value in options.items())
    with pytest.raises(Exception, match=re.escape(message)):
        by_duckdb(f"FROM compare(o, r, ['a']{extras})", o=people, r=other)


@pytest.mark.parametrize("empty", ["o", "r"])
def test_an_empty_table_is_refused(empty: str) -> None:
    people = pl.DataFrame({"id": [1, 2], "a": ["x", "y"]})
    frames = {name: people.head(0) if name == empty else people for name in ("o", "r")}
    word = {"o": "original", "r": "released"}[empty]
    with pytest.raises(Exception, match=f"{word} must contain at least one record, got 0"):
        by_duckdb("FROM compare(o, r, ['a'], key := 'id')", **frames)
    with pytest.raises(ReidError, match=f"{word} must contain at least one record, got 0"):
        rp.compare(frames["o"], frames["r"], ["a"]).collect()


def test_few_common_keys_are_said() -> None:
    people = pl.DataFrame({"id": range(9), "a": [*"xxyyzzzzz"]})
    others = people.with_columns(
        id=pl.when(pl.col("id") < 3).then("id").otherwise(pl.col("id") + 100)
    )
    for answer in by_both("compare", {"o": people, "r": others}, ["a"], key="id"):
        statuses = {row["measure"]: row["status"].split(":")[0] for row in answer}
        assert {statuses[name] for name in ("uniqueness", "k", "records")} == {"ok"}
        for name in ("records_removed", "cells_changed", "information_loss", "correct_links"):
            assert statuses[name] == "few_comparable", name
    for answer in by_both("compare", {"o": people, "r": others}, ["a"], key="id", output="columns"):
        assert answer[0]["status"].startswith("few_comparable")


def test_nobody_in_both_tables_is_said() -> None:
    people, others = (pl.DataFrame({"id": ids, "a": ["x", "y"]}) for ids in ([1, 2], [3, 4]))
    for answer in by_both("compare", {"o": people, "r": others}, ["a"], key="id"):
        assert {row["status"] for row in answer[-8:]} == {
            "no_common_record: no value of key is in both tables"
        }
        assert row_of(answer)["records_removed"] == row_of(answer)["records_added"] == 2
        changes = {row["measure"]: row for row in answer}
        for name in ("records_changed", "cells_changed", "information_loss", "classes_changed"):
            assert (changes[name]["released"], changes[name]["status"][:16]) == (
                None,
                "no_common_record",
            )


@pytest.mark.newest
@pytest.mark.parametrize(
    ("key", "rule"), [("nope", "must be columns of the original"), ("same", "key must differ")]
)
@pytest.mark.parametrize("output", ["figures", "columns"])
def test_a_key_is_refused_before_the_tables_are_joined_by_it(
    output: str, key: str, rule: str
) -> None:
    with duckdb.connect(
        config={"threads": 1, "memory_limit": "200MB", "temp_directory": ""}
    ) as con:
        reid_sql.register(con)
        con.execute(
            "CREATE TABLE t AS SELECT i % 97 AS age, i AS id, 1 AS same FROM range(30000) AS r(i)"
        )
        con.execute("CREATE TABLE o AS FROM t")
        with pytest.raises(duckdb.Error, match=rule):
            con.execute(
                f"FROM compare(t, o, ['age'], key := '{key}', output := '{output}')"
            ).fetchall()
