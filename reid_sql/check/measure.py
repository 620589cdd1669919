"""What a measure of the gate is: a function, and the column of its answer that a policy bounds."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from math import isfinite
from pathlib import Path
from string import Template
from typing import Any, Final, Literal

from reid_sql.errors import NO_RECORDS
from reid_sql.function import Function, output_of
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.classes.identifying_sets import STATUS_NO_SET
from reid_sql.models.classes.joins import STATUS_FEW_MATCH
from reid_sql.models.population_risk.answer import METHOD
from reid_sql.models.synthetic.audit import is_doubtful
from reid_sql.models.synthetic.sure_inference import PRECISION
from reid_sql.models.tables.audit import (
    NOT_AUDITED,
    PROTECTED,
    RULE,
    STATUS_BASE_GUESSED,
    STATUS_NOT_TIGHT,
)
from reid_sql.parameters import POPULATION, Arguments, ColumnNames, Number, Row, Rows, Tables
from reid_sql.parameters.outputs import REQUIRED, Parameter
from reid_sql_udfs import declared

# What a column of an answer is, by its declaration in figures.toml: so a mask knows how it may be shown.

FILE: Final = Path(__file__).with_name("figures.toml")
ENDS: Final = ("_low", "_high")  # of an interval: its bounds are declared with the figure


class Kind(Enum):
    """What a figure counts, or what it is computed from; the values are the keys of the file."""

    LABEL = "label"
    SETTING = "setting"
    STATUS = "status"
    COUNT = "count"
    SHARE = "share"
    CLASS_SIZES = "class_sizes"
    CLASS_MEAN = "class_mean"
    SINGLE = "single"
    DISTRIBUTION = "distribution"
    CELLS = "cells"
    CELL_SUM = "cell_sum"


PART_OF_WHOLE: Final = frozenset(
    {Kind.COUNT, Kind.SHARE}
)  # what remains of the whole is a count, too


def kind_of(function: str, column: str) -> Kind | None:
    """Return what a column of the function's answer is; None if nobody declared it, so that it is not shown.

    >>> kind_of("risk_summary", "uniqueness"), kind_of("pyc_forecast", "uniqueness_high")
    (<Kind.SHARE: 'share'>, <Kind.CLASS_SIZES: 'class_sizes'>)
    >>> kind_of("risk_summary", "a_new_column")
    """
    kinds, _ = read_figures()
    bare = next((column.removesuffix(end) for end in ENDS if column.endswith(end)), column)
    names = (f"{function}.{column}", f"{function}.{bare}", column, bare)
    return next((kinds[name] for name in names if name in kinds), None)


def whole_of(function: str) -> str:
    """Return the column of the answer that has all of its records or people; empty if it has none.

    >>> whole_of("risk_summary"), whole_of("household_risk")
    ('records', 'households')
    """
    _, wholes = read_figures()
    return wholes.get(function, "records")


@cache
def read_figures() -> tuple[Mapping[str, Kind], Mapping[str, str]]:
    """Read the file: the kind of each name, with or without a function, and the columns of wholes."""
    written = tomllib.loads(FILE.read_text(encoding="utf-8"))
    wholes = written.pop("whole")
    kinds: dict[str, Kind] = {}
    for key, names in written.items():
        for name in names.split():
            if name in kinds:
                raise ValueError(f"{FILE.name} must declare a column once, got '{name}' twice")
            kinds[name] = Kind(key)
    return kinds, wholes


Pick = Callable[[Rows], Row]  # of the rows of an answer, the one with the figure
# the people of each cell, in each division of them
Cells = Callable[[Rows], list[list[int]]]


def only_row(rows: Rows) -> Row:
    """Take the only row."""
    return rows[0]


def highest(rows: Rows, column: str) -> Row:
    """Take the row with the highest value; one without a value comes first, as it could be any."""
    return max(rows, key=lambda row: float("inf") if row[column] is None else row[column])


def count_sets(rows: Rows) -> Row:
    """Count the sets of columns that are listed; without an answer where not all were searched.

    Then the first of those that were found is named, which is one that an attacker may know.
    """
    status, first = rows[0]["status"], ", ".join(rows[0]["columns"])
    is_complete = status == OK or status.partition(":")[0] == STATUS_NO_SET.partition(":")[0]
    number = sum(bool(row["columns"]) for row in rows)
    return (
        {"sets": number, "status": OK}
        if is_complete
        else {"sets": None, "status": f"{status}, such as {first}"}
    )


def sum_combinations(rows: Rows) -> Row:
    """Add the combinations of all rows; without a row the sum is 0."""
    return {"combinations": sum(row["combinations"] for row in rows)}


def largest_of(rows: Rows, names: Sequence[str]) -> Row:
    """Take the largest figure of these names, the last one of which compares most.

    None where little could be compared even so, as it would be too low. A figure that needs a parameter which
    a check does not give is in no row.
    """
    figures = {row["figure"]: row for row in rows}
    chosen = [figures[name] for name in names if name in figures]
    status = chosen[-1]["status"]
    values = [int(row["value"]) for row in chosen if row["value"] is not None]
    return {"value": max(values) if status == OK else None, "status": status}


def count_rules(rows: Rows, rules: Sequence[str]) -> Row:
    """Count the cells that break one of these rules; without an answer for a table without a record."""
    broken = sum(any(rule in row["unsafe"] for rule in rules) for row in rows)
    return {"cells": broken, "status": OK} if rows else {"cells": None, "status": NO_RECORDS}


def count_cells(rows: Rows, column: str, words: Sequence[str]) -> Row:
    """Count the audited cells with one of these words; without an answer where a bound is not proved.

    What the publisher's rule alone tells of a cell is no finding.
    """
    statuses = [row["status"] for row in rows]
    if any(status.startswith(STATUS_NOT_TIGHT) for status in statuses):
        return {"cells": None, "status": STATUS_NOT_TIGHT}
    cells = sum(row[column] in words and row["revealed_by"] != RULE for row in rows)
    status = "; ".join(row["status"] for row in rows if row["finding"] == NOT_AUDITED)
    # else theirs have it
    if not status and any(each.endswith(STATUS_BASE_GUESSED) for each in statuses):
        status = STATUS_BASE_GUESSED
    return {"cells": cells, "status": status or OK}


def people_of_cells(rows: Rows) -> list[list[int]]:
    """List the people of the cells of safe_table, apart for each set of totals."""
    by_totals: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        by_totals.setdefault(tuple(row["total_over"]), []).append(row["people"])
    return list(by_totals.values())


def people_of_revealed(rows: Rows) -> list[list[int]]:
    """List the least people of the audited cells that are revealed or published, at least one each."""
    known = (PROTECTED, NOT_AUDITED)
    revealed = (row for row in rows if row["finding"] not in known and row["revealed_by"] != RULE)
    return [[max(1, row["low"]) for row in revealed]]


def strongest(rows: Rows, attacks: Sequence[str]) -> Row:
    """Take the attack of these that gives away most; none where one is unjudged or doubtful."""
    figures = [row for row in rows if row["attack"] in attacks and is_judged(row)]
    worst = max(figures, key=lambda row: float("inf") if row["high"] is None else row["high"])
    ends = {"excess_low": worst["low"], "excess_high": worst["high"]}
    if doubtful := [row["status"] for row in rows if is_doubtful(row["status"])]:
        return {**dict.fromkeys(("excess", *ends)), "status": doubtful[0]}
    return {**worst, **ends}


def whole_join(rows: Rows) -> Row:
    """Take the join with all columns; no figure where nothing matches, or it is not known who is a person."""
    row = rows[0]
    is_known = row["status"] in (OK, STATUS_FEW_MATCH)
    return {**row, "singled_out": row["singled_out"] if is_known else None}


def is_judged(row: Row) -> bool:
    """Whether a figure counts: a precision, of the few who are attacked, if its excess is proved."""
    return row["figure"] != PRECISION or (row["low"] is not None and row["low"] > 0)


Unit = Literal["share", "count", "number"]

SHARE: Final = Number("a share from 0 to 1", "write 0.05 for 5 %", 0.0, 1.0)
WHOLE: Final = Number(
    "a whole number of at least 0", "write it with digits, such as 5", 0.0, 1e15, whole=True
)
FINITE: Final = Number("a finite number", "write it with digits, such as 2.5", -1e300, 1e300)
LIMITS: Final[Mapping[Unit, Number]] = {"share": SHARE, "count": WHOLE, "number": FINITE}

# The table gives these, not the check.
TABLES: Final = (
    "tbl",
    "tables",
    "population_tbl",
    "original",
    "synthetic",
    "holdout",
    "first",
    "second",
    "left",
    "right",
)
TABLE_PARAMETERS: Final = (*TABLES, "qi", "columns", "nulls", "entity", "sensitive", "model")

POPULATIONS: Final = ("population", "populations")  # of a list of them, a check has one

SHARE_OF_RECORDS: Final = "avg(CASE WHEN $over THEN 1 ELSE 0 END) AS share"
# A person is as exposed as the record of theirs with the highest score; without a name, they are one.
SHARE_OF_PEOPLE: Final = (
    "1e0 * (count(DISTINCT CASE WHEN $over THEN $person END)"
    " + max(CASE WHEN $over AND $person IS NULL THEN 1 ELSE 0 END))"
    " / (count(DISTINCT $person) + max(CASE WHEN $person IS NULL THEN 1 ELSE 0 END)) AS share"
)


def arguments_of(
    function: Function, qi: ColumnNames, arguments: Arguments, frames: tuple[Any, Any]
) -> dict[str, Any]:
    """Return the function's arguments: the columns, the frames of table and population, and the others."""
    bound: dict[str, Any] = {}
    for parameter in function.parameters:
        if parameter.domain.is_required_table:
            bound[parameter.name] = frames[parameter.name != "tbl"]
        elif parameter.domain.role == "counted":
            bound[parameter.name] = list(qi)
        elif arguments.get(parameter.name) is not None:
            bound[parameter.name] = arguments[parameter.name]
    return bound


