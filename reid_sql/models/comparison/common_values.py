"""Whether two tables write their values alike: who compares values sees no copy that is written otherwise.

A copy in capitals, with a space after each text, or in other units has no value of its original, and seems to
copy nobody. People who were not used show how many values two tables of such people have in common.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.comparison.linkage import newcombe_interval
from reid_sql.parameters import Integers

Flags = npt.NDArray[np.bool_]
MIN_OF_CONTROL: Final = 0.9  # of the share of known values that the control has, below which few are
STATUS_NOT_COMPARABLE: Final = "not_comparable: no value of '{}' in {} is in original, so copies are not seen"
STATUS_FEW_COMPARABLE: Final = "few_comparable: too few values of '{}' in {} are in original to see copies"


@dataclass(frozen=True)
class ColumnCounts:
    """How many records, or people, of each table have each value of a column; value 0 is NULL."""

    original: Integers  # (values,), in order
    other: Integers  # (values,)
    control: Integers | None  # (values,), of people of the same kind as the original's
    is_ordinal: bool

    @property
    def is_known(self) -> Flags:
        """Whether the original has each value; of numbers and dates, whether they are in its range."""
        if not self.is_ordinal:
            return self.original > 0
        known = np.zeros(len(self.original), dtype=np.bool_)
        present = np.flatnonzero(self.original[1:]) + 1
        if len(present):
            known[present[0] : present[-1] + 1] = True
        known[0] = self.original[0] > 0
        return known

    def has_no_value(self) -> bool:
        """Whether the original has no value that the other table has."""
        return bool(self.other.sum()) and not self.other[self.is_known].sum()

    def has_few_values(self) -> bool:
        """Whether the other table has clearly fewer known values than people of the same kind have."""
        known, expected = _share(self.other, self.is_known), self._expect()
        records = max(1, int(self.other.sum())), max(1, int(self._of_control().sum()))
        low, _ = newcombe_interval((expected, records[1]), (known, records[0]))
        return low > 0 and known < MIN_OF_CONTROL * expected

    def _of_control(self) -> Integers:
        return self.original if self.control is None else self.control

    def _expect(self) -> float:
        """The share of known values in the control; without one, of records in the rest of the original."""
        if self.control is not None and self.control[self.is_known].sum():
            return _share(self.control, self.is_known)
        return _share(self.original, self.original > 1)


def _share(records: Integers, flags: Flags) -> float:
    whole = float(records.sum())
    return float(records[flags].sum()) / whole if whole else 0.0
