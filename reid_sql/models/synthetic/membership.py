"""Membership: scores by which an attacker tells people who were used from people who were not.

Each score is computed of a person, of the synthetic table and of all people together, used or not. If the
synthetic table says nothing about who was used, then any division of the people into as many used and unused
ones is as likely as the true one: a permutation of these labels shows what each figure is by chance, and what
the greatest of all of them is. Sources: Hilprecht, Härterich & Bernau 2019 (local neighbourhood); van
Breugel, Sun, Qian & van der Schaar 2023 (DOMIAS, the density ratio); Carlini et al. 2022 (true positives at
few false ones); Westfall & Young 1993 (the greatest of several figures).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics.special_functions import gammaincinv
from reid_sql.models.synthetic.attacks import (
    STATUS_NO_HOLDOUT,
    AuditedAttack,
    Distances,
    RocCurve,
    sum_where,
    unavailable,
)
from reid_sql.models.synthetic.audited_tables import NOBODY, Holders, OrderedTables, People
from reid_sql.parameters import Floats, Integers

# Copied records: the share of the original's people whose record was taken over, counting rare ones most.
#
# A synthetic table has a common combination of values by chance, so that its presence says little; a rare
# one is hardly there unless it was copied. Let λ be the number of synthetic records that have a person's
# values by chance, and ε the share of people who are copied. The presence x of the record has about the
# mean λ + ε and the same variance, or λ for people of the holdout. Of all weights a, those in proportion to
# 1 / (λ + ε) estimate the difference of the weighted means sum a x / sum a, ε, with the least variance.
# They depend on nothing that distinguishes used from unused people, so that chance has the same mean on
# both sides. Sources: Fay & Feuer 1997 (the ends of a weighted sum of counts); Zou & Donner 2008 (the upper
# end of a difference).

COPIED_RECORDS: Final = "copied_records"
WEIGHTED_SHARE: Final = "weighted_share"
LEAST_COUNT: Final = 0.5
STATUS_RARE_VALUES: Final = (
    "rare_values: the excess rests on values of one person alone, which columns alone pass on, too"
)
SEED_OF_REST: Final = 11
DRAWS: Final = 2000
DRAWN_AT_ONCE: Final = 2_000_000
# of people copied; of 0.0001 to 0.01, measured to find 0.1 and 1 % most often
SHARE_SOUGHT: Final = 0.0003


class CopiedRecords:
    """Weighted shares of people whose record is in the synthetic table, and their difference by chance."""

    def __init__(
        self,
        tables: OrderedTables,
        rng: np.random.Generator,
        counted: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        weights = 1 / (_expect_records(tables) + SHARE_SOUGHT)
        weights = weights if counted is None else np.where(counted, weights, 0.0)
        present = np.where(tables.synthetics > 0, weights, 0.0)
        sides = tables.original_people, tables.holdout_people
        self.used, self.unused = (_WeightedShare(each, weights, present) for each in sides)
        self.excess = self.used.share - self.unused.share
        self.by_chance = self._draw(len(sides[0]), len(sides[1]), rng)

    def _draw(self, originals: int, controls: int, rng: np.random.Generator) -> Floats:
        """Differences if each person who was found were of either side at random, (draws,).

        People of both sides then weigh the same on average.
        """
        people_of_both = originals + controls
        mean_weight = (self.used.whole + self.unused.whole) / people_of_both
        found_weights = np.concatenate([self.used.weights_found, self.unused.weights_found])
        weights, people = np.unique(found_weights[found_weights > 0], return_counts=True)
        drawn = np.zeros(DRAWS)
        for start in range(0, len(weights), DRAWN_AT_ONCE // DRAWS):
            some = slice(start, start + DRAWN_AT_ONCE // DRAWS)
            used = rng.binomial(
                people[some], originals / people_of_both, (DRAWS, len(people[some]))
            )
            drawn += (
                used @ weights[some] / originals - (people[some] - used) @ weights[some] / controls
            )
        return drawn / mean_weight

    def figure(self, error: float) -> AuditedAttack:
        """The excess with an interval whose ends have this error each.

        The lower end is above 0 if fewer differences by chance are as great as the excess. The upper one is
        that of Poisson counts, which is above 0 even where nobody was found.
        """
        low = self.excess - max(0.0, float(np.quantile(self.by_chance, 1 - error, method="higher")))
        used, unused = self.used, self.unused
        above = used.upper(error) - used.share, unused.share - unused.lower(error)
        high = self.excess + float(np.hypot(*above))
        return AuditedAttack(
            COPIED_RECORDS,
            None,
            WEIGHTED_SHARE,
            used.share,
            unused.share,
            None,
            self.excess,
            max(-1.0, low),
            min(1.0, high),
            OK,
        )


class _WeightedShare:
    """A weighted share of people, each by the record that weighs most.

    Its ends are those of Fay & Feuer 1997, eq. 2: gamma variables with the mean and the variance of the sum.
    """

    def __init__(self, people: Holders, weights: Floats, present: Floats) -> None:
        weight_of_person = people.highest(weights)
        self.weights_found = people.highest(present)  # 0 for people whose record is not there
        self.whole = float(weight_of_person.sum())
        self.share = float(self.weights_found.sum()) / self.whole
        # of a sum of Poisson counts
        self.variance = float(np.square(self.weights_found).sum()) / self.whole**2
        self.greatest = float(weight_of_person.max()) / self.whole

    def lower(self, error: float) -> float:
        """The lower end."""
        return _gamma_quantile(self.share, self.variance, error) if self.share else 0.0

    def upper(self, error: float) -> float:
        """The upper end: that with one more count of the greatest weight."""
        above = self.share + self.greatest, self.variance + self.greatest**2
        return min(1.0, _gamma_quantile(*above, 1 - error))


def _gamma_quantile(mean: float, variance: float, probability: float) -> float:
    """Quantile of the gamma distribution with this mean and variance.

    >>> round(_gamma_quantile(11, 11, 0.975), 3)  # the exact upper end of 10 Poisson counts
    18.39
    """
    return float(gammaincinv(mean**2 / variance, probability)) * variance / mean


def _expect_records(tables: OrderedTables) -> Floats:
    """How many synthetic records have a record's values by chance: by columns, or by how many others do.

    Of independent columns with the values of the other synthetic records: with its own, a record that is
    there would look more common than one that is not. A value that no other has counts as half a record.
    Values that other people have are as frequent among synthetic records as among those people.
    """
    synthetics = tables.synthetics
    rest = np.maximum(synthetics.sum() - synthetics, 1)
    log_expected = np.log(rest)
    for codes in tables.codes:
        counts = np.bincount(codes, synthetics)[codes] - synthetics
        log_expected += np.log(np.maximum(counts, LEAST_COUNT) / rest)
    people = tables.originals + tables.controls
    by_people = np.maximum(people - 1, 0) * (synthetics.sum() / people.sum())
    return np.asarray(np.maximum(np.exp(log_expected), by_people))


STRONGEST: Final = "strongest_membership"
ADVANTAGE: Final = "excess"
STATUS_NO_SCORE: Final = "no_score: no attack distinguishes any two people"
NEIGHBOURS: Final = 5  # other people within the radius of the density ratio
PARTS: Final = 64  # of a row of distances, whose least ones bound the fifth of all
PERMUTATIONS: Final = 1000
PERMUTED_AT_ONCE: Final = 2_000_000  # labels
ERROR: Final = 0.025  # one-sided, so that the interval holds 95 %
ERROR_OF_COPIES: Final = ERROR / 2  # of it, so that a few copies are found among many figures
SCORES: Final = (
    "equal_record",
    "rare_equal_record",
    "equal_but_one_column",
    "class_conditional",
    "nearest_record",
    "nearest_of_rare_person",
    "density_ratio",
    "local_neighbourhood",
)
MEMBERSHIP: Final = (COPIED_RECORDS, *SCORES)


def score_members(
    tables: OrderedTables, rows: Integers, shares: tuple[float, float]
) -> Mapping[str, Floats]:
    """Scores of some distinct records, by the name of the attack; a greater one speaks for a member."""
    classes = tables.classes_by(tables.places(sensitive=False))
    sizes = np.bincount(classes, tables.synthetics)[classes]
    scores = {
        "equal_record": (tables.synthetics[rows] > 0).astype(np.float64),
        "rare_equal_record": _score_rare_presence(tables)[rows],
        "equal_but_one_column": _score_presence_but_one(tables)[rows],
        # the share of the record's class by the quasi-identifiers that has its sensitive values too
        "class_conditional": (tables.synthetics / np.maximum(sizes, 1))[rows],
        **_score_neighbours(tables, rows, shares),
    }
    if not any(tables.is_sensitive):
        del scores["class_conditional"]
    return scores


def _score_rare_presence(tables: OrderedTables) -> Floats:
    """How surprising it is that the synthetic table has the record: -ln(1 - e^-λ); 0 where it has not.

    λ is the count that n records of independent columns with the same values would have: a Poisson count
    is above 0 with probability 1 - e^-λ. A common combination is there by chance, a rare one is a copy.
    """
    synthetics = tables.synthetics
    whole = synthetics.sum()
    expected = np.full(len(synthetics), np.log(whole))
    for codes in tables.codes:
        counts = np.bincount(codes, synthetics)[codes]
        expected += np.log(np.maximum(counts, 1) / whole)
    return np.where(synthetics > 0, -np.log(-np.expm1(-np.exp(expected))), 0.0)


def _score_presence_but_one(tables: OrderedTables) -> Floats:
    """Of how many columns one can be left out such that the synthetic table has the rest of the record."""
    columns = len(tables.codes)
    score = np.zeros(len(tables.synthetics))
    for left_out in range(columns if columns > 1 else 0):
        checkpoint()
        classes = tables.classes_by([at for at in range(columns) if at != left_out])
        score += np.bincount(classes, tables.synthetics)[classes] > 0
    return score


def _score_neighbours(
    tables: OrderedTables, rows: Integers, shares: tuple[float, float]
) -> dict[str, Floats]:
    """Scores by distances to synthetic records, compared with those to other people.

    The density of synthetic records near a person is the number within the distance of the person's fifth
    other neighbour; the density of people there is the same for everybody, 5, so that this number is the
    ratio of densities (DOMIAS), without bandwidths. The local neighbourhood has one radius for all: the
    median distance from a person to the next.
    """
    middle = (shares[0] + shares[1]) / 2
    distances = Distances(tables)
    next_person, radius = _measure_next_people(tables, distances, rows, (shares[0], middle))
    synthetic = np.flatnonzero(tables.synthetics)
    records = tables.synthetics[synthetic]
    common_radius = np.median(next_person)
    nearest_record, within, local = (np.zeros(len(rows)) for _ in range(3))
    for block, total in distances.total(rows, synthetic, (middle, shares[1])):
        nearest_record[block] = total.min(axis=1)
        within[block] = sum_where(total <= radius[block].astype(total.dtype)[:, None], records)
        local[block] = sum_where(total <= total.dtype.type(common_radius), records)
    return {
        "nearest_record": -nearest_record,
        "nearest_of_rare_person": (next_person + 1) / (nearest_record + 1),
        "density_ratio": within,
        "local_neighbourhood": local,
    }


def _measure_next_people(
    tables: OrderedTables, distances: Distances, rows: Integers, shares: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Distances from each record to the nearest of another person, and to the fifth of others, (rows,).

    The nearest is at 0 if several people have the record. All records of its only person are left out.
    """
    # The one person of either side with each distinct record, else NOBODY: none or several
    size = tables.codes.shape[1]
    classes = np.arange(size)
    original, holdout = (
        side.only_person(classes, size) for side in (tables.original_people, tables.holdout_people)
    )
    of_original = np.where((original >= 0) & (holdout == NOBODY), original, NOBODY)
    is_of_holdout = (holdout >= 0) & (original == NOBODY)
    only = np.where(is_of_holdout, len(tables.original_people) + holdout, of_original)[rows]
    next_person, radius = np.zeros(len(rows)), np.zeros(len(rows))
    places = np.arange(len(rows))
    for block, total in distances.total(rows, rows, shares):
        is_own = (only[block][:, None] == only) & (only[block] != NOBODY)[:, None]
        is_own[places[: block.stop - block.start], places[block]] = True
        rest = len(rows) - is_own.sum(axis=1)
        total[is_own] = np.iinfo(total.dtype).max
        reach = np.clip(rest, 1, NEIGHBOURS) - 1
        for place, nearest, last, others in zip(
            places[block], _list_nearest(total), reach, rest, strict=True
        ):
            if others:
                next_person[place], radius[place] = nearest[0], nearest[last]
    next_person[only == NOBODY] = 0
    return next_person, radius


