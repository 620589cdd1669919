"""Reports contain no small counts, nor figures that would reveal them.

Few people of a kind can be identified by their number. What is hidden must have more than one solution:
complementary suppression, as statistical offices do.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from reid_sql.charts.risk_charts import EDGES, NO_END
from reid_sql.check.policy_model import Check, TablePolicy
from reid_sql.check.release import INTERRUPTIONS, WHOLE, Group, Release
from reid_sql.models.classes.disclosure import Histogram

# What a report may contain: figures that a mask has shown or masked, and numbers of no record.

DIGITS: Final = 12  # sums differ beyond, by the order of adding


@dataclass(frozen=True)
class Shown:
    """A figure that may be printed: it is no small count, and reveals none."""

    value: float


@dataclass(frozen=True)
class Masked:
    """A figure that may not be printed: it is a small count, or reveals one."""


@dataclass(frozen=True)
class Setting:
    """A number that comes from no record: a limit, a seed, a version's format, the end of a bin."""

    value: float


Figure = Shown | Masked
Node = Figure | Setting | str | bool | None | Mapping[str, "Node"] | Sequence["Node"]


class ReportPage(dict[str, Any]):
    """A report document as JSON has it, a masked figure as null.

    It is built of nodes alone, so that no number comes into it that was neither shown by a mask nor set. Its
    parts are such pages, too.

    >>> ReportPage({"records": Masked(), "limit": Setting(5), "share": Shown(0.25)})
    {'records': None, 'limit': 5, 'share': 0.25}
    """

    def __init__(self, nodes: Mapping[str, Node], where: str = "$") -> None:
        """Refuse a number that is neither a figure nor a setting."""
        super().__init__({key: _to_json(node, f"{where}.{key}") for key, node in nodes.items()})


def refuse_unmasked(page: object) -> None:
    """Refuse, before it is rendered, a document whose figures no mask has seen."""
    if not isinstance(page, ReportPage):
        raise TypeError(f"a report must be rendered from a ReportPage, got {type(page).__name__}")


