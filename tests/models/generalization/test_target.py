"""A target is predicted by leaving each record out, one by one, in plain Python; and misfits are counted."""

from collections import Counter
from itertools import combinations
from math import log2

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.generalization.lattice import DistinctRecords
from reid_sql.models.generalization.usefulness import information_bits, misfits, predict_target


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[int, ...]]:
    """Records: some columns, and the target as the last."""
    columns = draw(st.integers(1, 3))
    row = st.tuples(*(st.integers(0, 2) for _ in range(columns)), st.sampled_from([0, 0, 1, 2]))
    return draw(st.lists(row, min_size=2, max_size=40))


def distinct(rows: list[tuple[int, ...]]) -> tuple[DistinctRecords, np.ndarray]:
    counts = Counter(rows)
    codes = np.array(list(counts)).T
    return DistinctRecords(codes[:-1], np.array(list(counts.values()))), codes[-1]


def by_hand(rows: list[tuple[int, ...]], columns: tuple[int, ...]) -> tuple[float, float]:
    """Bits told and the share that is wrong: every record predicted from all the others of its cell."""
    whole = Counter(row[-1] for row in rows)
    share = {value: each / len(rows) for value, each in whole.items()}
    bits, wrong = 0.0, 0
    for at, row in enumerate(rows):
        others = [
            other[-1]
            for place, other in enumerate(rows)
            if place != at and all(other[c] == row[c] for c in columns)
        ]
        counts = Counter(others)
        score = {value: (counts[value] + share[value]) / (len(others) + 1) for value in whole}
        bits += log2(score[row[-1]] / share[row[-1]])
        wrong += any(score[value] >= score[row[-1]] - 1e-12 for value in whole if value != row[-1])
    return bits, wrong / len(rows)


@settings(max_examples=150, deadline=None)
@given(tables())
def test_each_record_is_predicted_from_the_others(rows: list[tuple[int, ...]]) -> None:
    found, values = distinct(rows)
    whole = np.bincount(values, found.counts).astype(float)
    every = range(len(found.codes))
    for size in range(1, len(found.codes) + 1):
        for columns in combinations(every, size):
            due, _ = by_hand(rows, columns)
            assert information_bits(found, values, columns, whole) == pytest.approx(due, abs=1e-9)
    made = predict_target(found, values)
    bits, error = by_hand(rows, made.columns)
    assert made.bits == pytest.approx(max(bits, 0.0), abs=1e-9)
    assert made.error == pytest.approx(error, abs=1e-9)
    for at in every:
        if at not in made.columns:  # no column beside would tell more
            assert by_hand(rows, (*made.columns, at))[0] <= made.bits + 1e-6
    assert made.bits >= max(by_hand(rows, (at,))[0] for at in every) - 1e-9


@settings(max_examples=50, deadline=None)
@given(tables(), st.integers(0, 5))
def test_misfits_are_those_of_another_value_than_most_of_their_class(
    rows: list[tuple[int, ...]], gone: int
) -> None:
    found, values = distinct(rows)
    classes, place = np.unique(found.codes, axis=1, return_inverse=True)
    wrong = gone
    for members in pl.DataFrame(rows, orient="row").partition_by(
        [f"column_{at}" for at in range(len(classes))]
    ):
        counts = Counter(members.to_series(-1))
        wrong += len(members) - max(counts.values())
    assert misfits(found, place.ravel(), values, gone) == pytest.approx(wrong / (len(rows) + gone))


def test_a_column_of_names_tells_nothing() -> None:
    """Each record alone in its cell: what it would tell of itself is no prediction."""
    names, ill = np.arange(100), np.arange(100) % 2
    made = predict_target(DistinctRecords(names[None], np.ones(100, dtype=np.int64)), ill)
    assert (made.columns, made.bits) == ((), 0.0)
    assert made.error >= 0.5


def test_records_that_are_gone_are_expected_to_be_as_most() -> None:
    sex, ill = np.array([[0, 1]]), np.array([0, 1])
    made = predict_target(DistinctRecords(sex, np.array([60, 20])), ill, 20, np.array([70.0, 30.0]))
    assert made.error == pytest.approx(20 * 0.3 / 100)
    everyone = np.array([70.0, 30.0])
    bits = -sum(each * log2(each / 100) for each in everyone)
    assert made.information == pytest.approx(made.bits / bits)
    assert made.information < 0.8
