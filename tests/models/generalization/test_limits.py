"""Limits of columns: the least loss of the nodes within them, and classes within one value of a level."""

from math import inf, isclose

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.generalization.boxes import PartitionColumn, keep_range, limit_column
from reid_sql.models.generalization.lattice import LOSS_LABELS, Lattice, make_loss
from reid_sql.models.generalization.partition import STRATEGIES, ClassRequirement, divide
from reid_sql.models.generalization.search import Search
from reid_sql.models.generalization.suppression import suppress_cells
from tests.models.generalization.brute import lattice, tables
from tests.models.generalization.test_partition import Drawn, classes_of, members, rows_of
from tests.models.generalization.test_search import exhaustive, requirements


def drawn_limits(data: st.DataObject, drawn: Drawn) -> list[int]:
    return [data.draw(st.integers(0, len(hierarchy) - 1)) for hierarchy in drawn[1]]


@settings(max_examples=80, deadline=None)
@given(st.data(), tables(), st.sampled_from(list(LOSS_LABELS)))
def test_the_search_finds_the_least_loss_within_the_limits(
    data: st.DataObject, drawn: Drawn, word: str
) -> None:
    asked, limits, whole = (
        data.draw(requirements(len(drawn[0]))),
        drawn_limits(data, drawn),
        lattice(*drawn),
    )
    bottom = whole.records_at((0,) * len(limits))
    limited = Lattice(whole.level_codes, bottom, limits=limits)
    found = Search(limited, asked, make_loss(word, limited)).run()
    known = {
        node: loss
        for node, loss in exhaustive(word, drawn, asked).items()
        if all(level <= limit for level, limit in zip(node, limits, strict=True))
    }
    least = min(known.values(), default=inf)
    assert found.optimal
    assert isclose(inf if found.best is None else found.best.loss, least, abs_tol=1e-9)


@settings(max_examples=150, deadline=None)
@given(st.data(), tables(), st.integers(1, 5), st.sampled_from(STRATEGIES))
def test_each_class_is_within_the_limits_or_no_partition_is(
    data: st.DataObject, drawn: Drawn, k: int, strategy: str
) -> None:
    table, hierarchies = drawn
    limits, ordered = drawn_limits(data, drawn), [data.draw(st.booleans()) for _ in hierarchies]
    columns = [
        PartitionColumn(codes, each, limits=limit_column(codes, limit))
        for codes, each, limit in zip(lattice(*drawn).level_codes, ordered, limits, strict=True)
    ]
    rows = rows_of(drawn)
    made = divide(columns, rows, ClassRequirement(k), strategy)
    cells: dict[tuple[int, ...], int] = {}
    for row in table.iter_rows():
        key = tuple(
            hierarchy[limit][value]
            for hierarchy, limit, value in zip(hierarchies, limits, row, strict=True)
        )
        cells[key] = cells.get(key, 0) + 1
    if min(cells.values()) < k:
        assert made is None
        return
    assert made is not None
    assert int(made.sizes.min()) >= k
    assert len(classes_of(drawn, rows, made)) == len(table)
    for at, (hierarchy, limit) in enumerate(zip(hierarchies, limits, strict=True)):
        for place in range(len(made.sizes)):
            shown = {
                value
                for value in members(drawn, ordered, made, at, place)
                if value in set(table[f"c{at}"])
            }
            assert (
                limit == len(hierarchy) - 1
                or len({hierarchy[limit][value] for value in shown}) == 1
            )


@settings(max_examples=100, deadline=None)
@given(tables(columns=2), st.integers(1, 4), st.sampled_from(STRATEGIES))
def test_a_range_that_is_never_left_out_lacks_some_value(
    drawn: Drawn, k: int, strategy: str
) -> None:
    columns = [
        PartitionColumn(codes, ordered=True, limits=keep_range(codes))
        for codes in lattice(*drawn).level_codes
    ]
    made = divide(columns, rows_of(drawn), ClassRequirement(k), strategy)
    if made is None:
        return
    assert int(made.sizes.min()) >= k
    for at, name in enumerate(drawn[0].columns):
        present = set(drawn[0][name])
        for place in range(len(made.sizes)):
            low, high = int(made.boxes[at].low[place]), int(made.boxes[at].high[place])
            assert low > 0 or high == 0
            assert len(present) == 1 or not present <= set(range(low, high + 1))


def test_no_cell_of_a_protected_column_is_blank() -> None:
    rng = np.random.default_rng(5)
    whole = lattice(*tables_of(rng))
    classes = whole.records_at((0, 0, 0))
    made = suppress_cells(classes, 3, protected=(1,))
    assert not made.blank[1].any()
    assert made.blank.any()
    assert not suppress_cells(classes, 3, protected=(0, 1, 2)).blank.any()


def tables_of(rng: np.random.Generator) -> Drawn:
    table = pl.DataFrame({f"c{at}": rng.integers(0, 4, 60) for at in range(3)})
    return table, [[[0, 1, 2, 3], [0, 0, 0, 0]]] * 3
