"""Records that repeat beyond chance: people with several rows, households whose members share every column.

Model: chance repeats records of common cells; repeated people repeat any. With probability τ, the sample
contains several of a group of identical people of whom it contains at least one. Without repeated people, a
class that occurs in a cell of n q expected people is a single record with probability P(1)/(1 − P(0)) under a
negative binomial of shape a, so in all

    P(single | occurs) = (1 − τ) P(1) / (1 − P(0)).

Each class's q comes from a model without its records. The log-likelihood of τ is maximised over a; its 95 %
interval is where it lies within 3.84/2 of the greatest. The shape explains a part of the repeats in common
cells, so τ is underestimated by up to a fifth. Source: Venzon & Moolgavkar 1988 (profile likelihood
intervals); Fellegi & Sunter 1969 (agreement beyond chance).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics import special_functions
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.models.people.evidence import PeopleEvidence, count_pairs, row_keys
from reid_sql.models.people.overdispersion import LOG_SHAPES, choose_subsets
from reid_sql.models.people.tree import PairTables
from reid_sql.parameters import Floats, Integers

REPEAT_CHANCES: Final[Floats] = np.concatenate([[0.0], np.geomspace(1e-5, 0.99, 60)])  # grid of τ
COARSE_CHANCES: Final[Floats] = np.concatenate([[0.0], np.geomspace(1e-4, 0.99, 24)])
INTERVAL_LOG_LIKELIHOOD: Final = NORMAL_95**2 / 2  # below the greatest
# of repeated people; one in eleven tables of single people reaches it
MIN_LOG_LIKELIHOOD_RATIO: Final = 6.0
MIN_LOG_LIKELIHOOD_RATIO_OF_GROUPS: Final = 20.0  # tables of people drawn one by one reached 11
MIN_HOUSEHOLD: Final = 5.0  # identical people, above which records were drawn in groups
MIN_FREQUENCY: Final = 4  # records of a value: more than most households have
MIN_FREQUENT_RECORDS: Final = 10
DETERMINED_SHARE: Final = (
    0.9  # of the records of frequent values, whose value of another column is the same
)
MIN_UNIQUE_SHARE: Final = 0.1  # of a subset of columns: the test needs rare records
MAX_GROUP_RECORDS: Final = 1500  # that are searched for groups
MAX_GROUP_SUBSETS: Final = 20
MAX_IDENTICAL: Final = 1e6  # people
MIN_EXPECTED: Final = 1e-7  # people of a cell, below which the limit replaces the formula


@dataclass(frozen=True)
class RepeatedPeople:
    """The 95 % interval of the chance τ that the sample contains several of a group of identical people."""

    low: float = 0.0
    high: float = 0.0
    log_likelihood_ratio: float = 0.0  # of the likeliest τ to 0
    # at the upper end
    class_chances: Floats = field(default_factory=lambda: np.empty(0), compare=False)

    @property
    def beyond_chance(self) -> bool:
        """Whether repeats are far likelier with repeated people than by chance alone."""
        return self.log_likelihood_ratio >= MIN_LOG_LIKELIHOOD_RATIO

    def max_duplicates(self, fraction: float) -> float:
        """At most how many others are identical to a person; 0 if chance explains all repeats.

        >>> round(RepeatedPeople(0.01, 1 / 19, 7.0).max_duplicates(0.1), 3)
        1.0
        >>> RepeatedPeople(0.0, 0.1, 0.0).max_duplicates(0.1)
        0.0
        """
        if not self.beyond_chance:
            return 0.0
        return identical_people(self.high, min(fraction, 1 - MIN_EXPECTED)) - 1

    def min_share_left(self, name: str, fraction: float, k: int) -> float:
        """Least part of a share of people that remains if the population contains duplicates.

        >>> people = RepeatedPeople(0.05, 0.1, 9.0)
        >>> [round(people.min_share_left(name, 0.2, 5), 3) for name in ("uniqueness", "correctness")]
        [0.104, 0.527]
        """
        duplicates = self.max_duplicates(fraction)
        # E[1/(F + M)] ≥ E[1/F] / (1 + E[M]) for M duplicates of each of F (Jensen)
        if name == "correctness":
            return 1 / (1 + duplicates)
        # P(M ≥ 1) ≤ E[M], and P(M ≥ k − 1) ≤ E[M]/(k − 1) (Markov)
        return max(1 - duplicates / (k - 1 if name == "below_k" else 1), 0.0)


def identical_people(repeat_chance: float, fraction: float) -> float:
    """Size s of groups of identical people, of which the sample contains several with chance τ.

    Of those of whom it contains any, it contains just one with s f (1 − f)^(s−1) / (1 − (1 − f)^s) = 1 − τ.

    >>> round(identical_people(1 / 19, 0.1), 4)
    2.0
    """
    log_left = np.log1p(-fraction)

    def excess(people: float) -> float:
        just_one = (
            people * fraction * np.exp((people - 1) * log_left) / -np.expm1(people * log_left)
        )
        return float(1 - repeat_chance - just_one)

    return (
        MAX_IDENTICAL
        if excess(MAX_IDENTICAL) < 0
        else special_functions.find_root(excess, 1.0, MAX_IDENTICAL)
    )


@dataclass(frozen=True)
class DrawnGroups:
    """Repeats in some columns far beyond chance: the lower end of their τ, and the records searched.

    In a sample of whole households, members agree in the columns that they share far more often than people
    drawn one by one would.
    """

    low: float = 0.0
    records: int = 0

    def is_group_sample(self, people: float) -> bool:
        """Whether, if people were drawn one by one, more would have to be identical than a household has.

        >>> DrawnGroups(0.1, 1000).is_group_sample(1e5), DrawnGroups(0.01, 1000).is_group_sample(1e5)
        (True, False)
        """
        if self.low <= 0:
            return False
        return (
            identical_people(self.low, min(self.records / people, 1 - MIN_EXPECTED))
            >= MIN_HOUSEHOLD
        )


NO_REPEATED_PEOPLE: Final = RepeatedPeople()
NO_GROUPS: Final = DrawnGroups()


def find_repeated_people(
    log_q_without: Callable[[Integers, Integers], Floats], evidence: PeopleEvidence
) -> RepeatedPeople:
    """Estimate how many records repeat beyond chance, by ln q of classes of these codes and sizes.

    >>> from reid_sql.models.people.evidence import count_records
    >>> from reid_sql.models.people.fit import fit
    >>> rng = np.random.default_rng(1)
    >>> codes, names = rng.integers(0, 20, (300, 6)), [str(value) for value in range(20)]
    >>> twice = np.concatenate([codes, codes[:60]])
    >>> for table in (codes, twice):
    ...     evidence = count_records(table, list("abcdef"), [names] * 6, [False] * 6)
    ...     repeated = fit(evidence).repeated_people
    ...     repeated.beyond_chance, repeated.high > 0.1
    (False, False)
    (True, True)
    """
    key = row_keys(evidence.drawn)
    _, first, times = np.unique(key, return_index=True, return_counts=True)
    size = evidence.drawn_size[first]
    expected = evidence.records * np.exp(log_q_without(evidence.drawn[first], size))
    single = single_chance(expected[:, None], np.exp(LOG_SHAPES))  # (classes, shapes)
    by_shape = _likelihood_by_shape(single, size == 1, times / size, REPEAT_CHANCES)
    likelihood = by_shape.max(axis=1)
    within = np.flatnonzero(likelihood.max() - likelihood < INTERVAL_LOG_LIKELIHOOD)
    low, high = REPEAT_CHANCES[within[[0, -1]]].tolist()
    shape = np.exp(LOG_SHAPES[by_shape[within[-1]].argmax()])
    chances = repeat_chances(expected, float(shape), size, high)
    return RepeatedPeople(low, high, float(likelihood.max() - likelihood[0]), chances)


def repeat_chances(expected: Floats, shape: float, size: Integers, chance: float) -> Floats:
    """At most how likely it is that a class of this size contains several rows of one person.

    Several rows of one person are a class of at least this size with probability τ at most, chance is one
    with (1 − τ) P(f or more)/(1 − P(0)). P(f or more) is the regularised beta function I(μ/(μ + a); f, a).

    >>> repeat_chances(np.array([1.0, 1e-9, 1e9, 1.0]), 1.0, np.array([2, 2, 2, 1]), 0.5).round(3).tolist()
    [0.667, 1.0, 0.5, 0.0]
    """
    ratio = expected / (expected + shape)
    occurs = np.maximum(special_functions.betainc(1.0, shape, ratio), 1e-300)
    by_chance = special_functions.betainc(size, shape, ratio) / occurs
    several = chance / np.maximum(chance + (1 - chance) * by_chance, 1e-300)
    return np.asarray(np.where(size > 1, several, 0.0))


def find_groups(tables: PairTables, drawn: Integers, rng: np.random.Generator) -> DrawnGroups:
    """Search random subsets of the columns for groups, each with a tree of its own.

    Where a region nearly follows from a town, the model without a class's records does not know the region
    of its town, and calls their agreement a group. Such a column is left out of a subset: the rest of the
    columns that a household shares has to show the groups.
    """
    codes, low = drawn[:MAX_GROUP_RECORDS], 0.0
    determined = find_nearly_determined(codes)
    for subset in choose_subsets(drawn.shape[1], rng)[:MAX_GROUP_SUBSETS]:
        columns = list(subset)
        for column in subset:
            if any((other, column) in determined for other in columns):
                columns.remove(column)
        tree, subset_codes = tables.spanning_tree(columns), codes[:, columns]
        _, first, size = np.unique(row_keys(subset_codes), return_index=True, return_counts=True)
        if len(columns) == 1 or (size == 1).sum() < MIN_UNIQUE_SHARE * len(codes):
            continue
        expected = len(codes) * np.exp(tree.log_q_left_out(subset_codes[first], size))
        single = single_chance(expected[:, None], np.exp(LOG_SHAPES[::4]))
        likelihood = _likelihood_by_shape(
            single, size == 1, np.ones(len(size)), COARSE_CHANCES
        ).max(axis=1)
        if likelihood.max() - likelihood[0] >= MIN_LOG_LIKELIHOOD_RATIO_OF_GROUPS:
            within = COARSE_CHANCES[likelihood.max() - likelihood < INTERVAL_LOG_LIKELIHOOD]
            low = max(low, float(within.min()))
    return DrawnGroups(low, len(codes))


def find_nearly_determined(codes: Integers) -> set[tuple[int, int]]:
    """Pairs of columns of which the first nearly determines the second, by its frequent values.

    These have more records than a household: those of several households would not agree.

    >>> town = np.repeat(np.arange(10), 12)
    >>> find_nearly_determined(np.stack([town, town // 5, np.arange(120) % 7], axis=1))
    {(0, 1)}
    """
    pairs = set()
    for by, by_codes in enumerate(codes.T):
        frequent = codes[np.bincount(by_codes)[by_codes] >= MIN_FREQUENCY]
        for column in range(codes.shape[1] if len(frequent) >= MIN_FREQUENT_RECORDS else 0):
            value, _, counts = count_pairs(frequent[:, by], frequent[:, column])
            most = np.zeros(int(by_codes.max()) + 1)
            np.maximum.at(most, value, counts)
            if column != by and most.sum() >= DETERMINED_SHARE * len(frequent):
                pairs.add((by, column))
    return pairs


def single_chance(expected: Floats, shapes: Floats) -> Floats:
    """Chance P(1)/(1 − P(0)) that a class is a single record, given that it occurs.

    With μ expected people, P(0) = (1 + μ/a)^−a and P(1) = μ (1 + μ/a)^−(a+1).

    >>> single_chance(np.array([1.0, 1e-12]), np.array([1.0, 1.0])).tolist()
    [0.5, 1.0]
    """
    log = np.log1p(expected / shapes)
    occurs = np.maximum(-np.expm1(-shapes * log), 1e-300)
    chance = np.where(expected < MIN_EXPECTED, 1.0, expected * np.exp(-(shapes + 1) * log) / occurs)
    return np.asarray(np.minimum(chance, 1.0))


def _likelihood_by_shape(
    single: Floats, is_single: np.ndarray, weight: Floats, chances: Floats
) -> Floats:
    """Log-likelihood of each of these τ under each shape: (chances, shapes)."""
    of_single = weight[is_single] @ np.log(np.maximum(single[is_single], 1e-300))  # (shapes,)
    of_repeated, count = single[~is_single], float(weight[is_single].sum())
    likelihood = []
    for chance in chances.tolist():
        checkpoint()
        repeats = np.log(np.maximum(1 - (1 - chance) * of_repeated, 1e-12))
        likelihood.append(of_single + count * np.log1p(-chance) + weight[~is_single] @ repeats)
    return np.stack(likelihood)
