"""Copied records: the share of the original's people whose record was taken over, counting rare ones most.

A synthetic table has a common combination of values by chance, so that its presence says little; a rare one
is hardly there unless it was copied. Let λ be the number of synthetic records that have a person's values by
chance, and ε the share of people who are copied. The presence x of the record has about the mean λ + ε and
the same variance, or λ for people of the holdout. Of all weights a, those in proportion to 1 / (λ + ε)
estimate the difference of the weighted means sum a x / sum a, ε, with the least variance. They depend on
nothing that distinguishes used from unused people, so that chance has the same mean on both sides.
Sources: Fay & Feuer 1997 (the ends of a weighted sum of counts); Zou & Donner 2008 (the upper end of a
difference).
"""

from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.numerics.scipy_functions import gammaincinv
from reid_sql.models.synthetic.attack_figures import AuditedAttack
from reid_sql.models.synthetic.audited_tables import Holders, OrderedTables
from reid_sql.parameters import Floats

COPIED_RECORDS: Final = "copied_records"
WEIGHTED_SHARE: Final = "weighted_share"
LEAST_COUNT: Final = 0.5
DRAWS: Final = 2000
DRAWN_AT_ONCE: Final = 2_000_000
SHARE_SOUGHT: Final = 0.0003  # of people copied; of 0.0001 to 0.01, measured to find 0.1 and 1 % most often


class CopiedRecords:
    """Weighted shares of people whose record is in the synthetic table, and their difference by chance."""

    def __init__(self, tables: OrderedTables, rng: np.random.Generator) -> None:
        weights = 1 / (_expected(tables) + SHARE_SOUGHT)
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
        found = np.concatenate([self.used.found, self.unused.found])
        weights, people = np.unique(found[found > 0], return_counts=True)
        drawn = np.zeros(DRAWS)
        for start in range(0, len(weights), DRAWN_AT_ONCE // DRAWS):
            some = slice(start, start + DRAWN_AT_ONCE // DRAWS)
            used = rng.binomial(people[some], originals / people_of_both, (DRAWS, len(people[some])))
            drawn += used @ weights[some] / originals - (people[some] - used) @ weights[some] / controls
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
        every, self.found = people.highest(weights), people.highest(present)
        self.whole = float(every.sum())
        self.share = float(self.found.sum()) / self.whole
        self.variance = float(np.square(self.found).sum()) / self.whole**2  # of a sum of Poisson counts
        self.greatest = float(every.max()) / self.whole

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


def _expected(tables: OrderedTables) -> Floats:
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
    others = np.maximum(people - 1, 0) * (synthetics.sum() / people.sum())
    return np.asarray(np.maximum(np.exp(log_expected), others))
