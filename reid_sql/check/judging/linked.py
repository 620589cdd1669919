"""Whether exact figures of one check would tell what the report hides of it or of another check of the table.

Counts of records add up: those of a group are a part of the table's, those by a column more are a part of
those without it, and of records that lack a value the numbers by several sets of columns tell how many lack
which.
"""

import math
from collections.abc import Iterator
from typing import Final

from reid_sql.check.judging.masking import has_small
from reid_sql.check.measures.answers import STOPPED, Answers, unmeasured
from reid_sql.check.policy.policy import Check, TablePolicy
from reid_sql.engines.duckdb.packed import WHOLE, Group
from reid_sql.terminal import ENDLESS

Split = tuple[tuple[str, ...], tuple[str, ...]]  # the columns counted by, and those that make groups
GAPS: Final = "gaps"


def small(release: Answers, check: Check, group: Group, below: int) -> bool:
    """Whether so few records are of a class size that figures over all of them may tell how few."""
    if below == 1 or not check.counted or release.records < below:
        return False
    if _has_small(release, check, (check.counted, ()), WHOLE, below):
        return True
    if check.by and _has_small(release, check, (check.counted, check.by), group, below):
        return True
    if any(_parts_small(release, check, split, below) for split in _alike(release.table, check)):
        return True
    return few_gaps(release, below) and not _of_table(release.table, check)


def few_gaps(release: Answers, below: int) -> bool:
    """Whether so few records lack the same values that two counts of the dropped may tell how few.

    Every count of dropped records, and every difference of some, is a sum of the records that lack the very
    same values: where none of these is small, no such count is.
    """
    table = release.table
    if table.nulls != "drop" or below == 1:
        return False
    key = (GAPS, below)
    if key not in release.parts_small:
        counted = list(
            dict.fromkeys(
                [*table.quasi_identifiers, *(name for each in table.checks for name in each.counted)]
            )
        )
        ways = dict.fromkeys([(), *(each.by for each in table.checks)])
        try:
            release.parts_small[key] = any(release.few_gaps(counted, by, below) for by in ways if counted)
        except STOPPED:
            raise
        except unmeasured(release):
            release.parts_small[key] = True
    return release.parts_small[key]


def tells_dropped(release: Answers, check: Check, below: int) -> bool:
    """Whether a report may tell how many records a check dropped: where few lack the same, the table's."""
    return not few_gaps(release, below) or _of_table(release.table, check)


def _of_table(table: TablePolicy, check: Check) -> bool:
    """Whether the check counts the whole table by its own quasi-identifiers, as a report does."""
    return not check.by and set(check.counted) == set(table.quasi_identifiers)


def _alike(table: TablePolicy, check: Check) -> set[Split]:
    """The ways in which checks split the table into the same classes: by groups, then by columns."""
    own = frozenset((*check.by, *check.counted))
    return {
        (each.counted, each.by)
        for each in (*table.checks, check)
        if each.by and frozenset((*each.by, *each.counted)) == own
    }


def _parts_small(release: Answers, check: Check, split: Split, below: int) -> bool:
    """Whether some group is small, or has small class sizes; where groups cannot be counted, they may."""
    counted, by = split
    key = (frozenset(counted), check.coarser, by, below)
    if key not in release.parts_small:
        try:
            release.parts_small[key] = any(
                part.records < below or _has_small(release, check, split, part, below)
                for part in release.groups(by)
            )
        except STOPPED:
            raise
        except unmeasured(release):
            release.parts_small[key] = True
    return release.parts_small[key]


def _has_small(release: Answers, check: Check, split: Split, group: Group, below: int) -> bool:
    counted, by = split
    histogram = release.histogram(counted, by, group, dict(check.coarser))
    records = group.records if by else release.records
    dropped = records - int(histogram.records.sum())
    return has_small(histogram, dropped, below, frozenset(_cuts(release.table)))


def _cuts(table: TablePolicy) -> Iterator[int]:
    """The class sizes at which some check parts the records: what lies between two is their difference."""
    for each in table.checks:
        threshold, k = each.parameters.get("threshold"), each.parameters.get("k")
        if threshold:
            yield math.ceil(min(1 / threshold, ENDLESS))
        if k:
            yield int(k)
