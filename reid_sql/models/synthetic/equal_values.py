"""Attacks that look equal values up: replicated uniques, exact presence, disclosive correct.

Source: Raab, Nowok & Dibben 2024.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from reid_sql.models.synthetic.attack_figures import AuditedAttack, judge_shares
from reid_sql.models.synthetic.audited_tables import AuditedTables
from reid_sql.parameters import Integers

STATUS_OTHER_SIZE: Final = (
    "other_size: holdout has another number of records, so other people are unique in it"
)
SIZE_TOLERANCE: Final = 0.1  # of the numbers of records, within which uniques are as frequent
REPLICATED_UNIQUES: Final = "replicated_uniques"
EXACT_PRESENCE: Final = "exact_presence"
DISCLOSIVE_CORRECT: Final = "disclosive_correct"


def attack_by_equal_values(tables: AuditedTables) -> Iterator[AuditedAttack]:
    """Count the records of the original and of the holdout that each attack is right about, of all."""
    known, secrets = tables.places(sensitive=False), tables.places(sensitive=True)
    sides = tables.originals, tables.controls
    people = int(sides[0].sum()), int(sides[1].sum())

    def judge(
        attack: str, hits: list[int], column: str | None = None, status: str | None = None
    ) -> AuditedAttack:
        shares = [hit / max(1, records) for hit, records in zip(hits, people, strict=True)]
        control = shares[1] if tables.is_judged else None
        return judge_shares(attack, "share", (shares[0], control), people, column=column, status=status)

    classes = tables.classes_by(known)
    seen = np.bincount(classes, tables.synthetics)
    unique = [int(np.count_nonzero((np.bincount(classes, side) == 1) & (seen == 1))) for side in sides]
    is_other_size = abs(people[1] / people[0] - 1) > SIZE_TOLERANCE
    yield judge(REPLICATED_UNIQUES, unique, status=STATUS_OTHER_SIZE if is_other_size else None)
    yield judge(EXACT_PRESENCE, [int(side[tables.synthetics > 0].sum()) for side in sides])
    for place in secrets:
        is_disclosed = _disclosed(tables, classes, place)
        yield judge(
            DISCLOSIVE_CORRECT, [int(side[is_disclosed].sum()) for side in sides], tables.names[place]
        )


def _disclosed(tables: AuditedTables, classes: Integers, place: int) -> Integers:
    """Find the distinct records whose class in the synthetic table has their value of the column alone."""
    values = tables.classes_by([*tables.places(sensitive=False), place])
    is_there = np.bincount(values, tables.synthetics) > 0
    class_of_value = np.zeros(len(is_there), dtype=np.int64)
    class_of_value[values] = classes
    several = np.bincount(class_of_value, is_there) > 1
    return np.flatnonzero(is_there[values] & ~several[classes])
