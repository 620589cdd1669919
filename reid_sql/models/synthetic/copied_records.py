"""Copied records: the share of the original's people whose record was taken over, counting rare ones most.

A synthetic table has a common combination of values by chance, so that its presence says little; a rare one
is hardly there unless it was copied. Let λ be the number of synthetic records that have a person's values by
chance, and ε the share of people who are copied. The presence x of the record has about the mean λ + ε and
the same variance, or λ for people of the holdout. Of all weights a, those in proportion to 1 / (λ + ε)
estimate the difference of the weighted means sum a x / sum a, ε, with the least variance. They depend on
nothing that distinguishes used from unused people, so that chance has the same mean on both sides.
Sources: Fay & Feuer 1997 (the interval of a weighted sum of counts); Zou & Donner 2008 (of a difference).
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
SHARE_SOUGHT: Final = 0.001  # of people copied, for which the weights are best


def measure_copies(tables: OrderedTables, error: float) -> AuditedAttack:
    """The weighted shares of people whose record is in the synthetic table, with an interval of this error.

    `error` is that of each end.
    """
    weights = 1 / (_expected(tables) + SHARE_SOUGHT)
    present = np.where(tables.synthetics > 0, weights, 0.0)
    sides = [
        _WeightedShare(each, weights, present) for each in (tables.original_people, tables.holdout_people)
    ]
    (share, *ends), (control, *others) = ([side.share, *side.interval(error)] for side in sides)
    excess = share - control
    low = excess - float(np.hypot(share - ends[0], others[1] - control))
    high = excess + float(np.hypot(ends[1] - share, control - others[0]))
    return AuditedAttack(
        COPIED_RECORDS, None, WEIGHTED_SHARE, share, control, None, excess, max(-1.0, low), min(1.0, high), OK
    )


class _WeightedShare:
    """A weighted share of people, each by the record that weighs most, with its interval."""

    def __init__(self, people: Holders, weights: Floats, present: Floats) -> None:
        every, counted = people.highest(weights), people.highest(present)
        whole = float(every.sum())
        self.share = float(counted.sum()) / whole
        self.variance = float(np.square(counted).sum()) / whole**2  # of a sum of Poisson counts
        self.greatest = float(every.max()) / whole

    def interval(self, error: float) -> tuple[float, float]:
        """Fay & Feuer 1997, eq. 2: of gamma variables with the mean and the variance of the weighted sum.

        The upper end is that with one more count of the greatest weight.
        """
        low = _gamma_quantile(self.share, self.variance, error) if self.share else 0.0
        above = self.share + self.greatest, self.variance + self.greatest**2
        return low, min(1.0, _gamma_quantile(*above, 1 - error))


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
