"""Attacks that look equal values up: replicated uniques, exact presence, disclosive correct.

Source: Raab, Nowok & Dibben 2024.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from reid_sql.models.synthetic.attack_figures import AuditedAttack, judge_shares
from reid_sql.models.synthetic.audited_tables import Flags, OrderedTables
from reid_sql.parameters import Integers

STATUS_OTHER_SIZE: Final = (
    "other_size: holdout has another number of records, so other people are unique in it"
)
SIZE_TOLERANCE: Final = 0.1  # of the numbers of records, within which uniques are as frequent
REPLICATED_UNIQUES: Final = "replicated_uniques"
EXACT_PRESENCE: Final = "exact_presence"
DISCLOSIVE_CORRECT: Final = "disclosive_correct"


def attack_by_equal_values(tables: OrderedTables) -> Iterator[AuditedAttack]:
    """Count the people of the original and of the holdout whom each attack is right about, of all."""
    sides = tables.original_people, tables.holdout_people
    people = len(sides[0]), len(sides[1])

    def judge(
        attack: str, hits: list[int], column: str | None = None, status: str | None = None
    ) -> AuditedAttack:
        shares = [hit / max(1, persons) for hit, persons in zip(hits, people, strict=True)]
        control = shares[1] if tables.is_judged else None
        return judge_shares(attack, "share", (shares[0], control), people, column=column, status=status)

    classes = tables.classes_by(tables.places(sensitive=False))
    size = int(classes.max()) + 1
    is_once = tables.synthetic_people.only_person(classes, size) >= 0
    unique = [side.count((is_once & (side.only_person(classes, size) >= 0))[classes]) for side in sides]
    is_other_size = abs(people[1] / people[0] - 1) > SIZE_TOLERANCE
    yield judge(REPLICATED_UNIQUES, unique, status=STATUS_OTHER_SIZE if is_other_size else None)
    yield judge(EXACT_PRESENCE, [side.count(tables.synthetics > 0) for side in sides])
    for place in tables.places(sensitive=True):
        is_disclosed = _is_disclosed(tables, classes, place)
        yield judge(DISCLOSIVE_CORRECT, [side.count(is_disclosed) for side in sides], tables.names[place])


def _is_disclosed(tables: OrderedTables, classes: Integers, place: int) -> Flags:
    """Whether each distinct record's class has, in the synthetic table, its value of the column alone."""
    values = tables.classes_by([*tables.places(sensitive=False), place])
    is_there = np.bincount(values, tables.synthetics) > 0
    class_of_value = np.zeros(len(is_there), dtype=np.int64)
    class_of_value[values] = classes
    several = np.bincount(class_of_value, is_there) > 1
    return np.asarray(is_there[values] & ~several[classes])
