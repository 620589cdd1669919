"""What was measured of the tables of a policy: all that judging, masking and the report see of them.

Every figure here is exact. Nothing of it may be shown but by the mask.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from reid_sql.check.policy_model import Check, TablePolicy
from reid_sql.check.remarks import Remark
from reid_sql.check.sources import Evidence
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.parameters import Row, Rows


@dataclass(frozen=True)
class Group:
    """A part of the table: its values of the columns that divide it, its records, and its position."""

    values: tuple[Any, ...]
    records: int
    place: int = 0


WHOLE: Final = Group((), 0)


@dataclass(frozen=True)
class Figure:
    """What was measured of a group: the figure, the ends of its interval, if any, and its status."""

    group: Group
    value: float | None
    low: float | None
    high: float | None
    status: str
    dropped: int = 0  # records that lack a value, and were not measured
    shows_dropped: bool = True  # whether a report may show how many
    # whether class sizes are so few records that an exact figure may reveal them
    small: bool = False
    # whether a sensitive value has so few records in a class that a figure of values may reveal them
    few_values: bool = False
    # the records or people of which its answer is about a part; None for all of the group
    whole: int | None = None
    k: int | None = None  # the size of the smallest class, where its answer has it
    # what was measured otherwise than asked, or may be meant otherwise
    remarks: tuple[Remark, ...] = ()
    method: str | None = None  # of an estimate, where its function names it
    sentence: str | None = None  # to quote, where the function gives one


@dataclass(frozen=True)
class MeasuredCheck:
    """A check with a figure for each group, or why there is none."""

    table: str
    check: Check
    figures: tuple[Figure, ...] = ()
    cautions: tuple[Remark, ...] = ()  # on the table and on what is asked, whatever the figures
    refusal: str = ""


@dataclass(frozen=True)
class ColumnSizes:
    """The class sizes by one quasi-identifier alone, and by all others."""

    column: str
    alone: Histogram
    without: Histogram | None


@dataclass(frozen=True)
class PopulationEstimate:
    """The risk in a population, in shares of it, or the status why there is none."""

    population: float
    k: Any
    row: Row | None
    status: str


@dataclass(frozen=True)
class Forecast:
    """Right matches by the number of people: measured in the table, forecast beyond it."""

    measured: Sequence[tuple[float, float]] = ()
    rows: Rows = ()
    status: str = ""


@dataclass(frozen=True)
class Overview:
    """What drives the risk of a table, and the risk in the population that its policy names.

    Where class sizes are few records, no report shows it, and it is not measured.
    """

    columns: tuple[ColumnSizes, ...] = ()
    population: float | None = None
    estimate: PopulationEstimate | None = None
    forecast: Forecast | None = None


@dataclass(frozen=True)
class ColumnAlone:
    """A column in no check, and how many people are the only one with their value; None if not counted."""

    column: str
    unique: int | None


@dataclass(frozen=True)
class ReleasedColumns:
    """The columns of a release that no check measures, those that it lacks, and all of them together."""

    unmeasured: tuple[ColumnAlone, ...]  # those that single most people out first
    unlisted: tuple[str, ...]  # of these, the ones that single people out and are in no list
    left_out: tuple[str, ...]  # of the file
    counted: tuple[str, ...] = ()  # the columns by which people are counted together
    more: int = 0  # columns beyond those that are counted together
    unique: int | None = None  # people who are the only one with their values of all
    entity: str | None = None  # the column of people, if the release has it
    is_prepared: bool = False  # a release that was made of the file, not the file itself
    has_list: bool = False  # whether the policy lists the released columns
    other_tables: tuple[str, ...] = ()  # of the file, if it is a database


@dataclass(frozen=True)
class MeasuredTable:
    """A table of the policy: its checks, and what a report describes it by."""

    table: TablePolicy
    evidence: Evidence
    records: int  # or people, where a column distinguishes them
    checks: tuple[MeasuredCheck, ...]
    # by all quasi-identifiers; None where they could not be counted
    classes: Histogram | None = None
    # whether so few records lack the same values that two counts may show how few
    few_gaps: bool = False
    columns: ReleasedColumns | None = None  # those that no check measures, and all of them together
    overview: Overview | None = None
    # as the user asked for: how many records, and the values
    rarest: Sequence[tuple[Any, ...]] | None = None
    packages: tuple[str, ...] = ()  # those that counted, other than DuckDB
    uncounted: str = ""  # why the records could not be counted
    changed: str = ""  # why the figures are not to be trusted


def group_labels(group: Group) -> tuple[str | None, ...]:
    """Return the values that name a group, as reports write them."""
    return tuple(None if value is None else str(value) for value in group.values)
