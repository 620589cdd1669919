"""Records that repeat beyond chance: people who stand in a table twice, households that share every column.

Chance repeats the records of common cells; a twin repeats any record, with the chance τ that the sample holds
one. Of a cell of n q people expected in the sample, counts negative binomial of shape a, a class that is
there is a single record with chance (1 − τ) P(1)/(1 − P(0)). Each class is left out of the model that tells
its q. τ by profile likelihood over a; its 95 % interval is where twice the log-likelihood lies within 3.84
of the largest.
Source: Venzon & Moolgavkar 1988 (profile likelihood intervals); Fellegi & Sunter 1969 (agreement beyond
chance).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.domains import Floats
from reid_sql.interruption import checkpoint
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.models.people import shape
from reid_sql.models.people.people_evidence import PeopleEvidence
from reid_sql.models.people.tree import Tree

CHANCES: Final[Floats] = np.concatenate([[0.0], np.geomspace(1e-5, 0.99, 60)])  # τ
LESS_LIKELY: Final = NORMAL_95**2 / 2
RARE: Final = 1e-7  # people expected, below which the limit stands for the formula


@dataclass(frozen=True)
class Twins:
    """Chance that the sample holds a twin of a person: the ends of its 95 % interval."""

    low: float = 0.0
    high: float = 0.0

    @property
    def beyond_chance(self) -> bool:
        """Whether chance alone is ruled out."""
        return self.low > 0

    def most(self, fraction: float) -> float:
        """Twins of a person in a population of which a fraction was sampled, at most; 0 if chance may be all.

        >>> round(Twins(0.05, 0.1).most(0.1), 3), Twins(0.0, 0.1).most(0.1)
        (1.0, 0.0)
        """
        if not self.beyond_chance:
            return 0.0
        return float(np.log1p(-self.high) / np.log1p(-min(fraction, 1 - RARE)))

    def share_left(self, name: str, fraction: float, k: int) -> float:
        """What twins leave at least of a share of people, by Markov's and Jensen's inequalities.

        >>> found = [Twins(0.05, 0.1).share_left(name, 0.2, 5) for name in ("uniqueness", "correctness")]
        >>> [round(share, 3) for share in found]
        [0.528, 0.679]
        """
        twins = self.most(fraction)
        if name == "correctness":  # E[1/(F + M)] is at least E[1/F]/(1 + E[M]) for M twins of F alike
            return 1 / (1 + twins)
        return max(1 - twins / (k - 1 if name == "below_k" else 1), 0.0)


NONE: Final = Twins()


def twins(tree: Tree, evidence: PeopleEvidence) -> Twins:
    """Find how many records repeat beyond chance.

    >>> from reid_sql.models.people.people_evidence import counted
    >>> from reid_sql.models.people.people_fit import fit
    >>> rng = np.random.default_rng(1)
    >>> codes, names = rng.integers(0, 20, (300, 6)), [str(value) for value in range(20)]
    >>> often = np.concatenate([codes, codes[:60]])
    >>> for table in (codes, often):
    ...     found = fit(counted(table, list("abcdef"), [names] * 6, [False] * 6)).twins
    ...     found.beyond_chance, found.high > 0.1
    (False, False)
    (True, True)
    """
    key = shape.row_keys(evidence.drawn)
    _, first, times = np.unique(key, return_index=True, return_counts=True)
    size = evidence.drawn_size[first]
    expected = evidence.records * np.exp(tree.log_q_left_out(evidence.drawn[first], size))
    single = alone(expected[:, None], np.exp(shape.LOG_SHAPES))  # (classes, shapes)
    likelihood = _likelihood(single, size == 1, times / size)
    within = CHANCES[likelihood.max() - likelihood < LESS_LIKELY]
    return Twins(float(within.min()), float(within.max()))


def alone(expected: Floats, shapes: Floats) -> Floats:
    """Chance that a class is a single record, given that it is there: P(1)/(1 − P(0)).

    >>> alone(np.array([1.0, 1e-12]), np.array([1.0, 1.0])).tolist()
    [0.5, 1.0]
    """
    log = np.log1p(expected / shapes)
    there = np.maximum(-np.expm1(-shapes * log), 1e-300)
    found = np.where(expected < RARE, 1.0, expected * np.exp(-(shapes + 1) * log) / there)
    return np.asarray(np.minimum(found, 1.0))


def _likelihood(single: Floats, is_alone: np.ndarray, weight: Floats) -> Floats:
    """Log-likelihood of each of CHANCES, at the shape that it likes best."""
    of_alone = weight[is_alone] @ np.log(np.maximum(single[is_alone], 1e-300))  # (shapes,)
    often, count = single[~is_alone], float(weight[is_alone].sum())
    found = []
    for chance in CHANCES.tolist():
        checkpoint()
        repeats = np.log(np.maximum(1 - (1 - chance) * often, 1e-12))
        found.append(float((of_alone + count * np.log1p(-chance) + weight[~is_alone] @ repeats).max()))
    return np.array(found)
