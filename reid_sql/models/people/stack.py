"""The tree and the donors together: q = ω q_tree + (1 − ω) q_donor, ω the likeliest for left-out records.

Source: Yao et al. 2018 (stacking).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.people.donors import Donors
from reid_sql.models.people.tree import Tree, log_rarity
from reid_sql.parameters import Floats

ROUNDS: Final = 100
LEAST: Final = 1e-4  # of a weight, so that no logarithm is infinite


@dataclass(frozen=True)
class Stack:
    """The tree and its weight ω; the donors, where there are any."""

    tree: Tree
    weight: float
    donors: Donors | None

    def log_q(self, codes: Integers) -> Floats:
        """Ln q of records of codes."""
        found = self.tree.log_q(codes)
        return found if self.donors is None else self._both(found, self.donors.log_q(codes))

    def log_q_left_out(self) -> Floats:
        """Ln q of each distinct donor, as if it were not in the sample once."""
        assert self.donors is not None  # noqa: S101  # asked of fits alone
        donor = np.arange(len(self.donors.codes))
        return self._both(self.tree.log_q_left_out(self.donors.codes), self.donors.log_q_left_out(donor))

    def draw(self, count: int, rng: np.random.Generator) -> Integers:
        """Codes of records drawn from the model, those of the tree first."""
        if self.donors is None:
            return self.tree.draw(count, rng)
        own = round(self.weight * count)
        return np.concatenate([self.tree.draw(own, rng), self.donors.draw(count - own, rng)])

    def drawn_log_q(self, count: int, rng: np.random.Generator) -> Floats:
        """Ln q of records drawn from the model, values that fit nowhere else each of a rarity of its own."""
        codes = self.draw(count, rng)
        return self.log_q(codes) + log_rarity(self.tree.columns, codes, rng)

    def _both(self, tree: Floats, donors: Floats) -> Floats:
        return np.asarray(np.logaddexp(np.log(self.weight) + tree, np.log(1 - self.weight) + donors))


def stacked(tree: Tree, donors: Donors) -> Stack:
    """Weigh the two by the likelihood of the donors, each left out of both."""
    place = np.arange(len(donors.codes))
    weight = likeliest(tree.log_q_left_out(donors.codes), donors.log_q_left_out(place), donors.count)
    return Stack(tree, weight, donors)


def likeliest(one: Floats, other: Floats, count: Floats) -> float:
    """Weight ω of the likeliest mixture of two densities of the same records, by EM.

    >>> round(likeliest(np.log([0.2, 0.2]), np.log([0.1, 0.4]), np.array([1.0, 1.0])), 3)
    0.5
    """
    weight = 0.5
    ratio = np.exp(np.clip(other - one, -700, 700))
    for _ in range(ROUNDS):
        checkpoint()
        weight = float(count @ (weight / (weight + (1 - weight) * ratio)) / count.sum())
    return min(max(weight, LEAST), 1 - LEAST)
