"""How often a match in a random gallery is right: by the scores of a matcher, or by known points of a set.

Both expectations over galleries are exact. Source: Rocher, Hendrickx & de Montjoye 2025.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.quasi_identifiers import Codes
from reid_sql.models.classes.uniqueness import default_subset_sizes, log_miss_probability
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.parameters import Floats, Integers, Number, plain

# How often a learned matching names the right person in a gallery, from the scores that it gave.
# A probe is a person looked for: it has one score against its own record, and scores against records of
# other people. It is matched rightly in a gallery of n where none of the n − 1 others drawn scores higher;
# among equal scores the choice is by chance. Source: the rank-1 identification rate, Rocher, Hendrickx & de
# Montjoye 2025, with the expectation over galleries taken exactly.

SCORE: Final = Number(
    "a finite score",
    "pass scores that are higher the better the match, and leave out what was not scored",
    -1e300,
    1e300,
)
PERSON: Final = Number(
    "a whole number for a person",
    "pass the number of the person who is looked for",
    -1e15,
    1e15,
    whole=True,
)


@dataclass(frozen=True)
class MatchingPoint:
    """Share of probes matched rightly in a gallery of n, its standard error over probes, and the probes."""

    n: int
    correctness: float
    standard_error: float | None
    people: int


def matching_curve(
    true_scores: npt.ArrayLike,
    false_scores: npt.ArrayLike,
    sizes: npt.ArrayLike | None = None,
    true_persons: npt.ArrayLike | None = None,
    false_persons: npt.ArrayLike | None = None,
) -> list[MatchingPoint]:
    """Expected share of probes whose own record scores highest: κ(n) = mean of C(L, n − 1) / C(M, n − 1).

    The record is among n. L of a probe's M false scores are lower than its true one. With persons, a probe is
    compared with its own false scores alone; without, with all, which assumes one law for all people and is
    too high or too low where some people are easier to mistake than others. Refuses sizes beyond the false
    scores of some probe plus one, lists that do not go together, and probes without false scores.

    >>> [point.correctness for point in matching_curve([0.9, 0.4], [0.1, 0.2, 0.5, 0.6], [1, 2])]
    [1.0, 0.75]
    """
    true = SCORE.check("true_scores", true_scores).ravel()
    false = SCORE.check("false_scores", false_scores).ravel()
    lower, equal, compared = _count_scores(
        true, false, *_check_persons(true, false, true_persons, false_persons)
    )
    most = int(compared.min()) + 1
    domain = Number(
        f"whole numbers from 1 to {most}, the false scores of a probe and itself",
        "pass sizes of galleries that the scores fill",
        1.0,
        float(most),
        whole=True,
    )
    at = np.atleast_1d(
        domain.check("sizes", default_subset_sizes(most) if sizes is None else sizes)
    )
    kinds, place = np.unique(np.stack([lower, equal, compared]), axis=1, return_inverse=True)
    curve = []
    for n in at.tolist():
        of_kinds = np.array([_rank_first_probability(n, *kind) for kind in kinds.T.tolist()])
        right = of_kinds[place.ravel()]
        error = float(right.std(ddof=1) / np.sqrt(right.size)) if right.size > 1 else None
        curve.append(MatchingPoint(int(n), float(right.mean()), error, right.size))
    return curve


def _check_persons(
    true: Floats, false: Floats, of_true: npt.ArrayLike | None, of_false: npt.ArrayLike | None
) -> tuple[Floats, Floats]:
    if (of_true is None) != (of_false is None):
        passed, missing = ("true", "false") if of_false is None else ("false", "true")
        raise OutOfDomainError(
            f"{passed}_persons must go with {missing}_persons, got NULL; "
            "pass the persons of both or of neither"
        )
    if of_true is None or of_false is None:
        return np.zeros(true.size), np.zeros(false.size)
    checked = (
        PERSON.check("true_persons", of_true).ravel(),
        PERSON.check("false_persons", of_false).ravel(),
    )
    for name, persons, scores in (("true", checked[0], true), ("false", checked[1], false)):
        if persons.size != scores.size:
            raise OutOfDomainError(
                f"{name}_persons must be as many as {name}_scores, got {persons.size} for {scores.size}; pass one a score"
            )
    return checked


def _count_scores(
    true: Floats, false: Floats, of_true: Floats, of_false: Floats
) -> tuple[Integers, Integers, Integers]:
    """Lower, equal and all false scores of each probe."""
    order = np.lexsort((false, of_false))
    persons, scores = of_false[order], false[order]
    if not true.size:
        raise OutOfDomainError(
            "true_scores must contain at least one score, got none; pass a score for each probe"
        )
    counted = np.zeros((3, true.size), dtype=np.int64)
    for person in np.unique(of_true):
        first = np.searchsorted(persons, person, "left")
        last = np.searchsorted(persons, person, "right")
        if first == last:
            who = f"person {plain(person)}" if of_true.any() or of_false.any() else "anybody"
            raise OutOfDomainError(
                f"false_scores must contain scores of every probe, got none of {who}; "
                "pass some, or leave the probe out"
            )
        mine, compared = of_true == person, scores[first:last]
        below = np.searchsorted(compared, true[mine], "left")
        upto = np.searchsorted(compared, true[mine], "right")
        counted[:, mine] = np.stack([below, upto - below, np.full(below.size, compared.size)])
    return counted[0], counted[1], counted[2]


def _rank_first_probability(n: float, lower: int, equal: int, compared: int) -> float:
    """Chance to be first: Σ_{j ≤ E} C(L + j, n − 1) / ((E + 1) C(M, n − 1)), E equal scores in any order.

    The record is one among n. The sum is C(L + E + 1, n) − C(L, n), here as a product that does not cancel.
    """
    upto = float(lower + equal)
    none_higher = np.exp(log_miss_probability(np.array([compared - upto]), n - 1, float(compared)))
    first_of_equal = -np.expm1(log_miss_probability(np.array([equal + 1.0]), n, upto + 1))
    return float(((upto + 1) / (n * (equal + 1)) * none_higher * first_of_equal)[0])


# Sparse matching: an attacker who knows some points of a person's set, such as a few purchases of a basket.
# All people whose set contains the known points match, and the attacker names one of them. In a random
# gallery of n people that contains the target, a target with m matches among all N has a hypergeometric
# number of rivals, and the chance of naming the right one is E[1/(1 + rivals)] = N/(n m) · [1 − C(N − m,
# n)/C(N, n)]. Source: Rocher, Hendrickx & de Montjoye 2025 (sparse matching), with the expectation over
# galleries taken exactly.


@dataclass(frozen=True)
class Matches:
    """How many people match what an attacker knows, with the weight of the targets for whom so many do.

    At each resolution of the columns, and for each number of known points.
    """

    points: Integers  # (kinds,): points that are known of a target; 0 where all of theirs are
    matches: Integers  # (kinds,)
    weight: Floats  # (kinds,): targets, or draws of a target and its known points
    people: Integers  # (kinds,): all the people, alike in each row
    # (kinds,): those with fewer points, alike in each row of as many points
    people_with_fewer: Integers
    # (kinds,): draws that the weights count, alike in each row of as many points; 0: all
    draws: Integers
    place: Integers  # (kinds,): of the resolution among all
    resolution: Sequence[str | None]  # (kinds,): None where there is one alone

    def divide(self) -> list["MatchesOfPoints"]:
        """The matches at each resolution and number of points, in order; refuses an empty table."""
        if not len(self.people):
            raise NoRecordsError
        kinds = zip(self.place.tolist(), self.points.tolist(), strict=True)
        parts = []
        for place, points in sorted(set(kinds)):
            chosen = (self.place == place) & (self.points == points)
            first = int(np.flatnonzero(chosen)[0])
            counts = (self.people, self.people_with_fewer, self.draws)
            parts.append(
                MatchesOfPoints(
                    self.resolution[first],
                    points or None,
                    self.matches[chosen],
                    self.weight[chosen],
                    *(int(each[first]) for each in counts),
                )
            )
        return parts


@dataclass(frozen=True)
class MatchesOfPoints:
    """The matches at one resolution, of an attacker who knows so many points; None: all of a target's."""

    resolution: str | None
    points: int | None
    matches: Integers  # (kinds,)
    weight: Floats  # (kinds,)
    people: int
    people_with_fewer: int
    draws: int


