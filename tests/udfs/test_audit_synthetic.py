"""Attacks on a synthetic table: shares of loops over people, the same from both engines, and refusals."""

import random
import warnings
from collections.abc import Sequence
from typing import Any

import duckdb
import polars as pl
import polars.selectors as cs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reid_sql
import reid_sql.polars as rp
from reid_sql.errors import RowsNotPeopleWarning
from tests.tables import by_duckdb
from tests.tables import frames as tables_of_any_type

ANY: Any = rp
SQL_API: Any = reid_sql
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
        reported = [
            {other[column] for other in synthetic if other[:2] == row[:2]} for row in people
        ]
        shares.append(
            sum(values == {row[column]} for values, row in zip(reported, people, strict=True))
        )
    return [share / len(people) for share in shares]


def doubted(original: Rows, synthetic: Rows, holdout: Rows) -> set[str]:
    """The codes that the status may have where a table has values of a column that the original lacks."""
    tables = [(name, table) for name, table in (("s", synthetic), ("h", holdout)) if table]
    known = [
        (name, sum(row[at] in {own[at] for own in original} for row in table) / len(table))
        for name, table in tables
        for at in range(4)
    ]
    if any(share == 0 for _, share in known):
        return {"not_comparable"}
    few = any(share < 0.9 for name, share in known if name == "s")
    return {"few_comparable", "ok" if holdout else "no_holdout"} if few else set()


@given(TABLES, TABLES, st.none() | TABLES)
def test_every_share_is_that_of_loops_over_people(
    original: Rows, synthetic: Rows, holdout: Rows | None
) -> None:
    both = answers(original, synthetic, holdout)
    assert both[0] == both[1]
    answer = both[0][:4]
    assert [(row["attack"], row["column_name"]) for row in answer] == [
        ("replicated_uniques", None),
        ("exact_presence", None),
        ("disclosive_correct", "x"),
        ("disclosive_correct", "y"),
    ]
    assert [row["original"] for row in answer] == pytest.approx(right(original, synthetic))
    if holdout is None:
        every = {(row["holdout"], row["excess"], row["low"], row["high"]) for row in both[0]}
        assert every == {(None, None, None, None)}
        codes = doubted(original, synthetic, []) or {"no_holdout"}
        assert {row["status"].partition(":")[0] for row in answer} <= codes
        return
    assert [row["holdout"] for row in answer] == pytest.approx(right(holdout, synthetic))
    for row in answer:
        unlike = (
            abs(len(holdout) / len(original) - 1) > 0.1 and row["attack"] == "replicated_uniques"
        )
        codes = doubted(original, synthetic, holdout) or {"ok"}
        assert unlike == (row["status"].partition(":")[0] not in codes)
    for row in both[0]:
        if row["excess"] is not None and row["attack"] != "strongest_membership":
            assert row["excess"] == pytest.approx(row["original"] - row["holdout"])
            assert row["low"] <= row["excess"] <= row["high"]


PEOPLE = st.lists(
    st.lists(st.tuples(VALUE, VALUE, VALUE, VALUE), min_size=1, max_size=3), min_size=1, max_size=5
)


