from collections import Counter, defaultdict
from itertools import combinations
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cells import each_cell
from tests.tables import Row, by_both, by_duckdb, frames, keys

Combination = tuple[tuple[int, Any], ...]  # columns by place, each with its value


def rare_by_hand(
    rows: list[Row], people: list[Any], least: list[int]
) -> dict[tuple[str, ...], list[set[Any]]]:
    """By the definition: the combinations that too few share, while enough share each part; who shares each.

    `least` are enough for each size.
    """
    held: dict[Combination, set[Any]] = defaultdict(set)
    for row, person in zip(rows, people, strict=True):
        for number in range(1, min(len(least), len(row)) + 1):
            for places in combinations(range(len(row)), number):
                held[tuple((place, row[place]) for place in places)].add(person)
    rare = {each for each, who in held.items() if len(who) < least[len(each) - 1]}
    by_columns: dict[tuple[str, ...], list[set[Any]]] = defaultdict(list)
    for each in rare:
        parts = (part for number in range(1, len(each)) for part in combinations(each, number))
        if not any(part in rare for part in parts):
            by_columns[tuple(f"c{place + 1}" for place, _ in each)].append(held[each])
    return by_columns


def count_by_hand(
    rows: list[Row], people: list[Any], least: list[int]
) -> dict[tuple[str, ...], tuple[int, int, int]]:
    """How many combinations of each set of columns are rare, how many have one, and who share the rarest."""
    by_columns = rare_by_hand(rows, people, least)
    return {
        names: (len(who), len(set().union(*who)), min(map(len, who)))
        for names, who in by_columns.items()
    }


def figures(answer: list[dict[str, Any]]) -> dict[tuple[str, ...], tuple[int, int, int]]:
    """What each set of columns has; a search that stopped and found nothing has a row without columns."""
    rows = [row for row in answer if row["columns"]]
    return {
        tuple(row["columns"]): (row["combinations"], row["records"], row["fewest"]) for row in rows
    }


@given(
    frames(min_rows=1, max_columns=4),
    st.sampled_from(["value", "drop"]),
    st.integers(2, 5),
    st.integers(1, 4),
)
def test_combinations_of_values_of_any_type(
    frame: pl.DataFrame, nulls: str, k: int, size: int
) -> None:
    rows = [row for row in keys(frame) if nulls == "value" or None not in row]
    if not rows:
        return
    expected = count_by_hand(rows, list(range(len(rows))), [k] * size)
    for answer in by_both(
        "unsafe_combinations", {"t": frame}, frame.columns, k=k, max_size=size, nulls=nulls
    ):
        assert figures(answer) == expected
        assert all(row["share"] == row["records"] / len(rows) for row in answer)
        assert [row["size"] for row in answer] == sorted(len(row["columns"]) for row in answer)


@given(frames(min_rows=1, max_columns=3), st.data(), st.integers(2, 4))
def test_combinations_count_people_of_several_rows(
    frame: pl.DataFrame, data: st.DataObject, k: int
) -> None:
    people = data.draw(st.lists(st.integers(0, 4), min_size=frame.height, max_size=frame.height))
    table = frame.with_columns(pl.Series("person", people, dtype=pl.Int64))
    expected = count_by_hand(keys(frame), people, [k] * 3)
    for answer in by_both("unsafe_combinations", {"t": table}, frame.columns, k=k, entity="person"):
        assert figures(answer) == expected


@given(frames(min_rows=1, max_columns=4), st.lists(st.integers(2, 6), min_size=1, max_size=4))
def test_each_size_has_a_threshold_of_its_own(frame: pl.DataFrame, least: list[int]) -> None:
    expected = count_by_hand(keys(frame), list(range(frame.height)), least)
    for answer in by_both(
        "unsafe_combinations", {"t": frame}, frame.columns, k=least, max_size=len(least)
    ):
        assert figures(answer) == expected


