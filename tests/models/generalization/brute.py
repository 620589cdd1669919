"""Tables with hierarchies, drawn; every form of them counted anew by Polars, as the search may not."""

from collections.abc import Iterator
from itertools import product
from math import log2

import numpy as np
import polars as pl
from hypothesis import strategies as st

from reid_sql.models.generalization.lattice import DistinctRecords, Lattice, LevelCodes, Node

Labels = list[list[int]]  # for each level, the label of each value


@st.composite
def labels(draw: st.DrawFn, most: int = 6) -> Labels:
    """A hierarchy over a few values: each level merges some labels of the one before, the last merges all."""
    values = draw(st.integers(2, most))
    level, found = list(range(values)), [list(range(values))]
    while len(set(level)) > 1 and draw(st.booleans()):
        first, second = draw(st.permutations(sorted(set(level))))[:2]
        level = [first if each == second else each for each in level]
        found.append(level)
    return found if len(set(level)) == 1 else [*found, [0] * values]


@st.composite
def tables(
    draw: st.DrawFn, columns: int = 3, records: int = 40
) -> tuple[pl.DataFrame, list[Labels]]:
    """A table of whole numbers, and a hierarchy for each column."""
    hierarchies = [draw(labels()) for _ in range(draw(st.integers(1, columns)))]
    row = st.tuples(*(st.integers(0, len(hierarchy[0]) - 1) for hierarchy in hierarchies))
    rows = draw(st.lists(row, min_size=1, max_size=records))
    return pl.DataFrame(
        rows, schema=[f"c{at}" for at in range(len(hierarchies))], orient="row"
    ), hierarchies


def lattice(table: pl.DataFrame, hierarchies: list[Labels]) -> Lattice:
    """The lattice as the search takes it."""
    distinct = table.group_by(table.columns, maintain_order=True).len()
    codes = distinct.select(table.columns).to_numpy().T.astype(np.int64)
    level_codes = []
    for name, hierarchy in zip(table.columns, hierarchies, strict=True):
        members = np.bincount(table[name].to_numpy(), minlength=len(hierarchy[0]))
        levels = [np.unique(level, return_inverse=True)[1].astype(np.int64) for level in hierarchy]
        level_codes.append(LevelCodes(tuple(levels), members.astype(np.int64)))
    return Lattice(level_codes, DistinctRecords(codes, distinct["len"].to_numpy().astype(np.int64)))


def form(table: pl.DataFrame, hierarchies: list[Labels], node: Node) -> pl.DataFrame:
    """The table at a node, value by value."""
    return table.with_columns(
        pl.Series(name, [hierarchy[level][value] for value in table[name]])
        for name, hierarchy, level in zip(table.columns, hierarchies, node, strict=True)
    )


def nodes(hierarchies: list[Labels]) -> Iterator[Node]:
    """Every node."""
    yield from product(*(range(len(hierarchy)) for hierarchy in hierarchies))


def entropy_loss(
    table: pl.DataFrame,
    coarse: pl.DataFrame,
    remaining: pl.Series,
    weights: dict[str, float] | None = None,
) -> float:
    """The definition, record by record and column by column."""
    lost = whole = 0.0
    for name in table.columns:
        weight = (weights or {}).get(name, 1.0)
        fine = table[name].value_counts().rows()
        rough = coarse[name].value_counts().rows()
        fines, roughs = dict(fine), dict(rough)
        for value, label, stays in zip(table[name], coarse[name], remaining, strict=True):
            everything = weight * log2(len(table) / fines[value])
            whole += everything
            lost += weight * log2(roughs[label] / fines[value]) if stays else everything
    return lost / whole if whole else 0.0


def sizes(coarse: pl.DataFrame) -> pl.Series:
    """The size of each record's class."""
    return coarse.select(pl.len().over(coarse.columns)).to_series()
