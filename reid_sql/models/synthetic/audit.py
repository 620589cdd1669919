"""Attacks on a synthetic table, each with its control: the same attack on people who were not used.

An attack on the original succeeds for some people by what is true of everybody: a common combination occurs
in any table of such people. The holdout, people of the same kind who were not used, measures how often.
Only what the original has in excess was learned from its records. Source: Giomi et al. 2023 (the control).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.synthetic.attack_figures import STATUS_WEAK_ATTACK, AuditedAttack, judge_shares
from reid_sql.models.synthetic.audited_tables import AuditedTables, Flags, OrderedTables, draw_people
from reid_sql.models.synthetic.membership import attack_membership
from reid_sql.models.synthetic.nearest_records import attack_by_nearest_records
from reid_sql.models.synthetic.singling_out import single_out
from reid_sql.parameters import Integers

# Whether a holdout is what it must be: people of the same kind as the original's, of whom none was used.
#
# The synthetic table knows a person who is in both tables on both sides, and their excess is lost. Equal
# people, who have the same records, show it: a person of both tables is two equal people, one on each side.

STATUS_HOLDOUT_EXCEEDS: Final = (
    "holdout_exceeds: attacks are right more often about holdout, so check which table is which"
)
STATUS_HOLDOUT_OVERLAPS: Final = (
    "holdout_overlaps: holdout has the same people as original, or was not divided from it at random"
)
DOUBTS: Final = (STATUS_HOLDOUT_EXCEEDS, STATUS_HOLDOUT_OVERLAPS)
MAX_CHANCE: Final = 1e-4  # of random divisions that may be doubted
SEED: Final = 35


def doubt_holdout(tables: OrderedTables, attacks: list[AuditedAttack]) -> list[AuditedAttack]:
    """Give the attacks that are judged, in place of their status, the reason why holdout is no control.

    Nothing is learned of people who were not used. If an excess is below 0 by twice its interval's half,
    which is rarer than 1 in 10,000 by chance, then the tables are swapped, or the holdout's people are of
    another kind. An attack that already has another status keeps it.
    """
    overlaps = tables.is_judged and has_people_of_both(tables)
    return [_doubt(each, overlaps=overlaps) for each in attacks]


def _doubt(each: AuditedAttack, *, overlaps: bool) -> AuditedAttack:
    if each.excess is None or each.high is None or each.status not in (OK, STATUS_WEAK_ATTACK):
        return each
    if overlaps:
        return replace(each, status=STATUS_HOLDOUT_OVERLAPS)
    is_below = 2 * each.high - each.excess < 0
    return replace(each, status=STATUS_HOLDOUT_EXCEEDS) if is_below else each


def has_people_of_both(tables: OrderedTables) -> bool:
    """Whether equal people are divided between original and holdout more evenly than by chance.

    Let p be the share of all people who are in the original. Of t equal people, a are there. By a random
    division, the products (l_i - p) (l_j - p) of two people's labels, l = 1 in the original, add up to
    K = d^2 - (q - p) d - t p q with d = a - t p and q = 1 - p. Its mean is 0 and its variance
    2 t (t - 1) (p q)^2; it is least if both sides have their share, t p and t q. K / t is added up over all
    sets of equal people. Bernstein 1924 bounds the chance that the sum of -K / t, of which no term is above
    M and whose variance is V, is x or more: exp(-x^2 / (2 (V + M x / 3))).
    """
    used, equal = _count_equal_people(tables)
    share = float(used.sum() / equal.sum())
    several = equal[equal > 1].astype(np.float64)
    if not len(several):
        return False
    both, slope = share * (1 - share), 1 - 2 * share
    away = used[equal > 1] - several * share
    evenness = float(((several * both + slope * away - away**2) / several).sum())
    variance = float((2 * (several - 1) / several).sum()) * both**2
    greatest = float((both + slope**2 / (4 * several)).max())
    return evenness > 0 and evenness**2 / 2 > -np.log(MAX_CHANCE) * (variance + greatest * evenness / 3)


def _count_equal_people(tables: OrderedTables) -> tuple[Integers, Integers]:
    """How many people of the original, and of both sides, have each set of records.

    Sums of random numbers, one for each record, distinguish sets.
    """
    size = tables.codes.shape[1]
    numbers: Any = np.random.default_rng(SEED).integers(1, 2**63, size, dtype=np.uint64)
    sides = tables.original_people, tables.holdout_people
    sums = [np.add.reduceat(numbers[side.rows], side.starts) for side in sides]
    of_person = np.unique(np.concatenate(sums), return_inverse=True)[1].ravel()
    used = np.bincount(of_person[: len(sides[0])], minlength=int(of_person.max()) + 1)
    return used, np.bincount(of_person)


# Attacks that look equal values up: replicated uniques, exact presence, disclosive correct.
#
# Source: Raab, Nowok & Dibben 2024.

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
