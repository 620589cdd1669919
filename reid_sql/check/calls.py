"""The functions behind checks, asked of relations of a DuckDB connection."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import duckdb

from reid_sql.check.measure import Row
from reid_sql.check.policy import Check, TablePolicy
from reid_sql.errors import ReidError
from reid_sql.function import REQUIRED, Function, sql_literal
from reid_sql.parameters import Columns, Table, quoted
from reid_sql.runner import Answer, run, sentence

DIGITS: Final = "reid_by"


def beside(columns: Sequence[str]) -> str:
    """A beginning that no column's name has, for columns of the digits of groups.

    >>> beside(["age", "REID_BY1"])
    'reid_by_'
    """
    found = DIGITS
    while any(name.lower().startswith(found) for name in columns):
        found += "_"
    return found


class Calls:
    """What a table of the policy is asked, about the relations that hold its records or some of them."""

    def __init__(self, con: duckdb.DuckDBPyConnection, table: TablePolicy, population_view: str) -> None:
        """Remember where the relations are, with that of the population."""
        self.con, self.table, self.population_view = con, table, population_view
        self._models: dict[Any, str] = {}

    def of_part(self, check: Check, function: Function, given: Mapping[str, Any], part: str) -> list[Row]:
        """Ask about the records of one relation; a measure of single records says what of all is told."""
        tables = {"tbl": part}
        if check.measure.takes("model"):
            tables = {"model": self._model(check, part), "tbl": self._complete(check, part)}
        given = {**given, **tables}
        call, values = self._call(function, check.quasi_identifiers, given, check.measure.unused)
        sql = f"FROM {call}"
        if check.measure.over:
            own = {name: sql_literal(value) for name, value in check.parameters.items()}
            person = None if self.table.entity is None else quoted(self.table.entity)
            sql = f"SELECT {check.measure.share(own, person)} {sql}"
        return self._rows(function, sql, values)

    def of_groups(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], divided: tuple[str, list[str]]
    ) -> list[Row]:
        """Ask about all groups at once: a relation, and its columns of the digits that tell them apart."""
        tbl, names = divided
        call, values = self._call(function, qi, {**given, "tbl": tbl, "by": names})
        listed = ", ".join(names)
        rows = self._rows(function, f"SELECT [{listed}] AS digits, * EXCLUDE ({listed}) FROM {call}", values)
        return [{**row, "digits": tuple(row["digits"])} for row in rows]

    def _call(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], unused: Sequence[str] = ()
    ) -> tuple[str, list[Any]]:
        """Spell the call with its places for values, and these."""
        positional, named, values = [], [], []
        for parameter in (each for each in function.parameters if each.name not in unused):
            value = list(qi) if isinstance(parameter.domain, Columns) else given.get(parameter.name)
            value = self.population_view if parameter.name == "population_tbl" else value
            if parameter.default is REQUIRED:
                positional.append("?")
                values.append(value)
            elif value is not None and not isinstance(parameter.domain, Table):
                named.append(f"{parameter.name} := {sql_literal(value)}")
        return f"{function.name}({', '.join([*positional, *named])})", values

    def _rows(self, function: Function, sql: str, values: Sequence[Any]) -> list[Row]:
        return list(self.said(sql, values, function.name).records())

    def said(self, sql: str, values: Sequence[Any], words: str) -> Answer:
        """Run one statement, showing progress; what DuckDB refuses is one sentence."""
        try:
            return run(self.con, sql, values, f"{self.table.name}: {words}")
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            raise ReidError(sentence(error)) from None

    def _model(self, check: Check, part: str) -> str:
        """Name the copula of the quasi-identifiers, fitted once to the relation."""
        seed, method = check.parameters["seed"], check.parameters["method"]
        key = (check.quasi_identifiers, part, seed, method)
        if key not in self._models:
            name = f"{part}_model_{len(self._models)}"
            how = f"method := {sql_literal(method)}, seed := {seed}, nulls := {sql_literal(self.table.nulls)}"
            how += f", entity := {sql_literal(self.table.entity)}"
            asked = [name, part, list(check.quasi_identifiers)]
            self.said(f"FROM fit_copula(?, ?, ?, {how})", asked, "fitting a copula")
            self._models[key] = name
        return self._models[key]

    def _complete(self, check: Check, part: str) -> str:
        """Name a relation of the records that count: with `drop`, those that lack no value."""
        if self.table.nulls != "drop":
            return part
        name = f"{part}_complete_{len(self._models)}"
        tests = " AND ".join(f"{quoted(column)} IS NOT NULL" for column in check.quasi_identifiers)
        self.con.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM {part} WHERE {tests}")
        return name
