"""Cell probabilities of records, and what a score rests on where a value is not in the sample.

There are two cases of such values. A new value of the same kind, such as an age that nobody in the sample
has, has a share: the model estimates it by neighbouring values, or by how many values the sample contains
once. A value unlike the sample's, such as a text among numbers or an age of 100,000, has none: nothing is
known of how many people have it. Its probability is 0, so that ξ and κ are 1, the safe side. The status of
the record reports both cases.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from reid_sql.errors import TooFewRecordsError
from reid_sql.models.classes.disclosure import OK, Integers
from reid_sql.models.numerics.rectangle import Estimates
from reid_sql.parameters import TextColumn

SEEN: Final = 0  # the sample contains the value
NEW: Final = 1  # it does not; its share is estimated
WITHOUT_SHARE: Final = 2  # nothing is known of its share
STATUS_NEW: Final = "new_value: the sample has no such value of {}, so its share is estimated"
STATUS_WITHOUT_SHARE: Final = (
    "unknown_value: the value of {} is unlike the sample's, so the record counts as unique"
)
MIN_RECORDS: Final = 100  # of a sample, below which the share of a value is hardly known
STATUS_FEW_RECORDS: Final = "few_records: fewer than 100 records, so that risks may be far higher"
REFUSAL_ONE_RECORD: Final = (
    "the table must hold at least two records for a model, got 1, of which no share follows; "
    "pass a larger table"
)


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


def describe_records(columns: Sequence[str], cases: Integers, sample: int) -> TextColumn:
    """Status of each record by the case of each of its values, (records, columns), and the sample's size.

    >>> describe_records(["age", "sex"], np.array([[SEEN, SEEN], [NEW, SEEN]]), 100).tolist()
    ['ok', 'new_value: the sample has no such value of age, so its share is estimated']
    """
    patterns, place = np.unique(cases, axis=0, return_inverse=True)
    statuses = [
        join_status(*describe_few_records(sample), *_describe_pattern(columns, each)) for each in patterns
    ]
    return np.array(statuses)[place.ravel()]


def refuse_one_record(records: int) -> None:
    """Refuse a sample of one record: every value in it would be certain."""
    if records == 1:
        raise TooFewRecordsError(REFUSAL_ONE_RECORD)


def describe_few_records(records: int) -> list[str]:
    """What to report of a model whose sample is small."""
    return [STATUS_FEW_RECORDS] * (records < MIN_RECORDS)


def join_status(*parts: str) -> str:
    """Join what there is to report; ok if there is nothing.

    >>> join_status(), join_status("ok", "few records")
    ('ok', 'few records')
    """
    return "; ".join(part for part in parts if part != OK) or OK


def _describe_pattern(columns: Sequence[str], pattern: Integers) -> Iterator[str]:
    """Yield the sentence on the columns of the worst case of a record."""
    worst = int(pattern.max())
    if worst == SEEN:
        return
    names = ", ".join(column for column, case in zip(columns, pattern.tolist(), strict=True) if case == worst)
    yield (STATUS_NEW if worst == NEW else STATUS_WITHOUT_SHARE).format(names)
