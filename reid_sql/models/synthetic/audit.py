"""Attacks on a synthetic table, each with its control: the same attack on people who were not used.

An attack on the original succeeds for some people by what is true of everybody: a common combination occurs
in any table of such people. The holdout, people of the same kind who were not used, measures how often.
Only what the original has in excess was learned from its records. Source: Raab, Nowok & Dibben 2024
(replicated uniques, disclosive correct); Giomi et al. 2023 (the control).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.comparison.attack_result import wilson_interval
from reid_sql.parameters import Integers

NO_HOLDOUT: Final = "needs holdout, people of the same kind who were not used, to be judged"
OTHER_SIZE: Final = "holdout has another number of records, so that other people are unique in it"
SIZE_TOLERANCE: Final = 0.1  # of the numbers of records, within which uniques are as frequent
REPLICATED_UNIQUES: Final = "replicated_uniques"
EXACT_PRESENCE: Final = "exact_presence"
DISCLOSIVE_CORRECT: Final = "disclosive_correct"
NO_CONTROL: Final = -1  # records of a holdout that was not given


@dataclass(frozen=True)
class AttackCounts:
    """Records that each attack is right about, of the original and of the holdout."""

    place: Integers  # (attacks,), of the attack in the answer
    attack: Sequence[str]  # (attacks,)
    column_name: Sequence[str]  # (attacks,), empty of an attack on no column
    hits: Integers  # (attacks,), records of the original
    control_hits: Integers  # (attacks,), records of the holdout, or NO_CONTROL
    originals: Integers  # (attacks,), records of the whole table
    synthetics: Integers  # (attacks,)
    controls: Integers  # (attacks,), or NO_CONTROL without a holdout


@dataclass(frozen=True)
class AuditedAttack:
    """An attack on a synthetic table."""

    attack: str  # what the attacker does with the synthetic table
    column_name: str | None  # the sensitive column, of an attack on one
    original: float  # share of the original's records that the attack is right about
    holdout: float | None  # the same of the holdout, about which nothing was learned
    excess: float | None  # the first less the second: what the synthetic table gives away
    low: float | None  # lower end of the 95 % interval of the excess
    high: float | None  # the upper end of the same interval
    status: str


def audit(counts: AttackCounts) -> list[AuditedAttack]:
    """Compare each attack with its control; refuses an empty table.

    >>> one = np.ones(1, dtype=int)
    >>> counts = AttackCounts(one, ["exact_presence"], [""], 30 * one, 10 * one, 100 * one, one, 100 * one)
    >>> round(audit(counts)[0].excess, 6)
    0.2
    """
    for name, records in (
        ("original", counts.originals),
        ("synthetic", counts.synthetics),
        ("holdout", counts.controls),
    ):
        if (np.asarray(records) == 0).any():
            raise NoRecordsError(f"{name} must hold at least one record, got 0; pass a table with records")
    hits = zip(counts.hits.tolist(), counts.control_hits.tolist(), strict=True)
    whole = zip(counts.originals.tolist(), counts.controls.tolist(), strict=True)
    attacks = zip(counts.attack, counts.column_name, hits, whole, strict=True)
    return [_judge(*each) for each in attacks]


def _judge(attack: str, column: str, hits: tuple[int, int], records: tuple[int, int]) -> AuditedAttack:
    """The shares of the hits of the original and of the holdout, and the interval of their difference."""
    original = hits[0] / records[0]
    if records[1] == NO_CONTROL:
        return AuditedAttack(attack, column or None, original, None, None, None, None, NO_HOLDOUT)
    control = hits[1] / records[1]
    low, high = newcombe_interval((original, records[0]), (control, records[1]))
    of_other_size = abs(records[1] / records[0] - 1) > SIZE_TOLERANCE
    status = OTHER_SIZE if attack == REPLICATED_UNIQUES and of_other_size else OK
    return AuditedAttack(attack, column or None, original, control, original - control, low, high, status)


def newcombe_interval(one: tuple[float, int], other: tuple[float, int]) -> tuple[float, float]:
    """The 95 % interval of the difference of two shares of so many records: Newcombe 1998, method 10.

    >>> low, high = newcombe_interval((56 / 70, 70), (48 / 80, 80))
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """
    (p, _), (q, _) = one, other
    (p_low, p_high), (q_low, q_high) = wilson_interval(*one), wilson_interval(*other)
    low = p - q - float(((p - p_low) ** 2 + (q_high - q) ** 2) ** 0.5)
    high = p - q + float(((p_high - p) ** 2 + (q - q_low) ** 2) ** 0.5)
    return low, high
