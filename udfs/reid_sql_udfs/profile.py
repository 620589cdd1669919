"""What each column of a table is like."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.columns import column_profile
from reid_sql.models.columns.column_profile import ColumnCounts, ColumnProfile
from reid_sql.reductions.profile import COLUMN_COUNTS


@table_function(
    "tbl, columns",
    answer=Answer.ROWS,
    reduction=COLUMN_COUNTS,
    question=Question.COLUMNS,
    source="Motwani & Xu 2007 (distinction, separation); Shannon 1948 (entropy)",
)
def profile(counts: ColumnCounts) -> list[ColumnProfile]:
    """Profile each column: how far it singles records out, missing-value codes, and what it looks like.

    Call it first, to choose the quasi-identifiers of a table. NULL counts as a value in `uniqueness`,
    `separation` and `entropy_bits`, which are exact. `sentinels` are missing-value codes, such as '?', 'N/A',
    'unknown', an empty text, -1 and 1900-01-01, and 9, 99 or 999 if they are far from the other values. Every
    function counts them as values, which makes the risk too low or too high. `looks_like` and `suggestion`
    follow from the figures and the column's name, and are only advice. Sentinels are the only values of the
    table that are shown. Refuses an empty table. One row per person is assumed.

    >>> import numpy as np
    >>> whole, real = (lambda n: np.array([n])), (lambda x: np.array([float(x)]))
    >>> sexes = ColumnCounts(whole(1), ["sex"], ["text"], whole(5), whole(0), whole(2), whole(0), [8],
    ...     real(2 * np.log(2) + 3 * np.log(3)), *[whole(0)] * 2, *[real(0)] * 2, *[whole(0)] * 3,
    ...     *[whole(1)] * 2, whole(2),
    ...     whole(0), whole(2), *[whole(5)] * 2, *[[[]]] * 3)
    >>> profile(sexes)[0].separation
    0.6
    """
    return column_profile.profile_columns(counts)
