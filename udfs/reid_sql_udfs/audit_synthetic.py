"""Audit of a synthetic table."""

from reid_sql.function import Answer, table_function
from reid_sql.models.synthetic import audit
from reid_sql.models.synthetic.audit import AttackCounts, AuditedAttack
from reid_sql.reductions.synthetic import SYNTHETIC_ATTACKS


@table_function(
    "original, synthetic, qi, sensitive, holdout",
    answer=Answer.ROWS,
    reduction=SYNTHETIC_ATTACKS,
    source="Raab, Nowok & Dibben 2024 (replicated uniques, disclosive correct); Giomi et al. 2023 (control)",
)
def audit_synthetic(counts: AttackCounts) -> list[AuditedAttack]:
    """Attack a synthetic or perturbed table, and compare with people who were not used to make it.

    One row an attack. `replicated_uniques`: share of the records that are unique on `qi` in their own table
    and occur once in the synthetic table. `exact_presence`: share that occur in it with all values, of `qi`
    and `sensitive`. `disclosive_correct`, for each sensitive column: share whose synthetic class on `qi` has
    one value of the column, which is theirs. `original` is the share of the records that the table was made
    from, `holdout` that of the people in `holdout`, who are of the same kind and were not used; `excess` is
    the difference, with its 95 % interval: what the table gives away of its people. Without `holdout`,
    nothing is judged, and the status says so. NULL is a value of its own. Refuses empty tables. One row per
    person is assumed.

    >>> import numpy as np
    >>> one = np.ones(1, dtype=int)
    >>> counts = AttackCounts(one, ["exact_presence"], [""], 30 * one, 10 * one, 100 * one, one, 100 * one)
    >>> round(audit_synthetic(counts)[0].excess, 6)
    0.2
    """
    return audit.audit(counts)
