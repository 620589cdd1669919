"""Columns that follow from others: a city adds nothing to its postal code, and a model of pairs cannot know.

That a value of one column goes with a single value of another shows in values that repeat alone. Each record
beyond a value's first agrees by chance with the share of what it agrees on; together they tell −Σ ln share
nats for the dependence.
Source: Kivinen & Mannila 1995 (functional dependences inferred from relations).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from reid_sql.models.people.people_evidence import PeopleEvidence

TOLD_RECORDS: Final = 10  # records in values that repeat, from which on a dependence is told
LIKELY_NATS: Final = 10.0  # for the dependence, from which on it is taken to be more than chance
SURE_RECORDS: Final = 300  # that agree: then at most 1 % of people do otherwise, with 95 % confidence


@dataclass(frozen=True)
class Dependence:
    """A column follows from another one; by how many records that agree, and how many nats speak for it."""

    follows: int
    other: int
    agreeing: float
    nats: float

    @property
    def is_likely(self) -> bool:
        """Whether it is more than chance."""
        return self.nats >= LIKELY_NATS

    @property
    def is_sure(self) -> bool:
        """Whether hardly anybody does otherwise."""
        return self.is_likely and self.agreeing >= SURE_RECORDS


def dependences(evidence: PeopleEvidence) -> list[Dependence]:
    """Find columns that follow from another one: each value of it that repeats goes with one value of them.

    >>> from reid_sql.models.people.people_evidence import counted
    >>> codes = np.repeat([[0, 0], [1, 1], [2, 1]], 20, axis=0)
    >>> found = dependences(counted(codes, ["zip", "state"], [["1", "2", "3"], ["A", "B"]], [False, False]))
    >>> [(one.follows, one.other, one.agreeing, round(one.nats, 2)) for one in found]
    [(1, 0, 57.0, 36.28)]
    """
    found = []
    for (i, j), (first, second, held) in evidence.pairs.items():
        for follows, other, own, at in ((j, i, second, first), (i, j, first, second)):
            shares = evidence.counts[follows]
            counts = np.bincount(
                at, held, minlength=len(evidence.counts[other])
            )  # of the records in the pairs
            partners = np.bincount(at, minlength=len(counts))
            repeated = counts > 1
            if len(shares) < 2 or counts[repeated].sum() < TOLD_RECORDS or (partners[repeated] > 1).any():  # noqa: PLR2004
                continue
            agree = np.maximum(counts[at] - 1, 0) * repeated[at]
            nats = -float(agree @ np.log(shares[own] / shares.sum()))
            found.append(Dependence(follows, other, float(agree.sum()), nats))
    return found


def told(found: Sequence[Dependence], columns: Sequence[str]) -> list[str]:
    """Say which column follows from which.

    >>> told([Dependence(1, 0, 500, 50)], ["zip", "city"])
    ['city follows from zip: it adds nothing']
    """
    return [f"{columns[one.follows]} follows from {columns[one.other]}: it adds nothing" for one in found]


def followers(found: Sequence[Dependence], values: Sequence[int]) -> list[Dependence]:
    """Columns to leave out: each likely follows from one that stays, or that is left out after it.

    Of two that follow from each other the one of more values stays.

    >>> left = followers([Dependence(1, 0, 500, 50), Dependence(0, 1, 500, 50)], [9, 9])
    >>> [one.follows for one in left]
    [1]
    """
    left: dict[int, Dependence] = {}
    for one in sorted(found, key=lambda each: (values[each.follows], -each.follows, -each.agreeing)):
        if one.is_likely and one.follows not in left and one.other not in left:
            left[one.follows] = one
    return list(left.values())


def without(evidence: PeopleEvidence, left_out: Sequence[int]) -> PeopleEvidence:
    """Leave columns out that follow from others, so that the classes stay what they are.

    >>> from reid_sql.models.people.people_evidence import counted
    >>> codes = np.repeat([[0, 0], [1, 1], [2, 1]], 20, axis=0)
    >>> table = counted(codes, ["zip", "state"], [["1", "2", "3"], ["A", "B"]], [False, False])
    >>> without(table, [1]).columns
    ('zip',)
    """
    kept = [j for j in range(len(evidence.columns)) if j not in left_out]
    place = {column: at for at, column in enumerate(kept)}
    return replace(
        evidence,
        columns=tuple(evidence.columns[j] for j in kept),
        ordered=tuple(evidence.ordered[j] for j in kept),
        values=tuple(evidence.values[j] for j in kept),
        counts=tuple(evidence.counts[j] for j in kept),
        pairs={
            (place[i], place[j]): pairs
            for (i, j), pairs in evidence.pairs.items()
            if i in place and j in place
        },
        drawn=evidence.drawn[:, kept],
        given={place[j]: given for j, given in evidence.given.items() if j in place},
    )
