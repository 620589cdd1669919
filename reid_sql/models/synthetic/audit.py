"""Attacks on a synthetic table, each with its control: the same attack on people who were not used.

An attack on the original succeeds for some people by what is true of everybody: a common combination occurs
in any table of such people. The holdout, people of the same kind who were not used, measures how often.
Only what the original has in excess was learned from its records. Source: Giomi et al. 2023 (the control).
"""

from typing import Final

import numpy as np

from reid_sql.models.synthetic.attack_figures import AuditedAttack
from reid_sql.models.synthetic.audited_tables import AuditedTables, draw_people
from reid_sql.models.synthetic.equal_values import attack_by_equal_values
from reid_sql.models.synthetic.holdout import doubt_holdout
from reid_sql.models.synthetic.membership import attack_membership
from reid_sql.models.synthetic.nearest_records import attack_by_nearest_records
from reid_sql.models.synthetic.singling_out import single_out

NEAREST_TARGETS: Final = 2000  # records of each table that links and inferences are tried on
SHARES: Final = (0.1, 0.4, 1.0)  # of the whole work that is done after each family of attacks


def audit(tables: AuditedTables, targets: int, seed: int) -> list[AuditedAttack]:
    """Try all attacks; refuses an empty table.

    >>> one, some = np.ones(4, dtype=int), np.array([1, 1, 0, 0])
    >>> tables = AuditedTables(
    ...     ["a"], [False], [False], np.array([[1, 2, 3, 4]]), some, some, one, [True]
    ... )
    >>> [(row.original, row.holdout) for row in audit(tables, 10, 0)[:2]]
    [(1.0, 0.5), (1.0, 0.5)]
    """
    ordered = tables.in_order()
    draws = [np.random.default_rng([seed, family]) for family in range(4)]  # so that none depends on another
    people = draw_people(ordered, targets, draws[0])
    some = draw_people(ordered, min(targets, NEAREST_TARGETS), draws[1])
    attacks = [
        *attack_by_equal_values(ordered),
        *single_out(ordered, draws[2]),
        *attack_by_nearest_records(ordered, some, SHARES[:2]),
        *attack_membership(ordered, people, draws[3], SHARES[1:]),
    ]
    return doubt_holdout(ordered, attacks)
