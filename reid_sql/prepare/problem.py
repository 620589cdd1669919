"""The search problem of a table: requirements of its checks, values coded by level, proposed hierarchies."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import floor, isclose
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np

from reid_sql.check import gate
from reid_sql.check.distinct_table import DistinctTable
from reid_sql.check.duckdb_table import DuckDBTableCounts
from reid_sql.check.evaluation import ShowProgress
from reid_sql.check.policy import read_policy
from reid_sql.check.policy_model import Check, Preparing
from reid_sql.engines.duckdb import make_functions
from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.hierarchies.hierarchy import Facts, Hierarchy, merging_steps, propose
from reid_sql.hierarchies.limits import Limit, hierarchies_toml
from reid_sql.hierarchies.steps import DAY, day_in_sql
from reid_sql.models.columns.column_profile import DATE, NUMERIC_TYPES
from reid_sql.models.columns.dates import DATE_FORMS, TIME_FORMS, TIME_PATTERN, choose_date_form
from reid_sql.models.columns.marked_numbers import (
    MARKED_NUMBER,
    NUMBER_MARKS,
    UNIT,
    number_pattern,
)
from reid_sql.models.columns.missing_value_codes import NUMBER_PATTERN
from reid_sql.models.generalization.criteria import Close, Criterion, Distinct, Diverse, Frequent
from reid_sql.models.generalization.lattice import DistinctRecords, Lattice, LevelCodes
from reid_sql.models.generalization.suppression import Requirement
from reid_sql.parameters import MAX_COLUMNS, ColumnNames, Row, plain_number, sql_text
from reid_sql.sql.missing_value_codes import are_lists_of_codes
from reid_sql.terminal.control_characters import escape_control_characters
from reid_sql.terminal.runner import run

RESERVED_PREFIX: Final = "reid_"
UNIQUE_ABOVE: Final = 0.5  # only unique records have a higher risk
MAX_FREQUENT_VALUES: Final = 1000  # that a step may keep
NOTE_ON_MARKS: Final = (
    "the column {0} is read with '{1}' between thousands, as each has three digits behind it; if it is before a "
    "fraction, write the numbers with a point in a view"
)
INNER_SHARES: Final = (0.01, 0.99)


def columns_to_generalize(original: DuckDBTableCounts) -> tuple[str, ...]:
    """Return the columns that checks count by, those of the table first."""
    counted = [column for check in original.table.checks for column in check.counted]
    named = [column for column in original.table.quasi_identifiers if column in counted]
    return tuple(dict.fromkeys([*named, *counted]))


def refuse_unsuitable(original: DuckDBTableCounts) -> None:
    """Refuse a table for which no transformation can be searched."""
    table = original.table
    reserved = next(
        (name for name in original.engine.columns if name.lower().startswith(RESERVED_PREFIX)), None
    )
    if reserved is not None:
        raise UnavailableError(
            f"a table to prepare must have no column whose name begins with {RESERVED_PREFIX}, got '{reserved}'; the release's own steps are named so: rename it in a view"
        )
    if not columns_to_generalize(original):
        raise UnavailableError(
            f'a table to prepare must have a check that counts by quasi-identifiers, got none for {table.name}; write quasi_identifiers = ["age", "sex"] and a check'
        )
    if not original.records:
        raise UnavailableError(
            f"a table to prepare must have a record, got none in {table.name}; pass another"
        )


def class_size_requirement(
    original: DuckDBTableCounts, columns: ColumnNames, suppression: float
) -> Requirement:
    """Combine the bounds on class sizes of all checks into one requirement."""
    requirement = Requirement(original.records, floor(suppression * original.records + 1e-9))
    for check in original.table.checks:
        if is_class_size_check(original, check, columns):
            requirement = _add_check(requirement, check)
    return requirement


def is_class_size_check(original: DuckDBTableCounts, check: Check, columns: ColumnNames) -> bool:
    """Whether class sizes by all the columns answer the check."""
    # of people, or of records with NULL, the other figures are not those of the classes alone
    exact = _counts_records(original) or check.measure.name in ("k", "highest_risk")
    return exact and check.measure.of_class_sizes and _is_plain(check, columns)


def _counts_records(original: DuckDBTableCounts) -> bool:
    return original.table.nulls == "value" and original.table.entity is None


def _is_plain(check: Check, columns: ColumnNames) -> bool:
    """Whether the check has but a limit for classes by all the columns."""
    plain = check.limit is not None and not check.no_worse and not check.by
    return plain and set(check.quasi_identifiers) == set(columns)


# Measures of sensitive values for which classes are suppressed, by name and variant.
CRITERIA: Final[Mapping[tuple[str, str | None], Callable[[float], Criterion]]] = {
    ("l_diversity", "distinct"): Distinct,
    ("l_diversity", "entropy"): Diverse,
    ("t_closeness", "equal"): Close,
    ("alpha_k_anonymity", None): Frequent,
}


def sensitive_criteria(
    original: DuckDBTableCounts, columns: ColumnNames
) -> list[tuple[str, Criterion]]:
    """Return the criteria that the checks require of sensitive values, each with its column."""
    return [
        (
            check.sensitive,
            CRITERIA[check.measure.name, check.parameters.get("variant")](float(check.limit)),
        )
        for check in original.table.checks
        if is_criterion_check(original, check, columns)
        and check.sensitive
        and check.limit is not None
    ]


def is_criterion_check(original: DuckDBTableCounts, check: Check, columns: ColumnNames) -> bool:
    """Whether classes by all the columns answer the check; those that break it are suppressed."""
    has_criterion = (check.measure.name, check.parameters.get("variant")) in CRITERIA
    counted = has_criterion and _counts_records(original)
    return counted and _is_plain(check, columns) and check.sensitive not in columns


def _add_check(requirement: Requirement, check: Check) -> Requirement:
    name, limit = check.measure.name, float(check.limit or 0)
    if name == "k":
        return replace(requirement, k=max(requirement.k, int(limit)))
    if name == "highest_risk":
        return replace(
            requirement, k=max(requirement.k, _class_size_for(limit, requirement.records))
        )
    if name == "average_risk":
        return replace(requirement, average=min(requirement.average, limit))
    if name == "unique_records":
        return replace(requirement, unique=min(requirement.unique, limit))
    threshold = UNIQUE_ABOVE if name == "uniqueness" else float(check.parameters["threshold"])
    return replace(requirement, shares=(*requirement.shares, (threshold, limit)))


def _class_size_for(risk: float, records: int) -> int:
    """Return the smallest class size with at most this risk, or one more than all records."""
    if risk * records < 1 and not isclose(risk * records, 1, rel_tol=1e-9):
        return records + 1
    size = max(1, floor(1 / risk))
    return size if isclose(1 / size, risk, rel_tol=1e-9) or 1 / size <= risk else size + 1


def is_monotone(check: Check) -> bool:
    """Whether a violation implies a violation in every finer transformation without suppression."""
    return check.measure.monotone and not check.by and not check.no_worse


@dataclass(frozen=True)
class Generalization:
    """The hierarchies of a table's columns, its lattice, and one with further, unchanged columns.

    `limits` are the coarsest levels of the columns that have a limit.
    """

    hierarchies: tuple[Hierarchy, ...]
    lattice: Lattice
    unchanged: tuple[str, ...] = ()
    wider: Lattice | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # on dates that were not read

    @property
    def widest(self) -> Lattice:
        """The lattice that has all columns."""
        return self.wider or self.lattice

    @property
    def columns(self) -> list[str]:
        """The columns of the widest lattice."""
        return [*(each.column for each in self.hierarchies), *self.unchanged]

    @property
    def protected(self) -> tuple[int, ...]:
        """The places of the columns with a limit, of which no single value becomes blank."""
        return tuple(at for at, each in enumerate(self.hierarchies) if each.column in self.limits)


def generalize(
    original: DuckDBTableCounts,
    columns: ColumnNames,
    wanted: Preparing,
    unchanged: Sequence[str] = (),
) -> Generalization:
    """Take each column's hierarchy from the policy or propose one, and code its values."""
    written = wanted.hierarchies
    wished, notes = wish_hierarchies(original, columns, wanted)
    coded = [_code_levels(original, each, written=each.column in written) for each in wished]
    level_codes = [each.level_codes for each in coded]
    weighted = [wanted.weights.get(column, 1.0) for column in columns]
    limits = {
        each.column: code.coarsest(wanted.limits[each.column], each)
        for each, code in zip(wished, coded, strict=True)
        if each.column in wanted.limits
    }
    coarsest = [limits.get(each.column, len(each.level_codes.codes) - 1) for each in coded]
    person = original.table.entity
    if person is None:
        distinct = _distinct_records(original, original.engine.distinct, columns)
        lattice = Lattice(level_codes, distinct, weighted, coarsest)
    else:  # people are a last column that has one level and no weight
        with_people = _with_unchanged(original, columns, level_codes, [person])
        bottom = with_people.records_at((0,) * len(with_people.shape))
        lattice = Lattice(with_people.level_codes, bottom, [*weighted, 0.0], [*coarsest, 0])
    return Generalization(
        tuple(each.hierarchy for each in coded),
        lattice,
        tuple(unchanged),
        _with_unchanged(original, columns, level_codes, unchanged) if unchanged else None,
        limits,
        notes,
    )


