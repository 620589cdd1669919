"""What the gate asks of a warehouse: records at the client for DuckDB, and measures from one statement."""

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import duckdb
import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from ibis.expr.types import BooleanValue, Column, Table

from reid_sql.check.duckdb_table import Calls
from reid_sql.check.exact_figures import Group
from reid_sql.check.measure import argument_of, body_arguments_of
from reid_sql.check.policy_model import Check, TablePolicy, largest_population
from reid_sql.check.sources import Codes, codes_of
from reid_sql.check.table_engine import TableEngine
from reid_sql.client.calls import create_view, drop_view, needed_columns
from reid_sql.engines.arrow import answer_rows, arrays_of
from reid_sql.engines.ibis.adapter import DistinctRecords
from reid_sql.engines.ibis.alike import comparable
from reid_sql.engines.ibis.frames import (
    KEEPS_VALUES,
    aliases,
    collected,
    max_collected_values,
)
from reid_sql.engines.ibis.reductions.disclosure import (
    Recipe,
    recipe_of,
    several_kinds,
    value_names,
)
from reid_sql.errors import ReidError
from reid_sql.function import Function
from reid_sql.models.columns.missing_value_codes import finite_numbers
from reid_sql.models.people.evidence import MAX_DRAWN
from reid_sql.parameters import Arguments, ColumnNames, Row, Rows, quoted
from reid_sql.reduction import NULL_REPORT_COLUMNS, Needs, columns_as_codes
from reid_sql.reductions.disclosure import MEASURES
from reid_sql_udfs import declared

PLACE: Final = "reid place of the group"


class RemoteTable(TableEngine):
    """The table in the warehouse."""

    table: TablePolicy

    @abstractmethod
    def fetch(
        self, columns: ColumnNames, by: ColumnNames, coded: Mapping[str, Needs]
    ) -> DistinctRecords:
        """Fetch the distinct records on some columns, and by the columns that divide them, these last."""

    def is_fetched(self, check: Check) -> bool:
        """Whether the client answers, from distinct records, as the warehouse lacks the function."""
        arguments = {**check.parameters, **self.table.call_options}
        function = check.measure.declared
        return bool(check.measure.over) or function.uses_fallback("ibis", arguments)

    @abstractmethod
    def leave(self) -> None:
        """End the warehouse's transaction: the client computes from here on."""


Client = Callable[[], duckdb.DuckDBPyConnection]  # opens DuckDB here, when it is first called


@dataclass(frozen=True)
class Request:
    """The records that a call needs: on which columns, and by which columns they are divided.

    Of the columns in `coded`, numbers that stand for the values are enough, as far as the need says.
    """

    columns: ColumnNames
    by: ColumnNames
    coded: Mapping[str, Needs]

    @property
    def key(self) -> tuple[frozenset[str], tuple[str, ...], frozenset[tuple[str, Needs]]]:
        """What is the same of two requests of the same records, whatever the order of the columns."""
        return frozenset(self.columns), tuple(self.by), frozenset(self.coded.items())

    def serves(self, other: "Request") -> bool:
        """Whether its records have at least what the other needs of each column: values serve for codes."""
        return self.key[:2] == other.key[:2] and all(
            need.serves(other.coded.get(name, Needs.VALUES)) for name, need in self.coded.items()
        )


@dataclass(frozen=True)
class View:
    """Records at the client: the name of their view, how many are distinct, how many values that is."""

    request: Request
    name: str
    rows: int
    values: int


