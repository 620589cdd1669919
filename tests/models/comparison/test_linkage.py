"""The attack: shares of changes by counting, distances by a loop."""

import math
from collections import Counter
from statistics import fmean

import numpy as np
import pytest

from reid_sql.models.comparison.linkage import (
    BY_DISTANCE,
    BY_FREQUENCY,
    RECODED,
    UNCHANGED,
    Distances,
    Frequencies,
    classify_column,
)
from reid_sql.models.comparison.paired_records import PairedColumn


def column(pairs: list[tuple[str | None, str | None]]) -> PairedColumn:
    """The column of records of one pair each."""
    own, out = ([pair[side] for pair in pairs] for side in (0, 1))
    mine, theirs = ([value for value in dict.fromkeys(side) if value is not None] for side in (own, out))
    codes, others = (
        np.array([0 if value is None else 1 + values.index(value) for value in side])
        for side, values in ((own, mine), (out, theirs))
    )
    return PairedColumn("c", mine, theirs, codes, others, np.ones(len(pairs), dtype=np.int64))


@pytest.mark.parametrize(
    ("pairs", "kind"),
    [
        ([("3", "3.0"), (None, None)], UNCHANGED),
        ([("21", "20"), ("29", "20"), ("31", "30")], RECODED),
        ([("21", "20 to 29"), ("39", "30 to 39")], RECODED),
        ([("a", "x"), ("b", "x")], RECODED),
        ([("a", "x"), ("a", None)], BY_FREQUENCY),
        ([("1", "7"), ("2", "5"), ("3", "9")], BY_DISTANCE),
        ([("2001-01-01", "2001-01-03"), ("2001-01-02", "2001-01-01")], BY_DISTANCE),
        ([("1", "7"), ("2", "5")] * 5, RECODED),  # a code book: pairs that repeat identify nobody
        ([("1", "1"), ("1", "2"), ("2", "2")] * 5, BY_FREQUENCY),
    ],
)
def test_a_column_is_classified_by_what_its_values_became(
    pairs: list[tuple[str | None, str | None]], kind: str
) -> None:
    assert classify_column(column(pairs)).kind == kind


def test_changes_are_as_likely_as_they_are_frequent() -> None:
    pairs: list[tuple[str | None, str | None]] = [
        ("a", "x"),
        ("a", "x"),
        ("a", None),
        ("b", "x"),
        (None, "y"),
    ]
    made = column(pairs)
    own, out = [None, *made.original_values], [None, *made.released_values]
    found = Frequencies(made).scores(np.arange(len(own)), np.arange(len(out)))
    for i, mine in enumerate(own):
        for j, theirs in enumerate(out):
            share = Counter(pairs)[mine, theirs] / Counter(m for m, _ in pairs)[mine]
            assert found[i, j] == pytest.approx(math.log(share) if share else -math.inf)


def test_distances_are_weighed_as_two_normal_laws_would() -> None:
    pairs = [("1", "1.5"), ("2", "1.25"), ("4", "5"), ("8", "7"), (None, "3"), ("5", None)]
    made = column([*pairs])
    known = [(float(a), float(b)) for a, b in pairs if a and b]
    mean, shift = fmean(b for _, b in known), fmean(b - a for a, b in known)
    whole, noise = fmean((b - mean) ** 2 for _, b in known), fmean((b - a - shift) ** 2 for a, b in known)

    def density(x: float, middle: float, variance: float) -> float:
        return math.exp(-((x - middle) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)

    found = Distances(made).scores(np.arange(6), np.arange(6))
    for i, mine in enumerate([None, *made.original_values]):
        for j, theirs in enumerate([None, *made.released_values]):
            expected = 0.0
            if mine and theirs:
                x = float(theirs)
                expected = math.log(density(x, float(mine) + shift, noise) / density(x, mean, whole))
            assert found[i, j] == pytest.approx(expected)