def wish_hierarchies(
    original: DuckDBTableCounts, columns: ColumnNames, wanted: Preparing
) -> tuple[list[Hierarchy], tuple[str, ...]]:
    """Return each column's hierarchy, of the policy or as the column suggests it, and notes on dates."""
    wished, notes = [], []
    for facts in profile_facts(original, columns):
        written = wanted.hierarchies.get(facts.column)
        limit = wanted.limits.get(facts.column, Limit())
        if limit.width is not None:
            limit.refuse(Hierarchy(facts.column, ()), facts)
        if written is not None and written.values is not None:
            _refuse_incomplete(original, facts.column, written.values)
        hierarchy = propose(facts, limit.width) if written is None else written.of(facts)
        form = {"marks": facts.marks} if facts.marks else {}
        wished.append(hierarchy.with_bands(integer=facts.integer, **form))
        limit.refuse(wished[-1], facts)
        notes += [facts.date_note] if written is None and facts.date_note else []
        notes += [facts.marks_note] if facts.marks_note else []
    return wished, tuple(notes)


def _with_unchanged(
    original: DuckDBTableCounts,
    columns: ColumnNames,
    level_codes: Sequence[LevelCodes],
    unchanged: Sequence[str],
) -> Lattice:
    """Return the lattice with other columns after the generalized ones; the values have the same codes."""
    distinct = DistinctTable(original.engine.ask, original.engine.whole, [*columns, *unchanged])
    codes = list(level_codes)
    try:
        for column in unchanged:  # has one level; code 0 is NULL
            counted = f"SELECT records FROM {distinct.values(column)} ORDER BY code"
            records = np.array([0, *(row[0] for row in original.engine.ask(counted))])
            records[0] = original.records - int(records.sum())
            codes.append(LevelCodes((np.arange(len(records)),), records))
        return Lattice(codes, _distinct_records(original, distinct, [*columns, *unchanged]))
    finally:
        distinct.drop()


