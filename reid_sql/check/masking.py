"""Reports contain no small counts, nor figures that would reveal them.

Few people of a kind can be identified by their number. What is hidden must have more than one solution:
complementary suppression, as statistical offices do.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np

from reid_sql.charts.risk_charts import EDGES, NO_END
from reid_sql.check.figures import Figure, Masked, Shown
from reid_sql.check.policy_model import Check, TablePolicy
from reid_sql.check.release import INTERRUPTIONS, WHOLE, Group, Release
from reid_sql.models.classes.disclosure import Histogram

Bin = tuple[int, int | None]  # class sizes from, to
Cell = tuple[str | None, ...]  # the values that name a group
Groupings = Mapping[tuple[str, ...], Mapping[Cell, int]]  # sizes of groups, by the columns that make them
MAX_STEPS_TRIED: Final = 1000  # how far another solution is looked for
ROUNDING_DIGITS: Final = (2, 1)  # to which a figure is rounded that would reveal a small count
COUNT_IN_TEXT: Final = re.compile(r"(?<![\d,.])(\d+) (records?|people|classes|values)\b")


class Mask:
    """The policy's mask: what a report may show. Only here a figure becomes one that is shown or masked."""

    def __init__(self, below: int) -> None:
        """Hide counts below this, but not 0; 1 hides nothing."""
        self.below: Final = below

    def hides(self, count: int) -> bool:
        """Whether the count is too small to be shown."""
        return 0 < count < self.below

    def count(self, count: int) -> Figure:
        """Show a count unless it is small."""
        return Masked() if self.hides(count) else Shown(count)

    def show(self, value: float | None, *, when: bool = True) -> Figure | None:
        """Show a figure where it reveals no small count."""
        return None if value is None else Shown(value) if when else Masked()

    def show_share(self, share: float, records: int, *, round_up: bool) -> Figure:
        """Show a share; rounded up where an exact one would reveal a small count of the records."""
        return Shown(self.round_share(share, records) if round_up and 0 < share < 1 else share)

    def round_share(self, share: float, records: int) -> float:
        """Round a share of the records up, so far that no count of them follows."""
        return min(1.0, round_above(share, records, self.below))

    def bound_of(self, share: float, records: int) -> float | None:
        """Return the share below which one of so few records lies; None if it may be shown."""
        return bound_of_share(share, records, self.below)

    def has_small_counts(
        self, histogram: Histogram, dropped: int = 0, cuts: AbstractSet[int] = frozenset()
    ) -> bool:
        """Whether a count of records by class size, or of those dropped, is too small to be shown."""
        return has_small_counts(histogram, dropped, self.below, cuts)

    def text(self, sentence: str) -> str:
        """Replace the small counts in a sentence."""
        return mask_counts_in_text(sentence, self.below)


def bin_classes(histogram: Histogram) -> list[tuple[Bin, int, int]]:
    """Give, by bins of the class size, the classes and the records."""
    found = []
    for low, high in zip(EDGES, (*EDGES[1:], None), strict=True):
        inside = (histogram.class_size >= low) & (True if high is None else histogram.class_size < high)
        sizes = (low, None if high is None else high - 1)
        found.append((sizes, int(histogram.classes[inside].sum()), int(histogram.records[inside].sum())))
    return found


def has_small_counts(
    histogram: Histogram, dropped: int, below: int, cuts: AbstractSet[int] = frozenset()
) -> bool:
    """Whether a count of records by the size of their class, or of those dropped, is too small to be shown.

    Class sizes are shown by bins; some figure divides them at the `cuts`, too.
    """
    edges = np.array(sorted({*EDGES, *cuts}))
    parts = np.bincount(np.searchsorted(edges, histogram.class_size, side="right"), histogram.records)
    return 0 < dropped < below or bool(((parts > 0) & (parts < below)).any())


