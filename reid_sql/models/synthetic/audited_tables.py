"""An original, a synthetic table and a holdout as codes: distinct records, with how many each table has.

Attacks see codes alone. A code is 0 for NULL, else the rank of the value among those of all tables.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError
from reid_sql.interruption import checkpoint
from reid_sql.models.comparison.paired_records import number_columns
from reid_sql.parameters import Floats, Integers

Flags = npt.NDArray[np.bool_]
UNITS: Final = 4096  # the greatest distance of two values of one column
BLOCK: Final = 1 << 18  # distances at once, which stay in a processor's cache
MAX_SMALL_CODE: Final = 2**31 // UNITS - 3  # whose position fits 32 bits, with that of NULL below


@dataclass(frozen=True)
class AuditedTables:
    """The distinct records of three tables; without a holdout, `controls` are 0."""

    names: Sequence[str]  # (columns,)
    is_sensitive: Sequence[bool]  # (columns,), the others are the quasi-identifiers
    is_ordinal: Sequence[bool]  # (columns,), whether the order of the values has a meaning
    codes: Integers  # (columns, distinct records)
    originals: Integers  # (distinct records,), records of the original that have these values
    synthetics: Integers  # (distinct records,)
    controls: Integers  # (distinct records,)
    has_holdout: Sequence[bool]  # (1,)

    @property
    def is_judged(self) -> bool:
        """Whether there is a holdout."""
        return bool(self.has_holdout[0])

    def in_order(self) -> "AuditedTables":
        """The same in the order of the codes, which is the same from every engine; refuses an empty table."""
        for name, records in (
            ("original", self.originals),
            ("synthetic", self.synthetics),
            ("holdout", self.controls),
        ):
            if not np.sum(records) and (name != "holdout" or self.is_judged):
                raise NoRecordsError(
                    f"{name} must hold at least one record, got 0; pass a table with records"
                )
        codes = np.asarray(self.codes, dtype=np.int64)
        order = np.lexsort(codes[::-1])
        counts = (np.asarray(each)[order] for each in (self.originals, self.synthetics, self.controls))
        originals, synthetics, controls = counts
        return replace(
            self, codes=codes[:, order], originals=originals, synthetics=synthetics, controls=controls
        )

    def places(self, *, sensitive: bool) -> list[int]:
        """Places of the sensitive columns, or of the quasi-identifiers."""
        return [at for at, is_sensitive in enumerate(self.is_sensitive) if bool(is_sensitive) is sensitive]

    def classes_by(self, places: Sequence[int]) -> Integers:
        """Number the values that each distinct record has in some of the columns."""
        return number_columns(self.codes[list(places)])

    @cached_property
    def synthetic_medians(self) -> Integers:
        """The middle code of each column in the synthetic table, (columns,)."""
        order = np.argsort(self.codes, axis=1, kind="stable")
        ends = np.cumsum(self.synthetics[order], axis=1)
        middle = np.argmax(2 * ends >= ends[:, -1:], axis=1)
        columns = np.arange(len(order))
        medians: Integers = self.codes[columns, order[columns, middle]]
        return medians

    def synthetic_rows(self, draws: Floats) -> Integers:
        """Distinct records of the synthetic table at these shares, from 0 to 1, of its records."""
        ends = self._synthetic_ends
        rows: Integers = np.searchsorted(ends, np.floor(draws * ends[-1]), side="right")
        return rows

    @cached_property
    def _synthetic_ends(self) -> Integers:
        ends: Integers = np.cumsum(self.synthetics)
        return ends

    @cached_property
    def positions(self) -> Integers:
        """Values of each column on a line, such that the distance of two is their difference, at most UNITS.

        Those of numbers and dates are middle ranks among the records of all tables, so that a far-off value
        weighs no more than others (Gower's distance, over ranks). Any two others, and NULL and any value,
        are UNITS apart.
        """
        records = self.originals + self.synthetics + self.controls
        rows = [self._positions_of(at, records) for at in range(len(self.codes))]
        small = self.codes.max(initial=0) <= MAX_SMALL_CODE
        return np.array(rows).reshape(self.codes.shape).astype(np.int32 if small else np.int64)

    def _positions_of(self, place: int, records: Integers) -> Integers:
        codes = self.codes[place]
        if not self.is_ordinal[place]:
            return np.asarray(codes * UNITS)
        counts = np.bincount(codes, records)
        counts[0] = 0
        middle = np.cumsum(counts) - counts / 2
        ranks = np.rint(UNITS * middle / max(counts.sum(), 1)).astype(np.int64)
        ranks[0] = -2 * UNITS
        return np.asarray(ranks[codes])


@dataclass(frozen=True)
class People:
    """Records of the original and of the holdout that attacks are tried on."""

    rows: Integers  # (people,), the distinct record of each
    is_original: Flags  # (people,)

    @property
    def sizes(self) -> tuple[int, int]:
        """People of the original, and of the holdout."""
        originals = int(np.count_nonzero(self.is_original))
        return originals, len(self.rows) - originals

    def shares(self, successes: Floats) -> tuple[float, float | None]:
        """Mean success of an attack on people of the original, and of the holdout if there is one."""
        control = successes[~self.is_original]
        return float(successes[self.is_original].mean()), float(control.mean()) if len(control) else None


def draw_people(tables: AuditedTables, targets: int, rng: np.random.Generator) -> People:
    """Draw as many records of the original and of the holdout without replacement, or take all.

    >>> one = np.array([2, 0, 3])
    >>> tables = AuditedTables(["a"], [False], [False], np.array([[1, 2, 3]]), one, one, one[::-1], [True])
    >>> people = draw_people(tables, 9, np.random.default_rng(0))
    >>> people.rows.tolist(), people.is_original.tolist()
    ([0, 0, 2, 2, 2, 0, 0, 0, 2, 2], [True, True, True, True, True, False, False, False, False, False])
    """
    parts = []
    for counts in (tables.originals, tables.controls):
        everybody = np.repeat(np.arange(len(counts)), counts)
        if len(everybody) > targets:
            everybody = np.sort(rng.choice(everybody, targets, replace=False))
        parts.append(everybody)
    return People(np.concatenate(parts), np.repeat([True, False], [len(part) for part in parts]))


def measure_distances(
    people: Integers, others: Integers, shares: tuple[float, float] = (0.0, 1.0)
) -> Iterator[tuple[slice, Integers]]:
    """Distances of some people to others, by column, a block of people at a time: (columns, block, others).

    Both are positions, (columns, records). `shares` are those of the whole computation before and after.

    >>> blocks = measure_distances(np.array([[0, 4096], [9, 5]]), np.array([[4096], [8]]))
    >>> [distances.tolist() for _, distances in blocks]
    [[[[4096], [0]], [[1], [3]]]]
    """
    width = max(1, BLOCK // max(1, others.shape[1]))
    for start in range(0, people.shape[1], width):
        checkpoint(shares[0] + (shares[1] - shares[0]) * start / people.shape[1])
        block = slice(start, min(start + width, people.shape[1]))
        distances = np.empty((len(others), block.stop - start, others.shape[1]), dtype=others.dtype)
        for own, theirs, out in zip(people[:, block], others, distances, strict=True):
            np.subtract(own[:, None], theirs, out=out)
            np.abs(out, out=out)
            np.minimum(out, UNITS, out=out)
        yield block, distances
