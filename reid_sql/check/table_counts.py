"""One table of a policy as it is measured: an engine counts, and each answer is remembered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final, TypeVar

import duckdb
import numpy as np

from reid_sql.check.cautions import (
    INTERRUPTIONS,
    caution_on,
    find_identifiers,
    find_nobodies,
    find_unnamed_joined,
    measure_released_columns,
    refuse_nobodies,
)
from reid_sql.check.exact_figures import WHOLE, Group, ReleasedColumns
from reid_sql.check.measure import Measure, argument_of, body_arguments_of
from reid_sql.check.policy_model import Check, TablePolicy
from reid_sql.check.remarks import (
    Remark,
    missing_sensitive_remark,
    missing_value_remarks,
    remark,
    unseen_codes_remark,
    unused_code_remark,
)
from reid_sql.check.sources import (
    PUBLISHED,
    REASON_CHANGED,
    Evidence,
    codes_of,
    identify_files,
    without_declared,
)
from reid_sql.check.table_engine import Errors, TableEngine, parts_of
from reid_sql.engines.arrow import answer_rows
from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError
from reid_sql.function import Function
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.columns.missing_value_codes import is_written_as
from reid_sql.models.columns.units import UNIT_HOUSEHOLD, UNIT_PERSON, UNIT_VALUE
from reid_sql.parameters import Arguments, ColumnNames, Row, Rows
from reid_sql.reduction import WITHIN
from reid_sql.reductions.classes import HISTOGRAM
from reid_sql.reductions.subsets import SUBSETS
from reid_sql_udfs import declared

MAX_GROUPS: Final = 10_000
HISTOGRAM_COLUMNS: Final = ("class_size", "classes", "records", "blank_records")
EMPTY_HISTOGRAM: Final = Histogram(*np.zeros((3, 0), dtype=np.int64))
MEASURING_ERRORS: Final[Errors] = (
    duckdb.Error,
    ImportError,
    ArithmeticError,
    ValueError,  # a ReidError is one
    MemoryError,
)


Answers = dict[int, Rows]  # by the position of the group
Result = TypeVar("Result")
Refusal = TypeVar("Refusal")


def histogram_of(rows: Rows, nulls: str) -> Histogram:
    """Return the histogram of class sizes, with blank records where NULL is a wildcard."""
    lines = [[row[name] or 0 for name in HISTOGRAM_COLUMNS] for row in rows if row["classes"]]
    size, classes, records, blank = np.array(sorted(lines), dtype=np.int64).reshape(-1, 4).T
    return Histogram(size, classes, records, blank_records=blank if nulls == "wildcard" else None)


class TableCounts:
    """A table of the policy: its groups, class sizes by any columns, and functions' answers."""

    def __init__(
        self, table: TablePolicy, engine: TableEngine, evidence: Evidence | None = None
    ) -> None:
        """Remember the table and its engine; hash its files, unless their hashes are passed."""
        self.table = table
        self.engine = engine
        self.evidence = evidence or identify_files(table.source, table.role_sources)
        self.small_parts: dict[Any, bool] = {}  # whether a grouping has small groups or class sizes
        # of each column, as it is named
        self._nobodies: dict[tuple[str, str], tuple[Remark, ...]] = {}
        self._histograms: dict[Any, dict[int, Histogram]] = {}
        self._called_histograms: dict[Any, dict[int, Histogram]] = {}
        self._answers: dict[Any, Answers] = {}

    @cached_property
    def records(self) -> int:
        """The records of the table, or its people where a column distinguishes them."""
        if self.table.entity is None:
            return self.engine.count_records()
        refuse_nobodies(self.engine, self.table.entity)
        return int(self.engine.count_people(())[0][-1])

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
        cautions: list[Remark] = []
        for unit, column in named:
            if column is not None and self.records:
                if (unit, column) not in self._nobodies:
                    self._nobodies[unit, column] = find_nobodies(self.engine, str(column), unit)
                cautions += self._nobodies[unit, column]
        return tuple(cautions)

    @cached_property
    def unused_codes(self) -> tuple[Remark, ...]:
        """Return cautions on codes that the policy declares missing and that no record has.

        The release would count what was meant as a value; the caution says how a similar value is written.
        """
        remarks = []
        for column in self.engine.columns if self.table.missing and self.records else []:
            codes = codes_of(self.table.missing, column)
            if not codes:
                continue
            values, is_number = self.engine.list_spellings(column, codes)
            unused = [
                code
                for code in codes
                if not any(is_written_as(code, each, is_number=is_number) for each in values)
            ]
            remarks += [unused_code_remark(column, code, values) for code in unused]
        return tuple(remarks)

    @property
    def errors(self) -> Errors:
        """What is raised where something cannot be measured, by its engine too."""
        return (*MEASURING_ERRORS, *self.engine.errors)

    def attempt(
        self, work: Callable[[], Result], refused: Callable[[Exception], Refusal]
    ) -> Result | Refusal:
        """Return what the work returns, or what becomes of its refusal; an interruption ends all."""
        try:
            return work()
        except INTERRUPTIONS:
            raise
        except self.errors as error:
            return refused(error)

    def describe_change(self) -> str:
        """Say that what was measured is no longer what was opened; nothing if it is."""
        now = identify_files(self.table.source, self.table.role_sources)
        return REASON_CHANGED if now != self.evidence or self.engine.has_changed() else ""

    @cached_property
    def identifiers(self) -> Mapping[str, Remark]:
        """A caution for each column named like an identifier that repeats, or that could not be counted.

        A quasi-identifier or a sensitive column is one only if its name is that of people. All are counted
        once; none where the policy names the column of people.
        """
        return find_identifiers(self.engine, self.table, self.records, self.errors)

    @cached_property
    def population_identifiers(self) -> Mapping[str, Remark]:
        """The same of the population table, whose people no check counts without an entity."""
        return find_identifiers(self.engine, self.table, None, self.errors)

    @cached_property
    def copies(self) -> tuple[Remark, ...]:
        """Cautions on rows written several times, of the table and of those that it is compared with.

        People who are counted by a column may have equal rows; published tables have no people.
        """
        roles = [role for role in self.table.role_sources if role not in PUBLISHED]
        of_table = [None] * (self.table.entity is None and bool(self.table.quasi_identifiers))
        sentences = (self.engine.describe_copies(role) for role in (*of_table, *roles))
        return tuple(remark(each, code="repeated_rows") for each in sentences if each)

    def take_identifiers(self, other: "TableCounts") -> None:
        """Take those of a table of the same people."""
        self.identifiers = other.identifiers
        self.population_identifiers = other.population_identifiers
        self.copies = other.copies

    @cached_property
    def released_columns(self) -> ReleasedColumns | None:
        """The columns that no check measures, and all of the release together; None of no records.

        None of published tables either, which have a row for each cell, and none for a person.
        """
        checks = self.table.checks
        if not self.records or (checks and all(each.measure.takes("tables") for each in checks)):
            return None
        return measure_released_columns(self.engine, self.table, self.records, self.errors)

    def find_unnamed_columns(self, check: Check) -> list[Remark]:
        """Find the caution on columns that single people out, and are in no list of the policy.

        Who links a population table to the release knows what the policy names in both. A column of the same
        name may have other values there, such as a note or a number of its own.
        """
        if check.measure.function == "journalist_risk":
            return []
        caution = caution_on(self.released_columns)
        joined: list[Remark] = []
        if check.measure.takes("right") and self.records:
            joined = find_unnamed_joined(self.engine, self.table, check, self.errors)
        return [*([] if caution is None else [caution]), *joined]

    def hints(self, check: Check) -> tuple[Remark, ...]:
        """Return remarks on columns of the check whose values mean missing ones, or that lack some."""
        named = [name.lower() for name in check.values_counted] if self.records else []
        as_nulls = self.table.codes_as_nulls
        declared_codes = {
            name: codes
            for name, codes in self.table.missing.items()
            if name != check.sensitive or codes_of(as_nulls, name)
        }
        profiles = [self._profiles[name] for name in named if name in self._profiles]
        rows = [without_declared(profile, declared_codes) for profile in profiles]
        dilutes = check.dilutes_by_nulls and self.table.nulls != "drop"
        sensitive = str(check.sensitive).lower() if dilutes else None
        lacking = [
            missing_sensitive_remark(row) for row in rows if row["column_name"].lower() == sensitive
        ]
        unseen = [unseen_codes_remark(check.values_counted)] if self.engine.keeps_values else []
        return (*missing_value_remarks(rows).values(), *filter(None, lacking), *unseen)

    @cached_property
    def _profiles(self) -> Mapping[str, Row]:
        """Profile the columns of all checks once, by their values."""
        if self.engine.keeps_values:
            return {}
        named = list(
            dict.fromkeys(name for each in self.table.checks for name in each.values_counted)
        )
        rows = [row for part in parts_of(named) for row in self.engine.profile(part)]
        return {row["column_name"].lower(): row for row in rows}

    def groups(self, by: ColumnNames) -> list[Group]:
        """Return the groups that a check is judged on: the whole table where it names none."""
        if not by:
            return [WHOLE]
        groups = self.engine.groups(by)
        if len(groups) > MAX_GROUPS:
            raise OutOfDomainError(
                f"a check by {', '.join(by)} must have at most {MAX_GROUPS} groups, got {len(groups)}; "
                "group by columns with fewer values"
            )
        if self.table.entity is None:
            return groups
        people = {
            self.engine.place_of(by, row[:-1]): int(row[-1]) for row in self.engine.count_people(by)
        }
        return [replace(group, records=people[group.place]) for group in groups]

    def histogram(self, qi: ColumnNames, by: ColumnNames = (), group: Group = WHOLE) -> Histogram:
        """Return the class sizes by the columns within the group, each counted once."""
        key = (tuple(sorted(qi)), tuple(by))
        if self.table.nulls != "wildcard" and self.table.entity is None:
            if key not in self._histograms:
                self._histograms[key] = self._count_classes(qi, by)
            return self._histograms[key].get(group.place) or EMPTY_HISTOGRAM
        if by and self.table.entity is None and not self._histograms.get(key):
            self._histograms[key] = self.engine.match_groups(qi, by)
        matched = self._histograms.get(key, {})
        return matched.get(group.place) or self._call_histogram(qi, by, group)

    def _call_histogram(self, qi: ColumnNames, by: ColumnNames, group: Group) -> Histogram:
        """Return what the public function counts: by one call for all groups, or by one for this group."""
        function, options = declared()["class_size_histogram"], self.table.call_options
        counted = self._called_histograms.setdefault((tuple(sorted(qi)), tuple(by)), {})
        if not counted:
            answers = self._call_by_group(function, qi, options, by)
            counted |= {
                place: histogram_of(rows, self.table.nulls) for place, rows in answers.items()
            }
        if group.place not in counted:
            rows = self.engine.call(function, qi, options, by, group)
            counted[group.place] = histogram_of(rows, self.table.nulls)
        return counted[group.place]

    def _count_classes(self, qi: ColumnNames, by: ColumnNames) -> dict[int, Histogram]:
        rows = self.engine.class_sizes(qi, by, drop=self.table.nulls == "drop")
        parts: dict[int, list[tuple[int, int]]] = {}
        for row in rows:
            parts.setdefault(self.engine.place_of(by, row[:-2]) if by else 0, []).append(row[-2:])
        counted = {
            place: np.array(sorted(lines), dtype=np.int64).T for place, lines in parts.items()
        }
        return {place: Histogram(size, n, size * n) for place, (size, n) in counted.items()}

    def rarest_value(self, check: Check, group: Group) -> int:
        """Return how many records, or people, the rarest sensitive value of any class has; 0 without any."""
        columns = (*check.counted, str(check.sensitive))
        sizes = self._call_histogram(columns, check.by, group).class_size
        return int(sizes.min()) if len(sizes) else 0

    def _call_by_group(
        self, function: Function, qi: ColumnNames, arguments: Arguments, by: ColumnNames
    ) -> Mapping[int, Rows]:
        """Return the function's answers for all groups, where one call can answer for all.

        If one group is refused, all are: then, and where NULL is a wildcard, each group needs a call.
        """
        if not by or not function.grouped or self.table.nulls == "wildcard":
            return {}
        names = self.engine.group_names(by)
        answers: dict[int, list[Row]] = {}
        try:
            for row in self.engine.call_by_group(function, qi, arguments, by):
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

    def has_few_gaps(self, columns: ColumnNames, by: ColumnNames, below: int) -> bool:
        """Whether few records of a group lack the same values, or lack none where others of it lack some."""
        parts: dict[str, list[tuple[bool, int]]] = {}
        for *values, lacking, records in self.engine.count_gaps(columns, by):
            parts.setdefault(repr(values), []).append((bool(lacking), int(records)))
        return any(
            any(lacking for lacking, _ in part) and min(records for _, records in part) < below
            for part in parts.values()
        )

    def answer(self, check: Check, group: Group = WHOLE) -> Rows:
        """Return the answer of the function behind a check's measure; the same question is asked once."""
        function = check.measure.declared
        self._refuse_rows(check.measure)
        if check.measure.takes("original", "first", "right", "tables") and not self.engine.attacks:
            raise UnavailableError(
                f"'{check.measure.name}' must be measured on files in DuckDB, got a table elsewhere; "
                "export the table and those that it is measured with to files"
            )
        arguments = {p.name: argument_of(p, check.parameters) for p in function.parameters}
        arguments |= {**self.table.call_options, "sensitive": check.sensitive}
        arguments |= {name: check.parameters[called] for name, called in check.measure.renamed}
        of_table = {"tbl", "qi", "columns"} - check.parameters.keys()
        options = {name: value for name, value in arguments.items() if name not in of_table}
        if check.measure.over:
            options |= {"over": check.measure.over, **check.parameters}
        key = (function.key, check.quasi_identifiers, check.by, repr(options))
        answers = self._answers.setdefault(key, {})
        if group.place not in answers:
            rows = self._find_in_answers(function, key, group)
            answers[group.place] = rows or self._new_answer(check, arguments, group, answers)
        return answers[group.place]

    def _find_in_answers(self, function: Function, key: Sequence[Any], group: Group) -> Rows:
        """Find the rows of a check's columns in the answer for more columns, of which each set has a row."""
        if function.reduction is not SUBSETS:
            return []
        name, columns, *options = key
        for (answered, _, *same), answers in self._answers.items():
            rows = answers.get(group.place, []) if (answered, same) == (name, options) else []
            if {each for row in rows for each in row["columns"]} > {*columns}:
                return [row for row in rows if {*row["columns"]} <= {*columns}]
        return []

    def _new_answer(
        self, check: Check, arguments: Arguments, group: Group, answers: Answers
    ) -> Rows:
        """Answer from the class sizes, by one call for all groups, or by a call for this one."""
        function, qi = check.measure.declared, check.quasi_identifiers
        if function.reduction is HISTOGRAM and arguments.get(WITHIN.name) is None:
            return self.from_histogram(check, self.histogram(qi, check.by, group))
        used = {
            name: value for name, value in arguments.items() if name not in check.measure.unused
        }
        if not answers:
            by_group = self._call_by_group(function, qi, used, check.by)
            answers |= {
                place: rows for place, rows in by_group.items() if rows[0].get("records") != 0
            }
        if group.place in answers:
            return answers[group.place]
        if check.measure.over:
            return self.engine.call_measure(check, arguments, group)
        return self.engine.call(function, qi, used, check.by, group)

    def _refuse_rows(self, measure: Measure) -> None:
        """Refuse to give a figure of rows for one of people."""
        counts_people = measure.over or any(
            each.name == "entity" for each in measure.declared.parameters
        )
        if self.table.entity is not None and not counts_people:
            raise UnavailableError(
                f"a measure must count people where entity = '{self.table.entity}', got {measure.declared.call}, which counts rows; "
                "measure a table with a row a person, or leave the measure out"
            )

    def from_histogram(self, check: Check, histogram: Histogram) -> Rows:
        """Answer a measure of class sizes by its body."""
        function = check.measure.declared
        arguments = {**check.parameters, "nulls": self.table.nulls}
        options = body_arguments_of(function, arguments)
        return list(answer_rows(function, vars(histogram), options))
