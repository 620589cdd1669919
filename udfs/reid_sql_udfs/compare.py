"""Comparison of a release with its original."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.comparison import comparison
from reid_sql.models.comparison.comparison import ColumnChanges, Comparison, column_changes
from reid_sql.models.comparison.linkage import Targets
from reid_sql.models.comparison.paired_records import PairedRecords
from reid_sql.parameters import Seed, Threshold
from reid_sql.parameters.outputs import Output
from reid_sql.reductions.comparison import PAIRED_RECORDS


@table_function(
    "original, released, qi, key, threshold, targets, seed, tolerance",
    answer=Answer.ROWS,
    reduction=PAIRED_RECORDS,
    question=Question.RELEASES,
    source="record linkage of Fellegi & Sunter 1969 and Domingo-Ferrer & Torra 2001; ARX and risk_summary",
    output=Output("output", ("figures",)),
)
def compare(
    paired: PairedRecords, threshold: Threshold = 0.2, targets: Targets = 10_000, seed: Seed = 0
) -> list[Comparison]:
    """Compare a release with its original: the risk of both, what was changed, and attacks, measured.

    `output := 'columns'` has a row for each column. The figures are, in this order: those of risk_summary;
    the changed classes, records and cells, and the lost information; and the success of attackers who know
    the quasi-identifiers of everybody. `correct_links` is the share of right links of the best attack, which
    `attack` names; a link to one of m equally likely records counts 1/m. `correct_candidates` is the share of
    right links if the attacker takes any possible record. Then follow the correct links of each attack
    (docs/compare.md); NULL if there is none. Links are those of the records that are in both tables; if these
    are too many, of `targets` drawn records, and `low` and `high` are the 95 % interval. `key` is a column of
    both tables that matches each released record to its original; without it, changes and links are NULL.
    NULL is a value of its own; an empty text and stars alone are suppressed values too. Refuses empty tables.
    One row per person is assumed.

    All figures are about `qi` alone: other columns of the release may identify more people, so compare by all
    of them, too.

    With `tolerance`, as in risk_summary, one more attack links each person to all records within it, and so
    finds people whose values changed by no more.

    >>> import numpy as np
    >>> paired = PairedRecords(["age"], [True], np.array([[1, 2]]), np.array([[1, 1]]), np.array([1, 1]),
    ...     [["23", "27"]], [["20 to 29"]])
    >>> [(row.measure, row.released, row.attack) for row in compare(paired) if row.measure == "correct_links"]
    [('correct_links', 0.5, 'likelihood')]
    """
    return comparison.compare(paired, threshold, int(targets), int(seed))


@table_function(
    "original, released, qi, key",
    answer=Answer.ROWS,
    reduction=PAIRED_RECORDS,
    question=Question.RELEASES,
    source="Shannon 1948 (entropy); de Waal & Willenborg 1999; Rubner, Tomasi & Guibas 2000 (earth mover's)",
    output=Output("output", ("columns",), of="compare"),
)
def compare_columns(paired: PairedRecords) -> list[ColumnChanges]:
    """Measure what changed in each column of a release: cells changed, cells suppressed, information lost.

    `qi` may name any columns of both tables. Without `key`, changes are NULL. `information_loss` is
    H(original | released) / H(original): 0 if the released value determines the original one, 1 if it has no
    information about it. `understood` is how the attack of compare reads the column: unchanged; recoded, each
    value to one other; by frequency, where values became several others, such as NULL; by distance, where
    numbers were disturbed. One row per person is assumed. Refuses an empty table.

    >>> import numpy as np
    >>> paired = PairedRecords(["age"], [True], np.array([[1, 2]]), np.array([[1, 1]]), np.array([1, 1]),
    ...     [["23", "27"]], [["20 to 29"]])
    >>> compare_columns(paired)[0].cells_changed
    2
    """
    return column_changes(paired)
