"""How few rows single each person out, held against all choices of their rows on small tables."""

import random
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import by_duckdb, on_polars

POINT = st.tuples(st.sampled_from(["a", "b", None]), st.integers(1, 2))
SETS = st.lists(st.sets(POINT, min_size=1), min_size=1, max_size=6)
COLUMNS = ["place", "day"]


def table(sets: Sequence[set[tuple[Any, int]]]) -> pl.DataFrame:
    """Each person's rows, the first of them twice; people in the order of their numbers, backwards."""
    backwards = reversed(list(enumerate(sets)))
    rows = [(f"p{who}", *point) for who, own in backwards for point in [*own, *own][: len(own) + 1]]
    schema = {"person": pl.String, "place": pl.String, "day": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def by_engines(frame: pl.DataFrame, **options: Any) -> list[list[dict[str, Any]]]:
    extras = "".join(f", {name} := {value!r}" for name, value in options.items())
    duck = by_duckdb(
        f"FROM unicity(t, 'person', {COLUMNS}{extras}, output := 'people') ORDER BY record", t=frame
    )
    polars = on_polars(duck, "unicity", frame, "person", COLUMNS, **options, output="people")
    return [duck, sorted(polars, key=lambda row: str(row["record"]))]


def matches(known: set[Any], sets: Sequence[set[Any]]) -> int:
    return sum(known <= other for other in sets)


@given(SETS)
def test_so_many_rows_do_and_no_answer_is_below_the_smallest_choice(
    sets: list[set[tuple[Any, int]]],
) -> None:
    for answer in by_engines(table(sets)):
        assert [row["record"] for row in answer] == [f"p{who}" for who in range(len(sets))]
        for own, row in zip(sets, answer, strict=True):
            least = matches(own, sets)  # nothing leaves fewer than all rows
            choices = {
                size: min(matches(set(some), sets) for some in combinations(own, size))
                for size in range(1, len(own) + 1)
            }
            smallest = next(size for size, left in choices.items() if left == least)
            assert (row["rows"], row["matches"]) == (len(own), least)
            assert smallest <= row["known_rows"] <= len(own)
            assert choices[row["known_rows"]] == least
            assert smallest > 1 or row["known_rows"] == 1


def test_the_greedy_number_is_the_smallest_for_most_people_and_one_more_for_the_rest() -> None:
    rng = random.Random(5)  # noqa: S311 - tables, no secrets
    sets = [{(rng.choice("abcdefgh"), rng.randint(1, 5)) for _ in range(6)} for _ in range(150)]
    answers = {row["record"]: row for row in by_engines(table(sets))[0]}
    more = []
    for who, own in enumerate(sets):
        least, sizes = matches(own, sets), range(1, len(own) + 1)
        smallest = next(
            n for n in sizes if any(matches(set(c), sets) == least for c in combinations(own, n))
        )
        more.append(answers[f"p{who}"]["known_rows"] - smallest)
    assert set(more) <= {0, 1}
    assert more.count(0) >= 0.8 * len(sets)


def test_two_wards_single_out_whom_one_does_not() -> None:
    """28 people whose two wards are a pair that nobody else has."""
    wards = [(a, b) for a in range(8) for b in range(a)]
    people = [i for i in range(28) for _ in "ab"]
    frame = pl.DataFrame({"person": people, "ward": [w for pair in wards for w in pair]})
    for row in by_duckdb("FROM unicity(t, 'person', ['ward'], output := 'people')", t=frame):
        assert (row["rows"], row["known_rows"], row["matches"]) == (2, 2, 1)


def test_people_whose_rows_are_those_of_others_are_not_singled_out() -> None:
    sets: list[set[tuple[Any, int]]] = [{("a", 1), ("b", 1)}, {("a", 1), ("b", 1)}, {("a", 1)}]
    for answer in by_engines(table(sets)):
        assert [(row["known_rows"], row["matches"]) for row in answer] == [(1, 2), (1, 2), (1, 3)]


def test_rows_without_a_value_are_left_out() -> None:
    for answer in by_engines(table([{("a", 1), (None, 2)}, {("a", 1)}]), nulls="drop"):
        assert [(row["rows"], row["matches"], row["nulls"]) for row in answer] == [
            (1, 2, "drop")
        ] * 2


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "t, 'persn', ['day']",
            "columns and entity must be columns of the table, got 'persn'; did you mean",
        ),
        ("t, 'day', ['day']", "columns and entity must be distinct, got 'day' twice; name each"),
        (
            "t, NULL, ['day']",
            "entity must be the name of a column, got NULL; write it as a text",
        ),
        (
            "t, 'person', ['day'], nulls := 'wildcard'",
            "nulls must be one of 'value', 'drop', got 'wildcard'",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    with pytest.raises(Exception, match="Error") as refused:
        by_duckdb(f"FROM unicity({call}, output := 'people')", t=table([{("a", 1)}]))
    assert sentence in str(refused.value)


def test_rows_that_too_many_share_are_refused_before_the_search() -> None:
    rng = random.Random(7)  # noqa: S311 - tables, no secrets
    rows = [(who, place) for who in range(20_000) for place in rng.sample(range(40), 6)]
    frame = pl.DataFrame(rows, ["person", "place"], orient="row")
    with pytest.raises(Exception, match="unicity must compare at most 200,000,000 rows of people"):
        by_duckdb("FROM unicity(t, 'person', ['place'], output := 'people')", t=frame)
