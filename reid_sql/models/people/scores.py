"""Scores ξ and κ of persons: averaged over the overdispersion, and shrunk where few people are unique.

A person whose record the sample contains as that of another person is not unique; nor is one of several
with equal records in it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from reid_sql.models.interruption import checkpoint
from reid_sql.models.marginals.column import RecordCells
from reid_sql.models.numerics.special_functions import as_floats
from reid_sql.models.people import overdispersion
from reid_sql.parameters import Floats, Integers

GRID_STEP: Final = 0.01  # of ln q, between whose points scores are interpolated
MIN_LOG_Q: Final = -80.0  # below, people are unique in any population
MIN_WEIGHT: Final = 1e-4  # of a shape
MIN_SLOPE: Final = 0.1  # of the shrinkage above ξ = 1/2
MIN_UNIQUE_SHARE: Final = 1e-4  # and one less the greatest
MIN_SCORE: Final = 1e-14  # and one less the greatest below 1: a mean over the shapes is rounded
Score = Callable[..., Floats]  # by q, a and people


@dataclass(frozen=True)
class Shrinkage:
    """Coefficients of a logistic regression on l = ln ξ/(1 − ξ) and R = ln Ξ/(1 − Ξ)."""

    offset: float
    offset_by_rarity: float  # times R
    slope: float  # of l
    bend: float  # added to the slope above ξ = 1/2
    bend_by_rarity: float  # times R


SHRINKAGE: Final = Shrinkage(0.16, 0.21, 0.93, -0.35, 0.09)  # benchmarks/accuracy/people_persons.py


def shrink_scores(
    xi: Floats, unique_share: float, fraction: float, shrinkage: Shrinkage = SHRINKAGE
) -> Floats:
    """Shrink ξ in a population of which a share Ξ is unique and a fraction n/N was sampled; 0 and 1 stay.

        ln ξ'/(1 − ξ') = l + (1 − n/N) (o(l, R) − l),   l = ln ξ/(1 − ξ),   R = ln Ξ/(1 − Ξ),
        o(l, R) = 0.16 + 0.21 R + 0.93 l + (0.09 R − 0.35) max(l, 0)

    is a logistic regression of being unique, each corpus of people with the same weight. Where few people are
    unique, a high score is less certain. At N = n the score is what the sample shows. Source: Platt 1999.

    >>> shrink_scores(np.array([0.0, 0.2, 0.99, 1.0]), 0.1, 0.01).round(2).tolist()
    [0.0, 0.17, 0.82, 1.0]
    >>> shrink_scores(np.array([0.2, 0.99]), 0.1, 1.0).round(2).tolist()
    [0.2, 0.99]
    """
    log = clipped_log_odds(xi, MIN_SCORE)
    rarity = float(clipped_log_odds(np.array(unique_share), MIN_UNIQUE_SHARE))
    upper_slope = shrinkage.slope + shrinkage.bend + shrinkage.bend_by_rarity * rarity
    slopes = np.where(log > 0, min(max(upper_slope, MIN_SLOPE), 1.0), shrinkage.slope)
    shrunk = shrinkage.offset + shrinkage.offset_by_rarity * rarity + slopes * log
    unsampled = 1 - min(max(fraction, 0.0), 1.0)
    scores = 1 / (1 + np.exp(-(log + unsampled * (shrunk - log))))
    return np.where(xi <= 0, 0.0, np.where(xi >= 1 - MIN_SCORE, 1.0, scores))


def shrink_correctness(kappa: Floats, xi: Floats, shrunk: Floats) -> Floats:
    """Shrink κ with ξ, by one law of the size F of a person's class.

    The shrinkage changes the odds of F = 1. Given that others are in the class, F keeps its law: with
    r = E[1/F | F > 1] = (κ − ξ)/(1 − ξ) before and after,

        κ' = P'(F = 1) + P'(F > 1) r = ξ' + (1 − ξ') r.

    As F > 1 is at least 2, 0 ≤ r ≤ 1/2, so that ξ' ≤ κ' ≤ (1 + ξ')/2.

    >>> kappa, xi, shrunk = np.array([0.95, 0.3]), np.array([0.9, 0.2]), np.array([0.8, 0.2])
    >>> shrink_correctness(kappa, xi, shrunk).round(3).tolist()
    [0.9, 0.3]
    """
    others_right = (kappa - xi) / np.maximum(1 - xi, np.finfo(float).tiny)
    return np.asarray(shrunk + (1 - shrunk) * np.clip(others_right, 0.0, 0.5))


def clipped_log_odds(shares: Floats, margin: float) -> Floats:
    """Log-odds of shares clipped to at least this margin from 0 and 1.

    >>> clipped_log_odds(np.array([0.5, 1.0]), 0.1).round(2).tolist()
    [0.0, 2.2]
    """
    inside = np.clip(shares, margin, 1 - margin)
    return np.asarray(np.log(inside) - np.log1p(-inside))


@dataclass(frozen=True)
class Overdispersion:
    """Weights of the residual's shapes, and the number of records that they were fitted to."""

    weights: Floats  # of LOG_SHAPES
    records: int

    def uniqueness(self, q: npt.ArrayLike, population: npt.ArrayLike) -> Floats:
        """ξ of persons of cell probability q."""
        return self._average_by_population(q, population, overdispersion.uniqueness)

    def correctness(self, q: npt.ArrayLike, population: npt.ArrayLike) -> Floats:
        """κ of persons of cell probability q."""
        return self._average_by_population(q, population, overdispersion.correctness)

    def known(self, q: npt.ArrayLike, seen: Integers, people: float) -> tuple[Floats, Floats]:
        """ξ and κ of persons of whose class the sample contains `seen` people, the person among them.

        ξ = ((a + n q)/(a + N q))^(a+1) where nobody else is seen, else 0. κ is the mean of 1/F under the
        negative binomial; where others are seen, at the mean of ln a. N is at least the number of records.
        """
        cells, sizes = np.asarray(q, dtype=np.float64), np.asarray(seen)
        alone, n = sizes == 1, float(self.records)
        people = max(float(people), n)
        xi, kappa = np.zeros(len(cells)), np.empty(len(cells))
        if alone.any():
            unique = partial(overdispersion.uniqueness_known, records=n, people=people)
            xi[alone] = self.average(cells[alone], people, unique)
            correct = partial(overdispersion.correctness_known, 1.0, records=n, people=people)
            kappa[alone] = self.average(cells[alone], people, correct)
        mean_shape = float(np.exp(self.weights @ self.log_shapes(people)))
        kappa[~alone] = overdispersion.correctness_known(
            sizes[~alone], cells[~alone], mean_shape, n, people
        )
        return xi, kappa

    def average(
        self, q: Floats, people: float, score: Callable[[Floats, Floats], Floats]
    ) -> Floats:
        """Mean of score(q, a) over the shapes at this population, interpolated on a grid of ln q.

        The grid is fixed, so that the score of a record does not depend on the others.
        """
        place = np.log(np.clip(q, np.exp(MIN_LOG_Q), 1.0)) / GRID_STEP
        below = np.floor(place).astype(np.int64)
        nodes, at = np.unique(np.concatenate([below, below + 1]), return_inverse=True)
        relevant = self.weights > MIN_WEIGHT
        weights = self.weights[relevant] / self.weights[relevant].sum()
        table = (
            score(np.exp(nodes * GRID_STEP)[:, None], np.exp(self.log_shapes(people)[relevant]))
            @ weights
        )
        low, high = table[at.reshape(2, -1)]
        return np.asarray(low + (place - below) * (high - low))

    def log_shapes(self, people: float) -> Floats:
        """Ln a in a population of this size, for each of the weights."""
        return overdispersion.log_shapes_at(self.records, people)

    def _average_by_population(
        self, q: npt.ArrayLike, population: npt.ArrayLike, score: Score
    ) -> Floats:
        cells, sizes = np.broadcast_arrays(*as_floats(q, population))
        scores = np.empty(cells.shape)
        for people in np.unique(sizes).tolist():
            checkpoint()
            rows = sizes == people
            scores[rows] = self.average(cells[rows], people, partial(score, people=people))
        return scores


@dataclass(frozen=True)
class LeftOut:
    """Cell probabilities of records of the sample, each without itself, when they are needed.

    A record that is unique in the sample is one of those that its own q was fitted to: q would be too high,
    and ξ too low.
    """

    rows: Integers
    leave_out: Callable[[Integers], Floats]  # by rows

    @property
    def probability(self) -> Floats:
        """The cell probabilities."""
        return self.leave_out(self.rows)


@dataclass(frozen=True)
class PeopleCells(RecordCells):
    """Cell probabilities under a model of people, with the overdispersion of real cells.

    Scores are shrunk by the share of unique people in a population.
    """

    overdispersion: Overdispersion
    unique_share: Callable[[float], float]  # by size of population
    left_out: LeftOut | None = None  # None where the model has only the tree

    def taken(self, rows: Integers) -> Self:
        """Give the cells of these records alone."""
        left_out = self.left_out
        return replace(
            super().taken(rows), left_out=left_out and replace(left_out, rows=left_out.rows[rows])
        )

    def uniqueness(self, population: npt.ArrayLike) -> Floats:
        """ξ, whatever the sample shows of the cell."""
        xi = self.overdispersion.uniqueness(self.probability, population)
        return self._shrink(xi, np.broadcast_to(np.asarray(population, dtype=np.float64), xi.shape))

    def correctness(self, population: npt.ArrayLike) -> Floats:
        """κ, whatever the sample shows of the cell."""
        xi = self.overdispersion.uniqueness(self.probability, population)
        kappa = self.overdispersion.correctness(self.probability, population)
        people = np.broadcast_to(np.asarray(population, dtype=np.float64), xi.shape)
        return shrink_correctness(kappa, xi, self._shrink(xi, people))

    def known(self, class_size: Integers, population: npt.ArrayLike) -> tuple[Floats, Floats]:
        """ξ and κ for records of the sample itself, each by a q without it."""
        q = self.probability if self.left_out is None else self.left_out.probability
        sizes, people = np.broadcast_arrays(
            np.asarray(class_size), np.asarray(population, dtype=np.float64)
        )
        xi, kappa = np.empty(len(sizes)), np.empty(len(sizes))
        for each in np.unique(people).tolist():
            rows = people == each
            xi[rows], kappa[rows] = self.overdispersion.known(q[rows], sizes[rows], each)
        shrunk = self._shrink(xi, people)
        return shrunk, shrink_correctness(kappa, xi, shrunk)

    def _shrink(self, xi: Floats, people: Floats) -> Floats:
        shrunk = np.array(xi)
        for each in np.unique(people).tolist():
            rows = people == each
            fraction = self.overdispersion.records / each
            shrunk[rows] = shrink_scores(shrunk[rows], self.unique_share(each), fraction)
        return shrunk
