"""Hierarchies, proposed and written: each step merges values of the one before; what is odd is refused."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.errors import ReidError
from reid_sql.hierarchies.hierarchy import Facts, Hierarchy, propose, read_hierarchy, widths
from reid_sql.hierarchies.steps import Drop
from reid_sql.models.columns import column_profile
from reid_sql.parameters.document import Place
from tests.cells import each_cell


def levels(hierarchy: Hierarchy, values: list[Any]) -> list[list[str | None]]:
    frame = pl.DataFrame({hierarchy.column: values})
    return [
        frame.with_columns(eval(hierarchy.python(at), {"pl": pl}))[hierarchy.column].to_list()  # noqa: S307
        for at in range(hierarchy.levels)
    ]


def assert_nested(found: list[list[str | None]]) -> None:
    """Whoever has one value at a level has one value at the next."""
    for before, after in pairwise(found):
        assert len(set(zip(before, after, strict=True))) == len(set(before))


def _numbers(records: int, ends: tuple[int, int], near: tuple[int, int]) -> Facts:
    (low, high), (near_low, near_high) = ends, near
    facts = Facts("n", column_profile.NUMBER, records, numbers=True, low=low, high=high)
    return replace(facts, near_low=near_low, near_high=near_high)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=200), st.booleans())
def test_proposed_bands_are_nested(values: list[int], wide: bool) -> None:  # noqa: FBT001 - drawn
    ranked = sorted(values)
    near = (
        (ranked[len(ranked) // 20], ranked[-1 - len(ranked) // 20])
        if wide
        else (ranked[0], ranked[-1])
    )
    facts = _numbers(len(values), (ranked[0], ranked[-1]), near)
    hierarchy = propose(facts)
    assert_nested(levels(hierarchy, values))
    assert isinstance(hierarchy.steps[-1], Drop)


@settings(max_examples=100, deadline=None)
@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.booleans())
def test_widths_are_multiples_of_those_before(low: float, spread: float, whole: bool) -> None:  # noqa: FBT001
    found = list(widths(low, low + spread, whole=whole))
    for before, after in pairwise(found):
        assert after / before == pytest.approx(round(after / before))
        assert round(after / before) > 1
    assert all(width <= spread / 2 * 1.01 for width in found)


@given(st.lists(st.dates(), min_size=1))
def test_parts_of_dates_are_nested(days: list[Any]) -> None:
    assert_nested(levels(propose(Facts("d", column_profile.DATE, len(days))), days))


@given(st.lists(st.text("0123456789*", max_size=6), min_size=1))
def test_beginnings_are_nested(codes: list[str]) -> None:
    lengths = [len(code) for code in codes]
    facts = Facts("c", column_profile.CODE, len(codes), shortest=min(lengths), longest=max(lengths))
    assert_nested(levels(propose(facts), codes))


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=300))
def test_rare_values_are_nested(values: list[str]) -> None:
    counts = sorted(((each, values.count(each)) for each in set(values)), key=lambda pair: -pair[1])
    hierarchy = propose(Facts("v", column_profile.CATEGORY, len(values), frequent=tuple(counts)))
    found = levels(hierarchy, values)
    assert_nested(found)
    for level in found[1:-1]:
        assert len(set(level)) > 1


def test_text_that_is_read_is_left_out() -> None:
    assert propose(Facts("note", column_profile.FREE_TEXT, 10)).steps == (Drop(),)
    assert propose(Facts("id", column_profile.IDENTIFIER, 10)).steps == (Drop(),)


def of(steps: object, facts: Facts | None = None) -> Hierarchy:
    return read_hierarchy(Place("policy prepare.hierarchies", {"age": steps}), "age", Path()).of(
        facts or Facts("age", "", 0)
    )


def test_a_hierarchy_is_read_as_it_is_written() -> None:
    found = of([{"bands": 5}, {"bands": 10, "below": 20, "above": 80}])
    assert levels(found, [17, 23, 85, None]) == [
        [17, 23, 85, None],
        ["15 to 19", "20 to 24", "85 to 89", None],
        ["below 20", "20 to 29", "80 or more", None],
        ["*", "*", "*", "*"],
    ]


def test_rare_values_hang_on_the_table() -> None:
    facts = Facts("age", column_profile.CATEGORY, 10, frequent=(("a", 7), ("b", 2), ("c", 1)))
    assert levels(of([{"rare": 2}], facts), ["a", "b", "c"])[1] == ["a", "b", "other"]


def test_groups_hold_values_or_groups_of_the_step_before() -> None:
    found = of(
        [
            {"groups": {"Germany": ["HH", "BE"], "France": ["75"]}},
            {"groups": {"Europe": ["Germany", "France", "AT"]}},
        ]
    )
    assert levels(found, ["HH", "75", "AT", "US"])[1:3] == [
        ["Germany", "France", "AT", "US"],
        ["Europe", "Europe", "Europe", "US"],
    ]


@each_cell(
    "steps, refusal",
    [
        ("bands", "policy prepare.hierarchies.age must be a list of tables, got 'bands'"),
        (
            [{"bands": 0}],
            "policy prepare.hierarchies.age[1].bands must be a number from 1e-9 to 1e15, got 0",
        ),
        ([{"bands": "5"}], "age[1].bands must be a number from 1e-9 to 1e15, got '5'"),
        ([{"bands": float("nan")}], "age[1].bands must be a number from 1e-9 to 1e15, got nan"),
        (
            [{"bands": 10, "above": 85}],
            "age[1].above must be a multiple of the width of the bands, 10.0, got 85.0",
        ),
        ([{"below": 9, "above": 5}], "age[1].below must not be above 5.0"),
        ([{"band": 5}], "age[1] must be a step of one of the kinds bands, date, prefix"),
        (
            [{}],
            "must be a step of one of the kinds bands, date, prefix, rare, groups, above, below, got none",
        ),
        ([{"bands": 5, "prefix": 2}], "age[1] must have only known keys, got 'prefix'"),
        (
            [{"date": "week"}],
            "age[1].date must be one of 'month', 'quarter', 'year', 'decade', got 'week'",
        ),
        ([{"prefix": 0}], "age[1].prefix must be a whole number from 1 to 1000, got 0"),
        ([{"rare": 1.5}], "age[1].rare must be a whole number from 2 to 1e15, got 1.5"),
        ([{"groups": {}}], "age[1].groups must contain at least one group with a value, got none"),
        (
            [{"groups": {"A": ["x"], "B": ["x"]}}],
            "age[1].groups must contain each value once, got 'x' twice",
        ),
        ([{"groups": {"A": "x"}}], "age[1].groups.A must be a list of texts, got 'x'"),
    ],
)
def test_what_stands_for_nothing_is_refused(steps: object, refusal: str) -> None:
    with pytest.raises(ReidError, match=re.escape(refusal)):
        of(steps)