@given(frames(min_rows=1, max_columns=4), st.data(), st.integers(2, 5))
def test_the_records_that_have_them_are_listed(
    frame: pl.DataFrame, data: st.DataObject, k: int
) -> None:
    """The subsets of suda_scores with this k list each record, or person, of an unsafe combination."""
    rows = keys(frame)
    expected = {
        (record, names)
        for names, held in rare_by_hand(rows, list(range(len(rows))), [k] * 3).items()
        for record in set().union(*held)
    }
    for answer in by_both(
        "suda_scores", {"t": frame}, frame.columns, max_size=3, k=k, output="subsets"
    ):
        listed = {
            (row["record"], tuple(row["columns"])) for row in answer if row["record"] is not None
        }
        assert listed == expected
    column = data.draw(st.sampled_from(frame.columns))
    for answer in by_both(
        "suda_scores", {"t": frame}, frame.columns, max_size=3, k=k, output="columns"
    ):
        counts = {row["record"]: row["subsets"] for row in answer if row["column_name"] == column}
        found = Counter(record for record, names in expected if column in names)
        assert counts == found


@given(frames(min_rows=1, max_columns=3), st.data(), st.integers(2, 4))
def test_people_have_the_combinations_of_their_rows(
    frame: pl.DataFrame, data: st.DataObject, k: int
) -> None:
    """A person has a set by which too few share one of their rows, and no smaller set in it does so."""
    people = data.draw(st.lists(st.integers(1, 4), min_size=frame.height, max_size=frame.height))
    table = frame.with_columns(pl.Series("person", people, dtype=pl.Int64))
    few: set[tuple[int, tuple[str, ...]]] = set()
    sets = [each for size in range(1, 4) for each in combinations(range(frame.width), size)]
    for places in sets:
        held: dict[Row, set[int]] = defaultdict(set)
        for row, person in zip(keys(frame), people, strict=True):
            held[tuple(row[place] for place in places)].add(person)
        names = tuple(f"c{place + 1}" for place in places)
        few |= {(person, names) for who in held.values() if len(who) < k for person in who}
    expected = {
        (person, names)
        for person, names in few
        if not any(who == person and set(other) < set(names) for who, other in few)
    }
    for answer in by_both(
        "suda_scores",
        {"t": table},
        frame.columns,
        max_size=3,
        k=k,
        entity="person",
        output="subsets",
    ):
        found = {
            (row["record"], tuple(row["columns"])) for row in answer if row["record"] is not None
        }
        assert found == expected


def test_k_of_two_finds_the_records_that_the_subsets_of_suda_scores_list() -> None:
    frame = pl.DataFrame({"a": [n % 97 for n in range(500)], "b": [n % 13 for n in range(500)]})
    frame = frame.with_columns(pl.Series("c", [None if n % 49 == 0 else n % 7 for n in range(500)]))
    columns = ["a", "b", "c"]
    for answer, alone in zip(
        by_both("unsafe_combinations", {"t": frame}, columns, k=2),
        by_both("suda_scores", {"t": frame}, columns, max_size=3, output="subsets"),
        strict=True,
    ):
        listed: dict[tuple[str, ...], int] = defaultdict(int)
        for row in alone:
            listed[tuple(row["columns"])] += 1
        assert {names: found[0] for names, found in figures(answer).items()} == listed
        assert listed


def test_a_table_whose_combinations_are_all_shared_has_no_row() -> None:
    same = pl.DataFrame({"a": [1] * 5, "b": ["x"] * 5})
    assert by_both("unsafe_combinations", {"t": same}, None) == [[], []]


@each_cell(
    "call, sentence",
    [
        ("k := 1", "k must be a whole number of records from 2 to 1e+9, got 1; pass"),
        ("k := [5, 1]", "k must be a whole number of records from 2 to 1e+9, got 1; pass"),
        (
            "k := [5, 3]",
            "k must be one number, or one for each of the 3 sizes up to max_size, got 2",
        ),
        ("k := 'few'", "k must be a number or a list of one or more numbers, got few"),
        ("k := NULL", "k must be a number or a list of one or more numbers, got NULL"),
        ("nulls := 'wildcard'", "nulls must be one of 'value', 'drop', got 'wildcard'"),
        ("['zap']", "columns must be columns of the table, got 'zap'"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    with pytest.raises(Exception, match="Invalid Input Error: ") as refused:
        by_duckdb(
            f"FROM unsafe_combinations(t, {call})", t=pl.DataFrame({"a": [1, 2], "b": [1, 1]})
        )
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")
