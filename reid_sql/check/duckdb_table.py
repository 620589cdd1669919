"""A table of the policy in DuckDB: opened read-only, its relations passed to the public functions."""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any, Final

import duckdb
import numpy as np
from duckdb import DuckDBPyConnection

from reid_sql.check.distinct_table import DistinctTable, EncodedPeople, Rest
from reid_sql.check.exact_figures import Group
from reid_sql.check.measure import body_arguments_of
from reid_sql.check.policy_model import (
    Check,
    TablePolicy,
    columns_counted,
    columns_of_people,
    columns_read,
    columns_released,
    columns_required,
)
from reid_sql.check.remarks import Remark, remark
from reid_sql.check.sources import (
    NUMERIC_TYPES,
    OTHER_TABLES,
    PUBLISHED,
    ReadTable,
    Source,
    codes_of,
    select_known,
)
from reid_sql.check.table_counts import TableCounts
from reid_sql.check.table_engine import (
    POLICY_COLUMNS,
    Counts,
    Errors,
    TableEngine,
    Tuples,
    parts_of,
)
from reid_sql.engines.arrow import answer_rows
from reid_sql.engines.duckdb import make_functions
from reid_sql.engines.duckdb.source import known_value
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.function import Function
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.classes.sensitive import DIVERSITY, ClassValues
from reid_sql.models.columns.nobodies import IdentifierCounts
from reid_sql.parameters import (
    MAX_COLUMNS,
    TABLES,
    Arguments,
    ColumnNames,
    Columns,
    Rows,
    fold_case,
    quoted,
    sql_literal,
)
from reid_sql.parameters.outputs import REQUIRED, Parameter
from reid_sql.reduction import REFUSAL_INTERVAL
from reid_sql.reductions.classes import HISTOGRAM
from reid_sql.reductions.disclosure import L_DIVERSITY
from reid_sql.sources.equal_rows import count_unique, describe_copies
from reid_sql.sources.files import (
    SLOW_TO_READ,
    Opened,
    attach_source,
    attach_sources,
    check_source,
)
from reid_sql.sources.identifiers import count_nobodies_in, find_panels
from reid_sql.sql.missing_value_codes import spelled_alike
from reid_sql.terminal.runner import Answer, run, sentence

CAUTION_VIEW: Final = (
    "a view of the database '{}' was measured: no hash covers what it reads elsewhere"
)


# which do not depend on what the values are
OF_COUNTS: Final = (HISTOGRAM, L_DIVERSITY)
# parameters that the policy's table is passed for
OWN_TABLES: Final = ("tbl", "synthetic", "second", "left")
# The relation that a function is given besides the table, by the role that it has in the policy.


