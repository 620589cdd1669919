"""One table of a policy as it is measured: an engine counts, and each answer is remembered."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import duckdb
import numpy as np

from reid_sql.check.cautions import find_identifiers, find_nobodies, refuse_nobodies
from reid_sql.check.measure import Measure, Row, argument_of
from reid_sql.check.measured import WHOLE, Group
from reid_sql.check.policy_model import Check, TablePolicy
from reid_sql.check.remarks import (
    Remark,
    missing_sensitive_remark,
    missing_value_remarks,
)
from reid_sql.check.sources import Evidence, codes_of, identify_files, without_declared
from reid_sql.engines.arrow import answer_rows
from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError
from reid_sql.function import Function
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.columns.nobodies import UNIT_HOUSEHOLD, UNIT_PERSON, UNIT_VALUE, IdentifierCounts
from reid_sql.parameters import MAX_COLUMNS
from reid_sql.reductions.classes import HISTOGRAM
from reid_sql.reductions.subsets import SUBSETS
from reid_sql_udfs import declared

MAX_GROUPS: Final = 10_000
POLICY_COLUMNS: Final = "columns of the policy"
HISTOGRAM_COLUMNS: Final = ("class_size", "classes", "records", "blank_records")
EMPTY_HISTOGRAM: Final = Histogram(*np.zeros((3, 0), dtype=np.int64))
GROUP_COLUMN: Final = "reid by"
MEASURING_ERRORS: Final[tuple[type[Exception], ...]] = (
    duckdb.Error,
    ImportError,
    ArithmeticError,
    ValueError,  # a ReidError is one
    MemoryError,
)


Counts = tuple[Sequence[int], Sequence[int]]  # of each column, its distinct values and records with one
Answers = dict[int, list[Row]]  # by the position of the group


class TableEngine(ABC):
    """How one engine reads and counts the records of one table."""

    packages: tuple[str, ...] = ()  # those that count, other than DuckDB
    errors: tuple[type[Exception], ...] = ()  # what they raise
    attacks = False  # whether it compares a table with its original, or with a former release

    def __init__(self) -> None:
        """Begin with no group counted."""
        self.columns: list[str] = []
        self.population_columns: list[str] = []  # of the population table, if there is one
        self.cautions: list[str] = []  # caveats on the table, whatever the check
        self.counts_overview = True  # whether a report shows the overview of each column
        self._groups: dict[tuple[str, ...], list[Group]] = {}
        self._places: dict[tuple[str, ...], dict[str, int]] = {}

    @abstractmethod
    def count_records(self) -> int:
        """Count the records of the table."""

    @abstractmethod
    def count_people(self, by: Sequence[str]) -> list[tuple[Any, ...]]:
        """Count the people in each group: its values, then the people."""

    @abstractmethod
    def count_groups(self, by: Sequence[str]) -> list[tuple[Any, ...]]:
        """Count the records of each group, by its values, NULL first: the values, then the records."""

    @abstractmethod
    def count_gaps(self, columns: Sequence[str], by: Sequence[str]) -> list[tuple[Any, ...]]:
        """Count records by group and by which columns are NULL.

        A row has the values of the group, whether any column is NULL, and the records.
        """

    @abstractmethod
    def class_sizes(self, qi: Sequence[str], by: Sequence[str], *, drop: bool) -> list[tuple[Any, ...]]:
        """Count the classes of each size in each group: its values, the size, the classes."""

    def match_groups(self, qi: Sequence[str], by: Sequence[str]) -> dict[int, Histogram]:
        """Return matches of all groups at once, where NULL is a wildcard; nothing if each needs a call.

        By default nothing: matching runs in this process, and an engine may have its records elsewhere.
        """
        del qi, by
        return {}

    @abstractmethod
    def rarest(self, count: int) -> list[tuple[Any, ...]]:
        """List the rarest combinations of the quasi-identifiers: how many records, and the values."""

    @abstractmethod
    def profile(self, columns: Sequence[str]) -> list[Row]:
        """Profile some columns of the table."""

    @abstractmethod
    def count_values(self, names: Sequence[str], *, in_population: bool = False) -> Counts:
        """Count each column's distinct values, and the records with one, of the table or its population."""

    @abstractmethod
    def count_nobodies(self, column: str) -> IdentifierCounts:
        """Count the values of a column of people or households, from which those of nobody stand out."""

    @abstractmethod
    def find_panels(self, described: Sequence[str], *, in_population: bool = False) -> list[str]:
        """Return columns of people by the structure of a draw of rows."""

    @abstractmethod
    def call(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str], group: Group
    ) -> list[Row]:
        """Call a public function on the records of one group."""

    @abstractmethod
    def call_by_group(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str]
    ) -> list[Row]:
        """Call a public function on all groups at once; the values of a group are under `group_names(by)`."""

    def is_fetched(self, check: Check) -> bool:
        """Whether a check is computed here, from records that a server sends."""
        del check
        return False

    @abstractmethod
    def call_measure(self, check: Check, given: Mapping[str, Any], group: Group) -> list[Row]:
        """Return the share of a group's records for which a measure's condition is true."""

    def has_changed(self) -> bool:
        """Whether the table is no longer what was opened."""
        return False

    def group_names(self, by: Sequence[str]) -> list[str]:
        """Return names that no column has, for the columns that divide the table.

        They are given to copies, as an answer may have a column of the same name.
        """
        prefix = GROUP_COLUMN
        while any(name.lower().startswith(prefix) for name in self.columns):
            prefix += "_"
        return [f"{prefix} {place}" for place in range(1, len(by) + 1)]

    def groups(self, by: Sequence[str]) -> list[Group]:
        """Return the groups of the table by some columns; one without a name where there are none."""
        key = tuple(by)
        if key not in self._groups:
            rows = self.count_groups(by) if by else [(0,)]
            self._groups[key] = [
                Group(tuple(row[:-1]), int(row[-1]), place) for place, row in enumerate(rows)
            ]
            self._places[key] = {repr(each.values): each.place for each in self._groups[key]}
        return self._groups[key]

    def place_of(self, by: Sequence[str], values: Sequence[Any]) -> int:
        """Return the position of the group with these values."""
        self.groups(by)
        place = self._places[tuple(by)].get(repr(tuple(values)))
        if place is None:
            rule = "the table must not change while it is read, got a group that was not there"
            raise UnavailableError(f"{rule}; ask again, or ask about an extract")
        return place