@dataclass(frozen=True)
class Measure:
    """A figure that a policy bounds: at most, or at least where a lower figure is the higher risk."""

    name: str
    words: str
    function: str
    column: str
    unit: Unit = "share"
    at_least: bool = False
    # whether the answer has the ends of an interval, as column_low and column_high
    interval: bool = False
    # Whether every finer transformation violates its limit where a coarser one does, without suppression.
    monotone: bool = False
    # how a class is compared with the table
    relative: Literal["distance", "gain", "log"] | None = None
    extra: tuple[Parameter, ...] = ()  # parameters besides the function's
    unused: tuple[str, ...] = ()  # the function's parameters on which this column does not hang
    # the function's parameters that a check calls as in `extra`
    renamed: tuple[tuple[str, str], ...] = ()
    # the column, and the parameter whose word it has in the row of the figure
    row_by: tuple[str, str] | None = None
    pick: Pick = only_row
    # of a count of cells, the people in each: where few are, it reveals how few
    cells: Cells | None = None
    # whether it counts some of the unique people: the others are the rest of them
    of_uniques: bool = False
    # of an answer for each record, whose share is asked for; $name is a parameter
    over: str | None = None
    older: str | None = None  # the function that answers by another method than the model of people

    @property
    def kind(self) -> Kind | None:
        """What its column is, and so how a report may show it; None if nobody declared it: it is masked."""
        return kind_of(self.function, self.column)

    @property
    def counts_values(self) -> bool:
        """Whether it counts the records of classes that a sensitive column has in some distribution."""
        return self.kind is Kind.SHARE and kind_of(self.function, "value") is Kind.DISTRIBUTION

    @property
    def declared(self) -> Function:
        """The function that answers."""
        return output_of(self.function, declared())

    def share(self, literals: Mapping[str, str], person: str | None) -> str:
        """Select the share of the records `over`, or of the people of a column."""
        over = Template(self.over or "true").substitute(literals)
        share = Template(SHARE_OF_RECORDS if person is None else SHARE_OF_PEOPLE)
        return share.substitute(over=over, person=person)

    @property
    def of_class_sizes(self) -> bool:
        """Whether the sizes of the classes are all that it is computed from."""
        return self.function == "risk_summary" and self.monotone

    @property
    def bound(self) -> str:
        """The key of the limit."""
        return "at_least" if self.at_least else "at_most"

    @property
    def parameters(self) -> dict[str, Parameter]:
        """What a check may give besides its limit, by name; a list of populations is one population here."""
        other = (*TABLE_PARAMETERS, *self.unused, *dict(self.renamed))
        named = [p for p in self.declared.parameters if p.name not in other]
        one = [Parameter("population", POPULATION) if p.name in POPULATIONS else p for p in named]
        return {p.name: p for p in (*(p for p in one if p.domain.is_in_checks), *self.extra)}

    def by_method(self, method: object) -> "Measure":
        """Give the measure as a method answers it: by the model of people unless another is named."""
        if self.older is None or method is None or method == METHOD:
            return self
        return replace(self, function=self.older, older=None, extra=self.extra[:1], unused=())

    @property
    def counts(self) -> bool:
        """Whether it hangs on quasi-identifiers; a model is fitted to them."""
        by_cells = any(
            p.name == "by" and p.domain.role == "counted" for p in self.declared.parameters
        )
        of_check = {each.name for each in self.extra}
        return by_cells or self.takes(*({"qi", "columns", "model"} - of_check))

    @property
    def needs_entity(self) -> bool:
        """Whether there is no answer without the column that identifies people."""
        return any(
            each.name == "entity" and each.default is REQUIRED for each in self.declared.parameters
        )

    def takes(self, *names: str) -> bool:
        """Whether the figure hangs on a parameter of one of these names."""
        return any(
            each.name in names
            and (each.name != "tables" or isinstance(each.domain, Tables))  # else sets of columns
            for each in self.declared.parameters
            if each.name not in self.unused
        )

    def worse(self, value: float, other: float) -> bool:
        """Whether a figure is a higher risk than another, by more than what rounding does."""
        gap = (other - value) if self.at_least else (value - other)
        scale = max(abs(value), abs(other))
        # an infinite figure is worse than any other
        return gap > (1e-9 * scale if isfinite(scale) else 0.0)


def argument_of(parameter: Parameter, parameters: Arguments) -> Any:  # noqa: ANN401 - the function's
    """Give the function's argument: the check's parameter, else the default."""
    if parameter.name == "populations":
        return [parameters["population"]]
    value = parameters.get(parameter.name, parameter.default)
    if parameter.domain.form == "numbers" and isinstance(value, int | float):
        return [value]
    return None if value is REQUIRED else value


def body_arguments_of(function: Function, parameters: Arguments) -> dict[str, Any]:
    """Give the arguments of the function's body, each the check's parameter, else the default."""
    return {each.name: argument_of(each, parameters) for each in function.own_parameters}
