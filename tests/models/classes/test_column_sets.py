"""Searches over sets of columns against counting every set by hand."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.identifying_sets import (
    DistinctCodes,
    find_minimal_sets,
    find_quasi_identifiers,
    min_count,
)
from reid_sql.models.classes.partitions import DistinctRecords, Refiner
from reid_sql.models.classes.quasi_identifiers import find_minimal_keys
from reid_sql.models.interruption import InterruptedWorkError, checked
from tests.cells import each_cell

Places = tuple[int, ...]
Drawn = tuple[list[Places], list[int]]  # rows, and whose each is


def draw_table(seed: int) -> Drawn:
    """Draw a small table; some columns are constant, equal to another or determined by two others."""
    rng = np.random.default_rng(seed)
    height, width = int(rng.integers(1, 30)), int(rng.integers(1, 7))
    columns = [rng.integers(0, rng.integers(1, 7), height) for _ in range(width)]
    if width > 2:
        columns[-1] = columns[0].copy()
    if width > 3:
        columns[-2] = columns[0] * 7 + columns[1]
    people = rng.integers(0, max(1, height // 2) + 1, height) if seed % 2 else np.arange(height)
    return [tuple(row) for row in np.stack(columns, 1).tolist()], people.tolist()


def distinct(drawn: Drawn, seed: int) -> DistinctRecords:
    rows, people = drawn
    if not seed % 2:
        counts = Counter(rows)
        return DistinctRecords(list(np.array(list(counts)).T), np.array(list(counts.values())))
    members = sorted(set(zip(rows, people, strict=True)))
    np.random.default_rng(seed).shuffle(members)
    codes = list(np.array([row for row, _ in members]).T)
    return DistinctRecords(
        codes, np.ones(len(members), int), np.array([person for _, person in members])
    )


def count_by_hand(drawn: Drawn, places: Places) -> tuple[int, int]:
    """How many people are alone in one of their classes, and how many classes there are."""
    members: dict[Places, set[int]] = {}
    for row, person in zip(*drawn, strict=True):
        members.setdefault(tuple(row[place] for place in places), set()).add(person)
    return len(set().union(*(people for people in members.values() if len(people) == 1))), len(
        members
    )


def sets_up_to(width: int, size: int) -> list[Places]:
    return [each for n in range(1, size + 1) for each in combinations(range(width), n)]


def minimal_by_hand(drawn: Drawn, least: int, size: int) -> dict[Places, tuple[int, int]]:
    counts = {each: count_by_hand(drawn, each) for each in sets_up_to(len(drawn[0][0]), size)}
    reaching = {each for each, (unique, _) in counts.items() if unique >= least}
    return {
        each: counts[each]
        for each in reaching
        if not any(set(other) < set(each) for other in reaching)
    }


@each_cell("start", range(0, 2000, 100))
def test_every_minimal_set_of_small_tables(start: int) -> None:
    for seed in range(start, start + 100):
        drawn, rng = draw_table(seed), np.random.default_rng(seed)
        table, width = Refiner.of(distinct(drawn, seed)), len(drawn[0][0])
        assert table.total == len(set(drawn[1]))
        share, size = (
            float(rng.choice([0.05, 0.1, 0.3, 0.5, 0.9, 1.0])),
            int(rng.integers(1, width + 1)),
        )
        least = min_count(share, table.total)
        limits = (int(rng.choice([5, 20, 1000])), float(rng.choice([1e5, np.inf])))
        found = find_minimal_sets(table, least, size, *limits)
        covered = size if found.is_complete else found.covered
        counts = {each.places: (each.unique, each.classes) for each in found.sets}
        assert counts == minimal_by_hand(drawn, least, covered), seed


def test_the_smallest_sets_are_the_minimal_ones_of_the_fewest_columns() -> None:
    for seed in range(600):
        drawn, rng = draw_table(seed), np.random.default_rng(seed)
        table = Refiner.of(distinct(drawn, seed))
        least = min_count(float(rng.choice([0.1, 0.5, 1.0])), table.total)
        found = find_minimal_sets(table, least, len(drawn[0][0]), 1000, is_smallest_enough=True)
        minimal = minimal_by_hand(drawn, least, len(drawn[0][0]))
        fewest = min(map(len, minimal), default=0)
        smallest = {each: counts for each, counts in minimal.items() if len(each) == fewest}
        counts = {each.places: (each.unique, each.classes) for each in found.sets}
        assert counts == smallest, seed
        assert found.is_complete


def test_the_share_never_falls_from_a_set_to_a_superset() -> None:
    for seed in range(200):
        drawn = draw_table(seed)
        table, width = Refiner.of(distinct(drawn, seed)), len(drawn[0][0])
        for places in sets_up_to(width, width):
            partition = table.refine_all(places)
            assert (partition.unique, table.count_classes(partition, places)) == count_by_hand(
                drawn, places
            )
            for place in range(width):
                assert table.refine(partition, place).unique >= partition.unique
                assert table.count_unique(partition, place) == table.refine(partition, place).unique


@pytest.mark.parametrize("known", [1, 2, 64])
@pytest.mark.first(cells=1)
def test_hitting_sets_are_the_keys_that_counting_finds(
    known: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few difference sets a test brings."""
    monkeypatch.setattr("reid_sql.models.classes.quasi_identifiers.MAX_NEW_SETS", known)
    monkeypatch.setattr("reid_sql.models.classes.quasi_identifiers.MAX_PAIRS", known)
    for seed in range(known, 1000, 2):
        rng = np.random.default_rng(seed)
        rows = sorted({tuple(row) for row in rng.integers(0, rng.integers(2, 5), (25, 7)).tolist()})
        drawn = (rows, list(range(len(rows))))
        size = int(rng.integers(1, 8))
        keys = find_minimal_keys(Refiner.of(distinct(drawn, 0)), size, 10_000).keys
        places = [tuple(place for place in range(7) if key >> place & 1) for key in keys]
        assert sorted(places) == sorted(minimal_by_hand(drawn, len(rows), size)), seed


