"""A table of the policy as it is measured: opened read-only, counted once, every answer kept."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import duckdb

from reid_sql.check.answers import Answers, counted_histogram
from reid_sql.check.calls import Calls, beside
from reid_sql.check.measure import Row
from reid_sql.check.policy import Check, TablePolicy, columns_counted, columns_named
from reid_sql.check.sources import Source
from reid_sql.engines.duckdb.packed import Group, PackedClasses
from reid_sql.function import Function, sql_literal
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.parameters import MAX_COLUMNS, Columns, quoted
from reid_sql.runner import run
from reid_sql.sources.files import JSON, TEXTS, Opened, attach_source, attach_sources, check_source

SLOW_TO_READ: Final = (*TEXTS, *JSON)
POLICY_COLUMNS: Final = Columns("columns of the policy")
VIEW: Final = "a view of the database '{}' was measured: no hash stands for what it reads elsewhere"


class Release(Answers):
    """An opened table: its columns, class sizes by any columns and groups, and functions' answers."""

    def __init__(self, con: duckdb.DuckDBPyConnection, table: TablePolicy, number: int) -> None:
        """Open the table and hold the policy's columns against it."""
        super().__init__(table)
        self.con = con
        self.view = f"reid_release_{number}"
        self.population_view = f"{self.view}_population"
        where = f"policy tables[{number}].{'files' if table.source.parts else 'file'}"
        found = self._attach(self.view, where, table.source)
        self.whole = self.view  # with all columns, also of a text file
        self.columns = [row[0] for row in con.execute(f"DESCRIBE {self.view}").fetchall()]
        named = columns_named(table)
        for start in range(0, len(named), MAX_COLUMNS):
            POLICY_COLUMNS.check(named[start : start + MAX_COLUMNS], self.columns)
        if check_source(where, str(table.source.paths[0])) in SLOW_TO_READ:
            self._keep(named)
            found.refuse_missing_records(where, self.ask(f"SELECT count(*) FROM {self.view}")[0][0])
        self.cautions = [VIEW.format(table.source.given)] if found.of_view else []
        if table.population_source is not None:
            self._open_population(f"policy tables[{number}].population_file", table.population_source)
        self.begin()

    def begin(self) -> None:
        """Begin with nothing counted."""
        self._packed: PackedClasses | None = None
        self._views: dict[Any, str] = {}
        self._calls = Calls(self.con, self.table, self.population_view)

    def forget_counts(self) -> None:
        """Take away the distinct records, if they were counted."""
        if self._packed is not None:
            self._packed.forget()
            self._packed = None

    def _attach(self, view: str, where: str, source: Source) -> Opened:
        if source.parts:
            parts = [(path, dict(values)) for path, values in source.parts]
            return attach_sources(self.con, view, where, parts, source.form)
        return attach_source(self.con, view, where, str(source.path), source.table, source.form)

    def _open_population(self, where: str, source: Source) -> None:
        found = self._attach(self.population_view, where, source)
        if found.records is not None:
            found.refuse_missing_records(
                where, self.ask(f"SELECT count(*) FROM {self.population_view}")[0][0]
            )
        if found.of_view:
            self.cautions.append(VIEW.format(source.given))

    def _keep(self, named: Sequence[str]) -> None:
        """Read a text file once."""
        kept = f"{self.view}_kept"
        listed = ", ".join(quoted(name) for name in self.columns if name in named) or "*"
        self.ask(f"CREATE TEMP TABLE {kept} AS SELECT {listed} FROM {self.view}", "reading")
        self.view = kept

    def ask(self, sql: str, words: str = "counting", given: object = None) -> list[tuple[Any, ...]]:
        """Run one statement, showing progress where a person watches."""
        return run(self.con, sql, given, f"{self.table.name}: {words}").rows

    @property
    def packed(self) -> PackedClasses:
        """The distinct records by every column that a check counts or groups by: one reading of the table."""
        if self._packed is None:
            self._packed = PackedClasses(self.ask, self.view, columns_counted(self.table))
        return self._packed

    @property
    def records(self) -> int:
        """Records of the table, or its people where a column tells them apart."""
        if self.table.entity is not None:
            return self._people(())[()]
        if self._packed is None and not columns_counted(self.table):
            return int(self.ask(f"SELECT count(*) FROM {self.view}")[0][0])
        return self.packed.records

    def _groups(self, by: Sequence[str]) -> list[Group]:
        return self.packed.groups(by)

    def _counted(
        self, qi: Sequence[str], by: Sequence[str], *, drop: bool, coarser: Mapping[str, str] | None
    ) -> dict[tuple[int, ...], Histogram]:
        return self.packed.histograms(qi, by, drop=drop, coarser=coarser)

    def few_gaps(self, columns: Sequence[str], by: Sequence[str], below: int) -> bool:
        """Whether few records of a group lack the same values, or none where others of it lack some."""
        return self.packed.few_gaps(columns, by, below)

    def _matched(self, qi: Sequence[str], by: Sequence[str], group: Group) -> Histogram:
        how = f"nulls := {sql_literal(self.table.nulls)}, entity := {sql_literal(self.table.entity)}"
        columns = "class_size, classes, records, coalesce(blank_records, 0)"
        sql = f"SELECT {columns} FROM class_size_histogram(?, ?, {how})"
        found = self._calls.said(sql, [self.part(by, group), list(qi)], "matching")
        return counted_histogram(found.rows, self.table.nulls)

    def _matches_of_groups(self, qi: Sequence[str], by: Sequence[str]) -> dict[tuple[int, ...], Histogram]:
        return self.packed.matched(qi, by)

    def _profiled(self, columns: Sequence[str]) -> list[Row]:
        asked = "FROM profile(?, ?)"
        words = f"{self.table.name}: marks for missing values"
        return list(run(self.con, asked, [self.view, list(columns)], words).records())

    def _people(self, by: Sequence[str]) -> dict[tuple[int, ...], int]:
        tbl, groups = self.divided(by)
        listed = "".join(f"{name}, " for name in groups)
        counted = f"SELECT {listed}{self._counted_by()} FROM {tbl} GROUP BY ALL"
        rows = self.ask(counted, "counting people")
        return {row[:-1]: int(row[-1]) for row in rows}

    def _counted_by(self) -> str:
        """What is counted: records, or people where a column tells them apart, NULL one of them."""
        if self.table.entity is None:
            return "count(*)"
        name = quoted(self.table.entity)
        return f"count(DISTINCT {name}) + coalesce(max(({name} IS NULL)::INT), 0)"

    def divided(self, by: Sequence[str]) -> tuple[str, list[str]]:
        """Name a relation of all records, and its columns of the digits by which their groups are told."""
        if not by:
            return self.view, []
        prefix = beside(self.columns)
        names = [f"{prefix}{place}" for place in range(1, len(by) + 1)]
        key = (tuple(by), None)
        if key not in self._views:
            name = f"{self.view}_part_{len(self._views)}"
            digits = ", ".join(f"coalesce(v{own}.code, 0) AS {own}" for own in names)
            joins = " ".join(
                f"LEFT JOIN {self.packed.values(column)} AS v{own} ON s.{quoted(column)} = v{own}.v"
                for column, own in zip(by, names, strict=True)
            )
            self.con.execute(f"CREATE TEMP VIEW {name} AS SELECT s.*, {digits} FROM {self.view} AS s {joins}")
            self._views[key] = name
        return self._views[key], names

    def part(self, by: Sequence[str], group: Group) -> str:
        """Name a relation that holds the group's records alone."""
        if not by:
            return self.view
        key = (tuple(by), group.digits)
        if key not in self._views:
            name = f"{self.view}_part_{len(self._views)}"
            tests = [
                f"{quoted(column)} IS NOT DISTINCT FROM (SELECT v FROM "
                f"{self.packed.values(column)} WHERE code = {digit})"
                for column, digit in zip(by, group.digits, strict=True)
            ]
            self.con.execute(
                f"CREATE TEMP VIEW {name} AS SELECT * FROM {self.view} WHERE {' AND '.join(tests)}"
            )
            self._views[key] = name
        return self._views[key]

    def rarest(self, count: int) -> list[tuple[Any, ...]]:
        """The rarest combinations of the quasi-identifiers: how many records hold each, and the values."""
        listed = ", ".join(quoted(name) for name in self.table.quasi_identifiers)
        return self.ask(
            f"SELECT {self._counted_by()}, {listed} FROM {self.view} GROUP BY {listed} ORDER BY ALL LIMIT "
            f"{count}",
            "rarest records",
        )

    def _asked(self, function: Function, check: Check, given: Mapping[str, Any], group: Group) -> list[Row]:
        return self._calls.of_part(check, function, given, self.part(check.by, group))

    def _together(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str]
    ) -> list[Row]:
        return self._calls.of_groups(function, qi, given, self.divided(by))
