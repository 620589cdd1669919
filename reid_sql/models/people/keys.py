"""Columns that are a key together, although each repeats: a street and a house number, a home and a member.

Let C(S) be the number of pairs of records that agree in a set S of columns, and r the share of all pairs that
agree in a further column. If the column goes its own way within the groups of S, about C(S) r pairs agree in
both. If it numbers the members of each group, none does: of a Poisson number of mean C(S) r, 0 has the chance
e^−C(S) r. Dependence within the groups makes pairs that agree more frequent, not fewer. A model of pairs of
columns cannot represent a key, and expects records that repeat. Source: Kivinen & Mannila 1995 (dependencies
inferred from relations).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Final

import numpy as np

from reid_sql.models.interruption import checkpoint
from reid_sql.models.marginals.column import positions
from reid_sql.models.people.evidence import PeopleEvidence
from reid_sql.parameters import Floats, Integers

MAX_RECORDS: Final = 3000  # that are compared with each other
MAX_KEY_COLUMNS: Final = 4
MAX_SETS: Final = 600  # of columns that are compared
AGREEING_SHARE: Final = 0.8  # of the pairs expected, as in fewer_repeats
MIN_NATS: Final = 9.0  # of evidence for a key: sets are many, and chance must not make one
MIN_NATS_OF_COUNTER: Final = 1.0  # where the column counts from 0 or 1, as numbers that restart do
MIN_COUNTED: Final = 3  # values of a column that counts


@dataclass(frozen=True)
class Key:
    """Columns by number in which no two records agree, and the evidence that none do in the population."""

    columns: tuple[int, ...]
    nats: float

    @property
    def is_likely(self) -> bool:
        """Whether chance would hardly leave all records distinct."""
        return self.nats >= MIN_NATS


def find_key(evidence: PeopleEvidence) -> Key | None:
    """Find the fewest columns that look like a key; None where records repeat, or one column is a key.

    >>> from reid_sql.models.people.evidence import count_records
    >>> place = np.random.default_rng(1).permutation(9000)[:900]
    >>> names = [[str(value) for value in range(450)], [str(value) for value in range(20)]]
    >>> houses = np.stack(np.divmod(place, 20), axis=1)
    >>> find_key(count_records(houses, ["street", "number"], names, [False, False])).columns
    (0, 1)
    """
    codes = evidence.drawn[:MAX_RECORDS]
    if len(codes) < 2 or evidence.weighted or evidence.histogram.class_size.max() > 1:  # noqa: PLR2004
        return None
    counters = [
        j for j, values in enumerate(evidence.values) if counts_up(values, evidence.counts[j])
    ]
    best: Key | None = None
    for columns, agreeing, groups in _compare_sets(codes):
        if best is not None and len(columns) > len(best.columns):
            break
        if agreeing:
            continue
        own = [_measure_evidence(columns, j, groups, len(codes)) for j in columns]
        nats = max(own)
        counted = len(columns) == 2 and any(j in counters for j in columns)  # noqa: PLR2004
        if nats >= (MIN_NATS_OF_COUNTER if counted else MIN_NATS) and (
            best is None or nats > best.nats
        ):
            best = Key(columns, nats)
    return best


def counts_up(values: Sequence[str | None], counts: Floats) -> bool:
    """Whether values are whole numbers from 0 or 1, the lower ones as frequent as the higher ones or more.

    >>> numbers, often = ["1", "2", "3", "4"], np.array([9.0, 8.0, 5.0, 2.0])
    >>> counts_up(numbers, often), counts_up(numbers, often[::-1]), counts_up(["30", "31", "32"], np.ones(3))
    (True, False, False)
    """
    at = positions(values)
    if (
        len(at) < MIN_COUNTED
        or np.isnan(at).any()
        or (at != np.floor(at)).any()
        or at.min() not in {0, 1}
    ):
        return False
    middle = (at.min() + at.max()) / 2
    lower, upper = float(counts[at < middle].sum()), float(counts[at > middle].sum())
    return bool(lower >= upper - 2 * (lower + upper) ** 0.5)


Agreeing = dict[tuple[int, ...], int]


def _compare_sets(codes: Integers) -> Iterator[tuple[tuple[int, ...], int, Agreeing]]:
    """Sets of columns, small ones first, with the pairs of records that agree in each, and in all before."""
    columns, agreeing = codes.shape[1], Agreeing()
    keys: dict[tuple[int, ...], Integers] = {(): np.zeros(len(codes), dtype=np.int64)}
    for size in range(1, min(columns, MAX_KEY_COLUMNS) + 1):
        if sum(comb(columns, each) for each in range(1, size + 1)) > MAX_SETS:
            return
        for some in combinations(range(columns), size):
            checkpoint()
            before = keys[some[:-1]]
            joined = before * (int(codes[:, some[-1]].max()) + 1) + codes[:, some[-1]]
            _, key, counts = np.unique(joined, return_inverse=True, return_counts=True)
            keys[some], agreeing[some] = key.ravel(), int((counts * (counts - 1) // 2).sum())
            if size > 1:
                yield some, agreeing[some], agreeing


def _measure_evidence(columns: Sequence[int], last: int, agreeing: Agreeing, records: int) -> float:
    """Pairs that would agree in all columns by chance, if the last one goes its own way in the groups."""
    others = tuple(j for j in columns if j != last)
    return AGREEING_SHARE * agreeing[others] * agreeing[last,] / comb(records, 2)
