"""What is asked of a policy's table: class sizes and functions' answers, kept for who asks again."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import duckdb
import numpy as np

from reid_sql.check.measure import Measure, Row, argument
from reid_sql.check.policy import Check, TablePolicy
from reid_sql.check.sources import Evidence, evidence
from reid_sql.engines.arrow import answer_rows
from reid_sql.engines.duckdb.packed import WHOLE, Group
from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError
from reid_sql.function import Function
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.columns.column_profile import describe_missing_values
from reid_sql.parameters import MAX_COLUMNS
from reid_sql.reductions.classes import HISTOGRAM
from reid_sql_udfs import declared

OF_NO_RECORD: Final = Histogram(*np.zeros((3, 0), dtype=np.int64))
HELD: Final = ("class_size", "classes", "records", "blank_records")
MAX_GROUPS: Final = 10_000
STOPPED: Final = (duckdb.InterruptException, KeyboardInterrupt)
UNMEASURED: Final[tuple[type[Exception], ...]] = (
    duckdb.Error,
    ImportError,
    ArithmeticError,
    ValueError,
    MemoryError,
)  # a ReidError is a ValueError


def counted_histogram(lines: Sequence[Sequence[int]], nulls: str) -> Histogram:
    """The histogram of class sizes; with blank records where NULL is a wildcard."""
    size, classes, records, blank = np.array(lines, dtype=np.int64).reshape(-1, 4).T
    return Histogram(size, classes, records, blank_records=blank if nulls == "wildcard" else None)


class Answers(ABC):
    """A table of the policy; what is below says how an engine counts it."""

    engines: tuple[str, ...] = ()  # packages beside DuckDB that count
    errors: tuple[type[Exception], ...] = ()  # what they raise

    def __init__(self, table: TablePolicy, found: Evidence | None = None) -> None:
        """Remember the table as the policy tells of it, and what stands for its file, unless it is known."""
        self.table = table
        self.evidence = evidence(table.source, table.population_source) if found is None else found
        self.parts_small: dict[
            Any, bool
        ] = {}  # whether a grouping has small groups or class sizes, once counted
        self.cautions: list[str] = []  # what is to be said of the table, whatever the check
        self._hints: dict[str, str] | None = None
        self._histograms: dict[Any, dict[tuple[int, ...], Histogram]] = {}
        self._answers: dict[Any, dict[tuple[int, ...], list[Row]]] = {}

    @property
    @abstractmethod
    def records(self) -> int:
        """Records of the table, or its people where a column tells them apart."""

    @abstractmethod
    def rarest(self, count: int) -> list[tuple[Any, ...]]:
        """The rarest combinations of the quasi-identifiers: how many records hold each, and the values."""

    @abstractmethod
    def _groups(self, by: Sequence[str]) -> list[Group]:
        """The parts of the table by the values of some columns, in the order of the values, NULL first."""

    @abstractmethod
    def _counted(
        self, qi: Sequence[str], by: Sequence[str], *, drop: bool, coarser: Mapping[str, str] | None
    ) -> dict[tuple[int, ...], Histogram]:
        """Count the class sizes within each group, by its digits; within the whole table, by none."""

    @abstractmethod
    def _matched(self, qi: Sequence[str], by: Sequence[str], group: Group) -> Histogram:
        """Count matches where NULL is a wildcard, or people, of one group."""

    @abstractmethod
    def _people(self, by: Sequence[str]) -> dict[tuple[int, ...], int]:
        """The people of each group by its digits, where a column tells them apart; NULL is one of them."""

    @abstractmethod
    def _profiled(self, columns: Sequence[str]) -> list[Row]:
        """Profile some columns of the table."""

    @abstractmethod
    def _together(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str]
    ) -> list[Row]:
        """Ask the function about all groups at once: its rows, with a group's digits as `digits`."""

    @abstractmethod
    def _asked(self, function: Function, check: Check, given: Mapping[str, Any], group: Group) -> list[Row]:
        """Ask the function about the group."""

    @abstractmethod
    def few_gaps(self, columns: Sequence[str], by: Sequence[str], below: int) -> bool:
        """Whether few records of a group lack the same values, or none where others of it lack some."""

    def changed(self) -> bool:
        """Whether what was measured is no longer what was opened."""
        return evidence(self.table.source, self.table.population_source) != self.evidence

    def hints(self, columns: Sequence[str]) -> tuple[str, ...]:
        """What is to be said of columns that hold marks for missing values; looked at once."""
        if self._hints is None:
            named = list(dict.fromkeys(name for check in self.table.checks for name in check.counted))
            parts = [named[start : start + MAX_COLUMNS] for start in range(0, len(named), MAX_COLUMNS)]
            rows = [row for part in parts for row in self._profiled(part)] if self.records else []
            self._hints = {name.lower(): words for name, words in describe_missing_values(rows).items()}
        return tuple(self._hints[name.lower()] for name in columns if name.lower() in self._hints)

    def groups(self, by: Sequence[str]) -> list[Group]:
        """The groups that a check is held to: the whole table where it names none."""
        if not by:
            return [WHOLE]
        found = self._groups(by)
        if len(found) > MAX_GROUPS:
            rule = f"a check by {', '.join(by)} must have at most {MAX_GROUPS} groups, got {len(found)}"
            raise OutOfDomainError(f"{rule}; group by columns with fewer values")
        if self.table.entity is None:
            return found
        people = self._people(by)
        return [replace(group, records=people[group.digits]) for group in found]

    def histogram(
        self,
        qi: Sequence[str],
        by: Sequence[str] = (),
        group: Group = WHOLE,
        coarser: Mapping[str, str] | None = None,
    ) -> Histogram:
        """Class sizes by the columns, within the group; each columns and grouping are counted once."""
        if self.table.nulls == "wildcard" or self.table.entity is not None:
            asked = (tuple(sorted(qi)), tuple(by))
            matched = self._histograms.setdefault(asked, {})
            if not matched:
                matched |= self._matched_by_group(qi, by)
            if group.digits not in matched:
                matched[group.digits] = self._matched(qi, by, group)
            return matched[group.digits]
        key = (tuple(sorted(qi)), tuple(by), tuple((coarser or {}).items()))
        if key not in self._histograms:
            self._histograms[key] = self._counted(qi, by, drop=self.table.nulls == "drop", coarser=coarser)
        return self._histograms[key].get(group.digits) or OF_NO_RECORD

    def _matches_of_groups(self, qi: Sequence[str], by: Sequence[str]) -> dict[tuple[int, ...], Histogram]:
        """Count matches of all groups at once, where NULL is a wildcard; nothing where each is asked alone.

        Here nothing: what matches is found in this process, and an engine may have its records elsewhere.
        """
        del qi, by
        return {}

    def _matched_by_group(self, qi: Sequence[str], by: Sequence[str]) -> dict[tuple[int, ...], Histogram]:
        """The people of all groups by the size of their smallest class, from one count; or what matches."""
        if self.table.nulls == "wildcard":
            one_by_one = not by or self.table.entity is not None
            return {} if one_by_one else self._matches_of_groups(qi, by)
        given = {"nulls": self.table.nulls, "entity": self.table.entity}
        found = self._by_group(declared()["class_size_histogram"], qi, given, by)
        told = {digits: [row for row in rows if row["classes"]] for digits, rows in found.items()}
        return {
            digits: counted_histogram(sorted([row[name] or 0 for name in HELD] for row in rows), "value")
            for digits, rows in told.items()
        }

    def _by_group(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str]
    ) -> dict[tuple[int, ...], list[Row]]:
        """The function's answers for all groups by their digits, where it can be asked for them at once.

        A refusal of one group is one of all: then, and where NULL matches anything, none is answered, and
        each is to be asked for itself.
        """
        if not by or not function.grouped or self.table.nulls == "wildcard":
            return {}
        try:
            rows = self._together(function, qi, given, by)
        except ReidError:
            return {}
        found: dict[tuple[int, ...], list[Row]] = {}
        for row in rows:
            found.setdefault(row["digits"], []).append(row)
        return found

    def records_of(self, check: Check, group: Group) -> int:
        """The records that a check is held to, before any is dropped."""
        return group.records if check.by else self.records

    def dropped(self, check: Check, group: Group) -> int:
        """How many of them lack a value that the check counts by, and are not measured."""
        if self.table.nulls != "drop" or not check.counted:
            return 0
        counted = self.histogram(check.counted, check.by, group)
        return self.records_of(check, group) - int(counted.records.sum())

    def answer(self, check: Check, group: Group = WHOLE) -> list[Row]:
        """Ask the function of the check's measure, once for the same question."""
        function = check.measure.declared
        self._refuse_rows(check.measure)
        given = {p.name: argument(p, check.parameters) for p in function.parameters}
        given |= {"nulls": self.table.nulls, "sensitive": check.sensitive, "entity": self.table.entity}
        asked = {name: given[name] for name in given if name not in ("tbl", "qi", "columns")}
        if check.measure.over:
            asked |= {"over": check.measure.over, **check.parameters}
        key = (function.name, check.quasi_identifiers, check.coarser, check.by, repr(asked))
        answers = self._answers.setdefault(key, {})
        if group.digits in answers:
            return answers[group.digits]
        if function.reduction is HISTOGRAM and not (function.one_row_per_person and self.table.entity):
            found = self.histogram(check.quasi_identifiers, check.by, group, dict(check.coarser))
            answers[group.digits] = self.from_histogram(check, found)
            return answers[group.digits]
        if not answers:
            told = self._by_group(function, check.quasi_identifiers, given, check.by)
            answers |= {digits: rows for digits, rows in told.items() if rows[0].get("records") != 0}
        if group.digits not in answers:
            answers[group.digits] = self._asked(function, check, given, group)
        return answers[group.digits]

    def _refuse_rows(self, measure: Measure) -> None:
        """Refuse to give a figure of rows for one of people."""
        told = measure.over or any(each.name == "entity" for each in measure.declared.parameters)
        if self.table.entity is not None and not told:
            rule = (
                f"a measure must count people where entity = '{self.table.entity}', "
                f"got {measure.function}, which counts rows"
            )
            raise UnavailableError(f"{rule}; measure a table with a row a person, or leave the measure out")

    def from_histogram(self, check: Check, histogram: Histogram) -> list[Row]:
        """Answer a measure of class sizes by its body."""
        function = check.measure.declared
        given = dict(check.parameters) | {"nulls": self.table.nulls}
        own = {p.name: argument(p, given) for p in function.own_parameters}
        return list(answer_rows(function, vars(histogram), own))


def unmeasured(release: Answers) -> tuple[type[Exception], ...]:
    """What is raised where something cannot be measured, by its engine too."""
    return (*UNMEASURED, *release.errors)
