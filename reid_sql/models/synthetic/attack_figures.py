"""What an attack on a synthetic table comes to, next to its control and to a guess."""

from dataclasses import dataclass
from typing import Final

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.comparison.attack_result import wilson_interval

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
    said = status or (STATUS_WEAK_ATTACK if is_weak else OK)
    return AuditedAttack(
        attack, column, figure, original, control, baseline, original - control, low, high, said
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
