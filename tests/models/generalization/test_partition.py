"""A partition by its definition: each class meets the requirement, each value is within its box."""

from collections import defaultdict
from math import log2

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.generalization.boxes import PartitionColumn
from reid_sql.models.generalization.criteria import Criterion
from reid_sql.models.generalization.lattice import DistinctRecords, LevelCodes
from reid_sql.models.generalization.partition import (
    MONDRIAN,
    STRATEGIES,
    ClassRequirement,
    Partition,
    divide,
)
from tests.models.generalization.brute import Labels, lattice, tables
from tests.models.generalization.test_rules import CRITERIA, holds

Drawn = tuple[pl.DataFrame, list[Labels]]
Box = tuple[str, int, int]  # "range" with both ends, or "level" with the level and its label
STRATEGY = st.sampled_from(STRATEGIES)


def columns_of(drawn: Drawn, ordered: list[bool]) -> list[PartitionColumn]:
    """The columns as a partition takes them; value 0 stands for NULL."""
    made = lattice(*drawn)
    return [
        PartitionColumn(codes, each) for codes, each in zip(made.level_codes, ordered, strict=True)
    ]


def rows_of(drawn: Drawn) -> DistinctRecords:
    made = lattice(*drawn)
    return made.records_at((0,) * len(made.shape))


def classes_of(drawn: Drawn, rows: DistinctRecords, made: Partition) -> list[int]:
    """The class of each record of the table."""
    known = {
        tuple(codes): int(place)
        for codes, place in zip(rows.codes.T.tolist(), made.place, strict=True)
    }
    return [known[row] for row in drawn[0].iter_rows()]


def members(drawn: Drawn, ordered: list[bool], made: Partition, column: int, at: int) -> set[int]:
    """The values that a class shows for a column, by the box alone."""
    hierarchy, box = drawn[1][column], made.boxes[column]
    low, high = int(box.low[at]), int(box.high[at])
    if ordered[column]:
        return set(range(len(hierarchy[0]))) if low == 0 < high else set(range(low, high + 1))
    level = np.unique(hierarchy[int(box.level[at])], return_inverse=True)[1]
    return {value for value, label in enumerate(level) if label == low}


@given(drawn=tables(), k=st.integers(1, 6), strategy=STRATEGY, data=st.data())
@settings(max_examples=300)
def test_every_class_is_large_enough_and_shows_its_records(
    drawn: Drawn, k: int, strategy: str, data: st.DataObject
) -> None:
    table, hierarchies = drawn
    ordered = [data.draw(st.booleans()) for _ in hierarchies]
    columns, rows = columns_of(drawn, ordered), rows_of(drawn)
    made = divide(columns, rows, ClassRequirement(k), strategy)
    if len(table) < k:
        assert made is None
        return
    assert made is not None
    classes = classes_of(drawn, rows, made)
    assert len(classes) == len(table) == made.sizes.sum()
    assert [classes.count(at) for at in range(len(made.sizes))] == made.sizes.tolist()
    assert min(made.sizes) >= k
    bits = [0.0 for _ in hierarchies]
    for record, at in zip(table.iter_rows(), classes, strict=True):
        for column, value in enumerate(record):
            shown = members(drawn, ordered, made, column, at)
            assert value in shown
            inside = sum(each in shown for each in table[:, column])
            bits[column] += log2(inside / table[:, column].to_list().count(value))
    assert made.bits.tolist() == pytest.approx(bits, abs=1e-9)


@given(drawn=tables(), k=st.integers(1, 6), strategy=STRATEGY)
@settings(max_examples=200)
def test_no_class_has_a_cut_left_with_both_parts_large_enough(
    drawn: Drawn, k: int, strategy: str
) -> None:
    table, hierarchies = drawn
    ordered = [True for _ in hierarchies]
    rows = rows_of(drawn)
    made = divide(columns_of(drawn, ordered), rows, ClassRequirement(k), strategy)
    if made is None:
        return
    by_class: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for record, at in zip(table.iter_rows(), classes_of(drawn, rows, made), strict=True):
        by_class[at].append(record)
    for records in by_class.values():
        for column in range(len(hierarchies)):
            values = [record[column] for record in records]
            for cut in set(values):
                below = sum(value <= cut for value in values)
                assert below < k or len(values) - below < k


@given(
    drawn=tables(columns=2, records=60),
    k=st.integers(1, 4),
    strategy=STRATEGY,
    criterion=st.sampled_from(CRITERIA),
    data=st.data(),
)
@settings(max_examples=300)
def test_every_class_meets_the_criterion(
    drawn: Drawn, k: int, strategy: str, criterion: Criterion, data: st.DataObject
) -> None:
    table, hierarchies = drawn
    ill = [data.draw(st.integers(0, 2)) for _ in range(len(table))]
    ordered = [data.draw(st.booleans()) for _ in hierarchies]
    wide = (
        table.with_columns(pl.Series("ill", ill))
        .group_by([*table.columns, "ill"], maintain_order=True)
        .len()
    )
    codes = wide.drop("len").to_numpy().T.astype(np.int64)
    rows = DistinctRecords(codes, wide["len"].to_numpy().astype(np.int64))
    shares = np.bincount(codes[-1], rows.counts) / len(table)
    made = divide(
        columns_of(drawn, ordered),
        rows,
        ClassRequirement(k, ((criterion, codes[-1], shares),)),
        strategy,
    )
    if made is None:
        assert len(table) < k or not holds(criterion, ill, ill)
        return
    by_class: dict[int, list[int]] = defaultdict(list)
    for place, value, count in zip(
        made.place.tolist(), codes[-1].tolist(), rows.counts.tolist(), strict=True
    ):
        by_class[place] += [value] * count
    assert sum(map(len, by_class.values())) == len(table)
    assert all(len(values) >= k and holds(criterion, values, ill) for values in by_class.values())


def test_a_median_cut_is_the_one_of_the_paper() -> None:
    """Ten ages with k = 3: the median cut, then the halves again; no part has fewer than three."""
    ages = LevelCodes((np.arange(11), np.zeros(11, dtype=np.int64)), np.array([0, *[1] * 10]))
    rows = DistinctRecords(np.arange(1, 11).reshape(1, -1), np.ones(10, dtype=np.int64))
    made = divide([PartitionColumn(ages, ordered=True)], rows, ClassRequirement(3), MONDRIAN)
    assert made is not None
    assert made.sizes.tolist() == [5, 5]


def test_rare_values_remain_together_by_the_greedy_strategy() -> None:
    """Two common values and three rare ones: alone, the rare ones would keep the column whole."""
    records = np.array([0, 6, 5, 1, 1, 1])
    levels = LevelCodes((np.arange(6), np.zeros(6, dtype=np.int64)), records)
    rows = DistinctRecords(np.arange(1, 6).reshape(1, -1), records[1:])
    column = PartitionColumn(levels, ordered=False)
    sizes = {}
    for strategy in STRATEGIES:
        made = divide([column], rows, ClassRequirement(3), strategy)
        assert made is not None
        sizes[strategy] = sorted(made.sizes.tolist())
    assert sizes == {"mondrian": [14], "greedy": [3, 5, 6]}