def _refuse_incomplete(original: DuckDBTableCounts, column: str, listed: frozenset[str]) -> None:
    """Refuse a hierarchy of a file that lacks a value of the column; no message contains the value."""
    rows = original.engine.ask(f"SELECT v::VARCHAR FROM {original.engine.distinct.values(column)}")
    lacking = sum(row[0] not in listed for row in rows)
    if lacking:
        raise OutOfDomainError(
            f"prepare.hierarchies.{column} must contain every value of the column, got a file without {lacking:,} of {len(rows):,}; add them, or write the values alike"
        )


def _distinct_records(
    original: DuckDBTableCounts, distinct: DistinctTable, columns: ColumnNames
) -> DistinctRecords:
    """Return the distinct records as codes of their values, with how many records are equal."""
    name = f"{original.engine.view}_codes"
    original.engine.ask(f"CREATE OR REPLACE TEMP TABLE {name} AS {distinct.select_codes(columns)}")
    rows = original.engine.con.execute(f"FROM {name}").fetchnumpy()
    original.engine.ask(f"DROP TABLE {name}")
    codes = np.array([np.asarray(rows[f"q{at}"], dtype=np.int64) for at in range(len(columns))])
    return DistinctRecords(codes, np.asarray(rows["records"], dtype=np.int64))


@dataclass(frozen=True)
class _CodedColumn:
    """A column's hierarchy of the steps that merge values, their places among all steps, and the codes."""

    hierarchy: Hierarchy
    places: Sequence[int]
    level_codes: LevelCodes

    @property
    def column(self) -> str:
        return self.hierarchy.column

    def level_of(self, wished: int) -> int:
        """Return the level that is equal to one of the hierarchy before steps were left out."""
        return sum(place < wished for place in self.places)

    def coarsest(self, limit: Limit, wished: Hierarchy) -> int:
        """Return the coarsest level that the limit allows; the last one always has one value alone."""
        level = self.level_of(limit.coarsest(wished))
        return max(0, min(level, len(self.places) - 1)) if limit == Limit() else level


