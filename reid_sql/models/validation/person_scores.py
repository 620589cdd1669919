"""How well scores ξ of persons predict who is unique: ranking, errors, false discoveries and reliability.

Source: Rocher, Hendrickx & de Montjoye 2019, table 1, and
supplement, equations 1 to 9 and table 7.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.parameters import Floats

CERTAIN_SCORE: Final = 0.95  # ξ above which a person is predicted to be unique, in the false-discovery rate
LIKELY_SCORE: Final = 0.5  # and in the F-score, table 7
BINS: Final = 10
Flags = npt.NDArray[np.bool_]


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
    """Figures of the scores; None where there are no such persons.

    `brier` below `brier_constant` is better than giving each person the share of the unique. `reliability` is
    the mean distance, over tenths of the scale, between the mean score and the share of the unique, weighted
    by persons.
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


def score_persons(xi: Floats, unique: Flags) -> PersonScores:
    """Compare scores with the truth.

    >>> scores = score_persons(np.array([0.99, 0.8, 0.3, 0.1]), np.array([True, True, False, False]))
    >>> scores.auc, round(scores.brier, 4), scores.false_discovery_rate, scores.recall, scores.f_score
    (1.0, 0.035, 0.0, 0.5, 1.0)
    """
    share, tenths = float(unique.mean()), _tenths(xi, unique)
    certain, likely = xi > CERTAIN_SCORE, xi > LIKELY_SCORE
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


def _auc(xi: Floats, unique: Flags) -> float | None:
    """Chance that a unique person scores above another one, ties counting half (Mann–Whitney)."""
    positive = int(unique.sum())
    pairs = positive * (xi.size - positive)
    if not pairs:
        return None
    from scipy.stats import rankdata  # noqa: PLC0415 - as numerics/scipy_functions says

    return float((rankdata(xi)[unique].sum() - positive * (positive + 1) / 2) / pairs)


def _share(of: Flags, among: Flags) -> float | None:
    return float(of[among].mean()) if among.any() else None


def _f_score(predicted: Flags, unique: Flags) -> float | None:
    """Harmonic mean of precision and recall."""
    both = int(predicted.sum() + unique.sum())
    return float(2 * (predicted & unique).sum() / both) if both else None


def _tenths(xi: Floats, unique: Flags) -> tuple[Tenth, ...]:
    """Tenths of the scale that contain persons: the supplement's reliability diagram (figure 7)."""
    tenth_of = np.minimum((xi * BINS).astype(np.int64), BINS - 1)
    persons, score, alone = (np.bincount(tenth_of, weight, BINS) for weight in (np.ones(xi.size), xi, unique))
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
