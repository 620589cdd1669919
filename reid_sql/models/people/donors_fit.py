"""How far records resemble donors in each column: (a, b) by EM of the leave-one-out likelihood.

Values that many records share are worked on once. Source: Li & Racine 2003.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.marginals.column import Column
from reid_sql.models.people.donors import BLOCK, Donors, log_counts
from reid_sql.models.people.likeness import Likeness, likeness
from reid_sql.parameters import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST: Final = 1000  # donors
QUERIES: Final = 600  # records whose likelihood EM climbs
ROUNDS: Final = 15
START: Final = (0.5, 0.2)  # a, b
LEAST: Final = 1e-4
MOST_KEPT: Final = 0.999  # a + b


def fit_donors(columns: Sequence[Column], codes: Integers) -> Donors:
    """Fit (a, b) to records of codes: those of them that are distinct are the donors."""
    distinct, count = np.unique(codes, axis=0, return_counts=True)
    kept = np.full(len(columns), START[0])
    near = np.array([START[1] if column.kernel is not None else 0.0 for column in columns])
    start = Donors(tuple(columns), distinct, count.astype(np.float64), kept, near)
    if count.sum() < 2:  # noqa: PLR2004  # nobody to resemble
        return start
    return _climbed(start, np.linspace(0, len(distinct) - 1, min(QUERIES, len(distinct))).astype(np.int64))


@dataclass(frozen=True)
class Values:
    """The values of a column that records have: how like each donor they are, and who has which."""

    alike: Likeness
    places: Integers  # (records,), of values
    adding: "csr_array"  # (values, records), 1 where the record has the value


def values_of(column: Column, codes: Integers, donors: Integers) -> Values:
    """Values of one column of records, each of which is itself a donor."""
    from scipy import sparse  # noqa: PLC0415 - as numerics/search says

    checkpoint()
    values, places = np.unique(codes, return_inverse=True)
    adding = sparse.csr_array((np.ones(len(codes)), (places, np.arange(len(codes)))))
    return Values(likeness(column, values, donors, column.log_left_out), places, adding)


def _climbed(start: Donors, queries: Integers) -> Donors:
    codes, count = start.codes[queries], start.count[queries]
    parts = [values_of(column, codes[:, j], start.codes[:, j]) for j, column in enumerate(start.columns)]
    others = log_counts(start.count, len(queries), queries)
    kept, near = start.kept, start.near
    for _ in range(ROUNDS):
        kept, near = _round(parts, others, count, kept, near)
    return Donors(start.columns, start.codes, start.count, kept, near)


def _round(
    parts: Sequence[Values], others: Floats, count: Floats, kept: Floats, near: Floats
) -> tuple[Floats, Floats]:
    """One round of EM: who may have given the record, and what of it was kept or taken from near by."""
    giver = _givers(parts, others, count, kept, near)
    whole = float(giver.sum())
    new_kept, new_near = kept.copy(), near.copy()
    for j, part in enumerate(parts):
        checkpoint()
        giving = (part.adding @ giver) / part.alike.mixed(kept[j], near[j])
        new_kept[j] = (kept[j] * float((giving[part.alike.own] * part.alike.rarity).sum()) + 0.5) / (
            whole + 1.5
        )
        if part.alike.near is not None:
            new_near[j] = (near[j] * _product(giving, part.alike.near) + 0.5) / (whole + 1.5)
    return _bounded(new_kept, new_near, [part.alike.near is not None for part in parts])


def _givers(parts: Sequence[Values], others: Floats, count: Floats, kept: Floats, near: Floats) -> Floats:
    """How many of the alike records each donor may have given: (records, donors), rows add up to counts."""
    found = others.copy()
    for j, part in enumerate(parts):
        checkpoint()
        log = np.log(part.alike.mixed(kept[j], near[j]))
        for rows in _blocks(found):
            found[rows] += log[part.places[rows]]
    for rows in _blocks(found):
        terms = found[rows]
        terms -= terms.max(axis=1, keepdims=True)
        np.exp(terms, out=terms)
        terms *= (count[rows] / terms.sum(axis=1))[:, None]
    return found


def _blocks(terms: Floats) -> Iterator[slice]:
    """Rows that stay in a cache."""
    step = max(BLOCK // terms.shape[1], 1)
    return (slice(start, start + step) for start in range(0, len(terms), step))


def _product(left: Floats, right: Floats) -> float:
    """Sum of the products: row by row, as BLAS keeps other threads busy between calls that are as short."""
    return float(np.einsum("ij,ij->i", left, right).sum())


def _bounded(kept: Floats, near: Floats, ordered: list[bool]) -> tuple[Floats, Floats]:
    kept = np.maximum(kept, LEAST)
    near = np.where(ordered, np.maximum(near, LEAST), 0.0)
    scale = np.minimum(1.0, MOST_KEPT / (kept + near))
    return kept * scale, near * scale
