"""Folding distinct records gives what counting every record gives."""

from collections import Counter
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.generalization import lattice as lattices
from reid_sql.models.generalization.lattice import DistinctRecords, Lattice, LevelCodes, Node
from tests.models.generalization.brute import Labels, form, lattice, nodes, sizes, tables


@settings(max_examples=100, deadline=None)
@given(tables(), st.randoms())
def test_every_form_has_the_classes_of_the_table(
    drawn: tuple[pl.DataFrame, list[Labels]], order: Random
) -> None:
    table, hierarchies = drawn
    found, every = lattice(table, hierarchies), list(nodes(hierarchies))
    order.shuffle(every)  # whatever was counted before
    for node in every:
        coarse = form(table, hierarchies, node)
        due = Counter(coarse.group_by(coarse.columns).len()["len"])
        assert Counter(found.class_sizes_at(node).tolist()) == due
        assert Counter(found.records_at(node).counts.tolist()) == due


@settings(max_examples=50, deadline=None)
@given(tables())
def test_many_codes_are_sorted_rather_than_counted(
    drawn: tuple[pl.DataFrame, list[Labels]],
) -> None:
    """The same where keys are too many for an array, and where they are too many for one number."""
    table, hierarchies = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattices, "MAX_DENSE_KEYS", 0)
        patch.setattr(lattices, "MAX_KEY", 40)
        found = lattice(table, hierarchies)
        for node in nodes(hierarchies):
            due = Counter(sizes(form(table, hierarchies, node)))
            for repeated in (0, 2, 2**60):  # rows are sorted by their place, or records are
                patch.setattr(lattices, "MAX_REPEATED", repeated)
                counts = found.class_sizes_at(node)
                assert Counter(np.repeat(counts, counts).tolist()) == due
                size, classes = lattices.count_sizes(counts)
                assert dict(zip(size.tolist(), classes.tolist(), strict=True)) == Counter(
                    counts.tolist()
                )
            counts = found.records_at(node).counts
            assert Counter(np.repeat(counts, counts).tolist()) == due


def test_forgotten_forms_are_counted_again() -> None:
    codes = (np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64))
    sizes = np.array([1, 2, 3, 4])
    made = Lattice([LevelCodes(codes, sizes)], DistinctRecords(np.arange(4)[None], sizes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattices, "MAX_CACHED_FORMS", 1)
        for node in [(1,), (2,), (1,), (0,)] * 2:
            due: dict[Node, list[int]] = {(0,): [1, 2, 3, 4], (1,): [3, 7], (2,): [10]}
            assert made.records_at(node).counts.tolist() == due[node]
