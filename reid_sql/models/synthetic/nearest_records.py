"""Linkability and inference: what the synthetic records nearest to a person tell.

Source: Giomi, Boenisch, Wehmeyer & Tasnádi 2023, sections 4.2 and 4.3. Where several synthetic records are as
near, the attacker takes one of them at random; what is counted is the chance that it is right.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.interruption import checkpoint
from reid_sql.models.synthetic.attack_figures import (
    STATUS_ONE_COLUMN,
    AuditedAttack,
    judge_shares,
    unavailable,
)
from reid_sql.models.synthetic.audited_tables import Flags, OrderedTables, People
from reid_sql.parameters import Floats, Integers

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


LINKABILITY: Final = "linkability"
INFERENCE: Final = "inference"
SHARE: Final = "share"
TOLERANCE: Final = UNITS // 20  # of a number's rank among all records, within which an inferred one is right


def attack_by_nearest_records(
    tables: OrderedTables, people: People, shares: tuple[float, float]
) -> Iterator[AuditedAttack]:
    """Measure linkability of every other column with the rest, then the inference of each column."""
    columns = len(tables.names)
    if columns < 2:  # noqa: PLR2004 - something known, and something else
        yield unavailable(LINKABILITY, SHARE, STATUS_ONE_COLUMN)
        yield unavailable(INFERENCE, SHARE, STATUS_ONE_COLUMN, tables.names[0])
        return
    synthetic = np.flatnonzero(tables.synthetics)
    records = tables.synthetics[synthetic]
    distances = Distances(tables)
    links = np.zeros(len(people.rows))
    inferred = np.zeros((columns, len(people.rows)))
    for block, by_column in distances.by_column(people.rows, synthetic, shares):
        links[block] = _chance_of_link(by_column, records)
        total = by_column.sum(axis=0, dtype=by_column.dtype)
        for place, own in enumerate(by_column):
            inferred[place, block] = _chance_of_value(total - own, own <= TOLERANCE, records)
    baseline = 1 / int(records.sum())
    yield judge_shares(LINKABILITY, SHARE, people.shares(links), people.sizes, baseline=baseline)
    for place, name in enumerate(tables.names):
        guess = _chance_of_guess(distances, place, people.rows, synthetic, records)
        baseline = people.shares(guess)[0]
        shares_right = people.shares(inferred[place])
        yield judge_shares(INFERENCE, SHARE, shares_right, people.sizes, column=name, baseline=baseline)


def _chance_of_link(distances: Integers, records: Integers) -> Floats:
    """Chance that both halves of a person's columns lead to the same synthetic record, (block,).

    One of the records nearest by every other column, from the first, and one of those nearest by the rest:
    among a and b records, of which c are the same, they are one record with chance c / (a b).
    """
    near = []
    for half in (distances[::2], distances[1::2]):
        total = half.sum(axis=0, dtype=half.dtype)
        near.append(total == total.min(axis=1)[:, None])
    both, one, other = (flags @ records.astype(np.float64) for flags in (near[0] & near[1], *near))
    return np.asarray(both / (one * other))


def _chance_of_value(distances: Integers, is_right: Flags, records: Integers) -> Floats:
    """Chance that one of the nearest synthetic records has the person's value, (block,)."""
    # numpy searches a flat array several times as fast.
    pairs = np.flatnonzero(distances == distances.min(axis=1)[:, None])
    people, nearest = np.divmod(pairs, distances.shape[1])
    whole = np.bincount(people, records[nearest], len(distances))
    right = np.bincount(people, records[nearest] * is_right[people, nearest], len(distances))
    return np.asarray(right / whole)


def _chance_of_guess(
    distances: Distances, place: int, rows: Integers, synthetic: Integers, records: Integers
) -> Floats:
    """Chance that a synthetic record drawn at random has a person's value of one column, (rows,)."""
    values = distances.values[place].astype(np.int64)
    near = TOLERANCE if distances.is_ordinal[place] else 0
    order = np.argsort(values[synthetic], kind="stable")
    in_order, below = values[synthetic][order], np.r_[0, np.cumsum(records[order])]
    first = np.searchsorted(in_order, values[rows] - near, side="left")
    last = np.searchsorted(in_order, values[rows] + near, side="right")
    return np.asarray((below[last] - below[first]) / below[-1])