class Calls:
    """Calls of the public functions, on the relations of one connection."""

    def __init__(
        self, con: DuckDBPyConnection, table: TablePolicy, role_views: Mapping[str, str]
    ) -> None:
        """Remember where the relations are, with those that the table is compared with, by role."""
        self.con, self.table, self.role_views = con, table, role_views
        self.whole = ""  # the table with all of its columns
        self._models: dict[Any, tuple[str, str]] = {}

    def call(self, function: Function, qi: ColumnNames, arguments: Arguments, tbl: str) -> Rows:
        """Call a function on one relation."""
        call, values = self._write_call(
            function, qi, {**arguments, **dict.fromkeys(OWN_TABLES, tbl)}
        )
        return list(self.ask(f"FROM {call}", values, function.name).records())

    def call_measure(self, check: Check, arguments: Arguments, tbl: str) -> Rows:
        """Return the share of the records of one relation for which a measure's condition is true."""
        function = check.measure.declared
        tables, fit = {"tbl": tbl}, {}
        if check.measure.takes("model"):
            # fitted once to the relation
            seed, method = check.parameters["seed"], check.parameters["method"]
            key = (check.quasi_identifiers, tbl, seed, method)
            if key not in self._models:
                name = f"{tbl}_model_{len(self._models)}"
                options = (
                    f"method := {sql_literal(method)}, seed := {seed}, nulls := {sql_literal(self.table.nulls)}, "
                    f"entity := {sql_literal(self.table.entity)}"
                )
                fitted = self.ask(
                    f"FROM fit_copula(?, ?, ?, {options})",
                    [name, tbl, list(check.quasi_identifiers)],
                    "fit_copula",
                    "fitting a copula",
                )
                self._models[key] = name, next(iter(fitted.records()))["status"]
            model, status = self._models[key]
            tables, fit = {"model": model, "tbl": self._scored(check, tbl)}, {"status": status}
        call, values = self._write_call(function, check.quasi_identifiers, {**arguments, **tables})
        literals = {name: sql_literal(value) for name, value in check.parameters.items()}
        person = None if self.table.entity is None else quoted(self.table.entity)
        share = check.measure.share(literals, person)
        rows = self.ask(f"SELECT {share} FROM {call}", values, function.name).records()
        return [{**row, **fit} for row in rows]

    def _write_call(
        self, function: Function, qi: ColumnNames, arguments: Arguments
    ) -> tuple[str, list[Any]]:
        """Write the call with ? for the required arguments, and return their values."""
        positional, named, values = [], [], []
        for parameter in function.parameters:
            value = self._argument(parameter, qi, arguments)
            if parameter.default is REQUIRED:
                positional.append("?")
                values.append(value)
            elif value is not None:
                named.append(f"{parameter.name} := {sql_literal(value)}")
        named += [f"{name} := {sql_literal(word)}" for name, word in function.preset.items()]
        return f"{function.name}({', '.join([*positional, *named])})", values

    def _argument(self, parameter: Parameter, qi: ColumnNames, arguments: Arguments) -> Any:  # noqa: ANN401
        """Return the argument of a call: the columns, a relation, or what is given."""
        if parameter.domain.role == "counted" and not parameter.domain.is_in_checks:
            if parameter.name != "sensitive":
                return list(qi)
            # Attacks that need no sensitive column are judged without one.
            one = arguments.get("sensitive")
            return ([one] if one else list(self.table.sensitive)) or None
        views = self.role_views
        if parameter.domain == TABLES:
            return [self._name_released(), *(views[role] for role in PUBLISHED if role in views)]
        if parameter.name in OTHER_TABLES and parameter.name in arguments:
            return views.get(OTHER_TABLES[parameter.name])
        return arguments.get(parameter.name)

    def _name_released(self) -> str:
        """Name a relation of the columns that the release of a published table has."""
        columns = self.con.table(self.whole).columns
        released = columns_released(self.table, columns)
        if released == columns:
            return self.whole
        listed = ", ".join(map(quoted, released))
        view = f"{self.whole}_released"
        self.con.execute(f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT {listed} FROM {self.whole}")
        return view

    def ask(
        self, sql: str, values: Sequence[Any], function: str, label: str | None = None
    ) -> Answer:
        """Call a function by one statement, showing progress; raise what DuckDB refuses as one sentence."""
        try:
            make_functions(self.con, [function])
            return run(self.con, sql, values, f"{self.table.name}: {label or function}")
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            raise ReidError(sentence(error)) from None

    def _scored(self, check: Check, tbl: str) -> str:
        """Name a relation of the records that count.

        With `drop` these lack no value, and of equal rows of a person one counts, as a class counts people.
        """
        person, drops = self.table.entity, self.table.nulls == "drop"
        if person is None and not drops:
            return tbl
        name = f"{tbl}_scored_{len(self._models)}"
        columns = [quoted(column) for column in check.quasi_identifiers]
        listed = "*" if person is None else f"DISTINCT {', '.join([*columns, quoted(person)])}"
        filled = " AND ".join(f"{column} IS NOT NULL" for column in columns) if drops else "true"
        self.con.execute(
            f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT {listed} FROM {tbl} WHERE {filled}"
        )
        return name


class DuckDBTable(TableEngine):
    """A view of a table's file, or of a release made of it, in a DuckDB connection."""

    attacks = True

    def __init__(self, con: DuckDBPyConnection, table: TablePolicy, view: str) -> None:
        """Begin with nothing counted; `view` is a relation of the connection."""
        super().__init__()
        self.con, self.table, self.view = con, table, view
        self.whole = view  # with all columns, also of a text file
        self.raw = view  # in which the codes that the policy declares are values
        self.other_views = {role: f"{view}_{role}" for role in table.role_sources}
        self.columns = [row[0] for row in con.execute(f"DESCRIBE {view}").fetchall()]
        self.calls = Calls(con, table, self.other_views)
        self.profiled: Rows = ()  # the columns, where they were profiled already
        self._distinct: DistinctTable | None = None
        self._group_tables: dict[tuple[str, ...], str] = {}
        self._views: dict[Any, str] = {}

    def seen_by(self, table: TablePolicy) -> "DuckDBTable":
        """The same rows as another policy names their columns; nothing of them is counted."""
        seen = DuckDBTable(self.con, table, self.view)
        seen.whole, seen.raw, seen.profiled = self.whole, self.raw, self.profiled
        seen.cautions, seen.other_tables = list(self.cautions), self.other_tables
        return seen

    def ask(self, sql: str, label: str = "counting") -> Tuples:
        """Run one statement, showing progress where a person watches."""
        return run(self.con, sql, None, f"{self.table.name}: {label}").rows

    @property
    def distinct(self) -> DistinctTable:
        """The distinct records by every column that a check counts or groups by."""
        if self._distinct is None:
            counted, others = columns_counted(self.table), self.columns[:MAX_COLUMNS]
            self._distinct = DistinctTable(self.ask, self.view, counted, others)
        return self._distinct

    def forget_counts(self) -> None:
        """Drop the distinct records, if they were counted."""
        if self._distinct is not None:
            self._distinct.drop()
            self._distinct = None

    def profile(self, columns: ColumnNames) -> Rows:
        """Profile some columns, unless all were."""
        if not self.profiled:
            return super().profile(columns)
        profiles = {fold_case(row["column_name"]): row for row in self.profiled}
        return [profiles[fold_case(each)] for each in columns]

    def count_records(self) -> int:
        if columns_counted(self.table):
            return self.distinct.records
        return int(self.ask(f"SELECT count(*) FROM {self.view}")[0][0])

    def count_people(self, by: ColumnNames) -> Tuples:
        listed = "".join(f"{quoted(name)}, " for name in by)
        return self.ask(
            f"SELECT {listed}{self._count()} FROM {self.view} GROUP BY ALL", "counting people"
        )

    def _count(self) -> str:
        """Write the count of records, or of people where a column distinguishes them."""
        if self.table.entity is None:
            return "count(*)"
        name = quoted(self.table.entity)
        return f"count(DISTINCT {name}) + coalesce(max(({name} IS NULL)::INT), 0)"

    def count_groups(self, by: ColumnNames) -> Tuples:
        self._group_tables[tuple(by)] = self.distinct.groups(by)
        return self.ask(
            f"SELECT * EXCLUDE (place) FROM {self._group_tables[tuple(by)]} ORDER BY place"
        )

    def count_gaps(self, columns: ColumnNames, by: ColumnNames) -> Tuples:
        return self.distinct.count_gaps(columns, by)

    def class_sizes(self, qi: ColumnNames, by: ColumnNames, *, drop: bool) -> Tuples:
        return self.distinct.class_sizes(qi, by, drop=drop)

    def match_groups(self, qi: ColumnNames, by: ColumnNames) -> dict[int, Histogram]:
        return self.distinct.match_groups(qi, by)

    def rarest(self, count: int) -> Tuples:
        listed = ", ".join(quoted(name) for name in self.table.quasi_identifiers)
        return self.ask(
            f"SELECT {self._count()}, {listed} FROM {self.view} GROUP BY {listed} ORDER BY ALL LIMIT {count}",
            "rarest records",
        )

    def count_values(self, names: ColumnNames, *, in_population: bool = False) -> Counts:
        rows = [] if in_population or not self.profiled else self.profile(names)
        if rows and all(row["column_type"] == "text" for row in rows):  # none is NaN
            present = [round(row["records"] * (1 - row["missing"])) for row in rows]
            return [row["distinct_values"] for row in rows], present
        tbl = self.other_views["population"] if in_population else self.whole
        values = [known_value(quoted(name)) for name in names]
        counts = [f"{kind}{value})" for kind in ("count(DISTINCT ", "count(") for value in values]
        counted = self.ask(f"SELECT {', '.join(counts)} FROM {tbl}", "identifiers")[0]
        return counted[: len(names)], counted[len(names) :]

    def joined_columns(self) -> list[str]:
        return list(self.con.table(self.other_views["joined"]).columns)

    def count_nobodies(self, column: str) -> IdentifierCounts:
        return count_nobodies_in(self.con.sql, self.whole, column)

    def list_spellings(self, name: str, codes: Sequence[str]) -> tuple[list[str], bool]:
        types = {row[0]: row[1] for row in self.ask(f"DESCRIBE {self.raw}")}
        values = f"SELECT DISTINCT {quoted(name)}::VARCHAR AS t FROM {self.raw}"
        rows = self.ask(f"SELECT t FROM ({values}) WHERE {spelled_alike('t', codes)}", "codes")
        return [row[0] for row in rows], types[name].startswith(NUMERIC_TYPES)

    def describe_copies(self, role: str | None = None) -> str:
        view = self.whole if role is None else self.other_views[role]
        columns = [str(row[0]) for row in self.ask(f"DESCRIBE {view}")]
        of = "" if role is None else f"the {role} table: "
        rest = (
            None
            if role or view != self.view
            else self._find_rest(self.table.quasi_identifiers, columns)
        )
        return describe_copies(partial(self.ask, label="equal rows"), view, columns, of, rest)

    def count_unique(self, sets: Sequence[ColumnNames], errors: Errors) -> list[int | None]:
        """Count many sets at a time: else a table of a thousand columns is bound a thousand times.

        Of a set with the quasi-identifiers, by which nearly all records differ, the others alone are counted.
        """
        del errors  # what DuckDB refuses is the same for each table in it
        ask = partial(self.ask, label="people whom columns single out")
        qi, entity, records = self.table.quasi_identifiers, self.table.entity, self.count_records()
        unique: dict[tuple[str, ...], int | None] = {}
        for each in map(tuple, sets):
            rest = None if entity or not {*qi} <= {*each} else self._find_rest(qi, each)
            if rest:
                [alone] = count_unique(ask, rest.table, [rest.columns], records)
                unique[each] = None if alone is None else alone + rest.others
        whole = [each for each in map(tuple, sets) if each not in unique]
        encoded = set(columns_of_people(self.table))
        is_encoded = entity and encoded.issuperset(chain(*whole))
        view = self._encoded.table if is_encoded else self.view
        unique |= zip(whole, count_unique(ask, view, whole, records, entity), strict=True)
        return [unique[tuple(each)] for each in sets]

    def _find_rest(self, qi: ColumnNames, columns: ColumnNames) -> Rest | None:
        """Find the records that may be equal by `qi`, where a column is one."""
        return self.distinct.rest(qi, columns) if qi else None

    def find_panels(self, named: ColumnNames, *, in_population: bool = False) -> list[str]:
        tbl = self.other_views["population"] if in_population else self.whole
        return find_panels(self.con.sql, tbl, named)

    def call_on(
        self, relation: str, function: Function, qi: ColumnNames, arguments: Arguments
    ) -> Rows:
        self.calls.whole = self.whole
        asked = {"variant": "distinct", "nulls": "value", "entity": None}
        if (
            function.reduction is L_DIVERSITY
            and relation == self.view
            and asked.items() <= {"entity": None, **arguments}.items()
        ):
            rest = self._find_rest(qi, [*qi, arguments["sensitive"]])
            # The classes of records that may be equal are counted; each other record is a class of one value.
            if rest:
                *columns, sensitive = rest.columns
                classes = f"disclosing_classes(?, ?, ?, threshold := {DIVERSITY.high})"
                rows = self.calls.ask(
                    f"SELECT class_size, value, count(*) FROM {classes} GROUP BY ALL ORDER BY ALL",
                    [rest.table, columns, sensitive],
                    "disclosing_classes",
                    function.name,
                ).rows
                size, value, number = np.array([*rows, (1, 1, rest.others)]).T
                arrays = vars(ClassValues(size.astype(int), value, number.astype(int)))
                options = body_arguments_of(function, arguments)
                return list(answer_rows(function, arrays, options))
        if relation == self.view and function.reduction in OF_COUNTS and self.table.entity:
            return self._encoded.call(self.calls.call, function, qi, arguments)
        return self.calls.call(function, qi, arguments, relation)

    @cached_property
    def _encoded(self) -> EncodedPeople:
        """The table in which people of classes are counted."""
        named = columns_of_people(self.table)
        return EncodedPeople(self.ask, self.view, named, str(self.table.entity))

    def divided(self, by: ColumnNames) -> str:
        if tuple(by) not in self._views:
            view = f"{self.view}_part_{len(self._views)}"
            pairs = zip(by, self.group_names(by), strict=True)
            listed = ", ".join(f"{quoted(column)} AS {quoted(name)}" for column, name in pairs)
            self.con.execute(f"CREATE TEMP VIEW {view} AS SELECT *, {listed} FROM {self.view}")
            self._views[tuple(by)] = view
        return self._views[tuple(by)]

    def call_measure(self, check: Check, arguments: Arguments, group: Group) -> Rows:
        """Return the share of a group's records for which a measure's condition is true."""
        return self.calls.call_measure(check, arguments, self.part(check.by, group))

    def part(self, by: ColumnNames, group: Group) -> str:
        if not by:
            return self.view
        key = (tuple(by), group.place)
        if key not in self._views:
            self.groups(by)
            view, table = f"{self.view}_part_{len(self._views)}", self._group_tables[tuple(by)]
            tests = " AND ".join(
                f"{quoted(column)} IS NOT DISTINCT FROM "
                f"(SELECT g{at} FROM {table} WHERE place = {group.place})"
                for at, column in enumerate(by)
            )
            self.con.execute(f"CREATE TEMP VIEW {view} AS SELECT * FROM {self.view} WHERE {tests}")
            self._views[key] = view
        return self._views[key]


class DuckDBTableCounts(TableCounts):
    """A table of the policy that DuckDB measures."""

    engine: DuckDBTable


def open_in_duckdb(
    con: DuckDBPyConnection, table: TablePolicy, number: int, read: ReadTable | None = None
) -> DuckDBTableCounts:
    """Open a table of the policy, and check that it has the columns that the policy names.

    One that the connection has `read` is not read again, nor are its columns profiled again.
    """
    view = f"reid_release_{number}"
    where = f"policy tables[{number}].{'files' if table.source.parts else 'file'}"
    opened = read.attach(view, table.source) if read else _attach(con, view, where, table.source)
    engine = DuckDBTable(con, table, view)
    engine.other_tables = opened.others
    named = columns_required(table)
    for part in parts_of(named):
        Columns(POLICY_COLUMNS).check(part, engine.columns)
    _refuse_intervals(engine, named)
    engine.whole = _null_codes(engine, view)
    if read is None and check_source(where, str(table.source.paths[0])) in SLOW_TO_READ:
        # Read the columns of a text file that are measured into a temporary table.
        listed = ", ".join(map(quoted, columns_read(table, engine.columns))) or "*"
        engine.ask(f"CREATE TEMP TABLE {view}_read AS SELECT {listed} FROM {view}", "reading")
        engine.raw = f"{view}_read"
        opened.refuse_missing_records(where, engine.ask(f"SELECT count(*) FROM {engine.raw}")[0][0])
    engine.view = engine.whole if engine.raw == view else _null_codes(engine, engine.raw)
    if read is not None and engine.view == view:  # no value is declared missing
        engine.profiled = read.profile
    engine.cautions += _cautions_of_source(opened, table.source)
    for role, source in table.role_sources.items():
        _open_other(engine, f"policy tables[{number}].{role}_file", role, source)
    return DuckDBTableCounts(table, engine)


def _refuse_intervals(engine: DuckDBTable, named: ColumnNames) -> None:
    """Refuse the columns of the policy of which 1 month equals 30 days."""
    required = set(map(fold_case, named))
    kinds = {row[0]: row[1] for row in engine.ask(f"DESCRIBE {engine.view}")}
    intervals = [name for name, kind in kinds.items() if "INTERVAL" in kind]
    refused = [name for name in intervals if fold_case(name) in required]
    if refused:
        raise OutOfDomainError(REFUSAL_INTERVAL.format(", ".join(refused)))


def _null_codes(engine: DuckDBTable, view: str) -> str:
    """Name a view in which the values that the policy declares missing are NULL; the same where none are."""
    codes = engine.table.codes_as_nulls
    types: dict[str, str] = dict(row[:2] for row in engine.ask(f"DESCRIBE {view}")) if codes else {}
    if not any(codes_of(codes, name) for name in types):
        return view
    engine.ask(f"CREATE TEMP VIEW {view}_known AS {select_known(view, types, codes)}")
    return f"{view}_known"


def _attach(con: DuckDBPyConnection, view: str, where: str, source: Source) -> Opened:
    if source.parts:
        parts = [(path, dict(values)) for path, values in source.parts]
        return attach_sources(con, view, where, parts, source.form)
    return attach_source(con, view, where, str(source.path), source.table, source.form)


def _open_other(engine: DuckDBTable, where: str, role: str, source: Source) -> None:
    view = engine.other_views[role]
    opened = _attach(engine.con, view, where, source)
    if role == "population":
        engine.population_columns = [row[0] for row in engine.ask(f"DESCRIBE {view}")]
    engine.other_views[role] = _null_codes(engine, view)
    if opened.text is not None:
        opened.refuse_missing_records(where, engine.ask(f"SELECT count(*) FROM {view}")[0][0])
    engine.cautions += _cautions_of_source(opened, source)


def _cautions_of_source(opened: Opened, source: Source) -> list[Remark]:
    """Return the cautions on what was decided while a file was read."""
    view = [remark(CAUTION_VIEW.format(source.location), code="view")] if opened.of_view else []
    return [*view, *(remark(note.words, code=note.code) for note in opened.notes)]
