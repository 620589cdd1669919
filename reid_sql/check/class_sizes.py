"""The class sizes of a report: what is masked of them, given the figures of checks on the same classes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np

from reid_sql.charts.risk_charts import EDGES
from reid_sql.check.audit import ClassCounts, Statement, bins_to_hide
from reid_sql.check.figures import Node, Setting, settings
from reid_sql.check.masking import Bin, Mask, has_few_gaps, round_between
from reid_sql.check.measure import Measure
from reid_sql.check.release import Release
from reid_sql.check.report import bound_of_figure
from reid_sql.check.verdicts import CheckResult
from reid_sql.errors import ReidError
from reid_sql.models.classes.disclosure import Histogram

BINS: Final[tuple[Bin, ...]] = tuple(
    (low, None if high is None else high - 1) for low, high in zip(EDGES, (*EDGES[1:], None), strict=True)
)
SLACK: Final = 1e-6  # of a count that a share gives
OF_UNIQUE: Final = ("unique_records", "uniqueness")


@dataclass(frozen=True)
class MaskedClasses:
    """Records and classes by bins of the class size, the bins that are masked, and the checks withheld."""

    counts: ClassCounts | None = None
    hidden: frozenset[int] = frozenset()
    withheld: frozenset[int] = field(
        default=frozenset()
    )  # places of checks whose rounded figures reveal more
    small: bool = False  # whether some class size, or those dropped, are few records

    def pages(self, mask: Mask) -> list[dict[str, Node]]:
        """Return the bins of a report; where some are masked, classes are too."""
        if self.counts is None:
            return []
        pages: list[dict[str, Node]] = []
        for place, (low, high) in enumerate(BINS):
            inside = self.counts.within((low, high))
            records, classes = (
                sum(each[at] for at in inside) for each in (self.counts.records, self.counts.classes)
            )
            shown = place not in self.hidden
            is_open = not self.counts.are_products or (records and low != high)
            pages.append(
                {
                    "from": Setting(low),
                    "to": settings(high),
                    "classes": mask.show(classes, when=shown and not (self.small and is_open)),
                    "records": mask.show(records, when=shown),
                }
            )
        return pages


def mask_classes(release: Release, judged: Sequence[CheckResult], mask: Mask) -> MaskedClasses:
    """Return what is masked of a table's class sizes, next to the figures of checks on the same classes.

    A rounded figure is withheld unless the audit knows it. Where no class size is masked, one of those that
    compare a class with the table is shown: two of the same values could reveal the count of a rare one.
    """
    named, every = release.table.quasi_identifiers, frozenset(range(len(judged)))
    if not named:
        return MaskedClasses(withheld=every)
    try:
        histogram = release.histogram(named)
    except ReidError:  # the checks by these columns say why they are not judged
        return MaskedClasses(withheld=every)
    if not len(histogram.class_size):
        return MaskedClasses(withheld=every)
    places = [
        place
        for place, each in enumerate(judged)
        if not each.check.by and set(each.check.counted) == set(named) and not each.check.coarser
    ]
    stated = [(place, each) for place in places for each in state_figures(judged[place], release, mask)]
    cuts = {int(histogram.class_size.min())} | {
        each.largest + 1 for _, each in stated if each.largest is not None
    }
    dropped, people = release.records - int(histogram.records.sum()), release.table.entity is not None
    counts = count_parts(histogram, cuts, dropped, are_products=not people)
    small = any(mask.hides(each) for each in (*counts.records, counts.dropped))
    missing = release.table.nulls != "value" and (small or has_few_gaps(release, mask.below))
    if missing or any(_masks_groups(each, named, mask) for each in judged):  # which the audit does not know
        return MaskedClasses(counts, frozenset(range(len(BINS))), every, small=True)
    hidden, left = bins_to_hide(counts, [each for _, each in stated], mask.below)
    shown = {place for place, _ in stated} - {place for place, _ in stated[len(left) :]}
    shown |= set() if small else _first_of_values(judged)
    return MaskedClasses(counts, frozenset(hidden), every - shown, small)


def _first_of_values(judged: Sequence[CheckResult]) -> set[int]:
    """Return the place of the first check of each sensitive column that compares a class with the table."""
    first: dict[str | None, int] = {}
    for place, each in enumerate(judged):
        if each.check.measure.relative is not None and not each.check.by:
            first.setdefault(each.check.sensitive, place)
    return set(first.values())


def _masks_groups(each: CheckResult, named: Sequence[str], mask: Mask) -> bool:
    """Whether a check divides the same classes by groups, and masks figures that count a group's records."""
    check = each.check
    counts = bool(check.by) and not check.measure.extreme and {*check.by, *check.counted} == set(named)
    return counts and any(
        found.figure.small or mask.hides(found.figure.group.records) for found in each.findings
    )


def count_parts(
    histogram: Histogram, cuts: set[int], dropped: int = 0, *, are_products: bool = True
) -> ClassCounts:
    """Count records and classes in the bins, divided where some figure divides them."""
    edges = sorted({*EDGES, *cuts})
    parts: list[Bin] = [(low, high - 1) for low, high in pairwise(edges)] + [(edges[-1], None)]
    place = np.searchsorted(edges, histogram.class_size, side="right") - 1
    records, classes = (
        np.bincount(place, each, len(parts)).astype(np.int64).tolist()
        for each in (histogram.records, histogram.classes)
    )
    smallest = int(histogram.class_size.min())
    return ClassCounts(parts, records, classes, BINS, dropped, are_products, smallest)


def state_figures(each: CheckResult, release: Release, mask: Mask) -> Iterator[Statement]:
    """Yield what the figure of a check on the whole table tells about its class sizes."""
    name, judgement = each.check.measure.name, each.findings[0]
    value, records = judgement.figure.value, release.records
    if value is None or not records:
        return
    unit, counted = each.check.measure.unit, records - judgement.figure.dropped
    scale = 1 if unit == "count" else counted
    bound = bound_of_figure(each.check, judgement, records, mask)
    low, high = (value, value) if bound is None else _around(value, each.check.measure, records, mask)
    least, most = low * scale, high * scale
    if bound is not None:  # the figure is below its bound, and counts are whole
        least, most = math.ceil(least - SLACK), math.ceil(most - SLACK) - 1
    if name in OF_UNIQUE:
        yield Statement("records", least, most, 1)
    elif name == "records_at_risk" and each.check.parameters["threshold"]:
        yield Statement("records", least, most, math.ceil(1 / each.check.parameters["threshold"]) - 1)
    elif name == "average_risk" and release.table.entity is None:  # of people, it counts no classes
        yield Statement("classes", least, most)


def _around(value: float, measure: Measure, records: int, mask: Mask) -> tuple[float, float]:
    """Return the ends between which a masked figure lies, as its bound shows.

    Of all but few records 1 is shown, unless they are few themselves: then the mask is.
    """
    scale = records if measure.unit == "count" else 1
    low, high = round_between(value / scale, records, mask.below)
    if measure.of_records and mask.bound_of(value / scale, records) == 1.0:
        low, high = max(1 - (mask.below - 1) / records, mask.below / records), 1.0
    return low * scale, high * scale
