"""Whether a holdout is what it must be: people of the same kind as the original's, of whom none was used.

The synthetic table knows a person who is in both tables on both sides, and their excess is lost. Equal
people, who have the same records, show it: a person of both tables is two equal people, one on each side.
"""

from dataclasses import replace
from typing import Any, Final

import numpy as np

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.synthetic.attack_figures import STATUS_WEAK_ATTACK, AuditedAttack
from reid_sql.models.synthetic.audited_tables import OrderedTables
from reid_sql.parameters import Integers

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
