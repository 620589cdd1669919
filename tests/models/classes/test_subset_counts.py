"""Counts of every subset of columns against pairs of records compared by hand."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.partitions import DistinctRecords
from reid_sql.models.classes.subset_counts import count_subset_classes, count_subsets
from reid_sql.models.interruption import InterruptedWorkError, checked

Row = tuple[int, ...]
# records, classes, reidentifications, pairs, dropped, unique
Counted = tuple[int, int, float, int, int, int]


def draw(seed: int) -> tuple[list[Row], list[int]]:
    rng = np.random.default_rng(seed)
    height, width = int(rng.integers(1, 16)), int(rng.integers(1, 5))
    columns = [rng.integers(rng.integers(0, 2), rng.integers(2, 5), height) for _ in range(width)]
    if width > 2:  # a column that is another's, and one that two others determine
        columns[-1] = columns[0].copy()
    if width > 3:
        columns[-2] = columns[0] * 4 + columns[1]
    return [tuple(row) for row in np.stack(columns, 1).tolist()], rng.integers(
        0, 6, height
    ).tolist()


def alike(one: Row, other: Row, nulls: str) -> bool:
    """A blank record is nobody else's match, as a match on nothing tells nothing."""
    if nulls == "wildcard":
        if not any(other) and any(one):
            return False
        return all(a == b or not a or not b for a, b in zip(one, other, strict=True))
    return one == other


def count_records(rows: list[Row], nulls: str) -> Counted:
    remaining = [row for row in rows if nulls != "drop" or all(row)]
    pairs = sum(
        alike(one, other, nulls)
        for a, one in enumerate(remaining)
        for b, other in enumerate(remaining)
        if a != b
    )
    unique = sum(
        not any(alike(one, other, nulls) for b, other in enumerate(remaining) if a != b)
        for a, one in enumerate(remaining)
    )
    classes = len(set(remaining))
    return len(remaining), classes, float(classes), pairs, len(rows) - len(remaining), unique


def count_people(rows: list[Row], people: list[int], nulls: str) -> Counted:
    members: dict[Row, set[int]] = {}
    for row, person in zip(rows, people, strict=True):
        if nulls != "drop" or all(row):
            members.setdefault(row, set()).add(person)
    left = {person for each in members.values() for person in each}
    least = [min(len(each) for each in members.values() if person in each) for person in left]
    dropped = sum(nulls == "drop" and not all(row) for row in rows)
    pairs = sum(least) - len(least)
    return len(left), len(members), sum(1 / size for size in least), pairs, dropped, least.count(1)


@pytest.mark.parametrize(
    ("nulls", "counted_as"),
    [
        ("value", "records"),
        ("drop", "records"),
        ("wildcard", "records"),
        ("value", "people"),
        ("drop", "people"),
    ],
)
def test_every_subset_of_small_tables(nulls: str, counted_as: str) -> None:
    counts_people = counted_as == "people"
    for seed in range(400):
        rows, people = draw(seed)
        if counts_people:
            members = Counter(zip(rows, people, strict=True))
            codes = list(np.array([row for row, _ in members]).T)
            whose = np.array([person for _, person in members])
            table = DistinctRecords(codes, np.array(list(members.values())), whose)
        else:
            counts = Counter(rows)
            table = DistinctRecords(list(np.array(list(counts)).T), np.array(list(counts.values())))
        size = 1 + seed % len(rows[0])
        found = count_subset_classes(table, size, nulls)
        expected = [
            each for n in range(1, size + 1) for each in combinations(range(len(rows[0])), n)
        ]
        assert [tuple(each) for each in found.subsets()] == expected
        risks = (found.reidentifications, found.pairs, found.dropped, found.unique)
        figures = zip(found.records, found.classes, *risks, strict=True)
        for places, counted in zip(expected, figures, strict=True):
            part = [tuple(row[place] for place in places) for row in rows]
            by_hand = (
                count_people(part, people, nulls) if counts_people else count_records(part, nulls)
            )
            assert counted == pytest.approx(by_hand, rel=1e-12), (seed, places)


def test_pairs_beyond_64_bits_are_exact() -> None:
    many = 2**33
    table = DistinctRecords([np.array([1, 2]), np.array([1, 1])], np.array([many, 1]))
    found = count_subset_classes(table, 2, "value")
    assert found.pairs.tolist() == [many * (many - 1), (many + 1) * many, many * (many - 1)]


def test_an_empty_table_has_every_subset() -> None:
    empty = DistinctRecords([np.empty(0, np.int64)] * 3, np.empty(0, np.int64))
    found = count_subset_classes(empty, 2, "value")
    assert found.subsets() == [[0], [1], [2], [0, 1], [0, 2], [1, 2]]
    assert not found.records.any()


def test_ten_million_subsets_are_the_most() -> None:
    assert count_subsets(23, 23) == 2**23 - 1
    with pytest.raises(
        OutOfDomainError, match="must be at most 10000000, got 16777215; pass fewer"
    ):
        count_subsets(24, 24)


def test_the_count_can_be_interrupted_before_each_subset() -> None:
    table = DistinctRecords(
        list(np.random.default_rng(0).integers(0, 3, (12, 50))), np.ones(50, int)
    )
    asked = []

    def stop(share: float | None) -> None:
        asked.append(share)
        if len(asked) == 3:
            raise InterruptedWorkError

    with pytest.raises(InterruptedWorkError):
        checked(count_subset_classes, stop)(table, 12, "value")
    assert len(asked) == 3
