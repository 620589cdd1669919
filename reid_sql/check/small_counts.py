"""Whether a figure rests on counts that are so small that figures over them may reveal them.

It is counted where the figure is measured: what a report then shows of it is the mask's decision. A figure
over all class sizes, such as a mean, reveals a class size of few records to a reader who sees, or subtracts,
the figures over the others. So each way in which the checks of a table divide the same records is looked at:
by the class sizes, by groups, by thresholds of sizes, by the columns that lack a value.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from reid_sql.charts.risk_charts import NO_END
from reid_sql.check.exact_figures import WHOLE, Group
from reid_sql.check.masking import has_small_counts, is_small
from reid_sql.check.measure import Kind
from reid_sql.check.policy_model import Check, TablePolicy
from reid_sql.check.table_counts import TableCounts
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.parameters import Rows

# the columns counted by, and those that make groups
Split = tuple[tuple[str, ...], tuple[str, ...]]
GAPS: Final = "gaps"


def count_around(counts: TableCounts, check: Check, group: Group, below: int) -> dict[str, Any]:
    """Count what is shown, or masked, next to a figure; a mask of 1 hides nothing."""
    return {
        "dropped": counts.dropped(check, group),
        "shows_dropped": not has_few_gaps(counts, below) or _is_of_table(counts.table, check),
        "small": _reveals_small_classes(counts, check, group, below),
        "few_values": _has_few_values(counts, check, group, below),
    }


def _reveals_small_classes(counts: TableCounts, check: Check, group: Group, below: int) -> bool:
    """Whether so few records are of a class size that figures over all of them may tell how few.

    The whole table's class sizes count for each of its groups, too: what one group has, the others have not.
    """
    if below == 1 or not check.counted:
        return False
    if _has_small_classes(counts, (check.counted, ()), WHOLE, below):
        return True
    if check.by and _has_small_classes(counts, (check.counted, check.by), group, below):
        return True
    # Checks of age by sex and of sex by age divide the same records: each is a sum of the other's groups.
    if any(_has_small_parts(counts, split, below) for split in _equal_splits(counts.table, check)):
        return True
    # Where few records lack a value, a check on other columns drops others: the difference is those few.
    return has_few_gaps(counts, below) and not _is_of_table(counts.table, check)


def _has_few_values(counts: TableCounts, check: Check, group: Group, below: int) -> bool:
    """Whether so few records of a class have a sensitive value that figures of the values may tell how few.

    Where every value of every class has at least as many records as the mask, or none, so has every sum of
    some of them, and what remains of each class: then the counts themselves could be shown. The figures of
    groups are parts of those of the table, and of other groups: where one group has few, the others, taken
    from the whole, would give it away. So it closes the checks of the column that do not divide by the same.
    """
    measure = check.measure
    if below == 1 or not (measure.kind is Kind.DISTRIBUTION or measure.counts_values):
        return False
    if _has_small_value(counts, check, group, below):
        return True
    return any(
        _has_small_value(counts, other, part, below)
        for other in counts.table.checks
        if other.by and other.by != check.by and other.sensitive == check.sensitive
        for part in counts.groups(other.by)
    )


def _has_small_value(counts: TableCounts, check: Check, group: Group, below: int) -> bool:
    """Whether a value of the sensitive column has fewer records than the mask in a class, but some.

    A value of a small class is small, too: then the values need not be counted. Where they cannot be, they
    may be small.
    """

    def count() -> bool:
        sizes = counts.histogram(check.counted, check.by, group).class_size
        is_class_small = bool(len(sizes) and sizes.min() < below)
        return is_class_small or is_small(counts.rarest_value(check, group), below)

    return counts.attempt(count, lambda _: True)


def reveals_small_cells(
    counts: TableCounts,
    check: Check,
    rows: Rows,
    value: float | None,
    below: int,
) -> bool:
    """Whether a count of cells, or of some of the unique people, may tell of few people how few they are.

    Cells are counted by several k in several checks, each with its totals: the difference of two counts is
    that of the cells of a size, as with classes. What is missing from the unique people is a count, too.
    """
    if below == 1:
        return False
    cuts = frozenset(_class_size_cuts(counts.table))
    for people in check.measure.cells(rows) if check.measure.cells else ():
        sizes, classes = np.unique(np.array(people, dtype=np.int64), return_counts=True)
        if has_small_counts(Histogram(sizes, classes, sizes * classes), 0, below, cuts):
            return True
    if check.measure.of_uniques and value is not None:
        histogram = counts.histogram(check.counted)
        unique = int(histogram.records[histogram.class_size == 1].sum())
        return is_small(unique - int(value), below)
    return False


def has_few_gaps(counts: TableCounts, below: int) -> bool:
    """Whether so few records lack the same values that two counts of the dropped may tell how few.

    Every count of dropped records, and every difference of some, is a sum of the records that lack the very
    same values: where none of these is small, no such count is.
    """
    table = counts.table
    if table.nulls != "drop" or below == 1:
        return False
    named = [*table.quasi_identifiers, *(name for each in table.checks for name in each.counted)]
    counted = list(dict.fromkeys(named))
    ways = dict.fromkeys([(), *(each.by for each in table.checks)])
    return _remember(
        counts,
        (GAPS, below),
        lambda: any(counts.has_few_gaps(counted, by, below) for by in ways if counted),
    )


def _remember(counts: TableCounts, key: Any, has_few: Callable[[], bool]) -> bool:  # noqa: ANN401 - any key
    """Whether some part has few records, counted once; where parts cannot be counted, they may."""
    if key not in counts.small_parts:
        counts.small_parts[key] = counts.attempt(has_few, lambda _: True)
    return counts.small_parts[key]


def _is_of_table(table: TablePolicy, check: Check) -> bool:
    """Whether the check counts the whole table by its own quasi-identifiers, as a report does."""
    return not check.by and set(check.counted) == set(table.quasi_identifiers)


def _equal_splits(table: TablePolicy, check: Check) -> set[Split]:
    """The ways in which checks split the table into the same classes: by groups, then by columns."""
    split = frozenset((*check.by, *check.counted))
    return {
        (each.counted, each.by)
        for each in (*table.checks, check)
        if each.by and frozenset((*each.by, *each.counted)) == split
    }


def _has_small_parts(counts: TableCounts, split: Split, below: int) -> bool:
    """Whether some group is small, or has small class sizes."""
    counted, by = split
    return _remember(
        counts,
        (frozenset(counted), by, below),
        lambda: any(
            part.records < below or _has_small_classes(counts, split, part, below)
            for part in counts.groups(by)
        ),
    )


def _has_small_classes(counts: TableCounts, split: Split, group: Group, below: int) -> bool:
    counted, by = split
    histogram = counts.histogram(counted, by, group)
    records = group.records if by else counts.records
    dropped = records - int(histogram.records.sum())
    return has_small_counts(histogram, dropped, below, frozenset(_class_size_cuts(counts.table)))


def _class_size_cuts(table: TablePolicy) -> Iterator[int]:
    """The class sizes at which some check parts the records: what lies between two is their difference."""
    for each in table.checks:
        threshold, k = each.parameters.get("threshold"), each.parameters.get("k")
        if threshold:
            yield math.ceil(min(1 / threshold, NO_END))
        if k:
            yield int(k)
