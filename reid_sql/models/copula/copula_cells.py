"""Scores ξ and κ of records under a copula: people are spread over the cells by the probabilities alone.

The other people of a cell are binomial. Of N people N − 1 are others; if a sample of n is known and shows s
people of the cell, the N − n people outside it are, and the class has F = s + Binomial(N − n, q) people:

    ξ = (1 − q)^(N − n) for s = 1, else 0,    κ = E[1/F].

A sample that consists of the person alone, n = s = 1, is the case in which nothing is known.
Source: Rocher, Hendrickx & de Montjoye 2019, eq. 2 and 27; supplement eq. 17.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes import uniqueness
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.marginals.record_cells import RecordCells
from reid_sql.models.numerics import quadrature
from reid_sql.parameters import Floats


@dataclass(frozen=True)
class CopulaCells(RecordCells):
    """Cell probabilities of records under a copula, and the number of records of its sample."""

    records: int

    def uniqueness(self, population: npt.ArrayLike) -> Floats:
        """Chance ξ that a person of each cell is the only one in it."""
        return uniqueness.uniqueness_from_probability(self.probability, population)

    def correctness(self, population: npt.ArrayLike) -> Floats:
        """Mean κ of 1/F for a person of each cell."""
        return uniqueness.correctness_from_probability(self.probability, population)

    def known(self, class_size: Integers, population: npt.ArrayLike) -> tuple[Floats, Floats]:
        """ξ and κ for records of the sample itself, by class size; N is at least the number of records."""
        people = np.maximum(np.asarray(population, dtype=np.float64), self.records)
        unseen, q = people - self.records, np.minimum(self.probability, 1.0)
        alone = uniqueness.uniqueness_from_probability(q, unseen + 1)
        kappa = quadrature.expected_inverse_binomial(class_size, unseen, q)
        return np.where(np.asarray(class_size) == 1, alone, 0.0), kappa