def histogram_of(rows: Sequence[Row], nulls: str) -> Histogram:
    """Return the histogram of class sizes, with blank records where NULL is a wildcard."""
    lines = [[row[name] or 0 for name in HISTOGRAM_COLUMNS] for row in rows if row["classes"]]
    size, classes, records, blank = np.array(sorted(lines), dtype=np.int64).reshape(-1, 4).T
    return Histogram(size, classes, records, blank_records=blank if nulls == "wildcard" else None)


class Release:
    """A table of the policy: its groups, class sizes by any columns, and functions' answers."""

    def __init__(self, table: TablePolicy, engine: TableEngine, known: Evidence | None = None) -> None:
        """Remember the table and its engine; hash its files, unless they are known."""
        self.table = table
        self.engine = engine
        self.evidence = identify_files(table.source, table.others) if known is None else known
        self.small_parts: dict[Any, bool] = {}  # whether a grouping has small groups or class sizes
        self._identifiers: dict[bool, Mapping[str, Remark]] = {}  # of the table, or of its population
        self._nobodies: dict[tuple[str, str], tuple[Remark, ...]] = {}  # of each column, as it is named
        self._records: int | None = None
        self._histograms: dict[Any, dict[int, Histogram]] = {}
        self._answers: dict[Any, Answers] = {}

    @property
    def records(self) -> int:
        """The records of the table, or its people where a column distinguishes them."""
        if self._records is None:
            if self.table.entity is None:
                self._records = self.engine.count_records()
            else:
                refuse_nobodies(self.engine, self.table.entity)
                self._records = int(self.engine.count_people(())[0][-1])
        return self._records

    def find_nobodies(self, check: Check) -> tuple[Remark, ...]:
        """Return cautions on values that stand for nobody, or equal another but for how they are written.

        Each column is counted once.
        """
        household = check.parameters.get("household")
        named = (
            (UNIT_PERSON, self.table.entity),
            (UNIT_HOUSEHOLD, household),
            (UNIT_VALUE, check.sensitive),
        )
        found: list[Remark] = []
        for unit, column in named:
            if column is not None and self.records:
                if (unit, column) not in self._nobodies:
                    self._nobodies[unit, column] = find_nobodies(self.engine, str(column), unit)
                found += self._nobodies[unit, column]
        return tuple(found)

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What is raised where something cannot be measured, by its engine too."""
        return (*MEASURING_ERRORS, *self.engine.errors)

    def has_changed(self) -> bool:
        """Whether what was measured is no longer what was opened."""
        now = identify_files(self.table.source, self.table.others)
        return now != self.evidence or self.engine.has_changed()

    @property
    def identifiers(self) -> Mapping[str, Remark]:
        """A caution for each column named like an identifier that repeats, or that could not be counted.

        A quasi-identifier or a sensitive column is one only if its name is that of people. All are counted
        once; none where the policy names the column of people.
        """
        return self._find_identifiers(in_population=False)

    @property
    def population_identifiers(self) -> Mapping[str, Remark]:
        """The same of the population table, whose people no check counts without an entity."""
        return self._find_identifiers(in_population=True)

    def take_identifiers(self, other: "Release") -> None:
        """Take those of a table of the same people."""
        self._identifiers = {False: other.identifiers, True: other.population_identifiers}

    def _find_identifiers(self, *, in_population: bool) -> Mapping[str, Remark]:
        if in_population not in self._identifiers:
            records = None if in_population else self.records
            found = (
                find_identifiers(self.engine, self.table, records, self.errors)
                if self.table.entity is None
                else {}
            )
            self._identifiers[in_population] = found
        return self._identifiers[in_population]

    def hints(self, check: Check) -> tuple[Remark, ...]:
        """Return remarks on columns of the check whose values mean missing ones, or that lack some."""
        named = [name.lower() for name in check.values_counted] if self.records else []
        known = self.table.missing
        if check.sensitive is not None and not codes_of(self.table.codes_as_nulls, check.sensitive):
            known = {name: codes for name, codes in known.items() if name != check.sensitive}
        rows = [without_declared(self._profiles[name], known) for name in named if name in self._profiles]
        lacking = (
            missing_sensitive_remark(row)
            for row in rows
            if check.dilutes_by_nulls and row["column_name"].lower() == str(check.sensitive).lower()
        )
        found = [] if self.table.nulls == "drop" else [each for each in lacking if each is not None]
        return (*missing_value_remarks(rows).values(), *found)

    @cached_property
    def _profiles(self) -> Mapping[str, Row]:
        """Profile the columns of all checks once."""
        named = list(dict.fromkeys(name for each in self.table.checks for name in each.values_counted))
        parts = [named[start : start + MAX_COLUMNS] for start in range(0, len(named), MAX_COLUMNS)]
        rows = [row for part in parts for row in self.engine.profile(part)]
        return {row["column_name"].lower(): row for row in rows}

    def groups(self, by: Sequence[str]) -> list[Group]:
        """Return the groups that a check is judged on: the whole table where it names none."""
        if not by:
            return [WHOLE]
        groups = self.engine.groups(by)
        if len(groups) > MAX_GROUPS:
            rule = f"a check by {', '.join(by)} must have at most {MAX_GROUPS} groups, got {len(groups)}"
            raise OutOfDomainError(f"{rule}; group by columns with fewer values")
        if self.table.entity is None:
            return groups
        people = {self.engine.place_of(by, row[:-1]): int(row[-1]) for row in self.engine.count_people(by)}
        return [replace(group, records=people[group.place]) for group in groups]

    def histogram(
        self,
        qi: Sequence[str],
        by: Sequence[str] = (),
        group: Group = WHOLE,
    ) -> Histogram:
        """Return the class sizes by the columns within the group, each counted once."""
        key = (tuple(sorted(qi)), tuple(by))
        if self.table.nulls != "wildcard" and self.table.entity is None:
            if key not in self._histograms:
                self._histograms[key] = self._count_classes(qi, by)
            return self._histograms[key].get(group.place) or EMPTY_HISTOGRAM
        matched = self._histograms.setdefault(key, {})
        if not matched:
            matched |= self._match_groups(qi, by)
        if group.place not in matched:
            given = {"nulls": self.table.nulls, "entity": self.table.entity}
            rows = self.engine.call(declared()["class_size_histogram"], qi, given, by, group)
            matched[group.place] = histogram_of(rows, self.table.nulls)
        return matched[group.place]

    def _count_classes(self, qi: Sequence[str], by: Sequence[str]) -> dict[int, Histogram]:
        rows = self.engine.class_sizes(qi, by, drop=self.table.nulls == "drop")
        parts: dict[int, list[tuple[int, int]]] = {}
        for row in rows:
            parts.setdefault(self.engine.place_of(by, row[:-2]) if by else 0, []).append(row[-2:])
        counted = {place: np.array(sorted(lines), dtype=np.int64).T for place, lines in parts.items()}
        return {place: Histogram(size, n, size * n) for place, (size, n) in counted.items()}

    def _match_groups(self, qi: Sequence[str], by: Sequence[str]) -> dict[int, Histogram]:
        """Count all groups at once: what matches, or people by the size of their smallest class."""
        if self.table.nulls == "wildcard":
            return {} if not by or self.table.entity is not None else self.engine.match_groups(qi, by)
        given = {"nulls": self.table.nulls, "entity": self.table.entity}
        answers = self._call_by_group(declared()["class_size_histogram"], qi, given, by)
        return {place: histogram_of(rows, "value") for place, rows in answers.items()}

    def _call_by_group(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str]
    ) -> Answers:
        """Return the function's answers for all groups, where one call can answer for all.

        If one group is refused, all are: then, and where NULL is a wildcard, each group needs a call.
        """
        if not by or not function.grouped or self.table.nulls == "wildcard":
            return {}
        names = self.engine.group_names(by)
        answers: Answers = {}
        try:
            for row in self.engine.call_by_group(function, qi, given, by):
                answer = {name: value for name, value in row.items() if name not in names}
                place = self.engine.place_of(by, [row[name] for name in names])
                answers.setdefault(place, []).append(answer)
        except ReidError:
            return {}
        return answers

    def records_of(self, check: Check, group: Group) -> int:
        """Return the records that a check is about, before any is dropped."""
        return group.records if check.by else self.records

    def dropped(self, check: Check, group: Group) -> int:
        """Return how many of them lack a value that the check counts by, and are not measured."""
        if self.table.nulls != "drop" or not check.counted:
            return 0
        return self.records_of(check, group) - int(
            self.histogram(check.counted, check.by, group).records.sum()
        )

    def has_few_gaps(self, columns: Sequence[str], by: Sequence[str], below: int) -> bool:
        """Whether few records of a group lack the same values, or lack none where others of it lack some."""
        parts: dict[str, list[tuple[bool, int]]] = {}
        for *values, lacking, records in self.engine.count_gaps(columns, by):
            parts.setdefault(repr(values), []).append((bool(lacking), int(records)))
        return any(
            any(lacking for lacking, _ in part) and min(records for _, records in part) < below
            for part in parts.values()
        )

    def answer(self, check: Check, group: Group = WHOLE) -> list[Row]:
        """Return the answer of the function behind a check's measure; the same question is asked once."""
        function = check.measure.declared
        self._refuse_rows(check.measure)
        if check.measure.takes("original", "first", "tables") and not self.engine.attacks:
            rule = f"'{check.measure.name}' must be measured on files in DuckDB, got a table elsewhere"
            raise UnavailableError(f"{rule}; export the table and those that it is measured with to files")
        given = {p.name: argument_of(p, check.parameters) for p in function.parameters}
        given |= {"nulls": self.table.nulls, "sensitive": check.sensitive, "entity": self.table.entity}
        given |= {name: check.parameters[called] for name, called in check.measure.renamed}
        asked = {name: given[name] for name in given if name not in ("tbl", "qi", "columns")}
        if check.measure.over:
            asked |= {"over": check.measure.over, **check.parameters}
        key = (function.name, check.quasi_identifiers, check.by, repr(asked))
        answers = self._answers.setdefault(key, {})
        if group.place not in answers:
            known = self._find_in_answers(function, key, group)
            answers[group.place] = known or self._new_answer(check, given, group, answers)
        return answers[group.place]

    def _find_in_answers(self, function: Function, key: Sequence[Any], group: Group) -> list[Row]:
        """Find the rows of a check's columns in the answer for more columns, of which each set has a row."""
        if function.reduction is not SUBSETS:
            return []
        name, columns, *others = key
        for (other, _, *same), answers in self._answers.items():
            rows = answers.get(group.place, []) if (other, same) == (name, others) else []
            if {each for row in rows for each in row["columns"]} > {*columns}:
                return [row for row in rows if {*row["columns"]} <= {*columns}]
        return []

    def _new_answer(
        self, check: Check, given: Mapping[str, Any], group: Group, answers: Answers
    ) -> list[Row]:
        """Answer from the class sizes, by one call for all groups, or by a call for this one."""
        function, qi = check.measure.declared, check.quasi_identifiers
        if function.reduction is HISTOGRAM:
            return self.from_histogram(check, self.histogram(qi, check.by, group))
        used = {name: value for name, value in given.items() if name not in check.measure.unused}
        if not answers:
            by_group = self._call_by_group(function, qi, used, check.by)
            answers |= {place: rows for place, rows in by_group.items() if rows[0].get("records") != 0}
        if group.place in answers:
            return answers[group.place]
        if check.measure.over:
            return self.engine.call_measure(check, given, group)
        return self.engine.call(function, qi, used, check.by, group)

    def _refuse_rows(self, measure: Measure) -> None:
        """Refuse to give a figure of rows for one of people."""
        counts_people = measure.over or any(each.name == "entity" for each in measure.declared.parameters)
        if self.table.entity is not None and not counts_people:
            rule = (
                f"a measure must count people where entity = '{self.table.entity}', "
                f"got {measure.function}, which counts rows"
            )
            raise UnavailableError(f"{rule}; measure a table with a row a person, or leave the measure out")

    def from_histogram(self, check: Check, histogram: Histogram) -> list[Row]:
        """Answer a measure of class sizes by its body."""
        function = check.measure.declared
        given = dict(check.parameters) | {"nulls": self.table.nulls}
        own = {p.name: argument_of(p, given) for p in function.own_parameters}
        return list(answer_rows(function, vars(histogram), own))
