"""Cell probabilities of records, and what a score rests on where a value is not in the sample.

There are two cases of such values. A new value of the same kind, such as an age that nobody in the sample
has, has a share: the model estimates it by neighbouring values, or by how many values the sample contains
once. A value unlike the sample's, such as a text among numbers or an age of 100,000, has none: nothing is
known of how many people have it. Its probability is 0, so that ξ and κ are 1, the safe side. The status of
the record reports both cases.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from reid_sql.models.classes.disclosure import OK, Integers
from reid_sql.models.numerics.rectangle import Estimates
from reid_sql.parameters import TextColumn

SEEN: Final = 0  # the sample contains the value
NEW: Final = 1  # it does not; its share is estimated
WITHOUT_SHARE: Final = 2  # nothing is known of its share
STATUS_NEW: Final = "value not in the sample: {}; its share is estimated"
STATUS_WITHOUT_SHARE: Final = "value unlike the sample's: {}; the record counts as unique"


@dataclass(frozen=True)
class RecordCells(Estimates):
    """Cell probabilities of records, the errors of their integration, and the status of each record."""

    status: TextColumn  # (records,)

    def taken(self, rows: Integers) -> Self:
        """Give the cells of these records alone."""
        return replace(
            self,
            probability=self.probability[rows],
            standard_error=self.standard_error[rows],
            status=self.status[rows],
        )


def describe_unseen(columns: Sequence[str], cases: Integers) -> TextColumn:
    """Status of each record by the case of each of its values, (records, columns).

    >>> describe_unseen(["age", "sex"], np.array([[SEEN, SEEN], [NEW, SEEN]])).tolist()
    ['ok', 'value not in the sample: age; its share is estimated']
    """
    patterns, place = np.unique(cases, axis=0, return_inverse=True)
    return np.array([_describe_pattern(columns, pattern) for pattern in patterns])[place.ravel()]


def _describe_pattern(columns: Sequence[str], pattern: Integers) -> str:
    """The sentence on the columns of the worst case of a record."""
    worst = int(pattern.max())
    if worst == SEEN:
        return OK
    names = ", ".join(column for column, case in zip(columns, pattern.tolist(), strict=True) if case == worst)
    return (STATUS_NEW if worst == NEW else STATUS_WITHOUT_SHARE).format(names)