def codes(rows: Sequence[Places]) -> DistinctCodes:
    columns: list[npt.NDArray[Any]] = list(np.array(rows).T)
    return DistinctCodes(
        [f"c{place}" for place in range(len(columns))], columns, np.ones(len(rows), int)
    )


def test_what_was_not_covered_is_said_and_never_listed() -> None:
    levels = [2] * 8 + [6] * 4
    rows = [tuple(row) for row in np.random.default_rng(1).integers(0, levels, (400, 12)).tolist()]
    table = codes(sorted(set(rows)))
    whole = find_quasi_identifiers(table, 0.2)
    assert {row.status for row in whole} == {"ok"}
    cut = find_quasi_identifiers(table, 0.2, max_sets=800)
    assert {row.status for row in cut} == {
        "incomplete: the list is complete up to 4 of 12 columns, with max_sets of 800"
    }
    assert [row.columns for row in cut] == [row.columns for row in whole if row.size == 4] != []
    none = find_quasi_identifiers(table, 0.2, max_size=1)
    assert [(row.columns, row.status) for row in none] == [
        ([], "no_set: no set of at most 1 column reaches at_least")
    ]
    wide = sorted(
        {tuple(row) for row in np.random.default_rng(1).integers(0, 3, (100, 9)).tolist()}
    )
    (best,) = find_quasi_identifiers(codes(wide), 1.0, max_sets=3)
    assert best.status == (
        "incomplete: the list is complete up to 1 of 9 columns, with max_sets of 3; "
        "greedy: a set found by a greedy search, which does not count all sets"
    )
    places = tuple(int(name[1:]) for name in best.columns)
    drawn = (wide, list(range(len(wide))))
    assert count_by_hand(drawn, places)[0] == len(wide) == best.unique_records
    assert all(
        count_by_hand(drawn, fewer)[0] < len(wide)
        for fewer in combinations(places, len(places) - 1)
    )


@each_cell("seed", range(40))
def test_a_search_that_stops_lists_what_is_true_of_a_greedy_set(seed: int) -> None:
    """The set is minimal, its figures are exact, and where it is below the share, the status says so."""
    drawn = draw_table(seed)
    rows = distinct(drawn, seed)
    names = [f"c{place}" for place in range(len(rows.codes))]
    people = rows.records[:0] if rows.people is None else rows.people
    numbers = [np.array(each, np.int64) for each in (*rows.codes, rows.records, people)]
    table = DistinctCodes(names, numbers[:-2], *numbers[-2:])
    total, size = len(set(drawn[1])), 1 + seed % len(names)
    for at_least in (0.1, 0.5, 1.0):
        for each in find_quasi_identifiers(table, at_least, max_size=size, max_sets=1):
            if not each.status.startswith("incomplete: "):
                continue
            places = tuple(int(name[1:]) for name in each.columns)
            assert 1 <= len(places) <= size
            assert count_by_hand(drawn, places) == (each.unique_records, each.classes)
            smaller = [
                count_by_hand(drawn, fewer)[0] for fewer in combinations(places, len(places) - 1)
            ]
            if count_by_hand(drawn, places)[0] < at_least * total:
                assert "; greedy_below: " in each.status
            else:
                assert "; greedy_below: " not in each.status
                assert len(places) == 1 or max(smaller) < at_least * total