def mask_bins(counts: Sequence[int], bins: Sequence[Bin], below: int, dropped: int = 0) -> list[int | None]:
    """Give the records by class size, small counts as None, and others, so that none is solved for.

    As many others as are needed so that the small ones have several solutions. The counts and those dropped
    add up to a total that is shown. Zero is shown: it counts no one.

    >>> mask_bins([3, 40, 500, 0], [(1, 1), (2, 2), (3, 4), (5, 9)], 10)
    [None, None, 500, 0]
    """
    parts = [*counts, dropped]
    forms: list[Bin] = [*bins, (1, 1)]
    hidden = {place for place, count in enumerate(parts) if 0 < count < below}
    rest = sorted(
        (place for place, count in enumerate(counts) if count >= below), key=lambda place: counts[place]
    )
    while hidden and rest and not _is_ambiguous_in_bins(hidden, parts, forms):
        hidden.add(rest.pop(0))
    return [None if place in hidden else count for place, count in enumerate(counts)]


def _is_ambiguous_in_bins(hidden: set[int], counts: Sequence[int], bins: Sequence[Bin]) -> bool:
    """Whether each hidden count could be another one, with one more of them changed for the same total."""
    return all(
        any(
            _is_possible(counts[place] + step, bins[place])
            and _is_possible(counts[other] - step, bins[other])
            for other in hidden - {place}
            for step in (*range(-MAX_STEPS_TRIED, 0), *range(1, MAX_STEPS_TRIED + 1))
        )
        for place in hidden
    )


