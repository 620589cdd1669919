"""What became of each column in a release."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.comparison.comparison import ColumnChanges, column_changes
from reid_sql.models.comparison.paired_records import PairedRecords
from reid_sql.reductions.comparison import PAIRED_RECORDS


@table_function(
    "original, released, qi, key",
    answer=Answer.ROWS,
    reduction=PAIRED_RECORDS,
    question=Question.RELEASES,
    source="Shannon 1948 (entropy); de Waal & Willenborg 1999; Rubner, Tomasi & Guibas 2000 (earth mover's)",
)
def compare_columns(paired: PairedRecords) -> list[ColumnChanges]:
    """Measure what changed in each column of a release: cells changed, cells suppressed, information lost.

    The answer has one row for each column in `qi`, which may name any columns of both tables. `key` is a
    column of both that matches each released record to its original; without it, changes are NULL.
    `information_loss` is H(original | released) / H(original): 0 if the released value determines the
    original one, 1 if it has no information about it. `understood` is how the attack of compare reads the
    column: unchanged; recoded, each value to one other; by frequency, where values became several others,
    such as NULL; by distance, where numbers were disturbed. One row per person is assumed. Refuses an empty
    table.

    >>> import numpy as np
    >>> paired = PairedRecords(["age"], [True], np.array([[1, 2]]), np.array([[1, 1]]), np.array([1, 1]),
    ...     [["23", "27"]], [["20 to 29"]])
    >>> compare_columns(paired)[0].cells_changed
    2
    """
    return column_changes(paired)