@dataclass(frozen=True)
class SparsePoint:
    """Expected correctness and uniqueness in a random gallery of n people; `draws` is 0 where it is exact."""

    points: int | None
    n: int
    correctness: float
    correctness_low: float
    correctness_high: float
    standard_error: float
    uniqueness: float
    uniqueness_low: float
    uniqueness_high: float
    uniqueness_standard_error: float
    people: int
    draws: int
    resolution: str | None


def sparse_matching_curve(
    matches: Matches, sizes: npt.ArrayLike | None = None
) -> list[SparsePoint]:
    """Correctness and uniqueness for each number of points, at each size or at default_sizes.

    The standard error is that of the draws, 0 where every combination of points was counted.
    Refuses sizes that are not whole numbers from 1 to the number of people, and an empty table.

    >>> one, people, none = np.array([1]), np.array([4]), np.array([0])
    >>> everyone_has_a_twin = Matches(one, one + 1, np.array([4.0]), people, none, none, none, [None])
    >>> curve = sparse_matching_curve(everyone_has_a_twin, [1, 2, 4])
    >>> [(round(point.correctness, 4), round(point.uniqueness, 4)) for point in curve]
    [(1.0, 1.0), (0.8333, 0.6667), (0.5, 0.0)]
    """
    curve = []
    for some in matches.divide():
        inside = Number(
            f"whole numbers from 1 to the {some.people} people of the table",
            "pass sizes of galleries of them",
            1,
            some.people,
            whole=True,
        )
        at = default_subset_sizes(some.people) if sizes is None else sizes
        checked = inside.check("sizes", np.atleast_1d(np.asarray(at, dtype=np.float64)))
        curve += [_sparse_point(some, float(n)) for n in checked]
    return curve


