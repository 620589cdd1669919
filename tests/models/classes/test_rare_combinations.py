"""The search for combinations that too few share, against counting every combination by hand."""

from collections import Counter, defaultdict
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.identifying_sets import DistinctCodes
from reid_sql.models.classes.rare_combinations import (
    CodedRows,
    find_rare_combinations,
    find_unsafe_combinations,
    list_sets,
)
from reid_sql.models.interruption import InterruptedWorkError, checked
from tests.cells import each_cell

Row = tuple[int, ...]
Combination = tuple[tuple[int, int], ...]  # columns by place, each with its value


def draw_table(seed: int) -> tuple[list[Row], list[int]]:
    """Draw a small table; some columns are constant, equal to another or determined by two others."""
    rng = np.random.default_rng(seed)
    height, width = int(rng.integers(1, 30)), int(rng.integers(1, 6))
    columns = [rng.integers(0, rng.integers(1, 6), height) for _ in range(width)]
    if width > 2:
        columns[-1] = columns[0].copy()
    if width > 3:
        columns[-2] = columns[0] * 7 + columns[1]
    people = rng.integers(0, max(1, height // 2) + 1, height) if seed % 2 else np.arange(height)
    return [tuple(row) for row in np.stack(columns, 1).tolist()], people.tolist()


def rare_by_hand(
    rows: list[Row], people: list[int], least: list[int]
) -> dict[tuple[int, ...], list[set[int]]]:
    """By the definition: combinations that too few share, while enough share each part; who shares each."""
    held: dict[Combination, set[int]] = defaultdict(set)
    for row, person in zip(rows, people, strict=True):
        for number in range(1, min(len(least), len(row)) + 1):
            for places in combinations(range(len(row)), number):
                held[tuple((place, row[place]) for place in places)].add(person)
    rare = {each for each, who in held.items() if len(who) < least[len(each) - 1]}
    found: dict[tuple[int, ...], list[set[int]]] = defaultdict(list)
    for each in rare:
        parts = (part for number in range(1, len(each)) for part in combinations(each, number))
        if not any(part in rare for part in parts):
            found[tuple(place for place, _ in each)].append(held[each])
    return found


def distinct(rows: list[Row], people: list[int], seed: int) -> DistinctCodes:
    names = [str(place) for place in range(len(rows[0]))]
    if not seed % 2:  # each row is a person
        counts = Counter(rows)
        return DistinctCodes(names, list(np.array(list(counts)).T), np.array(list(counts.values())))
    held = Counter(zip(rows, people, strict=True))
    codes = list(np.array([row for row, _ in held]).T)
    return DistinctCodes(
        names, codes, np.array(list(held.values())), np.array([person for _, person in held])
    )


@each_cell("start", range(0, 2000, 200))
@pytest.mark.first(cells=3)
def test_unsafe_combinations_of_small_tables(start: int) -> None:
    for seed in range(start, start + 200):
        (rows, people), rng = draw_table(seed), np.random.default_rng(seed)
        size = int(rng.integers(1, 5))
        least = rng.integers(2, 7, size).tolist() if seed % 3 else [int(rng.integers(2, 7))] * size
        k = least if seed % 3 else least[0]
        answer = find_unsafe_combinations(distinct(rows, people, seed), k, size)
        found = {
            tuple(map(int, row.columns)): (row.combinations, row.records, row.fewest)
            for row in answer
            if row.columns
        }
        assert found == {
            places: (len(who), len(set().union(*who)), min(map(len, who)))
            for places, who in rare_by_hand(rows, people, least).items()
        }, seed
        assert all(row.share == row.records / len(set(people)) for row in answer)


@pytest.mark.all
def test_a_higher_threshold_leaves_no_combination_safe_that_was_unsafe() -> None:
    """Each unsafe combination has an unsafe part, perhaps a smaller one, under every higher k."""
    for seed in range(200):
        rows, people = draw_table(seed)
        height = len(rows)
        unsafe = [
            {
                place
                for who in rare_by_hand(rows, list(range(height)), [k] * 3).values()
                for place in set().union(*who)
            }
            for k in (2, 3, 5)
        ]
        table = distinct(rows, people, 0)
        for k, expected in zip((2, 3, 5), unsafe, strict=True):
            coded = CodedRows([np.array(column) for column in zip(*rows, strict=True)])
            sets = list_sets(len(rows[0]), min(3, len(rows[0])))
            least = [k] * min(3, len(rows[0]))
            found = [
                each.rows.tolist() for each in find_rare_combinations(coded, sets, least, 10**8)
            ]
            assert set().union(*found) == expected
            assert any(row.records for row in find_unsafe_combinations(table, k)) == bool(expected)
        assert unsafe[0] <= unsafe[1] <= unsafe[2]


def test_many_rows_on_several_threads_are_as_on_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(3).integers(0, 300, (60_000, 5))
    table = DistinctCodes(list("abcde"), list(rows.T), np.ones(60_000, int))
    several = find_unsafe_combinations(table, [500, 20, 5])
    monkeypatch.setattr("reid_sql.models.classes.class_keys.MIN_THREADED_RECORDS", 10**9)
    assert find_unsafe_combinations(table, [500, 20, 5]) == several
    assert several


def test_thresholds_are_one_or_as_many_as_sizes() -> None:
    table = DistinctCodes(["a", "b"], [np.array([1, 2]), np.array([1, 1])], np.array([9, 1]))
    wrong: Any = [5, 3]
    with pytest.raises(
        OutOfDomainError, match=r"one for each of the 3 sizes up to max_size, got 2; write it"
    ):
        find_unsafe_combinations(table, wrong)
    assert [row.columns for row in find_unsafe_combinations(table, [2, 9, 9])] == [["a"]]


def test_the_search_can_be_interrupted_before_each_set() -> None:
    rows = np.random.default_rng(2).integers(0, 3, (500, 14))
    table = DistinctCodes([str(n) for n in range(14)], list(rows.T), np.ones(500, int))
    asked = []

    def stop(share: float | None) -> None:
        asked.append(share)
        if len(asked) >= 3:
            raise InterruptedWorkError

    with pytest.raises(InterruptedWorkError):
        checked(find_unsafe_combinations, stop)(table, 5, 3)
    assert asked[:3] == [0, 1 / 469, 2 / 469]
