"""Criteria on the sensitive values of a class: by counts, in SQL and in Polars.

Each criterion is monotone: classes that meet it, merged, meet it. So the records that finer classes of a
class can retain are a part of it that meets the criterion, and the size of that part can be bounded.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil, log
from typing import Final

import numpy as np

from reid_sql.models.numerics.quantiles import ROUNDING_TOLERANCE
from reid_sql.parameters import Flags, Floats, Integers

# Columns that a query adds to those of the table, each for one sensitive column.
SIZE: Final = "reid_size"  # records of the class
VALUE_RECORDS: Final = "reid_value_records"  # those of them with the record's value
EVERYWHERE: Final = "reid_everywhere"  # records of the table with it
RECORDS: Final = "reid_records"  # records of the table


@dataclass(frozen=True)
class ValueCounts:
    """Records of each class with each sensitive value, for pairs that occur."""

    place: Integers  # (pairs,) the class
    value: Integers  # (pairs,)
    records: Integers  # (pairs,)
    sizes: Integers  # (classes,)

    @classmethod
    def count(
        cls, place: Integers, value: Integers, records: Integers, sizes: Integers
    ) -> "ValueCounts":
        """Add up the records of each class and value, from those of rows of a class and a value each."""
        width = int(value.max(initial=0)) + 1
        pairs, inverse = np.unique(place * width + value, return_inverse=True)
        counts = np.bincount(inverse.ravel(), records, len(pairs)).astype(np.int64)
        return cls(pairs // width, pairs % width, counts, sizes)

    def total(self, parts: Floats) -> Floats:
        """Add up over the values of each class."""
        return np.bincount(self.place, parts, len(self.sizes)).astype(np.float64)

    def shares(self, remaining: Flags) -> Floats:
        """Give the share of each value among the records of the classes that remain."""
        records = np.bincount(self.value, self.records * remaining[self.place])
        shares: Floats = records / max(records.sum(), 1.0)
        return shares


class Criterion(ABC):
    """A criterion on one sensitive column."""

    relative = False  # whether it compares the class with the table
    description: str  # of a class that breaks it, with the criterion's numbers in braces

    @property
    def label(self) -> str:
        """Description of a class that breaks it, before "of <column>"."""
        return self.description.format(**vars(self))

    @abstractmethod
    def is_met(self, counts: ValueCounts, shares: Floats) -> Flags:
        """Which classes meet it, where the table has these shares of the values."""

    @abstractmethod
    def max_records(self, counts: ValueCounts, shares: Floats, gone: float) -> Floats:
        """Bound the records that finer classes can retain, if this share of the table may be removed."""

    @abstractmethod
    def sql(self, part: str, number: int) -> str:
        """SQL over the window of the class, by the added columns of this number."""

    def polars(self, by: str, number: int) -> str:
        """Python source of a Polars expression within the class."""
        return f"pl.sql_expr({self.sql('', number).replace('  ', ' ')!r}).over({by})"


@dataclass(frozen=True)
class Distinct(Criterion):
    """At least so many values. Source: Machanavajjhala et al. 2007."""

    least: float
    description = "with fewer than {least:g} values"

    @property
    def _whole(self) -> int:
        return ceil(self.least * (1 - ROUNDING_TOLERANCE))

    def is_met(self, counts: ValueCounts, shares: Floats) -> Flags:  # noqa: ARG002 - as others
        """Which classes have so many values."""
        return np.bincount(counts.place, minlength=len(counts.sizes)) >= self._whole

    def max_records(self, counts: ValueCounts, shares: Floats, gone: float) -> Floats:  # noqa: ARG002 - as others
        """All or nothing: finer classes have no more values."""
        return np.where(self.is_met(counts, shares), counts.sizes, 0.0)

    def sql(self, part: str, number: int) -> str:
        """Count each value once: its records have equal parts of 1."""
        return f"sum(1.0 / {VALUE_RECORDS}_{number}) {part} > {self._whole - 0.5}"


@dataclass(frozen=True)
class Diverse(Criterion):
    """An entropy of at least that of so many equally frequent values. Source: Machanavajjhala et al. 2007."""

    least: float
    description = "with less entropy than {least:g} equally frequent values"

    def is_met(self, counts: ValueCounts, shares: Floats) -> Flags:  # noqa: ARG002 - as others
        """Which classes have such an entropy."""
        records = counts.records.astype(np.float64)
        entropy = (
            counts.total(records * np.log(counts.sizes[counts.place] / records)) / counts.sizes
        )
        return np.asarray(entropy >= log(self.least) - ROUNDING_TOLERANCE)

    def max_records(self, counts: ValueCounts, shares: Floats, gone: float) -> Floats:
        """Give nothing where even equal shares of the values would be too little."""
        return Distinct(self.least).max_records(counts, shares, gone)

    def sql(self, part: str, number: int) -> str:
        """Add up logarithms of shares."""
        surprisal = f"ln(CAST({SIZE} AS DOUBLE) / {VALUE_RECORDS}_{number})"
        return f"sum({surprisal} / {SIZE}) {part} >= {log(self.least) - ROUNDING_TOLERANCE!r}"


@dataclass(frozen=True)
class Close(Criterion):
    """Shares of values no farther than t from the table's. Source: Li, Li & Venkatasubramanian 2007.

    All values are equally far from each other, so that the distance is the total variation.
    """

    t: float
    relative = True
    description = "farther than {t:g} from the table by the values"

    def is_met(self, counts: ValueCounts, shares: Floats) -> Flags:
        """Which classes are close."""
        above = counts.records / counts.sizes[counts.place] - shares[counts.value]
        distance = counts.total(np.maximum(above, 0.0))
        return np.asarray(distance <= self.t * (1 + ROUNDING_TOLERANCE))

    def max_records(self, counts: ValueCounts, shares: Floats, gone: float) -> Floats:
        """Give the largest part of a class that is close; the table moves by no more than `gone`."""
        return _largest(counts, shares[counts.value], 1 - min(self.t + gone, 1.0))

    def sql(self, part: str, number: int) -> str:
        """Add up what values are more frequent than in the table; a value's records have equal parts."""
        share = f"CAST({VALUE_RECORDS}_{number} AS DOUBLE) / {SIZE}"
        above = f"{share} - CAST({EVERYWHERE}_{number} AS DOUBLE) / {RECORDS}"
        each = f"CASE WHEN {above} > 0 THEN ({above}) / {VALUE_RECORDS}_{number} ELSE 0 END"
        return f"sum({each}) {part} <= {self.t * (1 + ROUNDING_TOLERANCE)!r}"


