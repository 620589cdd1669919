"""Blank values in place of records: every class that stays is large enough, and no large one is touched."""

from math import log2

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.models.generalization.lattice import Entropy
from reid_sql.models.generalization.suppression import apply_suppression, suppress_cells
from tests.models.generalization.brute import Labels, form, lattice, nodes, tables

Drawn = tuple[pl.DataFrame, list[Labels]]


@given(st.data(), tables(records=60), st.integers(2, 6))
def test_classes_are_large_enough_with_blank_values(
    data: st.DataObject, drawn: Drawn, cut: int
) -> None:
    table, hierarchies = drawn
    node = data.draw(st.sampled_from(list(nodes(hierarchies))))
    made = lattice(table, hierarchies)
    found = made.records_at(node)
    rescued = suppress_cells(found, cut)
    rows: list[tuple[object, ...]] = []
    for at, count in enumerate(found.counts):
        large = int(count) >= cut
        assert not (large and (rescued.gone[at] or rescued.blank[:, at].any()))
        assert large or rescued.gone[at] or rescued.blank[:, at].any()
        row = tuple(
            "*" if lost[at] else int(codes[at])
            for lost, codes in zip(rescued.blank, found.codes, strict=True)
        )
        rows += [row] * (0 if rescued.gone[at] else int(count))
    sizes = sorted(rows.count(row) for row in set(rows))
    assert all(size >= cut for size in sizes)
    assert sorted(apply_suppression(found, rescued).counts.tolist()) == sizes


@given(st.data(), tables(records=60), st.integers(2, 6))
def test_no_single_column_would_rescue_what_goes(
    data: st.DataObject, drawn: Drawn, cut: int
) -> None:
    """What is left out is not alike with enough others that are left out, whichever column were blank."""
    table, hierarchies = drawn
    node = data.draw(st.sampled_from(list(nodes(hierarchies))))
    found = lattice(table, hierarchies).records_at(node)
    gone = suppress_cells(found, cut).gone
    for column in range(len(found.codes)):
        others: dict[tuple[int, ...], int] = {}
        for codes, count in zip(found.codes[:, gone].T, found.counts[gone], strict=True):
            key = tuple(int(code) for at, code in enumerate(codes) if at != column)
            others[key] = others.get(key, 0) + int(count)
        assert all(count < cut for count in others.values())


@given(st.data(), tables(records=60), st.integers(2, 6))
def test_a_blank_cell_loses_what_its_coarse_value_showed(
    data: st.DataObject, drawn: Drawn, cut: int
) -> None:
    table, hierarchies = drawn
    node = data.draw(st.sampled_from(list(nodes(hierarchies))))
    made = lattice(table, hierarchies)
    found, coarse = made.records_at(node), form(table, hierarchies, node)
    rescued = suppress_cells(found, cut)
    lost = rescued.blank | rescued.gone
    due = whole = 0.0
    for at, name in enumerate(table.columns):
        records = coarse[name].to_list()
        values = table[name].to_list()
        whole += sum(log2(len(table) / values.count(each)) for each in values)
        labels = sorted(set(hierarchies[at][node[at]]))
        for codes, count, gone in zip(found.codes[at], found.counts, lost[at], strict=True):
            due += gone * int(count) * log2(len(table) / records.count(labels[int(codes)]))
    assert Entropy(made).of_cells(node, found, lost) == pytest.approx(
        due / (whole or 1.0), abs=1e-12
    )