def of_people(people: list[Rows]) -> pl.DataFrame:
    """A row for each record, with the person whose it is; names are numbers."""
    rows = [(*row, name) for name, own in enumerate(people) for row in own]
    kinds = dict.fromkeys(COLUMNS, pl.String) | {"person": pl.Int64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def right_of_people(people: list[Rows], synthetic: list[Rows]) -> list[float]:
    """Share of the people of whom each attack is right about a record, person by person."""

    def holders(persons: list[Rows], columns: tuple[Any, ...]) -> int:
        return sum(any(row[: len(columns)] == columns for row in own) for own in persons)

    records = [row for own in synthetic for row in own]
    hits: list[list[bool]] = []
    for own in people:
        unique = any(holders(people, row[:2]) == 1 == holders(synthetic, row[:2]) for row in own)
        found = [unique, any(row in records for row in own)]
        for column in (2, 3):
            values = [{other[column] for other in records if other[:2] == row[:2]} for row in own]
            found.append(any(each == {row[column]} for each, row in zip(values, own, strict=True)))
        hits.append(found)
    return [sum(each) / len(people) for each in zip(*hits, strict=True)]


@given(PEOPLE, PEOPLE, PEOPLE)
@pytest.mark.all
def test_an_attack_is_right_about_a_person_if_it_is_about_one_of_their_rows(
    original: list[Rows], synthetic: list[Rows], holdout: list[Rows]
) -> None:
    """Repeated rows of a person count once, and every share is of people."""
    frames = {
        name: of_people(each)
        for name, each in zip("osh", (original, synthetic, holdout), strict=True)
    }
    polars = ANY.audit_synthetic(
        frames["o"],
        frames["s"],
        ["a", "b"],
        sensitive=["x", "y"],
        holdout=frames["h"],
        entity="person",
    )
    duckdb = by_duckdb(SQL.format(", holdout := h, entity := 'person'"), **frames)
    assert duckdb == polars.collect().to_dicts()
    assert [row["original"] for row in duckdb[:4]] == pytest.approx(
        right_of_people(original, synthetic)
    )
    assert [row["holdout"] for row in duckdb[:4]] == pytest.approx(
        right_of_people(holdout, synthetic)
    )


def test_people_of_one_row_are_audited_as_records_whatever_their_names_are() -> None:
    rng = random.Random(6)  # noqa: S311 - no secret
    tables = [frame(people(rng, 200)) for _ in range(3)]
    named = [
        each.with_columns(person=pl.Series([f"p{rng.random()}" for _ in range(200)]))
        for each in tables
    ]
    answers = [
        ANY.audit_synthetic(*each[:2], ["a", "b"], ["x"], each[2], targets=90, **more).collect()
        for each, more in ((tables, {}), (named, {"entity": "person"}))
    ]
    assert answers[0].equals(answers[1])


def test_rows_that_may_not_be_people_are_warned_of_unless_an_entity_counts_them() -> None:
    rng = random.Random(7)  # noqa: S311 - no secret
    tables = [
        frame(people(rng, 60)).with_columns(patient_id=pl.int_range(60) // 3) for _ in range(3)
    ]
    original, synthetic, holdout = tables
    con = duckdb.connect()
    reid_sql.register(con)

    def by_polars(**more: Any) -> None:
        ANY.audit_synthetic(original, synthetic, ["a"], holdout=holdout, **more).collect()

    def by_sql(**more: Any) -> None:
        SQL_API.audit_synthetic(con, original, synthetic, ["a"], holdout=holdout, **more)

    for call in (by_polars, by_sql):
        with pytest.warns(RowsNotPeopleWarning, match="patient_id"):
            call()
        with warnings.catch_warnings():
            warnings.simplefilter("error", RowsNotPeopleWarning)
            call(entity="patient_id")


def test_a_person_among_the_columns_and_a_table_without_people_are_refused() -> None:
    rows = of_people([[("p", "q", "r", None)], [("p", "q", "s", None)]])
    for frames, qi, rule in (
        ((rows, rows), ["a", "person"], "entity must not be a quasi-identifier, got 'person'"),
        (
            (rows, rows.drop("person")),
            ["a", "b"],
            "must be columns of the synthetic table, got 'person'",
        ),
    ):
        named = dict(zip("os", frames, strict=True))
        with pytest.raises(Exception, match=rule):
            by_duckdb(f"FROM audit_synthetic(o, s, {qi}, entity := 'person')", **named)
        with pytest.raises(Exception, match=rule):
            ANY.audit_synthetic(*frames, qi, entity="person").collect()


@given(tables_of_any_type(min_rows=3, max_columns=4), st.integers(0, 2))
def test_values_of_every_type_are_attacked_alike_by_both_engines(
    table: pl.DataFrame, seed: int
) -> None:
    """The engines put lists and structs with a NULL within in another order, which only draws depend on."""
    # DuckDB gives each frame an ENUM of its own
    table = table.with_columns(cs.enum().cast(pl.String))
    is_nested = any(kind.is_nested() for kind in table.dtypes)
    parts = {
        name: table.sample(fraction=1, with_replacement=True, seed=seed + at)
        for at, name in enumerate("osh")
    }
    qi, secret = table.columns[:1], table.columns[1:]
    targets = 100 if is_nested else 4
    polars = rp.audit_synthetic(
        *(parts["o"], parts["s"], qi),
        sensitive=secret or None,
        holdout=parts["h"],
        targets=targets,
        seed=seed,
    )
    asked = f"sensitive := {secret or 'NULL'}, holdout := h, targets := {targets}, seed := {seed}"
    duckdb = by_duckdb(f"FROM audit_synthetic(o, s, {qi}, {asked})", **parts)
    drawn = {"singling_out_univariate", "singling_out_multivariate", "strongest_membership"}
    for mine, theirs in zip(duckdb, polars.collect().to_dicts(), strict=True):
        assert mine["attack"] == theirs["attack"]
        if not (is_nested and mine["attack"] in drawn):
            assert mine == pytest.approx(theirs, nan_ok=True)


def test_where_records_are_drawn_another_seed_draws_others() -> None:
    rng = random.Random(5)  # noqa: S311 - no secret
    tables = [frame(people(rng, 300)) for _ in range(3)]

    def figures(seed: int) -> list[dict[str, Any]]:
        original, synthetic, holdout = tables
        audited = rp.audit_synthetic(
            original, synthetic, ["a", "b"], holdout=holdout, targets=50, seed=seed
        )
        return audited.collect().to_dicts()

    assert figures(0) == figures(0)
    assert figures(0) != figures(1)


def people(rng: random.Random, records: int) -> Rows:
    return [
        (
            str(rng.randrange(60)),
            str(rng.randrange(60)),
            str(rng.randrange(5)),
            str(rng.randrange(2)),
        )
        for _ in range(records)
    ]


@pytest.mark.parametrize("empty", ["o", "s", "h"])
def test_an_empty_table_is_refused(empty: str) -> None:
    rows = [("p", "q", "r", None)]
    tables = [[] if name == empty else rows for name in ("o", "s", "h")]
    word = {"o": "original", "s": "synthetic", "h": "holdout"}[empty]
    one, other, unused = (frame(each) for each in tables)
    with pytest.raises(Exception, match=f"{word} must contain at least one record, got 0"):
        rp.audit_synthetic(one, other, ["a"], sensitive=["x"], holdout=unused).collect()
    with pytest.raises(Exception, match=f"{word} must contain at least one record, got 0"):
        by_duckdb(SQL.format(", holdout := h"), **dict(zip("osh", map(frame, tables), strict=True)))


@pytest.mark.parametrize("table", ["s", "h"])
def test_a_table_with_other_columns_or_types_is_refused(table: str) -> None:
    rows = frame([("p", "q", "r", None)])
    for other, rule in (
        (rows.drop("x"), "must be columns of the (synthetic table|holdout), got 'x'"),
        (rows.with_columns(pl.lit(1).alias("a")), "the same type"),
    ):
        frames = {name: other if name == table else rows for name in ("o", "s", "h")}
        with pytest.raises(Exception, match=rule):
            by_duckdb(SQL.format(", holdout := h"), **frames)
        with pytest.raises(Exception, match=rule):
            rp.audit_synthetic(
                frames["o"], frames["s"], ["a", "b"], sensitive=["x"], holdout=frames["h"]
            ).collect()
