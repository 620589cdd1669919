"""With `entity`, what tells of choices of columns counts people, the same as a loop over their rows."""

from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from typing import Any

import duckdb
import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.errors import ReidError
from reid_sql.reductions.subsets import QUERIES
from tests.all.reliability.test_entities import by_smallest, people_of, visits
from tests.cells import each_cell
from tests.tables import by_duckdb, by_polars
from tests.udfs.test_individuals import approximately

COLUMNS = ["age", "sex", "zip", "ward"]
CHOICES = [list(each) for size in range(1, 5) for each in combinations(COLUMNS, size)]
ANY: Any = rp


def rounds(seed: int) -> pl.DataFrame:
    """Visits in wards."""
    return visits(seed).with_columns((pl.int_range(pl.len()) * (seed + 2) % 5 % 3).alias("ward"))


def whole(frame: pl.DataFrame, choice: list[str], nulls: str) -> pl.DataFrame:
    return frame.drop_nulls(choice) if nulls == "drop" else frame


def guessed(frame: pl.DataFrame, choice: list[str]) -> tuple[float, float, int, int]:
    """The mean of 1/size of people's smallest classes, the share of pairs apart, and both numbers."""
    classes = people_of(frame, choice)
    sizes = by_smallest(classes).values()
    people = len(sizes)
    right = sum(Fraction(1, size) for size in sizes) / people
    alike = Fraction(sum(size - 1 for size in sizes), people * (people - 1))
    return float(right), float(1 - alike), people, len(classes)


def singled_out(frame: pl.DataFrame) -> set[tuple[Any, tuple[str, ...]]]:
    """Each person with the smallest choices of columns on which one of their rows is like nobody else's."""
    found: dict[Any, set[tuple[str, ...]]] = defaultdict(set)
    for choice in CHOICES:
        for people in people_of(frame, choice).values():
            if len(people) == 1:
                found[next(iter(people))].add(tuple(choice))
    return {
        (person, choice)
        for person, choices in found.items()
        for choice in choices
        if not any(set(other) < set(choice) for other in choices)
    }


@each_cell("nulls", ["value", "drop"])
@each_cell("seed", range(8))
def test_every_choice_of_columns_counts_people(seed: int, nulls: str) -> None:
    frame = rounds(seed)
    expected = {tuple(choice): guessed(whole(frame, choice, nulls), choice) for choice in CHOICES}
    options = f"entity := 'person', nulls := '{nulls}'"
    for rows in (
        by_duckdb(f"FROM attribute_risk(t, {COLUMNS}, 4, {options})", t=frame),
        by_polars("attribute_risk", frame, COLUMNS, 4, nulls, entity="person"),
    ):
        for row in rows:
            right, apart, people, classes = expected[tuple(row["columns"])]
            assert (row["records"], row["classes"]) == (people, classes)
            assert (row["distinction"], row["separation"]) == pytest.approx((right, apart))


