"""Records that repeat beyond chance: people who stand in a table twice, households that share every column.

Chance repeats the records of common cells; twins repeat any, with the chance τ that of people who are all
alike and of whom the sample holds some it holds several. Of a cell of n q people expected in the sample,
counts negative binomial of shape a, a class that is there is a single record with chance (1 − τ) P(1)/(1 −
P(0)). Each class is left out of the model that tells its q. τ by profile likelihood over a; its 95 % interval
is where twice the log-likelihood lies within 3.84 of the largest. The shape takes a part of what twins do in
common cells for scatter, so that τ falls short by up to a fifth.
Source: Venzon & Moolgavkar 1988 (profile likelihood intervals); Fellegi & Sunter 1969 (agreement beyond
chance).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.numerics import scipy_functions
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.models.people import shape
from reid_sql.models.people.people_evidence import PeopleEvidence
from reid_sql.models.people.tree import PairTables, Tree
from reid_sql.parameters import Floats

CHANCES: Final[Floats] = np.concatenate([[0.0], np.geomspace(1e-5, 0.99, 60)])  # τ
LESS_LIKELY: Final = NORMAL_95**2 / 2
COARSE: Final[Floats] = np.concatenate([[0.0], np.geomspace(1e-4, 0.99, 24)])
SURELY: Final = 20.0  # log-likelihood ratio; tables of people drawn one by one reached 11
HOUSEHOLD: Final = 5.0  # people alike
MANY_ALONE: Final = 0.1  # of the records of a choice of columns: the test is of rare records
GROUPED: Final = 1500  # records in which groups are looked for
SUBTABLES: Final = 20
MOST: Final = 1e6  # people alike
RARE: Final = 1e-7  # people expected, below which the limit stands for the formula


@dataclass(frozen=True)
class Twins:
    """Chance τ that the sample holds several of people who are twins: the ends of its 95 % interval."""

    low: float = 0.0
    high: float = 0.0

    @property
    def beyond_chance(self) -> bool:
        """Whether chance alone is ruled out."""
        return self.low > 0

    def most(self, fraction: float) -> float:
        """Twins of a person in a population of which a fraction was sampled, at most; 0 if chance may be all.

        Of s people who are alike the sample holds just one, if any, with chance
        s f (1 − f)^(s−1) / (1 − (1 − f)^s) = 1 − τ.

        >>> round(Twins(0.01, 1 / 19).most(0.1), 3), Twins(0.0, 0.1).most(0.1)
        (1.0, 0.0)
        """
        if not self.beyond_chance:
            return 0.0
        return alike(self.high, min(fraction, 1 - RARE)) - 1

    def share_left(self, name: str, fraction: float, k: int) -> float:
        """What twins leave at least of a share of people, by Markov's and Jensen's inequalities.

        >>> found = [Twins(0.05, 0.1).share_left(name, 0.2, 5) for name in ("uniqueness", "correctness")]
        >>> [round(share, 3) for share in found]
        [0.104, 0.527]
        """
        twins = self.most(fraction)
        if name == "correctness":  # E[1/(F + M)] is at least E[1/F]/(1 + E[M]) for M twins of F alike
            return 1 / (1 + twins)
        return max(1 - twins / (k - 1 if name == "below_k" else 1), 0.0)


def alike(several: float, fraction: float) -> float:
    """How many people are alike, if of those of whom the sample holds some it holds several so often.

    >>> round(alike(1 / 19, 0.1), 4)
    2.0
    """
    kept = np.log1p(-fraction)

    def miss(people: float) -> float:
        just_one = people * fraction * np.exp((people - 1) * kept) / -np.expm1(people * kept)
        return float(1 - several - just_one)

    return MOST if miss(MOST) < 0 else scipy_functions.find_root(miss, 1.0, MOST)


@dataclass(frozen=True)
class Groups:
    """What repeats in some columns beyond all chance: the least τ of it, and how many records showed it.

    Where a sample takes households whole, their members meet in the columns that they share far more often
    than people drawn one by one would: as if there were very many alike.
    """

    low: float = 0.0
    records: int = 0

    def whole(self, people: float) -> bool:
        """Whether as many people would have to be alike as no household has, were they drawn one by one.

        >>> Groups(0.1, 1000).whole(1e5), Groups(0.01, 1000).whole(1e5)
        (True, False)
        """
        return self.low > 0 and alike(self.low, min(self.records / people, 1 - RARE)) >= HOUSEHOLD


NONE: Final = Twins()
NO_GROUPS: Final = Groups()


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
    likelihood = _likelihood(single, size == 1, times / size, CHANCES)
    within = CHANCES[likelihood.max() - likelihood < LESS_LIKELY]
    return Twins(float(within.min()), float(within.max()))


def groups(tables: PairTables, drawn: Integers, rng: np.random.Generator) -> Groups:
    """Look for groups in random choices of columns, each with a tree of its own."""
    codes, least = drawn[:GROUPED], 0.0
    for columns in shape.choices(drawn.shape[1], rng)[:SUBTABLES]:
        tree, own = tables.tree(columns), codes[:, columns]
        _, first, size = np.unique(shape.row_keys(own), return_index=True, return_counts=True)
        if (size == 1).sum() < MANY_ALONE * len(codes):
            continue
        expected = len(codes) * np.exp(tree.log_q_left_out(own[first], size))
        single = alone(expected[:, None], np.exp(shape.LOG_SHAPES[::4]))
        likelihood = _likelihood(single, size == 1, np.ones(len(size)), COARSE)
        if likelihood.max() - likelihood[0] >= SURELY:
            within = COARSE[likelihood.max() - likelihood < LESS_LIKELY]
            least = max(least, float(within.min()))
    return Groups(least, len(codes))


def alone(expected: Floats, shapes: Floats) -> Floats:
    """Chance that a class is a single record, given that it is there: P(1)/(1 − P(0)).

    >>> alone(np.array([1.0, 1e-12]), np.array([1.0, 1.0])).tolist()
    [0.5, 1.0]
    """
    log = np.log1p(expected / shapes)
    there = np.maximum(-np.expm1(-shapes * log), 1e-300)
    found = np.where(expected < RARE, 1.0, expected * np.exp(-(shapes + 1) * log) / there)
    return np.asarray(np.minimum(found, 1.0))


def _likelihood(single: Floats, is_alone: np.ndarray, weight: Floats, chances: Floats) -> Floats:
    """Log-likelihood of each of these chances, at the shape that it likes best."""
    of_alone = weight[is_alone] @ np.log(np.maximum(single[is_alone], 1e-300))  # (shapes,)
    often, count = single[~is_alone], float(weight[is_alone].sum())
    found = []
    for chance in chances.tolist():
        checkpoint()
        repeats = np.log(np.maximum(1 - (1 - chance) * often, 1e-12))
        found.append(float((of_alone + count * np.log1p(-chance) + weight[~is_alone] @ repeats).max()))
    return np.array(found)
