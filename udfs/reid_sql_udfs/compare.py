"""Comparison of a release with its original."""

from reid_sql.function import Answer, table_function
from reid_sql.models.comparison import comparison
from reid_sql.models.comparison.comparison import Comparison
from reid_sql.models.comparison.linkage import Targets
from reid_sql.models.comparison.paired_records import PairedRecords
from reid_sql.parameters import Seed, Threshold
from reid_sql.reductions.release import PAIRED_RECORDS


@table_function(
    "original, released, qi, key, threshold, targets, seed",
    answer=Answer.ROWS,
    reduction=PAIRED_RECORDS,
    source="record linkage of Fellegi & Sunter 1969 and Domingo-Ferrer & Torra 2001; ARX and risk_summary",
)
def compare(
    paired: PairedRecords, threshold: Threshold = 0.2, targets: Targets = 10_000, seed: Seed = 0
) -> list[Comparison]:
    """Compare a release with its original: the risk of both, what was changed, and an attack, measured.

    One row a figure, in this order: those of risk_summary; how many classes, records and cells were changed,
    and what their values tell no more; and what an attacker gets right who knows the quasi-identifiers of
    everybody, and how values were changed, but not of whom, by linking each person to the released record
    that is the most likely. `correct_links` is the share of right links, one among m likely records counting
    1/m; `certain_links` those to a single record; `highest_link` the greatest chance of a right link;
    `correct_candidates` the share of an attacker who takes any record that it may be. Links are of the
    records of both tables, of `targets` drawn ones where all would take too long. `key` is a column of both
    tables that tells which released record is whose; without it, changes and links are NULL. NULL is a value
    of its own; an empty text and stars alone are suppressed values too. Refuses empty tables.
    One row per person is assumed.

    >>> import numpy as np
    >>> paired = PairedRecords(["age"], [True], np.array([[1, 2]]), np.array([[1, 1]]), np.array([1, 1]),
    ...     [["23", "27"]], [["20 to 29"]])
    >>> compare(paired)[2]
    Comparison(measure='k', original=1.0, released=2.0, change=1.0, status='ok')
    """
    return comparison.compare(paired, threshold, int(targets), int(seed))
