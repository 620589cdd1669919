import datetime as dt
from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cells import each_cell
from tests.tables import by_duckdb, by_polars, on_polars

SETS = st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=6)
NAMES = ("basket", "item")
ASKED = ("basket", ["item"])


def table(sets: Sequence[set[str]]) -> pl.DataFrame:
    rows = [(person, item) for person, items in enumerate(sets) for item in sorted(items)]
    return pl.DataFrame(
        rows, schema=dict.fromkeys(NAMES) | {"basket": pl.Int64, "item": pl.String}, orient="row"
    )


def by_hand(sets: Sequence[set[str]], points: int, n: int) -> float:
    """Mean of one over the matches: over targets, what is known, and galleries of n that hold them.

    All of the galleries.
    """
    total = 0.0
    for target, items in enumerate(sets):
        known = list(combinations(sorted(items), min(points, len(items))))
        others = [person for person in range(len(sets)) if person != target]
        for some in known:
            matching = {person for person in others if set(some) <= sets[person]}
            hits = sum(
                1 / (1 + len(matching & set(gallery))) for gallery in combinations(others, n - 1)
            )
            total += hits / len(known) / comb(len(others), n - 1)
    return total / len(sets)


def alone_by_hand(sets: Sequence[set[str]], points: int, n: int) -> float:
    """Share of targets, of what is known and of galleries of n in which nobody else matches."""
    total = 0.0
    for target, items in enumerate(sets):
        known = list(combinations(sorted(items), min(points, len(items))))
        others = [person for person in range(len(sets)) if person != target]
        for some in known:
            matching = {person for person in others if set(some) <= sets[person]}
            alone = sum(not matching & set(gallery) for gallery in combinations(others, n - 1))
            total += alone / len(known) / comb(len(others), n - 1)
    return total / len(sets)


def by_engines(frame: pl.DataFrame, **options: Any) -> list[list[dict[str, Any]]]:
    extras = "".join(f", {name} := {value!r}" for name, value in options.items())
    duck = by_duckdb(f"FROM unicity(t, 'basket', ['item'], output := 'curve'{extras})", t=frame)
    return [duck, on_polars(duck, "unicity", frame, *ASKED, **options, output="curve")]


@given(SETS, st.integers(1, 4))
def test_the_curve_is_the_mean_over_all_targets_known_items_and_galleries(
    sets: list[set[str]], points: int
) -> None:
    for answer in by_engines(table(sets), points=points):
        assert [row["n"] for row in answer] == list(range(1, len(sets) + 1))
        for row in answer:
            assert row["correctness"] == pytest.approx(by_hand(sets, points, row["n"]), rel=1e-12)
            assert row["uniqueness"] == pytest.approx(
                alone_by_hand(sets, points, row["n"]), rel=1e-12
            )
            assert (row["standard_error"], row["draws"], row["people"]) == (0, 0, len(sets))
            assert row["uniqueness_standard_error"] == 0


@given(SETS, st.integers(1, 3), st.integers(0, 9))
@pytest.mark.all
def test_engines_draw_the_same_and_the_order_of_rows_is_no_matter(
    sets: list[set[str]], points: int, seed: int
) -> None:
    frame = table(sets)
    shuffled = pl.concat([frame.reverse(), frame])
    duck, polars = by_engines(frame, points=points, seed=seed, exact_up_to=0, samples=7)
    again, _ = by_engines(shuffled, points=points, seed=seed, exact_up_to=0, samples=7)
    for row, other, third in zip(duck, polars, again, strict=True):
        assert row == pytest.approx(other)
        assert row == pytest.approx(third)
        assert row["draws"] == 7


def test_more_draws_than_people_take_turns() -> None:
    frame = table([{"a", "b", "c"}, {"a", "b"}, {"c"}])
    exact, drawn = (
        by_engines(frame, points=2, exact_up_to=limit, samples=3000)[0] for limit in (100, 0)
    )
    for row, truth in zip(drawn, exact, strict=True):
        assert row["correctness"] == pytest.approx(
            truth["correctness"], abs=4 * row["standard_error"] + 1e-12
        )


def test_nulls_are_values_of_their_own_or_left_out() -> None:
    frame = pl.DataFrame({"basket": [1, 1, 2, 3], "item": ["a", None, None, "b"]})
    for answer in by_engines(frame, points=2, sizes=[3]):
        # 1 has {a, NULL}, 2 has {NULL}, which 1 has too, and 3 has {b}.
        assert answer[0]["correctness"] == pytest.approx((1 + 1 / 2 + 1) / 3)
        assert (answer[0]["records_dropped"], answer[0]["nulls"]) == (0, "value")
    for answer in by_engines(frame, points=2, nulls="drop", sizes=[2]):
        assert [(row["people"], row["records_dropped"], row["nulls"]) for row in answer] == [
            (2, 2, "drop")
        ]


def test_people_and_items_may_be_of_any_type() -> None:
    days = [dt.date(2026, 1, day) for day in (1, 1, 2)]
    frame = pl.DataFrame({"basket": [1.5, 2.5, 2.5], "item": days})
    for answer in by_engines(frame, points=2, sizes=[2]):
        assert answer[0]["correctness"] == pytest.approx((1 / 2 + 1) / 2)


@pytest.mark.newest
@each_cell(
    "call, sentence",
    [
        (
            "t, 'bascket', 'item'",
            "entity and columns must be columns of the table, got 'bascket'; did you mean 'basket'?",
        ),
        (
            "t, NULL, 'item'",
            "entity and columns must be a list of column names, got [NULL, item]; write",
        ),
        (
            "t, 'item', 'item'",
            "entity and columns must be distinct, got 'item' twice; name each column once",
        ),
        (
            "t, 'basket', 'item', points := 0",
            "points must be a whole number of known rows from 1 to 16, got 0; pass how many",
        ),
        (
            "t, 'basket', 'item', samples := 1",
            "samples must be a whole number of draws from 2 to 1e+8, got 1; pass how many",
        ),
        (
            "t, 'basket', 'item', seed := -1",
            "seed must be a whole number from 0 to 2147483646, got -1; pass any such number",
        ),
        (
            "t, 'basket', 'item', sizes := [3]",
            "sizes must be whole numbers from 1 to the 2 people of the table, got 3; pass",
        ),
        (
            "t, 'basket', 'item', nulls := 'wildcard'",
            "nulls must be one of 'value', 'drop', got 'wildcard': ",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    with pytest.raises(Exception, match="Error") as refused:
        by_duckdb(f"FROM unicity({call}, output := 'curve')", t=table([{"a"}, {"b"}]))
    assert sentence in str(refused.value)


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(Exception, match="the table must contain at least one record, got 0"):
        by_duckdb("FROM unicity(t, 'basket', 'item', output := 'curve')", t=table([]))
    with pytest.raises(Exception, match="the table must contain at least one record, got 0"):
        by_polars("unicity", table([]), *ASKED, output="curve")
