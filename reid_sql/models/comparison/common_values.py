"""Whether two tables write their values alike: who compares values sees no copy that is written otherwise.

A copy in capitals, with a space after each text, or in other units has no value of its original, and seems to
copy nobody. People who were not used show how many values two tables of such people have in common. Of keys,
and of values of people who are in both tables, half must be common: an identifier that one table writes
otherwise makes everybody a stranger.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.comparison.linkage import newcombe_interval
from reid_sql.parameters import Integers

Flags = npt.NDArray[np.bool_]
MIN_OF_CONTROL: Final = 0.9  # of the share of known values that the control has, below which few are
MIN_COMMON_SHARE: Final = 0.5  # of what both tables could have in common, below which little is compared
MIN_PEOPLE_COMPARED: Final = 20  # with fewer, sensitive values may differ by chance in each class
STATUS_FEW_COMMON: Final = "few_comparable: fewer than half of the {} are in both tables"
STATUS_NONE_COMMON: Final = "not_comparable: no {} of one table is in the other"
STATUS_FEW_WRITTEN: Final = (
    "few_comparable: values of '{}' in {} differ from original's by capitals, spaces or accents alone"
)
STATUS_NOT_COMPARABLE: Final = "not_comparable: no value of '{}' in {} is in original, so copies are not seen"
STATUS_FEW_COMPARABLE: Final = "few_comparable: too few values of '{}' in {} are in original to see copies"


def judge_common(one: str, several: str, common: float, possible: float, least: int = 1) -> str:
    """Return why little can be compared if few of what could be in both tables is there, else nothing.

    >>> judge_common("key", "keys", 2, 5), judge_common("key", "keys", 3, 5)
    ('few_comparable: fewer than half of the keys are in both tables', '')
    """
    if possible < least or common >= MIN_COMMON_SHARE * possible:
        return ""
    return STATUS_FEW_COMMON.format(several) if common else STATUS_NONE_COMMON.format(one)


@dataclass(frozen=True)
class ColumnCounts:
    """How many records, or people, of each table have each value of a column; value 0 is NULL."""

    original: Integers  # (values,), in order
    other: Integers  # (values,)
    control: Integers | None  # (values,), of people of the same kind as the original's
    is_ordinal: bool
    written: int = (
        0  # records of the other table whose value differs from one of the original in writing alone
    )
    control_written: int = 0  # the same of the control

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

    def has_other_writing(self) -> bool:
        """Whether clearly more values differ in writing alone than do of people of the same kind."""
        controls = 0 if self.control is None else int(self.control.sum())
        records = max(1, int(self.other.sum())), max(1, controls, int(self.original.sum()) * (not controls))
        shares = self.written / records[0], self.control_written / records[1]
        low, _ = newcombe_interval((shares[0], records[0]), (shares[1], records[1]))
        return low > 0

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
