"""What a report shows in place of a figure that would reveal a small count: that it is masked, or a bound.

The bound is a round number above the figure, so that a reader who sees it is left with at least as many
counts as the mask hides. A figure that reveals nothing has none, and is shown as it is.
"""

import math
from typing import Final

from reid_sql.check.exact_figures import Figure
from reid_sql.check.masking import DIGITS, Mask, round_above, round_between, shows_diversity
from reid_sql.check.measure import PART_OF_WHOLE, Kind, Measure
from reid_sql.check.policy_model import Check
from reid_sql.check.verdicts import Judgement

# A figure of one class alone, such as k, is what the policy asks for: it counts no other records.
OF_ONE_CLASS: Final = frozenset({Kind.SINGLE, Kind.DISTRIBUTION})
MANY: Final = 10**9  # cells, of which a bound counts in round numbers


def hides_figure(check: Check, figure: Figure, mask: Mask) -> bool:
    """Whether a figure is masked, and no bound takes its place.

    One whose column nobody declared is: no mask knows what it counts. Where some class has few records of a
    sensitive value, so are figures of how the values of a class are distributed: each of their digits hangs
    on the counts. That a class has one value, and an unsuspicious number of values, tells of none of them. A
    distance of 0 has no bound: each class then has the shares of the table, and a small class few records of
    each value. How many are in classes of some distribution, be it nobody or everybody, says how the values
    of each are distributed.
    """
    measure, value = check.measure, figure.value
    if measure.kind is None:
        return True
    if not figure.few_values or value is None or mask.below == 1:
        return False
    if measure.kind is not Kind.DISTRIBUTION:
        return measure.counts_values
    if measure.relative is not None:
        return value == 0
    if measure.at_least:
        return not shows_diversity(check.parameters.get("variant"), value, figure.k)
    return value < 1


def bound_of_figure(check: Check, judgement: Judgement, records: int, mask: Mask) -> float | None:
    """Return the bound of a figure, and of what it is judged by, among so many records; None for none.

    Both are shown together, so that the higher one decides. An infinite figure counts nobody. `small` is
    whether class sizes of few records lie behind the figure: then a reader who has the figures of other
    checks over the same classes could subtract. `few_values` is the same of the values of a sensitive column.
    """
    figure, measure = judgement.figure, check.measure
    values = [value for value in (figure.value, judgement.judged) if value is not None]
    if not values or records == 0 or mask.below == 1 or not all(map(math.isfinite, values)):
        return None
    value = max(values)
    if measure.kind is Kind.DISTRIBUTION:
        return _bound_of_values(measure, value, records, figure, mask)
    if measure.kind is Kind.CELLS or measure.unit == "number":  # 0 reveals nobody
        return _bound_sum(measure, value, mask) if figure.small and value > 0 else None
    whole = records if measure.unit == "count" else 1
    # 0 and all are figures of no one and of everyone
    if measure.kind is Kind.SINGLE or not any(0 < each < whole for each in values):
        return None
    bound = _bound_share(measure, value / whole, records, figure, mask)
    return round(bound * records) if bound is not None and measure.unit == "count" else bound


def _bound_sum(measure: Measure, value: float, mask: Mask) -> float:
    """Return the bound of a number of cells, as of a share of many, or of a figure that is no count.

    Of such a figure, as an entropy, two digits are shown: it is a sum over all class sizes, and all of its
    digits have one solution.
    """
    if measure.kind is Kind.CELLS:
        return round(mask.round_share(value / MANY, MANY) * MANY)
    return round_above(value, 10**15, mask.below)


def _bound_share(
    measure: Measure, share: float, records: int, figure: Figure, mask: Mask
) -> float | None:
    """Return the bound of a share of the records.

    A share that counts few records, or all but few, is masked by itself: of all records, and of those that it
    is a share of, such as the households, or the records that have a value. Another is where it rests on
    small classes. Then a mean over the classes is a multiple of no share of the records, so that no round
    share leaves a known number of them open: it is only said to be below 1.
    """
    if measure.kind in PART_OF_WHOLE:
        if (bound := mask.bound_of(share, records)) is not None:
            return bound
        whole = records if figure.whole is None else figure.whole
        part = share * records / whole if measure.unit == "count" and whole else share
        if mask.bound_of(part, whole) is not None:
            return 1.0
    if figure.small:
        return 1.0 if measure.kind is Kind.CLASS_MEAN else mask.round_share(share, records)
    return None


def _bound_of_values(
    measure: Measure, value: float, records: int, figure: Figure, mask: Mask
) -> float | None:
    """Return the bound of a figure that compares a class with the table, where some values have few records.

    From an exact one the share of a rare value in the table follows: q is 1 − t where a class has that value
    alone, 1/(β + 1), or math.exp(−δ). The bound leaves q as open as a round share.
    """
    if not figure.few_values or measure.relative is None:
        return None
    if measure.relative == "distance":
        return 1 - mask.round_down(round(1 - value, DIGITS), records) if 0 < value < 1 else None
    is_gain = measure.relative == "gain"
    factor = mask.bound_ratio(value + 1 if is_gain else math.exp(value), records)
    if factor is None:
        return None
    return factor if is_gain else math.ceil(100 * math.log(factor)) / 100


def ends_around(value: float, measure: Measure, records: int, mask: Mask) -> tuple[float, float]:
    """Return the ends between which a masked figure lies, as its bound shows.

    Of all but few records 1 is shown, unless they are few themselves: then the mask is.
    """
    scale = records if measure.unit == "count" else 1
    low, high = round_between(value / scale, records, mask.below)
    if measure.kind in PART_OF_WHOLE and mask.bound_of(value / scale, records) == 1.0:
        low, high = max(1 - (mask.below - 1) / records, mask.below / records), 1.0
    return low * scale, high * scale