def _list_nearest(total: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """List the least distances of each row in order: at least NEIGHBOURS, or all.

    The fifth of the least distances of disjoint parts of a row is no less than its fifth of all, and leaves
    few to be sorted.
    """
    width = total.shape[1] // PARTS
    if not width:
        yield from np.sort(total, axis=1)
        return
    parts = total[:, : width * PARTS].reshape(len(total), PARTS, width).min(axis=2)
    bounds = np.partition(parts, NEIGHBOURS - 1, axis=1)[:, NEIGHBOURS - 1]
    for row, bound in zip(total, bounds, strict=True):
        yield np.sort(row[row <= bound])


def attack_membership(
    tables: OrderedTables, people: People, rng: np.random.Generator, shares: tuple[float, float]
) -> Iterator[AuditedAttack]:
    """Measure each attack by the area under its curve and by true positives at few false ones.

    Last comes the strongest figure, with an interval that allows for its choice.
    """
    if not tables.is_judged:
        yield unavailable(STRONGEST, ADVANTAGE, STATUS_NO_HOLDOUT)
        return
    middle = (shares[0] + shares[1]) / 2
    scores = score_members(tables, people.rows, (shares[0], middle))
    curves = {name: RocCurve(people.highest(each)) for name, each in scores.items()}
    figures = [
        each for name, curve in curves.items() for each in curve.measure(name, people.is_original)
    ]
    copies = CopiedRecords(tables, rng)
    yield _explain_copies(copies.figure(ERROR), tables, ERROR)
    yield from figures
    size = max(1, min(PERMUTATIONS, PERMUTED_AT_ONCE // len(people.is_original)))
    drawn = []  # excesses of all figures under permuted labels, (permutations, figures)
    for start in range(0, PERMUTATIONS, size):
        checkpoint(middle + (shares[1] - middle) * start / PERMUTATIONS)
        count = min(size, PERMUTATIONS - start)
        labels = rng.permuted(
            np.broadcast_to(people.is_original, (count, len(people.is_original))), axis=1
        )
        drawn.append(np.concatenate([curve.excesses(labels) for curve in curves.values()], axis=1))
    permuted = np.concatenate(drawn)
    copied = _explain_copies(copies.figure(ERROR_OF_COPIES), tables, ERROR_OF_COPIES)
    yield _strongest(copied, figures, permuted)


def _explain_copies(copied: AuditedAttack, tables: OrderedTables, error: float) -> AuditedAttack:
    """The figure, with a status if nothing of its excess is left without values that one person alone has.

    A generator that learned each column by itself passes such values on: the record of their person is then
    there more often than that of a person who was not used, though no record was copied as a whole.
    """
    if copied.low is None or copied.low <= 0:
        return copied
    people = tables.originals + tables.controls
    is_shared = np.all([np.bincount(codes, people)[codes] > 1 for codes in tables.codes], axis=0)
    if is_shared.all():
        return copied
    sides = tables.original_people, tables.holdout_people
    if all(side.count(is_shared) for side in sides):
        rest = CopiedRecords(tables, np.random.default_rng(SEED_OF_REST), is_shared).figure(error)
        if rest.low is not None and rest.low > 0:
            return copied
    return replace(copied, status=STATUS_RARE_VALUES)


def _strongest(
    copies: AuditedAttack, figures: list[AuditedAttack], permuted: Floats
) -> AuditedAttack:
    """The figure that is farthest above chance, and how far the farthest is by chance.

    Half of the error is spent on copied records, half on all other figures together: for all but that share
    of tables that say nothing about who was used, none of the others is as many standard deviations above or
    below its mean as the bound. So many are taken off and added, as if the figure had been chosen beforehand.
    Strongest is what lies the most lower halves of its interval above chance.
    """
    mean, deviation = permuted.mean(axis=0), permuted.std(axis=0)
    is_known = deviation > 0
    if not is_known.any():
        return (
            _name_strongest(copies)
            if copies.excess
            else unavailable(STRONGEST, ADVANTAGE, STATUS_NO_SCORE)
        )
    excess = np.array([figure.excess for figure in figures])
    standard = np.where(is_known, (excess - mean) / np.where(is_known, deviation, 1), -np.inf)
    chance = (permuted[:, is_known] - mean[is_known]) / deviation[is_known]
    bound = float(np.quantile(chance.max(axis=1), 1 - (ERROR - ERROR_OF_COPIES)))
    best = int(standard.argmax())
    if _count_halves(copies) >= standard[best] / bound:
        return _name_strongest(copies)
    middle, half = float(excess[best] - mean[best]), bound * float(deviation[best])
    low, high = max(-1.0, middle - half), min(1.0, middle + half)
    return replace(_name_strongest(figures[best]), low=low, high=high, status=OK)


def _count_halves(figure: AuditedAttack) -> float:
    """How many lower halves of its interval the excess is above 0."""
    if figure.excess is None or figure.low is None or figure.excess <= figure.low:
        return 0.0
    return figure.excess / (figure.excess - figure.low)


def _name_strongest(figure: AuditedAttack) -> AuditedAttack:
    return replace(figure, attack=STRONGEST, figure=f"{figure.attack}: {figure.figure}")
