"""Distances between records: Gower's over ranks, in small numbers that stay in a processor's cache."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.interruption import checkpoint
from reid_sql.models.synthetic.audited_tables import OrderedTables
from reid_sql.parameters import Integers

UNITS: Final = 4096  # the greatest distance of two values of one column
BLOCK: Final = 1 << 18  # distances at once
MAX_SHORT_SUMS: Final = (2**16 - 2) // UNITS  # columns whose distances add up to 16 bits, and one is left
MISSING: Final = -2 * UNITS  # the position of NULL, farther than UNITS from any number

Block = tuple[slice, npt.NDArray[Any]]


class Distances:
    """Distances between distinct records of audited tables.

    That of two numbers or dates is the difference of their middle ranks among the records of all tables, so
    that a far-off value weighs no more than others. Any two other values, and NULL and any value, are UNITS
    apart.
    """

    def __init__(self, tables: OrderedTables) -> None:
        records = tables.originals + tables.synthetics + tables.controls
        self.values: list[npt.NDArray[Any]] = []
        for codes, is_ordinal in zip(tables.codes, tables.is_ordinal, strict=True):
            short = np.min_scalar_type(int(codes.max(initial=0)))
            self.values.append(rank_positions(codes, records) if is_ordinal else codes.astype(short))
        self.is_ordinal = tables.is_ordinal
        self.sums = np.uint16 if len(self.values) <= MAX_SHORT_SUMS else np.uint32

    def by_column(self, own: Integers, others: Integers, shares: tuple[float, float]) -> Iterator[Block]:
        """Distances of some distinct records to others, a block of them at a time: (columns, block, others).

        `shares` are those of the whole computation before and after.
        """
        for block, mine, theirs in self._blocks(own, others, shares):
            shape = len(theirs), block.stop - block.start, len(others)
            distances = np.empty(shape, dtype=self.sums)
            for place, out in enumerate(distances):
                self._fill(place, mine[place], theirs[place], out)
            yield block, distances

    def total(self, own: Integers, others: Integers, shares: tuple[float, float]) -> Iterator[Block]:
        """The sums of the distances over the columns, (block, others)."""
        for block, mine, theirs in self._blocks(own, others, shares):
            total = np.zeros((block.stop - block.start, len(others)), dtype=self.sums)
            one = np.empty_like(total)
            for place in range(len(theirs)):
                self._fill(place, mine[place], theirs[place], one)
                total += one
            yield block, total

    def _blocks(
        self, own: Integers, others: Integers, shares: tuple[float, float]
    ) -> Iterator[tuple[slice, list[npt.NDArray[Any]], list[npt.NDArray[Any]]]]:
        theirs = [values[others] for values in self.values]
        width = max(1, BLOCK // max(1, len(others)))
        for start in range(0, len(own), width):
            checkpoint(shares[0] + (shares[1] - shares[0]) * start / len(own))
            block = slice(start, min(start + width, len(own)))
            yield block, [values[own[block]] for values in self.values], theirs

    def _fill(
        self, place: int, own: npt.NDArray[Any], others: npt.NDArray[Any], out: npt.NDArray[Any]
    ) -> None:
        """Write the distances of one column."""
        if not self.is_ordinal[place]:
            np.multiply(own[:, None] != others, self.sums(UNITS), out=out)
            return
        away = own[:, None] - others
        np.abs(away, out=away)
        np.minimum(away, UNITS, out=away)
        out[...] = away


def rank_positions(codes: Integers, records: Integers) -> npt.NDArray[np.int16]:
    """Middle ranks of the values among the records, from 0 to UNITS; MISSING of NULL.

    >>> rank_positions(np.array([0, 1, 2]), np.array([9, 1, 1])).tolist()
    [-8192, 1024, 3072]
    """
    counts = np.bincount(codes, records)
    counts[0] = 0
    middle = np.cumsum(counts) - counts / 2
    ranks = np.rint(UNITS * middle / max(counts.sum(), 1)).astype(np.int16)
    ranks[0] = MISSING
    return np.asarray(ranks[codes])
