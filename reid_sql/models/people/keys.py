"""Columns that are a key together, or nearly, although each repeats: a street and a house number.

Let C(S) be the number of pairs of records that agree in a set S of columns, and r the share of all pairs that
agree in a further column. If the column goes its own way within the groups of S, E = C(S) r pairs agree in
both. If it numbers the members of each group, none does; if some numbers are given twice, a few do.
Dependence within the groups makes pairs that agree more frequent, not fewer. Records of which a column is
NULL agree with none: a number that is missing is no number. A model of pairs of columns cannot represent a
key, and expects records that repeat.

Let λ be the share of chance agreements that can occur. Of a Poisson number of mean λ E, C occur:

    P(λ | C) ∝ P(λ) λ^C e^−λE,

with P(λ = 1) = 0.8, where 1 stands for the likeliest of 0.8 to 1, since no column goes its own way exactly,
and else ln λ is even from ln 0.01 to ln 0.8. A person of a cell that N people have with chance q then shares
it with λ N q others on average. Source: Kivinen & Mannila 1995 (dependencies inferred from relations).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Final

import numpy as np

from reid_sql.models.interruption import checkpoint
from reid_sql.models.people.evidence import PeopleEvidence
from reid_sql.parameters import Floats, Integers, Places

MAX_RECORDS: Final = 3000  # that are compared with each other
MAX_KEY_COLUMNS: Final = 4
MAX_SETS: Final = 600  # of columns that are compared
AGREEING_SHARE: Final = 0.8  # of the pairs expected, as in fewer_repeats
AGREEMENTS: Final[Floats] = np.append(np.geomspace(0.01, AGREEING_SHARE, 40), 1.0)  # grid of λ
PRIOR_CHANCE: Final = 0.2  # of λ below 1, for any of the sets of up to four columns
SETS_OF_PRIOR: Final = 11  # of two to four of four columns; one of more sets is less likely a key
LOW_QUANTILE: Final = 0.01  # of λ, for the upper end; without an end where a key is less likely
MIN_CHANCE: Final = 0.25  # of a key, above which the estimate is moved
MIN_CHANCE_OF_STATUS: Final = 0.75
MIN_EXPECTED_PAIRS: Final = 0.3  # fewer show nothing
MAX_AGREEING_PER_RECORD: Final = (
    0.25  # of a key: where more agree, columns depend on each other otherwise
)
MIN_NATS: Final = 9.0  # of evidence for a key: sets are many, and chance must not make one
UNIQUE: Final = -1  # key of a record that agrees with none


@dataclass(frozen=True)
class Key:
    """Columns by number in which fewer records agree than by chance, and by how much."""

    columns: Places
    agreeing: int  # pairs of records
    expected: float  # of them, if the columns went their own ways
    share: float  # of the records, without a NULL in these columns
    weights: Floats  # of AGREEMENTS

    @property
    def chance(self) -> float:
        """Probability that the columns are a key, or nearly."""
        return float(self.weights[:-1].sum())

    @property
    def is_possible(self) -> bool:
        """Whether it is likely enough for a status: wide tables of few records come near to it by chance."""
        return self.chance > MIN_CHANCE_OF_STATUS

    @property
    def is_likely(self) -> bool:
        """Whether chance would hardly leave all records distinct."""
        return not self.agreeing and self.share == 1 and AGREEING_SHARE * self.expected >= MIN_NATS

    @property
    def agreement(self) -> float:
        """Mean λ of a key."""
        return float(np.exp(self.weights[:-1] @ np.log(AGREEMENTS[:-1]) / self.chance))

    @property
    def least_agreement(self) -> float:
        """Lower end of the 95 % interval of λ."""
        return float(AGREEMENTS[np.searchsorted(np.cumsum(self.weights), LOW_QUANTILE)])


def find_key(evidence: PeopleEvidence) -> Key | None:
    """Find the columns that are most likely a key, or nearly; None where none are, or one column is.

    >>> from reid_sql.models.people.evidence import count_records
    >>> place = np.random.default_rng(1).permutation(9000)[:900]
    >>> names = [[str(value) for value in range(450)], [str(value) for value in range(20)]]
    >>> houses = np.stack(np.divmod(place, 20), axis=1)
    >>> find_key(count_records(houses, ["street", "number"], names, [False, False])).columns
    (0, 1)
    """
    codes = evidence.drawn[:MAX_RECORDS]
    if len(codes) < 2 or evidence.weighted:  # noqa: PLR2004
        return None
    nulls = [values.index(None) if None in values else UNIQUE for values in evidence.values]
    compared = list(_compare_sets(np.where(codes == nulls, UNIQUE, codes)))
    prior = PRIOR_CHANCE * min(1.0, SETS_OF_PRIOR / max(len(compared), 1))
    keys = [
        Key(columns, agreeing, expected, share, weigh_agreements(agreeing, expected, prior))
        for columns, agreeing, expected, share in compared
        if agreeing <= MAX_AGREEING_PER_RECORD * len(codes)
    ]
    best = min(keys, key=lambda key: key.weights[-1], default=None)
    return best if best is not None and best.chance > LOW_QUANTILE else None


def weigh_agreements(agreeing: int, expected: float, prior: float) -> Floats:
    """Posterior weights of AGREEMENTS, by the pairs that agree, and `prior` that they are below 1.

    >>> [round(1 - float(weigh_agreements(agreeing, 10, 0.2)[-1]), 2) for agreeing in (0, 3, 10)]
    [1.0, 0.39, 0.01]
    """
    likeliest = min(max(agreeing / expected, AGREEING_SHARE), 1.0)
    shares = np.append(AGREEMENTS[:-1], likeliest)
    log = agreeing * np.log(shares) - shares * expected
    weights = np.exp(log - log.max())
    weights[:-1] *= prior / (len(AGREEMENTS) - 1)
    weights[-1] *= 1 - prior
    return np.asarray(weights / weights.sum())


def _compare_sets(codes: Integers) -> Iterator[tuple[Places, int, float, float]]:
    """Sets of columns, small ones first: pairs of records that agree, how many should, share without NULL.

    A set of which too few should agree is left out, and all sets that begin with it: fewer should in those.
    """
    columns, agreeing = codes.shape[1], {}
    keys: dict[Places, Integers] = {}
    for size in range(1, min(columns, MAX_KEY_COLUMNS) + 1):
        if sum(comb(columns, each) for each in range(1, size + 1)) > MAX_SETS:
            return
        for some in combinations(range(columns), size):
            checkpoint()
            if size == 1:
                keys[some] = codes[:, some[0]]
                agreeing[some] = _count_pairs(keys[some])
                continue
            first, last = some[:-1], some[-1]
            if first not in keys:
                continue
            complete = (codes[:, some] != UNIQUE).all(axis=1)
            expected = _expect_pairs(keys, agreeing, some, complete)
            if expected < MIN_EXPECTED_PAIRS:
                continue
            joined = keys[first] * (int(codes[:, last].max()) + 1) + codes[:, last]
            key = np.unique(joined, return_inverse=True)[1].ravel()
            keys[some] = np.where(complete, key, UNIQUE)
            agreeing[some] = _count_pairs(keys[some])
            yield some, agreeing[some], expected, float(complete.mean())


def _expect_pairs(
    keys: dict[Places, Integers],
    agreeing: dict[Places, int],
    columns: Places,
    complete: np.ndarray,
) -> float:
    """Pairs of complete records that should agree, if one column goes its own way in the others' groups."""
    records, most = int(complete.sum()), 0.0
    for j in columns:
        rest = tuple(other for other in columns if other != j)
        if rest in keys and records > 1:
            counts = [
                agreeing[some] if complete.all() else _count_pairs(keys[some][complete])
                for some in (rest, (j,))
            ]
            most = max(most, counts[0] * counts[1] / comb(records, 2))
    return most


def _count_pairs(key: Integers) -> int:
    counts = np.bincount(key[key != UNIQUE])
    return int((counts * (counts - 1) // 2).sum())