def _code_levels(original: DuckDBTableCounts, wished: Hierarchy, *, written: bool) -> _CodedColumn:
    """Code the values at each level that merges values; at level 0 by their position, 0 for NULL."""
    values = original.engine.distinct.values(wished.column)
    everything = f"SELECT code, v, records FROM {values} UNION ALL SELECT 0, NULL, 0"
    steps = [step.sql("v") for step in wished.steps]
    ranked = ", ".join(f"dense_rank() OVER (ORDER BY {each} NULLS FIRST) - 1" for each in steps)
    rows = original.engine.ask(
        f"SELECT records, {ranked} FROM ({everything}) ORDER BY code", "hierarchies"
    )
    records, *coarser = np.array(rows, dtype=np.int64).T
    codes = [np.arange(len(records)), *coarser]
    records[0] = original.records - int(records.sum())
    present = [len(np.unique(level[records > 0])) for level in codes]
    merging = merging_steps(present)
    if written:
        for level, (before, after) in enumerate(pairwise(codes)):
            if len(np.unique(np.array([before, after]), axis=1).T) > len(np.unique(before)):
                raise OutOfDomainError(
                    f"prepare.hierarchies.{wished.column}[{level + 1}] must merge values of the step before it, got '{wished.steps[level].words}' after '{wished.steps[level - 1].words if level else ''}', which splits some; write widths that are multiples of the previous "
                    "ones, and groups of the values themselves"
                )
    levels = [codes[0], *(codes[at + 1] for at in merging)]
    steps_left = tuple(wished.steps[at] for at in merging)
    return _CodedColumn(
        Hierarchy(wished.column, steps_left), merging, LevelCodes(tuple(levels), records)
    )


def profile_facts(original: DuckDBTableCounts, columns: ColumnNames) -> list[Facts]:
    """Profile the columns as far as hierarchies depend on it."""
    rows: list[dict[str, Any]] = []
    make_functions(original.engine.con, ["profile"])
    for start in range(0, len(columns), MAX_COLUMNS):
        arguments = [original.engine.view, list(columns[start : start + MAX_COLUMNS])]
        rows += run(
            original.engine.con, "FROM profile(?, ?)", arguments, f"{original.table.name}: columns"
        ).records()
    return [_facts(original, column, row) for column, row in zip(columns, rows, strict=True)]


def _facts(original: DuckDBTableCounts, column: str, row: Row) -> Facts:
    values = original.engine.distinct.values(column)
    marks = (
        ", ".join(f"'{each.replace(chr(39), chr(39) * 2)}'" for each in row["sentinels"]) or "''"
    )
    number, number_marks, note = "v::VARCHAR", "", ""
    if row["column_type"] == "text":
        words = f"SELECT v::VARCHAR AS v FROM {values} WHERE v::VARCHAR NOT IN ({marks})"
        number_marks, note = _find_marks(original, column, words)
    if number_marks:
        form = sql_text(number_pattern(number_marks))
        is_number = f"regexp_full_match(trim({number}), {form})"
        number = f"CASE WHEN {is_number} THEN {plain_number(number, number_marks)} END"
    values = f"SELECT v::VARCHAR AS t, try_cast({number} AS DOUBLE) AS x, records FROM {values}"
    ranked = f"""SELECT x, sum(records) OVER (ORDER BY x) / sum(records) OVER () AS share
        FROM ({values}) WHERE isfinite(x) AND t NOT IN ({marks})"""
    low, high, near_low, near_high, whole = original.engine.ask(f"""SELECT min(x), max(x),
        min(x) FILTER (share >= {INNER_SHARES[0]}), min(x) FILTER (share >= {INNER_SHARES[1]}),
        coalesce(bool_and(x = floor(x)), true)
        FROM ({ranked})""")[0]
    shortest, longest = original.engine.ask(
        f"SELECT coalesce(min(length(t)), 0), coalesce(max(length(t)), 0) FROM ({values})"
    )[0]
    frequent = original.engine.ask(
        f"SELECT t, records FROM ({values}) ORDER BY records DESC, t LIMIT {MAX_FREQUENT_VALUES}"
    )
    return Facts(
        column=column,
        looks_like=row["looks_like"],
        records=original.records,
        numbers=row["column_type"] in NUMERIC_TYPES or low is not None,
        whole=whole,
        low=low or 0.0,
        high=high or 0.0,
        near_low=near_low or 0.0,
        near_high=near_high or 0.0,
        shortest=shortest,
        longest=longest,
        frequent=tuple((text, int(records)) for text, records in frequent),
        integer=row["column_type"] == "integer",
        marks=number_marks,
        marks_note=note,
        **_read_dates(original, row, f"SELECT t FROM ({values}) WHERE t NOT IN ({marks})"),
    )