@pytest.mark.parametrize("nulls", ["value", "drop"])
@pytest.mark.parametrize("seed", range(3))
def test_so_many_choices_that_codes_are_counted_count_people(seed: int, nulls: str) -> None:
    place = pl.int_range(pl.len())
    others = {"floor": place % 7 % 4, "shift": place * 3 % 11 % 3, "bed": place // 3 % 6}
    floor = pl.when(place % 5 > 0).then(others["floor"])
    frame = rounds(seed).with_columns(**others).with_columns(floor=floor)
    columns = [*COLUMNS, *others]
    choices = [list(each) for size in range(1, 8) for each in combinations(columns, size)]
    assert len(choices) > QUERIES
    options = f"entity := 'person', nulls := '{nulls}'"
    for rows in (
        by_duckdb(f"FROM attribute_risk(t, {columns}, 7, {options})", t=frame),
        by_polars("attribute_risk", frame, columns, 7, nulls, entity="person"),
    ):
        assert [row["columns"] for row in rows] == choices
        for row in rows:
            remaining = whole(frame, row["columns"], nulls)
            right, apart, people, classes = guessed(remaining, row["columns"])
            assert (row["records"], row["classes"]) == (people, classes)
            assert row["records_dropped"] == frame.height - remaining.height
            assert (row["distinction"], row["separation"]) == pytest.approx((right, apart))


@each_cell("nulls", ["value", "drop"])
@each_cell("seed", range(8))
def test_the_risk_of_a_choice_is_that_of_people(seed: int, nulls: str) -> None:
    frame = rounds(seed)
    remaining = whole(frame, COLUMNS, nulls)
    expected = {tuple(c): guessed(remaining, c) for c in CHOICES if len(c) == 2}
    options = f"entity := 'person', nulls := '{nulls}'"
    for rows in (
        by_duckdb(
            f"FROM qar_risk(t, {COLUMNS}, 2, {options}, output := 'quasi_identifiers')", t=frame
        ),
        by_polars(
            "qar_risk", frame, COLUMNS, 2, nulls=nulls, entity="person", output="quasi_identifiers"
        ),
    ):
        assert len(rows) == len(expected)
        for row in rows:
            right, _, people, classes = expected[tuple(row["quasi_identifier"])]
            assert (row["records"], row["distinct_values"]) == (people, classes)
            assert row["risk"] == pytest.approx(right, abs=1e-9)


@each_cell("seed", range(8))
def test_people_stand_out_by_one_of_their_rows(seed: int) -> None:
    frame = rounds(seed)
    expected = singled_out(frame)
    for rows in (
        by_duckdb(
            f"FROM suda_scores(t, {COLUMNS}, entity := 'person', output := 'subsets')", t=frame
        ),
        by_polars("suda_scores", frame, COLUMNS, entity="person", output="subsets"),
    ):
        assert {(row["record"], tuple(row["columns"])) for row in rows} == expected
        assert len(rows) == len(expected)
    scores = by_duckdb(f"FROM suda_scores(t, {COLUMNS}, entity := 'person')", t=frame)
    worth = {1: 6.0, 2: 2.0, 3: 1.0, 4: 1.0}
    summed: dict[Any, float] = defaultdict(float)
    for person, choice in expected:
        summed[person] += worth[len(choice)]
    assert {row["record"]: row["suda_score"] for row in scores} == pytest.approx(dict(summed))
    parts = by_polars("suda_scores", frame, COLUMNS, entity="person", output="columns")
    of_age = sum(worth[len(choice)] for _, choice in expected if "age" in choice)
    assert sum(row["score"] for row in parts if row["column_name"] == "age") == pytest.approx(
        of_age
    )


def steady(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """People of one value each, in rows of a number of their own, and in one row each."""
    people = pl.DataFrame(
        {"person": [f"p{place}" for place in range(30)]}
        | {
            name: [(place * (seed + 3 + step)) % (5 + step) for place in range(30)]
            for step, name in enumerate("abcdefg")
        }
    )
    return people.select(pl.all().repeat_by(pl.int_range(1, 31)).explode()), people


ALONE: dict[str, tuple[str, dict[str, Any]]] = {
    "risk": ("qar_risk", {}),
    "contributions": ("qar_risk", {"output": "contributions"}),
    "elimination": ("qar_risk", {"remove": 4, "output": "elimination"}),
    "proxies": ("qar_risk", {"output": "proxies"}),
}


@pytest.mark.parametrize("output", ALONE)
def test_rows_that_repeat_a_person_change_nothing(output: str) -> None:
    rows, people = steady(1)
    columns = list("abcdefg")
    name, more = ALONE[output]
    given = {"p": 3, "alpha": 0.1, "tail": 0.5, **more}
    options = ", ".join(f"{option} := {value!r}" for option, value in given.items())
    keyed = ", key := 'person'" if output in {"contributions", "elimination"} else ""
    expected = by_duckdb(f"FROM {name}(t, {columns}, {options}{keyed})", t=people)
    found = by_duckdb(f"FROM {name}(t, {columns}, {options}, entity := 'person')", t=rows)
    assert found == expected
    assert by_polars(name, rows, columns, **given, entity="person") == expected


@pytest.mark.parametrize("output", ["contributions", "elimination", "proxies"])
def test_people_of_several_values_are_not_left_out_one_by_one(output: str) -> None:
    reported = (
        "people must have one value in each column where they are left out one after the other"
    )
    with pytest.raises(duckdb.Error, match=reported):
        by_duckdb(
            f"""FROM qar_risk(
                t, {COLUMNS}, p := 2, alpha := 0.1, tail := 0.5, entity := 'person', output := '{output}')""",
            t=rounds(1),
        )
    given = {"p": 2, "alpha": 0.1, "tail": 0.5, "output": output}
    lazy = ANY.qar_risk(rounds(1), COLUMNS, **given, entity="person")
    with pytest.raises(Exception, match=reported):
        lazy.collect()


REFUSED = [
    ("qar_risk", "entity := 'age'", "entity must not be a quasi-identifier, got 'age'"),
    (
        "attribute_risk",
        "entity := 'person', nulls := 'wildcard'",
        "entity must be used with nulls := 'value' or 'drop', got 'wildcard'",
    ),
    (
        "suda_scores",
        "entity := 'persn'",
        "columns and entity must be columns of the table, got 'persn'; did you mean 'person'?",
    ),
    (
        "suda_scores",
        "entity := 'person', key := 'zip'",
        "key must be left out where people are counted, got 'zip'; entity names each of them",
    ),
]


@pytest.mark.parametrize(("name", "options", "reported"), REFUSED)
def test_what_cannot_tell_people_apart_is_refused(name: str, options: str, reported: str) -> None:
    frame, columns = rounds(1), ["age", "sex", "ward"]
    with pytest.raises(duckdb.Error) as refused:
        by_duckdb(f"FROM {name}(t, {columns}, {options})", t=frame)
    assert reported in str(refused.value)
    given = {
        key: value.strip("'") for key, value in (each.split(" := ") for each in options.split(", "))
    }
    with pytest.raises(ReidError) as refused_in_polars:
        getattr(ANY, name)(frame, columns, **given).collect()
    assert reported in str(refused_in_polars.value)


SCENARIO = """{"population": 1000, "groups": [{"columns": ["a"], "probability": 0.5},
  {"columns": ["b", "c"], "by": "d", "probabilities": {"1": 0.3}, "otherwise": 0.7}]}"""
ATTACKERS = ["adversary_risk", "adversary_summary"]


@pytest.mark.parametrize("name", ATTACKERS)
def test_an_attacker_meets_people_not_their_rows(name: str) -> None:
    rows, people = steady(1)
    keyed = ", key := 'person'" if name == "adversary_risk" else ""
    expected = by_duckdb(f"FROM {name}(t, '{SCENARIO}'{keyed})", t=people)
    found = by_duckdb(f"FROM {name}(t, '{SCENARIO}', entity := 'person')", t=rows)
    in_polars = by_polars(name, rows, SCENARIO, entity="person")
    assert found == approximately(expected)
    assert in_polars == approximately(expected)


@pytest.mark.parametrize("name", ATTACKERS)
def test_people_of_several_values_meet_no_attacker(name: str) -> None:
    rows, _ = steady(1)
    moved = pl.concat([rows, rows.head(1).with_columns(pl.lit(99, pl.Int64).alias("d"))])
    reported = "people must have one value in each column of the scenario, got people of several"
    with pytest.raises(duckdb.Error, match=reported):
        by_duckdb(f"FROM {name}(t, '{SCENARIO}', entity := 'person')", t=moved)
    lazy = getattr(ANY, name)(moved, SCENARIO, entity="person")
    with pytest.raises(Exception, match=reported):
        lazy.collect()
    without = moved.with_columns(pl.when(pl.col("d") == 99).then(None).otherwise("a").alias("a"))
    dropped = by_duckdb(
        f"FROM {name}(t, '{SCENARIO}', entity := 'person', nulls := 'drop')", t=without
    )
    remaining = by_duckdb(f"FROM {name}(t, '{SCENARIO}', entity := 'person')", t=rows)
    assert {row.pop("records_dropped") for row in dropped} == {1}
    assert {row.pop("records_dropped") for row in remaining} == {0}
    assert [row | {"nulls": "value"} for row in dropped] == remaining
