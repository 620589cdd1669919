"""What an attack on a synthetic table comes to, next to its control and a guess: shares and ROC curves."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.comparison.linkage import wilson_interval
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.models.synthetic.audited_tables import Flags
from reid_sql.parameters import Floats, Integers

STATUS_NO_HOLDOUT: Final = "no_holdout: a verdict needs holdout, people of the same kind who were not used"
STATUS_ONE_COLUMN: Final = "one_column: the attack needs two or more columns"
STATUS_WEAK_ATTACK: Final = "weak_attack: the attack is no better than guessing and shows nothing"


@dataclass(frozen=True)
class AuditedAttack:
    """An attack on a synthetic table."""

    attack: str  # what the attacker does with the synthetic table
    column_name: str | None  # the column that is inferred, of an attack on one
    figure: str  # what is measured: a share of people or predicates, the area under the ROC curve, …
    original: float | None  # the figure on people of the original
    holdout: float | None  # the same on people of the holdout, about whom nothing was learned
    baseline: float | None  # the figure of a guess without the records' joint values, where there is one
    excess: float | None  # `original` less `holdout`: what the synthetic table gives away
    low: float | None  # lower end of the 95 % interval of the excess
    high: float | None  # the upper end of the same interval
    status: str


def judge_shares(
    attack: str,
    figure: str,
    shares: tuple[float, float | None],
    trials: tuple[int, int],
    *,
    column: str | None = None,
    baseline: float | None = None,
    status: str | None = None,
) -> AuditedAttack:
    """Compare the shares of the original and of the holdout, of so many trials each."""
    original, control = shares
    if control is None:
        return AuditedAttack(
            attack, column, figure, original, None, baseline, None, None, None, STATUS_NO_HOLDOUT
        )
    low, high = newcombe_interval((original, trials[0]), (control, trials[1]))
    is_weak = baseline is not None and original <= baseline
    own_status = status or (STATUS_WEAK_ATTACK if is_weak else OK)
    return AuditedAttack(
        attack, column, figure, original, control, baseline, original - control, low, high, own_status
    )


def unavailable(attack: str, figure: str, status: str, column: str | None = None) -> AuditedAttack:
    """Report an attack that there is none of, and why."""
    return AuditedAttack(attack, column, figure, None, None, None, None, None, None, status)


def newcombe_interval(one: tuple[float, int], other: tuple[float, int]) -> tuple[float, float]:
    """The 95 % interval of the difference of two shares of so many records: Newcombe 1998, method 10.

    >>> low, high = newcombe_interval((56 / 70, 70), (48 / 80, 80))
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """
    (p, _), (q, _) = one, other
    (p_low, p_high), (q_low, q_high) = wilson_interval(*one), wilson_interval(*other)
    low = p - q - float(((p - p_low) ** 2 + (q_high - q) ** 2) ** 0.5)
    high = p - q + float(((p_high - p) ** 2 + (q - q_low) ** 2) ** 0.5)
    return low, high


# The ROC curve of a membership score: its area, and true positives at few false ones.

AREA: Final = "auc"
FALSE_POSITIVES: Final = {"true_positives_at_0.01": 0.01, "true_positives_at_0.001": 0.001}
CHANCE: Final = 0.5
STATUS_SMALL_HOLDOUT: Final = (
    "small_holdout: holdout has too few records for this share, so no false positives are allowed"
)


class RocCurve:
    """Scores of people, in order; any division of them into members and others has its curve."""

    def __init__(self, scores: Floats) -> None:
        self.order = np.argsort(-scores, kind="stable")
        falling = scores[self.order]
        is_end = np.r_[falling[1:] != falling[:-1], True]
        self.ends = np.flatnonzero(is_end)  # (distinct scores,), the last person of each
        starts = np.r_[0, self.ends[:-1] + 1]
        # Ranks from the lowest score, equal ones sharing their mean: Mann & Whitney 1947.
        middles = len(scores) + 1 - (starts + self.ends + 2) / 2
        self.ranks = np.repeat(middles, np.diff(np.r_[-1, self.ends]))

    def measure(self, attack: str, is_member: Flags) -> Iterator[AuditedAttack]:
        """The area and both shares of true positives; those are compared with the shares of false ones."""
        members = int(np.count_nonzero(is_member))
        sizes = members, len(is_member) - members
        area = CHANCE + float(self._areas(is_member[None, self.order])[0])
        low, high = self._interval(area, is_member[self.order])
        yield AuditedAttack(
            attack, None, AREA, area, CHANCE, None, area - CHANCE, low - CHANCE, high - CHANCE, OK
        )
        for figure, share in FALSE_POSITIVES.items():
            true, false = self._positives(is_member[None, self.order], share)
            status = STATUS_SMALL_HOLDOUT if share * sizes[1] < 1 else None
            yield judge_shares(attack, figure, (float(true[0]), float(false[0])), sizes, status=status)

    def excesses(self, labels: Flags) -> Floats:
        """What `measure` reports as excess, for many labels of the same people: (labels, figures)."""
        ordered = labels[:, self.order]
        shares = (self._positives(ordered, share) for share in FALSE_POSITIVES.values())
        return np.stack([self._areas(ordered), *(true - false for true, false in shares)], axis=1)

    def _areas(self, members: Flags) -> Floats:
        """The area under the curve less a half, of members in the order of the scores, (labels,)."""
        count = members.sum(axis=1)
        others = members.shape[1] - count
        above = members @ self.ranks - count * (count + 1) / 2
        return np.asarray(above / (count * others) - CHANCE)

    def _positives(self, members: Flags, share: float) -> tuple[Floats, Floats]:
        """True and false positives of the lowest threshold with at most this share of false ones."""
        count = members.sum(axis=1)
        others = members.shape[1] - count
        false = np.cumsum(~members, axis=1, dtype=np.int32)[:, self.ends]
        steps = (false <= np.floor(share * others + 1e-9)[:, None]).sum(axis=1)
        taken = np.r_[0, self.ends + 1][steps]
        wrong = np.take_along_axis(np.c_[np.zeros(len(false), np.int32), false], steps[:, None], axis=1)[:, 0]
        return np.asarray((taken - wrong) / count), np.asarray(wrong / others)

    def _interval(self, area: float, is_member: Flags) -> tuple[float, float]:
        """The 95 % interval of the area: DeLong, DeLong & Clarke-Pearson 1988, eq. 5.

        A person's share of the others whom they stand above follows from their rank among all and among their
        own kind: Sun & Xu 2014.
        """
        variance = 0.0
        for of_kind in (is_member, ~is_member):
            places = self._shares_above(of_kind)
            variance += float(places.var(ddof=1)) / len(places) if len(places) > 1 else 0.25
        half = NORMAL_95 * variance**0.5
        return max(0.0, area - half), min(1.0, area + half)

    def _shares_above(self, of_kind: Flags) -> Floats:
        """Share of the other kind that each person of this kind stands above, equal scores as one half."""
        groups = np.repeat(np.arange(len(self.ends)), np.diff(np.r_[-1, self.ends]))
        others: Integers = np.bincount(groups[~of_kind], minlength=len(self.ends))
        below = others[::-1].cumsum()[::-1] - others / 2
        return np.asarray((below / max(1, others.sum()))[groups[of_kind]])