def _find_marks(original: DuckDBTableCounts, column: str, texts: str) -> tuple[str, str]:
    """Find the marks that all numbers of a text column have, if some need any, and a note on another reading.

    A unit that is the only one of the column follows them. Of 1,265 and 12.345, marks between thousands are
    likelier: few fractions have three digits in each value. Lists of codes have no marks.
    """
    units = original.engine.ask(f"""SELECT DISTINCT regexp_extract(v, {sql_text(UNIT)}) FROM ({texts})
        WHERE regexp_full_match(v, {sql_text(MARKED_NUMBER)}) AND regexp_matches(v, {sql_text(UNIT)})""")
    unit = units[0][0] if len(units) == 1 else ""
    readings = [f"{marks}{unit}" for marks in NUMBER_MARKS]
    fits = [f"regexp_full_match(v, {sql_text(number_pattern(marks))})" for marks in readings]
    plain = f"regexp_full_match(v, {sql_text(NUMBER_PATTERN)})"
    numbers = " OR ".join((plain, *fits))
    counts = ", ".join(f"count(*) FILTER ({each})" for each in (plain, *fits))
    are_lists, every, are_plain, *fitting = original.engine.ask(
        f"SELECT {are_lists_of_codes('v', numbers)}, count(*) FILTER ({numbers}), {counts} FROM ({texts})"
    )[0]
    read = [marks for marks, count in zip(readings, fitting, strict=True) if count == every]
    if are_plain == every or are_lists or not read:
        return "", ""
    between = read[0][0]
    is_doubtful = any(marks[1] == between for marks in read)
    return read[0], NOTE_ON_MARKS.format(column, between) if is_doubtful else ""


def _read_dates(original: DuckDBTableCounts, row: Row, texts: str) -> dict[str, Any]:
    """Find the one way in which all dates of a text column are written, or why there is none."""
    if row["looks_like"] != DATE or row["column_type"] != "text":
        return {}
    tests = {
        each.form: f"regexp_full_match(d, {sql_text(each.pattern)}) AND {day_in_sql('d', each.form)} IS NOT NULL"
        for each in DATE_FORMS
    }
    times = {
        form: f"regexp_matches(t, {sql_text(f'{each}$')})" for form, each in TIME_FORMS.items()
    }
    asked = [f"regexp_matches(left(t, 10), {sql_text(DAY)})", *tests.values(), *times.values()]
    counts = ", ".join(f"count(*) FILTER ({test})" for test in asked)
    date = f"regexp_replace(t, {sql_text(f'{TIME_PATTERN}$')}, '')"
    values, iso, *fitting = original.engine.ask(
        f"SELECT count(*), {counts} FROM (SELECT t, {date} AS d FROM ({texts}))"
    )[0]
    if iso == values:
        return {}
    by_form = dict(zip(tests, fitting, strict=False))
    by_time = dict(zip(times, fitting[len(tests) :], strict=True))
    form, note = choose_date_form(row["column_name"], by_form, values, by_time)
    return {"date_form": form, "date_note": note}


# The hierarchies that `prepare` would use, as TOML that a person edits.


def propose_hierarchies(
    policy: str | PathLike[str],
    *,
    memory_limit: str | None = None,
    tell: ShowProgress = lambda _: None,
) -> str:
    """Return the hierarchies of a policy's quasi-identifiers as TOML: those it has, else the proposed ones.

    A column of several tables has that of the first. The text has no value of the data but those that the
    policy or its files name.
    """
    read = read_policy(Path(policy))
    hierarchies: dict[str, Hierarchy] = {}
    with gate.open_tables(read, memory_limit, tell) as originals:
        for original in originals:
            refuse_unsuitable(original)
            columns = [name for name in columns_to_generalize(original) if name not in hierarchies]
            if columns:
                wished, _ = wish_hierarchies(original, columns, read.preparing)
                hierarchies |= {each.column: each for each in wished}
    name = escape_control_characters(read.name.replace("\n", " ").replace("\r", " "))
    head = f"# Hierarchies of the policy {name}: edit them, and put them in the policy."
    return f"{head}\n{hierarchies_toml(list(hierarchies.values()))}"


def limit_time(seconds: float) -> Callable[[], bool]:
    """Return whether the processor time from now on is used up; all threads count."""
    ends = time.process_time() + seconds
    return lambda: time.process_time() > ends