class ClientRecords:
    """One table's records at the client, fetched once for the same columns and groups."""

    def __init__(
        self, client: Client, table: TablePolicy, number: int, source: RemoteTable
    ) -> None:
        """Remember where the records come from."""
        self._client, self._table, self._name = client, table, f"reid_client_{number}"
        self._source = source
        self._views: list[View] = []
        self._refused: dict[Any, ReidError] = {}  # by the key of a request
        self._created = 0
        self._has_all = False  # whether the records of all checks were fetched, as far as they fit
        self._is_full = False  # whether some did not

    @cached_property
    def _calls(self) -> Calls:
        return Calls(self._client(), self._table, {})

    def call(
        self,
        function: Function,
        qi: ColumnNames,
        arguments: Arguments,
        by: ColumnNames,
        group: Group,
    ) -> Rows:
        """Call a function on the records of a group, or of the whole table."""
        part = self._part(self._request(function, qi, arguments, by), group)
        return self._calls.call(function, qi, arguments, part)

    def call_measure(self, check: Check, arguments: Arguments, group: Group) -> Rows:
        """Return the share of a group's records for which a measure's condition is true."""
        part = self._part(self._request_of(check), group)
        return self._calls.call_measure(check, arguments, part)

    def call_by_group(
        self, function: Function, qi: ColumnNames, arguments: Arguments, by: ColumnNames
    ) -> Rows:
        """Call a function on all groups at once; the values of a group are under the names of the source."""
        view = self._view(self._request(function, qi, arguments, by))
        names, groups = self._source.group_names(by), self._source.groups(by)
        answers: list[Row] = []
        for row in self._calls.call(function, qi, {**arguments, "by": [PLACE]}, view):
            cells = dict(row)
            values = groups[cells.pop(PLACE)].values
            answers.append(dict(zip(names, values, strict=True)) | cells)
        return answers

    def _request(
        self,
        function: Function,
        qi: ColumnNames,
        arguments: Arguments,
        by: ColumnNames = (),
        needs: Needs | None = None,
        *,
        of_any_size: bool = False,
    ) -> Request:
        """Return what a call needs: the columns that it is about, those of a model, and the one of people.

        With `of_any_size` the table may have so many records that a model draws some of them.
        """
        person = [] if self._table.entity is None else [self._table.entity]
        named = {
            each.name: qi if each.domain.role == "counted" else arguments.get(each.name)
            for each in function.parameters
        }
        required = needed_columns(function, "tbl", named) or []
        columns = list(dict.fromkeys([*qi, *required, *person]))
        is_drawn = not KEEPS_VALUES.get() and (
            of_any_size or self._source.count_records() > MAX_DRAWN
        )
        undivided = {**arguments, "entity": self._table.entity, "by": None}
        coded = columns_as_codes(needs or function.needs, undivided, columns, is_drawn=is_drawn)
        return Request(columns, by, coded)

    def _request_of(self, check: Check, *, of_any_size: bool = False) -> Request:
        """Return what a check needs; a fitted model has values."""
        function = check.measure.declared
        return self._request(
            function,
            check.quasi_identifiers,
            {**check.parameters, "sensitive": check.sensitive},
            check.by,
            Needs.VALUES if check.measure.over else function.needs,
            of_any_size=of_any_size,
        )

    def _view(self, request: Request) -> str:
        """Name a view of all records, with the place of their group."""
        if self._find_view(request) is None:
            self._fetch(request)
        # The records of all checks are fetched before the first of them is computed, in the same transaction.
        # From the first that does not fit next to the others, each is fetched when its check is computed.
        if not self._has_all:
            self._has_all = True
            for each in self._list_requests():
                self._fetch_ahead(each)
        self._source.leave()
        return next(view.name for view in self._views if view.request.serves(request))

    def _find_view(self, request: Request) -> View | None:
        return next((view for view in self._views if view.request.serves(request)), None)

    def columns_fetched(self, check: Check, texts: Collection[str]) -> list[str]:
        """List the columns whose values the check fetches: of its groups, and of what the client computes.

        Of `texts`, positions are fetched only where they are numbers or dates, which a query shows. The table
        may have so many records that a model draws some of them by their values.
        """
        if not self._source.is_fetched(check):
            return list(check.by)
        request = self._request_of(check, of_any_size=True)
        codes = {name for name, need in request.coded.items() if need.is_by_code or name in texts}
        return [*check.by, *(name for name in request.columns if name not in codes)]

    def fetch_with(self, columns: ColumnNames) -> None:
        """Fetch the records that a check needs anyway, if they have these columns, and fit next to others."""
        for request in self._list_requests():
            if set(columns) <= set(request.columns):
                self._fetch_ahead(request)
                return

    def _fetch_ahead(self, request: Request) -> None:
        """Fetch the records before their check is computed, unless they do not fit next to the others.

        They are known not to fit if those on some of the columns, which are no more, would not.
        """
        columns = [*request.columns, *request.by]
        narrower = [
            view.rows
            for view in self._views
            if {*view.request.columns, *view.request.by} <= set(columns)
        ]
        least = self._total + max(narrower, default=0) * (len(columns) + 1)
        if self._find_view(request) or self._is_full or least > max_collected_values():
            return
        with suppress(ReidError):  # the check that is about them is refused
            self._fetch(request, ahead=True)

    @property
    def _total(self) -> int:
        return sum(view.values for view in self._views)

    def _list_requests(self) -> list[Request]:
        """List what the checks that the client answers need, and the overview.

        Those that need most of the values come first: their records serve where less would do.
        """
        table = self._table
        requests = [
            self._request_of(check) for check in table.checks if self._source.is_fetched(check)
        ]
        has_estimate = self._source.counts_overview and table.asks_for_population
        population = largest_population(table) if has_estimate else None
        if table.quasi_identifiers and (population or 0) > self._source.count_records():
            function = declared()["population_risk"]
            requests.append(self._request(function, table.quasi_identifiers, {}))
        return sorted(
            requests, key=lambda each: sum(1 + need.is_by_code for need in each.coded.values())
        )

    def _fetch(self, request: Request, *, ahead: bool = False) -> None:
        """Fetch the records; of more than the client may have, keep those that are needed now."""
        if request.key in self._refused:
            raise self._refused[request.key]
        try:
            fetched = self._source.fetch(request.columns, request.by, request.coded)
            if ahead and self._total + fetched.values > max_collected_values():
                self._is_full = True
                return
            while self._views and self._total + fetched.values > max_collected_values():
                drop_view(self._client(), self._views.pop(0).name)
            self._created += 1
            name = f"{self._name}_{self._created}"
            create_view(self._client(), name, *self._with_places(fetched, request.by))
            self._views.append(View(request, name, len(fetched.fetched.codes), fetched.values))
        except ReidError as error:  # once for all groups: a refusal takes as long as counting
            self._refused[request.key] = error
            raise

    def _with_places(
        self, fetched: DistinctRecords, by: ColumnNames
    ) -> tuple[Sequence[str], pa.Table]:
        """Replace the columns that divide the records, which are the last, by the places of their groups."""
        if not by:
            return fetched.columns, fetched.rows
        names, undivided = aliases(fetched.columns), len(fetched.columns) - len(by)
        kinds, of_kind = np.unique(
            fetched.fetched.codes[:, undivided:], axis=0, return_inverse=True
        )
        values = [[None, *each.to_pylist()] for each in fetched.fetched.values[undivided:]]
        places = [
            self._source.place_of(
                by, [listed[code] for listed, code in zip(values, kind, strict=True)]
            )
            for kind in kinds
        ]
        rows = fetched.rows.select([*names[:undivided], "records"])
        numbers = pa.array(np.array(places, dtype=np.int64)[of_kind.ravel()])
        columns = [*fetched.columns[:undivided], PLACE]
        return columns, rows.append_column(f"q{undivided + 1}", numbers)

    def _part(self, request: Request, group: Group) -> str:
        """Name a view of the group's records alone."""
        view = self._view(request)
        if not request.by:
            return view
        part = f"{view}_of_{group.place}"
        listed = ", ".join(quoted(name) for name in request.columns)
        select = f"SELECT {listed} FROM {view} WHERE {quoted(PLACE)} = {group.place}"
        self._client().execute(f"CREATE OR REPLACE TEMP VIEW {part} AS {select}")
        return part