@pytest.mark.parametrize("max_sets", [0, 1, 40, 300])
def test_the_order_of_columns_and_records_changes_no_set(max_sets: int) -> None:
    rng = np.random.default_rng(11)
    rows = np.unique(rng.integers(0, 3, (400, 10)), axis=0)
    found = set()
    for _ in range(6):
        order, records = rng.permutation(10), rng.permutation(len(rows))
        columns = [rows[records, place] for place in order]
        table = DistinctCodes([f"c{place}" for place in order], columns, np.ones(len(rows), int))
        answer = find_quasi_identifiers(table, 0.3, max_sets=max_sets)
        sets = (
            (frozenset(row.columns), row.unique_records, row.classes, row.status) for row in answer
        )
        found.add(frozenset(sets))
    assert len(found) == 1


def test_a_search_of_keys_that_stops_covers_sizes() -> None:
    """All keys up to the covered size are found, and each larger one that is found is minimal."""
    sizes, counted = set(), 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = sorted({tuple(row) for row in rng.integers(0, rng.integers(2, 5), (30, 8)).tolist()})
        drawn = (rows, list(range(len(rows))))
        keys = set(minimal_by_hand(drawn, len(rows), 8))
        for max_sets in (1, 5, 20, 60):
            search = find_minimal_keys(Refiner.of(distinct(drawn, 0)), 8, max_sets)
            found = {tuple(place for place in range(8) if key >> place & 1) for key in search.keys}
            assert found <= keys
            assert {each for each in keys if len(each) <= search.covered} <= found
            assert search.visited <= max_sets
            sizes.add(search.covered)
            counted += 0 < len(found) < len(keys)
    assert sizes >= {0, 1, 2, 3, 8}
    assert counted > 20


def pairs_of_flags(count: int) -> Refiner:
    """A record without flags, and others that have two flags of their own: a key has one flag of each."""
    rows = np.repeat(np.vstack([np.zeros((1, count), int), np.eye(count, dtype=int)]), 2, axis=1)
    return Refiner.of(DistinctRecords(list(rows.T), np.ones(count + 1, int)))


def test_keys_that_are_as_many_as_choices_of_flags() -> None:
    keys = find_minimal_keys(pairs_of_flags(8), 16, 10_000).keys
    choices = product(*((1 << 2 * pair, 2 << 2 * pair) for pair in range(8)))
    assert sorted(keys) == sorted(map(sum, choices))
    # at once: the 4,294,967,296 keys are not all begun before
    assert 1 < find_minimal_keys(pairs_of_flags(32), 64, 3000).covered < 32


def test_a_record_that_occurs_twice_leaves_no_key() -> None:
    table = DistinctCodes(["a", "b"], [np.array([1, 2]), np.array([1, 1])], np.array([2, 1]))
    assert [(row.columns, row.status) for row in find_quasi_identifiers(table, 1.0)] == [
        ([], "no_set: no set of at most 2 columns reaches at_least")
    ]
    assert [(row.columns, row.unique_records) for row in find_quasi_identifiers(table, 1 / 3)] == [
        (["a"], 1)
    ]


def test_refusals_name_the_rule() -> None:
    empty = DistinctCodes(["a"], [np.empty(0, np.int64)], np.empty(0, np.int64))
    with pytest.raises(NoRecordsError):
        find_quasi_identifiers(empty)
    wide = codes([tuple(range(65))])
    with pytest.raises(OutOfDomainError, match="columns must be at most 64 columns, got the 65"):
        find_quasi_identifiers(wide)
    with pytest.raises(
        OutOfDomainError, match="at_least must be a share above 0 and at most 1, got 0;"
    ):
        find_quasi_identifiers(codes([(1, 2)]), 0.0)


@pytest.mark.parametrize("at_least", [0.5, 1.0])
def test_a_search_can_be_interrupted(at_least: float) -> None:
    """A checkpoint is asked before each set that is counted, so it ends within the time of one."""
    rows = np.random.default_rng(2).integers(0, 3, (500, 14))
    asked = []

    def stop(share: float | None) -> None:
        asked.append(share)
        if len(asked) == 3:
            raise InterruptedWorkError

    with pytest.raises(InterruptedWorkError):
        checked(find_quasi_identifiers, stop)(
            codes(sorted({tuple(row) for row in rows.tolist()})), at_least
        )
    assert len(asked) == 3
