"""What cell probabilities say of persons, averaged over how far real cells may scatter around them.

A person whose record the sample holds as somebody else's is not unique; nor is one of several alike in it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.numerics.rectangle import Estimates
from reid_sql.models.people import caution, residual, shape
from reid_sql.parameters import Floats

NODES: Final = 2000  # of ln q, between which scores are interpolated
NEGLIGIBLE: Final = 1e-4  # weight of a shape
Score = Callable[[Floats, Floats, float], Floats]


@dataclass(frozen=True)
class Scatter:
    """Weights of the residual's shapes, and how many records they were learnt from."""

    weights: Floats  # of LOG_SHAPES
    records: int

    def uniqueness(self, q: npt.ArrayLike, population: npt.ArrayLike) -> Floats:
        """Chance ξ that a person of cell probability q is the only one of the cell."""
        return self._mean(q, population, residual.uniqueness)

    def correctness(self, q: npt.ArrayLike, population: npt.ArrayLike) -> Floats:
        """Mean κ of 1/F for a person of cell probability q."""
        return self._mean(q, population, residual.correctness)

    def known(self, q: npt.ArrayLike, seen: Integers, people: float) -> tuple[Floats, Floats]:
        """ξ and κ of persons of whose class `seen` people are known: the person, and others in the sample.

        ξ = ((a + n q)/(a + N q))^(a+1) where nobody else is seen, else 0. κ is the mean of 1/F under the
        negative binomial; where others are seen it takes the mean of ln a. People are at least the records.
        """
        cells, sizes = np.asarray(q, dtype=np.float64), np.asarray(seen)
        alone, n = sizes == 1, float(self.records)
        people = max(float(people), n)
        xi, kappa = np.zeros(len(cells)), np.empty(len(cells))
        if alone.any():
            told = partial(residual.uniqueness_known, records=n, people=people)
            xi[alone] = self.looked_up(cells[alone], people, told)
            right = partial(residual.correctness_known, 1.0, records=n, people=people)
            kappa[alone] = self.looked_up(cells[alone], people, right)
        middle = float(np.exp(self.weights @ self.log_shapes(people)))
        kappa[~alone] = residual.correctness_known(sizes[~alone], cells[~alone], middle, n, people)
        return xi, kappa

    def looked_up(self, q: Floats, people: float, score: Callable[[Floats, Floats], Floats]) -> Floats:
        """Mean of score(q, a) over the shapes at this population, interpolated from a grid of ln q."""
        log = np.log(np.maximum(q, np.finfo(float).tiny))
        kept = self.weights > NEGLIGIBLE
        weights = self.weights[kept] / self.weights[kept].sum()
        nodes = np.unique(log)
        if len(nodes) > NODES:
            nodes = np.linspace(nodes[0], nodes[-1], NODES)
        table = score(np.exp(nodes)[:, None], np.exp(self.log_shapes(people)[kept]))
        return np.asarray(np.interp(log, nodes, table @ weights))

    def log_shapes(self, people: float) -> Floats:
        """Ln a of a population of this size, for each of the weights."""
        return shape.at_population(self.records, people)

    def _mean(self, q: npt.ArrayLike, population: npt.ArrayLike, score: Score) -> Floats:
        """Mean over the shapes, by look-up on a grid of ln q for each size of population."""
        people = np.asarray(population, dtype=np.float64)
        cell, size = np.broadcast_arrays(np.asarray(q, dtype=np.float64), people)
        found = np.empty(cell.shape)
        for each in np.unique(size).tolist():
            checkpoint()
            rows = size == each
            found[rows] = self.looked_up(cell[rows], each, _at(score, each))
        return found


def _at(score: Score, people: float) -> Callable[[Floats, Floats], Floats]:
    return lambda q, shapes: score(q, shapes, people)


@dataclass(frozen=True)
class PeopleCells(Estimates):
    """Cell probabilities under a model of people, whose residual tells how real cells scatter around them.

    Scores ξ are drawn in as far as the share of unique people of a population asks for, where it is known.
    """

    scatter: Scatter
    unique: Callable[[float], float] | None = None  # share of unique people by size of population

    def uniqueness(self, population: npt.ArrayLike) -> Floats:
        """ξ, whatever the sample shows of the cell."""
        found = self.scatter.uniqueness(self.probability, population)
        return self._cautious(found, np.broadcast_to(np.asarray(population, dtype=np.float64), found.shape))

    def correctness(self, population: npt.ArrayLike) -> Floats:
        """κ, whatever the sample shows of the cell."""
        return self.scatter.correctness(self.probability, population)

    def known(self, class_size: Integers, population: npt.ArrayLike) -> tuple[Floats, Floats]:
        """ξ and κ for records of the sample itself."""
        people = np.asarray(population, dtype=np.float64)
        sizes, people = np.broadcast_arrays(np.asarray(class_size), people)
        xi, kappa = np.empty(len(sizes)), np.empty(len(sizes))
        for each in np.unique(people).tolist():
            rows = people == each
            xi[rows], kappa[rows] = self.scatter.known(self.probability[rows], sizes[rows], each)
        xi = self._cautious(xi, people)
        return xi, np.maximum(kappa, xi)

    def _cautious(self, xi: Floats, people: Floats) -> Floats:
        if self.unique is None:
            return xi
        found = np.array(xi)
        for each in np.unique(people).tolist():
            rows = people == each
            found[rows] = caution.cautious(found[rows], self.unique(each), self.scatter.records / each)
        return found