WORDS: Final = "what a check is judged by"
Ask = Callable[[Callable[[], pa.Table]], pa.Table]
Variant = tuple[str, tuple[tuple[str, Any], ...]]  # the measure and its options
Place = tuple[tuple[str, ...], str]  # quasi-identifiers and the sensitive column


class SensitiveMeasures:
    """How many classes have each size and value of a measure; the cells of the classes are counted once."""

    def __init__(self, table: TablePolicy, frame: Table) -> None:
        """Remember which measures the checks of the table ask for."""
        self._table, self._frame = table, frame
        self._counts: dict[tuple[Place, Variant], pa.Table] = {}
        # that were asked together, whether they were answered or not
        self._joined: set[Place] = set()

    def has(self, function: Function, arguments: Arguments) -> bool:
        """Whether the function is such a measure of the whole table, and the database can answer it."""
        plain = arguments.get("nulls") != "wildcard" and not arguments.get("entity")
        return function.reduction in MEASURES and plain and not arguments.get("by")

    def call(self, function: Function, qi: ColumnNames, arguments: Arguments, ask: Ask) -> Rows:
        """Answer one measure; the others of the same columns are counted with it."""
        place, variant = (tuple(qi), arguments["sensitive"]), _variant_of(function, arguments)
        if (place, variant) not in self._counts:
            self._count(place, variant, ask)
        counts = self._counts[place, variant]
        options = body_arguments_of(function, arguments)
        inputs = list(function.reduction.inputs) if function.reduction else []
        null_report = {name: pc.max(counts[name]).as_py() for name in NULL_REPORT_COLUMNS}
        rows = answer_rows(function, arrays_of(counts.select(inputs)), options)
        return [row | null_report for row in rows]

    def _count(self, place: Place, variant: Variant, ask: Ask) -> None:
        """Count this one with the others; alone if that was tried, as the others may be what is refused."""
        recipes = {variant: recipe_of(self._frame, variant[0], dict(variant[1]))}
        joined = {} if place in self._joined else self._find_joined(place, variant)
        self._joined.add(place)
        try:
            self._fetch(place, recipes | joined, ask)
        except ReidError:
            if not joined:
                raise
            self._fetch(place, recipes, ask)

    def _find_joined(self, place: Place, variant: Variant) -> dict[Variant, Recipe]:
        """Return another measure of each function that the checks ask of the same columns."""
        recipes: dict[Variant, Recipe] = {}
        for check in self._table.checks:
            function = check.measure.declared
            counted = {variant[0], *(name for name, _ in recipes)}
            same = (check.quasi_identifiers, check.sensitive) == place and not check.by
            if not same or function.reduction not in MEASURES or function.reduction.name in counted:
                continue
            arguments = {
                each.name: argument_of(each, check.parameters) for each in function.parameters
            }
            with suppress(ReidError):  # the check itself says so
                joined = _variant_of(function, arguments)
                recipes[joined] = recipe_of(self._frame, joined[0], dict(joined[1]))
        return recipes

    def _fetch(self, place: Place, recipes: Mapping[Variant, Recipe], ask: Ask) -> None:
        """Fetch the joint counts; add up the classes of each size and value of each measure."""
        qi, sensitive = place
        nulls, frame = self._table.nulls, self._frame
        joint = ask(
            lambda: collected(several_kinds(frame, qi, sensitive, nulls, *recipes.values()), WORDS)
        )
        for variant, value in zip(recipes, value_names(len(recipes)), strict=True):
            keys = ["class_size", value, *NULL_REPORT_COLUMNS]
            summed = joint.group_by(keys).aggregate([("classes", "sum"), ("records", "sum")])
            renamed = {value: "value", "classes_sum": "classes", "records_sum": "records"}
            columns = [renamed.get(name, name) for name in summed.column_names]
            self._counts[place, variant] = summed.rename_columns(columns).sort_by("class_size")