@dataclass(frozen=True)
class Frequent(Criterion):
    """No value more frequent than alpha. Source: Wong et al. 2006."""

    alpha: float
    description = "with more than {alpha:.4g} of its records at one value"

    def is_met(self, counts: ValueCounts, shares: Floats) -> Flags:  # noqa: ARG002 - as others
        """Which classes have no such value."""
        over = counts.records > counts.sizes[counts.place] * self.alpha * (1 + ROUNDING_TOLERANCE)
        return np.asarray(counts.total(over.astype(np.float64)) == 0)

    def max_records(self, counts: ValueCounts, shares: Floats, gone: float) -> Floats:  # noqa: ARG002 - as others
        """Give the largest part of a class that has no such value."""
        return _largest(counts, np.full(len(counts.value), self.alpha), 1.0)

    def sql(self, part: str, number: int) -> str:
        """Look at the most frequent value."""
        share = f"CAST({VALUE_RECORDS}_{number} AS DOUBLE) / {SIZE}"
        return f"max({share}) {part} <= {self.alpha * (1 + ROUNDING_TOLERANCE)!r}"


def _largest(counts: ValueCounts, share: Floats, whole: float) -> Floats:
    """Give the largest m of each class with Σ min(records, m share) ≥ m whole, the sum over its values.

    It is the least of A/(whole − B) over the values in the order of records/share, A the records of those
    before and B the shares of those from there on, where the divisor is above 0.
    """
    ratio = counts.records / np.maximum(share, 1e-300)
    order = np.lexsort((ratio, counts.place))
    place, records, parts = counts.place[order], counts.records[order], share[order]
    starts = np.searchsorted(place, np.arange(len(counts.sizes)))
    below, cumulated = np.cumsum(records), np.cumsum(parts)
    before = below - (below[starts] - records[starts])[place]  # with the value itself
    rest = counts.total(share)[place] - (cumulated - (cumulated[starts] - parts[starts])[place])
    most = counts.sizes.astype(np.float64)
    none = counts.total(share) < whole - ROUNDING_TOLERANCE
    divisor = whole - rest
    limits = divisor > ROUNDING_TOLERANCE
    np.minimum.at(most, place[limits], before[limits] / divisor[limits])
    return np.where(none, 0.0, most)