def _is_possible(records: int, sizes: Bin) -> bool:
    """Whether so many records can be in classes of these sizes; there is at least one such class."""
    low, high = sizes
    return records >= low and (high is None or low * -(-records // high) <= records)


def groups_to_hide(tables: Groupings, below: int) -> dict[tuple[str, ...], set[Cell]]:
    """Give, for every grouping of a table, the groups whose size is masked.

    These are the small ones, and others so that no size follows from a total. Where a table is grouped in
    several ways, one way would reveal what another hides: only the grouping with the fewest groups then
    shows sizes.

    >>> found = groups_to_hide({("sex",): {("F",): 4, ("M",): 40, ("X",): 500}}, 10)
    >>> sorted(found[("sex",)])
    [('F',), ('M',)]
    """
    small = {
        by: {group for group, count in groups.items() if 0 < count < below} for by, groups in tables.items()
    }
    if not any(small.values()):
        return small
    shown_by = min(tables, key=lambda by: (len(tables[by]), by))
    hidden = {by: small[by] if by == shown_by else set(groups) for by, groups in tables.items()}
    before = -1
    while before < len(hidden[shown_by]):
        before = len(hidden[shown_by])
        _hide_until_ambiguous(tables[shown_by], hidden[shown_by], below)
        for by, groups in tables.items():
            if by != shown_by:
                hidden[shown_by] |= _revealing_groups(
                    by, groups, shown_by, tables[shown_by], hidden[shown_by], below
                )
    return hidden


def _hide_until_ambiguous(groups: Mapping[Cell, int], hidden: set[Cell], below: int) -> None:
    """Hide the next smallest groups until each hidden one has two solutions."""
    rest = sorted(
        (group for group in groups if group not in hidden), key=lambda group: (groups[group], repr(group))
    )
    while hidden and rest and not is_ambiguous([groups[group] for group in hidden], below):
        hidden.add(rest.pop(0))


def _revealing_groups(  # noqa: PLR0917 - both groupings
    by: tuple[str, ...],
    groups: Mapping[Cell, int],
    shown_by: tuple[str, ...],
    shown: Mapping[Cell, int],
    hidden: set[Cell],
    below: int,
) -> set[Cell]:
    """Return the shown groups whose sizes would reveal a group of the other grouping, by what both share."""
    shared = [name for name in shown_by if name in by]
    inside, outside = _by_shared(by, groups, shared), _by_shared(shown_by, shown, shared)
    unknown = [
        group for value, parts in inside.items() if hidden.intersection(outside[value]) for group in parts
    ]
    lines = {value: parts for value, parts in inside.items() if not hidden.intersection(outside[value])}
    found = {
        group
        for value, parts in lines.items()
        if not is_ambiguous([groups[part] for part in parts], below)
        for group in outside[value]
    }
    if not found and unknown and not is_ambiguous([groups[group] for group in unknown], below):
        return set(shown)
    return found


def _by_shared(
    by: tuple[str, ...], groups: Mapping[Cell, int], shared: Sequence[str]
) -> dict[Cell, list[Cell]]:
    """Give the groups by their values in some of the columns."""
    places = [by.index(name) for name in shared]
    found: dict[Cell, list[Cell]] = {}
    for group in groups:
        found.setdefault(tuple(group[place] for place in places), []).append(group)
    return found


def is_ambiguous(counts: Sequence[int], below: int) -> bool:
    """Whether each of the hidden counts, whose sum is known, could be another one.

    They are known to be small.

    >>> [is_ambiguous(counts, 10) for counts in ([1, 1], [1, 2], [3], [1, 10], [1, 11])]
    [False, True, False, False, True]
    """
    total = sum(counts)
    lows = [1 if count < below else below for count in counts]
    highs = [below - 1 if count < below else math.inf for count in counts]
    least, most = sum(lows), sum(highs)
    return all(
        min(high, total - (least - low))
        > max(low, total - (most - high) if math.isfinite(most - high) else -math.inf)
        for low, high in zip(lows, highs, strict=True)
    )


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
    """Give a round figure above the value, far from the round one before it: no count of records follows.

    Round figures are so far apart that each covers at least as many counts as the mask hides.

    >>> round_above(0.2206, 32561, 10), round_above(0.2201, 32561, 10)
    (0.23, 0.3)
    >>> round_above(5 / 32561, 32561, 10) * 32561
    10.0
    """
    if value * records < below:
        return below / records
    if value < (first := _first_round_number(3 * below / records)):
        return first
    for digits in ROUNDING_DIGITS:
        unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
        steps = math.floor(value / unit)
        if unit * records >= 2 * below and (value - steps * unit) * records >= below:
            return float(f"{(steps + 1) * unit:.{digits}g}")
    return float(f"{10.0 ** (math.floor(math.log10(value)) + 1):.1g}")


def _first_round_number(least: float) -> float:
    """Give the first of 1, 2, 5, 10, … of all powers of ten that is not below."""
    power = math.floor(math.log10(least))
    return next(found for step in (1, 2, 5, 10) if (found := float(f"{step}e{power}")) >= least)


def mask_counts_in_text(words: str, below: int) -> str:
    """Give a sentence that counts records without its small counts.

    >>> mask_counts_in_text("3 records are not covered by the population table of 1,003 records", 10)
    'fewer than 10 records are not covered by the population table of 1,003 records'
    """
    return COUNT_IN_TEXT.sub(
        lambda found: f"fewer than {below} {_plural(found[2])}" if 0 < int(found[1]) < below else found[0],
        words,
    )


def _plural(noun: str) -> str:
    return "records" if noun == "record" else noun


Split = tuple[tuple[str, ...], tuple[str, ...]]  # the columns counted by, and those that make groups
GAPS: Final = "gaps"


def reveals_small_classes(release: Release, check: Check, group: Group, below: int) -> bool:
    """Whether so few records are of a class size that figures over all of them may tell how few."""
    if below == 1 or not check.counted or release.records < below:
        return False
    if _has_small_classes(release, check, (check.counted, ()), WHOLE, below):
        return True
    if check.by and _has_small_classes(release, check, (check.counted, check.by), group, below):
        return True
    if any(_has_small_parts(release, check, split, below) for split in _equal_splits(release.table, check)):
        return True
    return has_few_gaps(release, below) and not _is_of_table(release.table, check)


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
