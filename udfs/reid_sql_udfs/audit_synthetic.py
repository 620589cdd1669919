"""Audit of a synthetic table."""

from reid_sql.function import Answer, table_function
from reid_sql.models.comparison.linkage import Targets
from reid_sql.models.synthetic import audit
from reid_sql.models.synthetic.attacks import AuditedAttack
from reid_sql.models.synthetic.audited_tables import AuditedTables
from reid_sql.parameters import Seed
from reid_sql.reductions.release import AUDITED_TABLES


@table_function(
    "original, synthetic, qi, sensitive, holdout, targets, seed, entity",
    answer=Answer.ROWS,
    reduction=AUDITED_TABLES,
    source="Giomi et al. 2023 (singling out, linkability, inference, control); Raab, Nowok & Dibben 2024; "
    "van Breugel et al. 2023 (density ratio); Fay & Feuer 1997 (copies); Westfall & Young 1993",
)
def audit_synthetic(tables: AuditedTables, targets: Targets = 10_000, seed: Seed = 0) -> list[AuditedAttack]:
    """Attack a synthetic or perturbed table, and compare with people who were not used to make it.

    One row a figure: `original` is measured on the records that the table was made from, `holdout` on people
    of the same kind who were not used; `excess` is the difference, with its 95 % interval: what the table
    gives away of its people. Without `holdout`, nothing is judged, and the status says so. The attacks, in
    this order: shares of the records that are unique on `qi` in their own table and occur once in the
    synthetic one; that occur in it with all values; and whose synthetic class has one value of a sensitive
    column, theirs. Predicates that fit one synthetic record, and one person. Linkability of every other
    column with the rest. Inference of each column from the nearest synthetic record by all others; a number
    is right within 5 % of the ranks. Copied records: the share that occurs in it, of which rare records weigh
    most. Membership by scores, each by the area under its ROC curve and by true positives at 1 and 0.1 %
    false ones. Last the strongest of the figures from copied records on, whose interval allows for the choice
    of it. `baseline` is a guess. Of both tables people with about `targets` records are drawn for the scores,
    with up to 2,000 for links and inferences. NULL is a value of its own. Refuses empty tables. One row per
    person is assumed; with `entity`, the column that identifies people in each of the tables, every figure is
    of people, and an attack is right about a person if it is about one of their rows. Spark counts the
    records; the distinct ones come to the driver.

    >>> import numpy as np
    >>> one = np.ones(2, dtype=int)
    >>> tables = AuditedTables(["a"], [False], [False], np.array([[1, 2]]), one, one, 2 * one, [True])
    >>> row = audit_synthetic(tables)[0]
    >>> row.attack, row.original, row.holdout
    ('replicated_uniques', 1.0, 0.0)
    """
    return audit.audit(tables, int(targets), int(seed))
