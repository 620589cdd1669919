"""The bound that a report shows in place of a figure that would reveal a small count.

A bound is a round number above the figure, so that a reader who sees it is left with at least as many counts
as the mask hides. A figure that reveals nothing has none, and is shown as it is.
"""

from math import ceil, exp, isfinite, log
from typing import Final

from reid_sql.check.masking import DIGITS, Mask, round_above
from reid_sql.check.measure import Measure
from reid_sql.check.policy_model import Check
from reid_sql.check.verdicts import Judgement

MANY: Final = 10**9  # cells, of which a bound counts in round numbers


def bound_of_figure(check: Check, judgement: Judgement, records: int, mask: Mask) -> float | None:
    """Return the bound of a figure, and of what it is judged by, among so many records; None for none.

    Both are shown together, so that the higher one decides. An infinite figure counts nobody. `small` is
    whether class sizes of few records lie behind the figure: then a reader who has the figures of other
    checks over the same classes could subtract.
    """
    values = [value for value in (judgement.figure.value, judgement.judged) if value is not None]
    if not values or records == 0 or mask.below == 1 or not all(map(isfinite, values)):
        return None
    value, measure, small = max(values), check.measure, judgement.figure.small
    if measure.relative is not None:
        return _bound_relative(measure.relative, value, records, mask)
    if measure.cells is not None:
        return _bound_cells(value, mask) if small else None
    if measure.unit == "number":
        return _bound_number(measure, value, mask) if small else None
    whole = records if measure.unit == "count" else 1
    # 0 and all are figures of no one and of everyone. One class's own figure, such as k, is what the policy
    # asks for: it counts no other records.
    if measure.extreme or not any(0 < each < whole for each in values):
        return None
    bound = _bound_share(measure, value / whole, records, mask, small=small)
    return round(bound * records) if bound is not None and measure.unit == "count" else bound


def _bound_cells(value: float, mask: Mask) -> float | None:
    """Return the bound of a number of cells, as of a share of many; 0 reveals nobody."""
    return round(mask.round_share(value / MANY, MANY) * MANY) if value > 0 else None


def _bound_number(measure: Measure, value: float, mask: Mask) -> float | None:
    """Return the bound of a figure that is no count, such as an entropy: two digits of it are shown.

    Of all class sizes it is a sum, and of so many digits that it has one solution.
    """
    return round_above(value, 10**15, mask.below) if value > 0 and not measure.extreme else None


def _bound_share(measure: Measure, share: float, records: int, mask: Mask, *, small: bool) -> float | None:
    """Return the bound of a share of the records.

    A share that counts few records, or all but few, is masked by itself. Another is where it rests on small
    classes. Then a mean over the classes is a multiple of no share of the records, so that no round share
    leaves a known number of them open: it is only said to be below 1.
    """
    bound = mask.bound_of(share, records) if measure.of_records else None
    if bound is None and small:
        return mask.round_share(share, records) if share < 1 and not measure.of_classes else 1.0
    return bound


def _bound_relative(kind: str, value: float, records: int, mask: Mask) -> float | None:
    """Return the bound of a figure that compares a class with the table.

    From an exact one the share of a rare value in the table follows: q is 1 − t where a class has that value
    alone, 1/(β + 1), or exp(−δ). The bound leaves q as open as a round share.
    """
    if kind == "distance":
        return 1 - mask.round_down(round(1 - value, DIGITS), records) if 0 < value < 1 else None
    factor = mask.bound_ratio(value + 1 if kind == "gain" else exp(value), records)
    if factor is None:
        return None
    return factor if kind == "gain" else ceil(100 * log(factor)) / 100
