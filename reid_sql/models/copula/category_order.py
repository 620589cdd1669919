"""An order from the data for columns that have none: values that go with the same values lie together.

The same values are those of the other columns. Source: reciprocal averaging, the first axis of multiple
correspondence analysis (Hirschfeld 1935; Greenacre 2017); the correlation of ordered categories by maximum
likelihood (Olsson 1979).
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.copula.association import normal_table
from reid_sql.models.numerics import scipy_functions
from reid_sql.models.numerics.scipy_functions import xlogy
from reid_sql.parameters import Floats

ROUNDS: Final = 60
STRONGEST: Final = 0.99
LEAST: Final = 1e-12
PairTables = Mapping[tuple[int, int], tuple[Integers, Integers, Floats]]


def category_orders(shares: Sequence[Floats], pairs: PairTables, fixed: Sequence[bool]) -> list[Integers]:
    """Places of each column's values in order; `fixed` columns keep theirs, and pull the others.

    `pairs` are, for two columns by number, the codes of the pairs of values that occur, and their numbers of
    records.
    """
    rng = np.random.default_rng(0)
    scores = [
        np.arange(float(len(p))) if kept else rng.normal(size=len(p))
        for p, kept in zip(shares, fixed, strict=True)
    ]
    scores = [_standardised(own, p) for own, p in zip(scores, shares, strict=True)]
    for _ in range(ROUNDS):
        scores = [own if fixed[c] else _pulled(c, scores, shares, pairs) for c, own in enumerate(scores)]
    return [
        np.arange(len(own)) if kept else np.argsort(own, kind="stable")
        for own, kept in zip(scores, fixed, strict=True)
    ]


def _pulled(column: int, scores: Sequence[Floats], shares: Sequence[Floats], pairs: PairTables) -> Floats:
    """Scores of a column's values from those they go with, each column by how well it agrees."""
    checkpoint()
    found = scores[column].copy()
    count = len(found)
    for (one, other), (first, second, weight) in pairs.items():
        if column not in (one, other):
            continue
        own, others, scored = (
            (first, second, scores[other]) if column == one else (second, first, scores[one])
        )
        held = np.maximum(np.bincount(own, weight, count), LEAST)
        mean = np.bincount(own, weight * scored[others], count) / held
        found += mean * float((shares[column] * mean) @ scores[column])
    return _standardised(found, shares[column])


def _standardised(scores: Floats, shares: Floats) -> Floats:
    centred: Floats = scores - scores @ shares
    spread = float(np.sqrt(centred**2 @ shares))
    return centred / spread if spread > 0 else centred


def likeliest_correlation(first: Floats, second: Floats, pairs: tuple[Integers, Integers, Floats]) -> float:
    """Correlation under which the table of two ordered columns, of these shares, is likeliest.

    >>> halves = np.array([0.5, 0.5])
    >>> table = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([2.0, 1, 1, 2])
    >>> round(likeliest_correlation(halves, halves, table), 2)
    0.5
    """
    one, other, weight = pairs

    def unlikely(correlation: float) -> float:
        table = np.maximum(normal_table(first, second, correlation), LEAST)
        return -float(xlogy(weight, table[one, other]).sum())

    return scipy_functions.minimize(unlikely, -STRONGEST, STRONGEST, xatol=1e-4)
