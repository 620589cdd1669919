"""Audit of a synthetic table."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.comparison.linkage import Targets
from reid_sql.models.synthetic import audit
from reid_sql.models.synthetic.attacks import AuditedAttack
from reid_sql.models.synthetic.audited_tables import AuditedTables
from reid_sql.parameters import Seed
from reid_sql.reductions.synthetic import AUDITED_TABLES


@table_function(
    "original, synthetic, qi, sensitive, holdout, targets, seed, entity",
    answer=Answer.ROWS,
    reduction=AUDITED_TABLES,
    question=Question.RELEASES,
    source="Giomi et al. 2023 (singling out, linkability, inference, control); Raab, Nowok & Dibben 2024; "
    "Francis & Wagner 2025 (abstention); "
    "van Breugel et al. 2023 (density ratio); Fay & Feuer 1997 (copies); Westfall & Young 1993",
)
def audit_synthetic(
    tables: AuditedTables, targets: Targets = 10_000, seed: Seed = 0
) -> list[AuditedAttack]:
    """Attack a synthetic or perturbed table, and compare with people who were not used to make it.

    `original` is measured on the records that the table was made from, `holdout` on people of the same kind
    who were not used. `excess` is the difference, with its 95 % interval: what the table reveals about its
    people. `baseline` is the figure of a guess. Without `holdout`, nothing is judged, and `status` reports
    this. `risk` is the excess as a share of 1 - `holdout`, as anonymeter reports it. If the tables write
    values differently, `status` names the column.

    docs/synthetic.md defines the attacks: replicated unique records, exact presence, disclosive classes,
    singling out, linkability, inference of each column, and by an attacker who abstains where unsure; then
    membership: copied records, scores, and the strongest of these figures, with an interval that accounts for
    the selection.

    The scores use people with about `targets` records of each table, and links and inferences up to 2,000.
    NULL is a value of its own. Refuses empty tables. One row per person is assumed; with `entity`, every
    figure counts people, and an attack is right about a person if it is right about one of their rows.

    >>> import numpy as np
    >>> one = np.ones(2, dtype=int)
    >>> tables = AuditedTables(["a"], [False], [False], np.array([[1, 2]]), one, one, 2 * one, [True])
    >>> row = audit_synthetic(tables)[0]
    >>> row.attack, row.original, row.holdout
    ('replicated_uniques', 1.0, 0.0)
    """
    return audit.audit(tables, int(targets), int(seed))