def _sparse_point(matches: MatchesOfPoints, n: float) -> SparsePoint:
    """Mean chances of a right match and of no rival at all over the targets, with their standard errors.

    No other of the m - 1 that match is among the n - 1 drawn of N - 1: C(N - m, n - 1) / C(N - 1, n - 1).
    """
    size, people, draws = matches.matches.astype(np.float64), matches.people, matches.draws
    right = np.minimum(people / (n * size) * -np.expm1(log_miss_probability(size, n, people)), 1.0)
    alone = (
        np.exp(log_miss_probability(size - 1, n - 1, people - 1.0))
        if people > 1
        else np.ones(size.size)
    )
    correctness, error = estimate_mean(right, matches.weight, draws)
    unique, error_of_unique = estimate_mean(alone, matches.weight, draws)
    low, high = share_interval(right, matches.weight, draws)
    ends = share_interval(alone, matches.weight, draws)
    return SparsePoint(
        matches.points,
        int(n),
        *(correctness, low, high, error),
        *(unique, *ends, error_of_unique),
        people,
        draws,
        matches.resolution,
    )


def estimate_mean(values: Floats, weight: Floats, draws: int) -> tuple[float, float]:
    """Return the mean of shares over the targets, and its standard error; without draws it is exact."""
    share = weight / weight.sum()
    mean = min(float(share @ values), 1.0)
    variance = float(share @ (values - mean) ** 2) * draws / max(draws - 1, 1)
    return mean, float(np.sqrt(variance / draws)) if draws else 0.0


