"""Scores ξ of persons held against whether they turned out unique: four figures.

Ranking, errors, false discoveries and reliability. Source: Rocher, Hendrickx & de Montjoye 2019, table 1, and
supplement, equations 1 to 9 and table 7.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.parameters import Floats

CERTAIN: Final = 0.95  # ξ above which somebody is called unique, in the false-discovery rate
LIKELY: Final = 0.5  # and in the F-score, table 7
BINS: Final = 10
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Tenth:
    """Persons whose score is in one tenth of the scale: how many, what they score and how many are unique."""

    low: float
    high: float
    persons: int
    score: float  # mean
    unique: float  # share


@dataclass(frozen=True)
class PersonScores:
    """How scores fared; None where there is nobody to tell it by.

    `brier` over `brier_constant` below 1 beats giving everybody the share of the unique. `reliability` is the
    mean distance, over tenths of the scale, of the mean score from the share of the unique, weighted by
    persons.
    """

    persons: int
    auc: float | None
    brier: float
    brier_constant: float
    false_discovery_rate: float | None
    recall: float | None
    f_score: float | None
    reliability: float
    tenths: tuple[Tenth, ...]


def person_scores(xi: Floats, unique: Truths) -> PersonScores:
    """Hold scores against truths.

    >>> found = person_scores(np.array([0.99, 0.8, 0.3, 0.1]), np.array([True, True, False, False]))
    >>> found.auc, round(found.brier, 4), found.false_discovery_rate, found.recall, found.f_score
    (1.0, 0.035, 0.0, 0.5, 1.0)
    """
    share, tenths = float(unique.mean()), _tenths(xi, unique)
    certain, likely = xi > CERTAIN, xi > LIKELY
    return PersonScores(
        persons=xi.size,
        auc=_auc(xi, unique),
        brier=float(np.mean((xi - unique) ** 2)),
        brier_constant=share * (1 - share),  # supplement, equation 4 at its lowest
        false_discovery_rate=_share(~unique, certain),
        recall=_share(certain, unique),
        f_score=_f_score(likely, unique),
        reliability=sum(each.persons * abs(each.score - each.unique) for each in tenths) / xi.size,
        tenths=tenths,
    )


def _auc(xi: Floats, unique: Truths) -> float | None:
    """Chance that somebody unique scores above somebody who is not, ties counting half (Mann–Whitney)."""
    positive = int(unique.sum())
    pairs = positive * (xi.size - positive)
    if not pairs:
        return None
    from scipy.stats import rankdata  # noqa: PLC0415 - as numerics/search says

    return float((rankdata(xi)[unique].sum() - positive * (positive + 1) / 2) / pairs)


def _share(of: Truths, among: Truths) -> float | None:
    return float(of[among].mean()) if among.any() else None


def _f_score(called: Truths, unique: Truths) -> float | None:
    """Harmonic mean of precision and recall."""
    both = int(called.sum() + unique.sum())
    return float(2 * (called & unique).sum() / both) if both else None


def _tenths(xi: Floats, unique: Truths) -> tuple[Tenth, ...]:
    """Tenths of the scale that somebody is in, the supplement's reliability diagram (figure 7)."""
    place = np.minimum((xi * BINS).astype(np.int64), BINS - 1)
    persons, score, alone = (np.bincount(place, weight, BINS) for weight in (np.ones(xi.size), xi, unique))
    return tuple(
        Tenth(
            tenth / BINS,
            (tenth + 1) / BINS,
            int(persons[tenth]),
            float(score[tenth] / persons[tenth]),
            float(alone[tenth] / persons[tenth]),
        )
        for tenth in np.flatnonzero(persons).tolist()
    )