def _variant_of(function: Function, arguments: Arguments) -> Variant:
    reduction = function.reduction
    names = [] if reduction is None else [each.name for each in reduction.arguments]
    options = [name for name in ("variant", "c") if name in names]
    return (str(reduction and reduction.name), tuple((name, arguments[name]) for name in options))


# Values of a warehouse that a policy declares missing.


def null_codes(frame: Table, codes: Codes) -> Table:
    """The table with NULL in place of the values that the policy declares missing."""
    replaced = {}
    for name in frame.columns:
        declared = codes_of(codes, name)
        if not declared:
            continue
        column = frame[name]
        if tests := _test_codes(column, declared):
            replaced[name] = ibis.ifelse(ibis.or_(*tests), ibis.null(column.type()), column)
    return frame.mutate(**replaced) if replaced else frame


def _test_codes(column: Column, declared: Sequence[str]) -> list[BooleanValue]:
    """Compare a number by its value, a time by its date, else a cell by its text."""
    kind = column.type()
    if kind.is_numeric():
        return [column.cast("float64") == number for number in finite_numbers(declared)]
    if kind.is_date() or kind.is_timestamp():
        return [column.cast("string")[:10] == code for code in declared]
    text = comparable(column.cast("string"))
    return [text == comparable(ibis.literal(code, "string")) for code in declared]


def order_of(value: Any) -> tuple[bool, bool, Any]:  # noqa: ANN401 - a cell
    """NULL first, NaN last, else by the value; what has no order by how it is written."""
    odd = isinstance(value, float) and math.isnan(value)
    plain = value if not isinstance(value, dict | list) else repr(value)
    return value is not None, odd, 0 if value is None or odd else plain