def share_interval(values: Floats, weight: Floats, draws: int) -> tuple[float, float]:
    """Return the 95 % interval of the mean of shares; without draws both ends are the mean.

    It is as if two more draws were 0 and two more were 1: else draws that are all alike would leave nothing
    open. Source: Agresti & Coull 1998.
    """
    if not draws:
        mean, _ = estimate_mean(values, weight, 0)
        return mean, mean
    more_values = np.append(values, [0.0, 0.0, 1.0, 1.0])
    more_weight = np.append(weight, np.ones(4))
    centre, error = estimate_mean(more_values, more_weight, draws + 4)
    return max(centre - NORMAL_95 * error, 0.0), min(centre + NORMAL_95 * error, 1.0)


# For each person, a small number of rows that singles them out: how few an attacker needs to know.
#
# The smallest such number is that of a set cover, for which no fast exact method is known. The greedy one
# takes the row that fewest of the people have who still match, until nobody else does. It is an upper
# bound: fewer rows may do. Where even all rows leave others, no choice of them does, and the people who
# match are exact.


# rows of people, each compared with everyone with the person's rarest row
MAX_CELLS: Final = 200_000_000
REFUSAL_COMMON_ROWS: Final = (
    "unicity must compare at most {:,} rows of people who share a person's rarest row, got {:,}; "
    "pass finer columns, or a view of fewer people"
)


@dataclass(frozen=True)
class SinglingRows:
    """How many rows single each person out, one row each."""

    record: Integers  # of the person's first row
    rows: Integers  # distinct rows of the person
    # rows that were found to leave the fewest matches: an upper bound of how many do so
    known_rows: Integers
    matches: Integers  # people who have these rows: 1 where they single the person out


def find_singling_rows(table: Codes) -> SinglingRows:
    """Find for each person the rows that single them out, one after the other.

    >>> ward = np.array([1, 2, 1, 3, 2, 3])
    >>> pairs = Codes(["ward"], [True], [ward], np.arange(6), people=np.array([0, 0, 1, 1, 2, 2]))
    >>> find_singling_rows(pairs).known_rows.tolist()
    [2, 2, 2]
    """
    if not len(table.position):
        raise NoRecordsError
    order = np.argsort(table.position)
    _, first, person = np.unique(table.people[order], return_index=True, return_inverse=True)
    _, item = np.unique(
        np.stack([codes[order] for codes in table.codes]), axis=1, return_inverse=True
    )
    covers = _search(person.astype(np.int64), item.ravel().astype(np.int64))
    by_position = np.argsort(first)
    return SinglingRows(first[by_position], *covers[by_position].T)


def _search(person: Integers, item: Integers) -> Integers:
    """Return each person's rows, those taken, and who matches these; the same rows are tried once."""
    support = np.bincount(item)
    holders = np.split(person[np.argsort(item, kind="stable")], np.cumsum(support)[:-1])
    ordered = item[np.lexsort((item, person))]
    rows = np.split(ordered, np.cumsum(np.bincount(person))[:-1])
    distinct = {items.tobytes(): items for items in rows}
    cells = sum(int(support[items].min()) * len(items) for items in distinct.values())
    if cells > MAX_CELLS:
        raise OutOfDomainError(REFUSAL_COMMON_ROWS.format(MAX_CELLS, cells))
    pairs = np.sort(person * len(support) + item)
    covers = {}
    for key, items in distinct.items():
        rarest = holders[items[np.argmin(support[items])]]
        wanted = rarest[:, None] * len(support) + items[None, :]
        place = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
        # All of these people have the rarest item, which is taken first. The next item is the one that the
        # fewest of the remaining people have, until no item leaves fewer of them.
        have = pairs[place] == wanted
        left, taken = np.ones(len(have), dtype=np.bool_), 1
        while left.sum() > 1:
            fewest = int(np.argmin(have[left].sum(axis=0)))
            after = left & have[:, fewest]
            if after.sum() == left.sum():
                break
            left, taken = after, taken + 1
        covers[key] = len(items), taken, int(left.sum())
    return np.array([covers[items.tobytes()] for items in rows], dtype=np.int64)