def settings(value: Any) -> Node:  # noqa: ANN401 - a value of the policy
    """Return a value of the policy as a node, its numbers as settings."""
    if isinstance(value, Mapping):
        return {str(key): settings(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [settings(each) for each in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return Setting(value) if is_number else value


def round_figures(value: Any) -> Any:  # noqa: ANN401 - any part of a document
    """Round the figures of a document to twelve digits; JSON has no infinity, which the status names."""
    if isinstance(value, ReportPage):
        return value
    if isinstance(value, Mapping):
        return {key: round_figures(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [round_figures(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


def _to_json(node: Node, where: str) -> Any:  # noqa: ANN401 - any part of a document
    if isinstance(node, ReportPage):
        return node
    if isinstance(node, Masked):
        return None
    if isinstance(node, Shown | Setting):
        return round_figures(node.value)
    if isinstance(node, Mapping):
        return ReportPage(node, where)
    if isinstance(node, list | tuple):
        return [_to_json(each, f"{where}[{place}]") for place, each in enumerate(node)]
    if node is None or isinstance(node, str | bool):
        return node
    raise TypeError(f"{where} must be shown or masked in a report, got {type(node).__name__}")


# What is masked: small counts, and figures that would reveal them.

Bin = tuple[int, int | None]  # class sizes from, to
ROUNDING_DIGITS: Final = (2, 1)  # to which a figure is rounded that would reveal a small count
COUNT_IN_TEXT: Final = re.compile(r"(?<![\d,.])(\d+) (records?|people|classes|values)\b")


class Mask:
    """The policy's mask: what a report may show. Only here a figure becomes one that is shown or masked."""

    def __init__(self, below: int) -> None:
        """Hide counts below this, but not 0; 1 hides nothing."""
        self.below: Final = below

    def hides(self, count: int) -> bool:
        """Whether the count is too small to be shown."""
        return is_small(count, self.below)

    def count(self, count: int) -> Figure:
        """Show a count unless it is small."""
        return Masked() if self.hides(count) else Shown(count)

    def show(self, value: float | None, *, when: bool = True) -> Figure | None:
        """Show a figure where it reveals no small count."""
        return None if value is None else Shown(value) if when else Masked()

    def round_share(self, share: float, records: int) -> float:
        """Round a share of the records up, so far that no count of them follows."""
        return min(1.0, round_above(share, records, self.below))

    def round_down(self, share: float, records: int) -> float:
        """Round a share of the records down, so far that no count of them follows."""
        return round_between(share, records, self.below)[0]

    def bound_of(self, share: float, records: int) -> float | None:
        """Return the share below which one of so few records lies; None if it may be shown."""
        return bound_of_share(share, records, self.below)

    def has_small_counts(
        self, histogram: Histogram, dropped: int = 0, cuts: AbstractSet[int] = frozenset()
    ) -> bool:
        """Whether a count of records by class size, or of those dropped, is too small to be shown."""
        return has_small_counts(histogram, dropped, self.below, cuts)

    def bound_ratio(self, value: float, records: int) -> float | None:
        """Return the bound for a factor by which a share of the records is multiplied; None for none."""
        return None if self.below == 1 or value <= 1 else ratio_below(value, records, self.below)

    def text(self, sentence: str) -> str:
        """Replace the small counts in a sentence."""
        return mask_counts_in_text(sentence, self.below)


def has_small_counts(
    histogram: Histogram, dropped: int, below: int, cuts: AbstractSet[int] = frozenset()
) -> bool:
    """Whether a count of records by the size of their class, or of those dropped, is too small to be shown.

    Class sizes are shown by bins; some figure divides them at the `cuts`, too.
    """
    edges = np.array(sorted({*EDGES, *cuts}))
    parts = np.bincount(np.searchsorted(edges, histogram.class_size, side="right"), histogram.records)
    return 0 < dropped < below or bool(((parts > 0) & (parts < below)).any())


def is_small(count: int, below: int) -> bool:
    """Whether a count is masked: 0 counts no one."""
    return 0 < count < below


def bound_of_share(share: float, records: int, below: int) -> float | None:
    """Give the share below which a share of so few records lies; None if it may be shown as it is.

    What all but a few records have is shown as below 1.

    >>> bound_of_share(0.003, 1000, 10), bound_of_share(0.03, 1000, 10), bound_of_share(0.997, 1000, 10)
    (0.01, None, 1.0)
    """
    count = round(share * records)
    if 0 < count < below:
        return below / records
    return 1.0 if 0 < records - count < below and share < 1 else None


def round_above(value: float, records: int, below: int) -> float:
    """Give the round figure above a share: see `round_between`.

    >>> round_above(0.2206, 32561, 10), round_above(0.2201, 32561, 10)
    (0.23, 0.23)
    >>> round_above(5 / 32561, 32561, 10) * 32561
    10.0
    """
    return round_between(value, records, below)[1]


def round_between(value: float, records: int, below: int) -> tuple[float, float]:
    """Give the round figures around a share: what a reader knows of it who is shown the upper one.

    They do not hang on the value, so that a higher share has no lower bound, and are at least twice as many
    counts of records apart as the mask hides; the first is the mask itself.

    >>> round_between(0.2206, 32561, 10), round_between(0.9, 50, 10)
    ((0.22, 0.23), (0.2, 1.0))
    """
    if value * records < below:
        return 1 / records, below / records
    if value < (first := min(1.0, _first_round_number(3 * below / records))):
        return below / records, first
    for digits in (*ROUNDING_DIGITS, 0):
        unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
        if unit * records >= 2 * below or not digits:
            low = float(f"{math.floor(value / unit) * unit:.3g}")
            high = float(f"{low + unit:.3g}")
            return max(low, first), high
    raise AssertionError


def ratio_below(value: float, records: int, below: int) -> float:
    """Give a round figure above a factor by which a share of the records may be multiplied.

    The factor 1/q is as open as the share q. It is rounded up to three digits.

    >>> ratio_below(500, 1504, 10), ratio_below(3.2, 1504, 10)
    (1510.0, 3.34)
    """
    low, _ = round_between(1 / value, records, below)
    digits = 2 - math.floor(math.log10(1 / low))
    return math.ceil(round(10.0**digits / low, 6)) / 10.0**digits


def _first_round_number(least: float) -> float:
    """Give the first of 1, 2, 5, 10, … of all powers of ten that is not below."""
    power = math.floor(math.log10(least))
    return next(candidate for step in (1, 2, 5, 10) if (candidate := float(f"{step}e{power}")) >= least)


def mask_counts_in_text(words: str, below: int) -> str:
    """Give a sentence that counts records without its small counts.

    >>> mask_counts_in_text("3 records are not covered by the population table of 1,003 records", 10)
    'fewer than 10 records are not covered by the population table of 1,003 records'
    """
    return COUNT_IN_TEXT.sub(
        lambda number: (
            f"fewer than {below} {_plural(number[2])}" if 0 < int(number[1]) < below else number[0]
        ),
        words,
    )


def _plural(noun: str) -> str:
    return "records" if noun == "record" else noun


Split = tuple[tuple[str, ...], tuple[str, ...]]  # the columns counted by, and those that make groups
GAPS: Final = "gaps"


def reveals_small_classes(release: Release, check: Check, group: Group, below: int) -> bool:
    """Whether so few records are of a class size that figures over all of them may tell how few."""
    if below == 1 or not check.counted:
        return False
    if _has_small_classes(release, check, (check.counted, ()), WHOLE, below):
        return True
    if check.by and _has_small_classes(release, check, (check.counted, check.by), group, below):
        return True
    if any(_has_small_parts(release, check, split, below) for split in _equal_splits(release.table, check)):
        return True
    return has_few_gaps(release, below) and not _is_of_table(release.table, check)


def reveals_small_cells(
    release: Release, check: Check, rows: Sequence[Mapping[str, Any]], value: float | None, below: int
) -> bool:
    """Whether a count of cells, or of some of the unique people, may tell of few people how few they are.

    Cells are counted by several k in several checks, each with its totals: the difference of two counts is
    that of the cells of a size, as with classes. What is missing from the unique people is a count, too.
    """
    if below == 1:
        return False
    cuts = frozenset(_class_size_cuts(release.table))
    for people in check.measure.cells(rows) if check.measure.cells else ():
        sizes, classes = np.unique(np.array(people, dtype=np.int64), return_counts=True)
        if has_small_counts(Histogram(sizes, classes, sizes * classes), 0, below, cuts):
            return True
    if check.measure.of_uniques and value is not None:
        histogram = release.histogram(check.counted)
        unique = int(histogram.records[histogram.class_size == 1].sum())
        return is_small(unique - int(value), below)
    return False


def has_few_gaps(release: Release, below: int) -> bool:
    """Whether so few records lack the same values that two counts of the dropped may tell how few.

    Every count of dropped records, and every difference of some, is a sum of the records that lack the very
    same values: where none of these is small, no such count is.
    """
    table = release.table
    if table.nulls != "drop" or below == 1:
        return False
    key = (GAPS, below)
    if key not in release.small_parts:
        counted = list(
            dict.fromkeys(
                [*table.quasi_identifiers, *(name for each in table.checks for name in each.counted)]
            )
        )
        ways = dict.fromkeys([(), *(each.by for each in table.checks)])
        try:
            release.small_parts[key] = any(release.has_few_gaps(counted, by, below) for by in ways if counted)
        except INTERRUPTIONS:
            raise
        except release.errors:
            release.small_parts[key] = True
    return release.small_parts[key]


def can_show_dropped(release: Release, check: Check, below: int) -> bool:
    """Whether a report may tell how many records a check dropped: where few lack the same, the table's."""
    return not has_few_gaps(release, below) or _is_of_table(release.table, check)


def _is_of_table(table: TablePolicy, check: Check) -> bool:
    """Whether the check counts the whole table by its own quasi-identifiers, as a report does."""
    return not check.by and set(check.counted) == set(table.quasi_identifiers)


def _equal_splits(table: TablePolicy, check: Check) -> set[Split]:
    """The ways in which checks split the table into the same classes: by groups, then by columns."""
    own = frozenset((*check.by, *check.counted))
    return {
        (each.counted, each.by)
        for each in (*table.checks, check)
        if each.by and frozenset((*each.by, *each.counted)) == own
    }


def _has_small_parts(release: Release, check: Check, split: Split, below: int) -> bool:
    """Whether some group is small, or has small class sizes; where groups cannot be counted, they may."""
    counted, by = split
    key = (frozenset(counted), check.coarser, by, below)
    if key not in release.small_parts:
        try:
            release.small_parts[key] = any(
                part.records < below or _has_small_classes(release, check, split, part, below)
                for part in release.groups(by)
            )
        except INTERRUPTIONS:
            raise
        except release.errors:
            release.small_parts[key] = True
    return release.small_parts[key]


def _has_small_classes(release: Release, check: Check, split: Split, group: Group, below: int) -> bool:
    counted, by = split
    histogram = release.histogram(counted, by, group, dict(check.coarser))
    records = group.records if by else release.records
    dropped = records - int(histogram.records.sum())
    return has_small_counts(histogram, dropped, below, frozenset(_class_size_cuts(release.table)))


def _class_size_cuts(table: TablePolicy) -> Iterator[int]:
    """The class sizes at which some check parts the records: what lies between two is their difference."""
    for each in table.checks:
        threshold, k = each.parameters.get("threshold"), each.parameters.get("k")
        if threshold:
            yield math.ceil(min(1 / threshold, NO_END))
        if k:
            yield int(k)
