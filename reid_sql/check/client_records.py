"""What the gate asks of a warehouse: records at the client for DuckDB, and measures from one statement."""

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from ibis.expr.types import Table

from reid_sql.check.duckdb_table import Calls
from reid_sql.check.exact_figures import Group
from reid_sql.check.measure import Row, argument_of
from reid_sql.check.policy_model import Check, TablePolicy, largest_population
from reid_sql.check.table_engine import TableEngine
from reid_sql.client.calls import create_view, drop_view, needed_columns, open_client
from reid_sql.engines.arrow import answer_rows, arrays_of
from reid_sql.engines.ibis.adapter import DistinctRecords
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
from reid_sql.models.people.evidence import MAX_DRAWN
from reid_sql.parameters import quoted
from reid_sql.reduction import NULL_REPORT_COLUMNS, Needs, columns_as_codes
from reid_sql.reductions.disclosure import MEASURES
from reid_sql_udfs import declared

PLACE: Final = "reid place of the group"


class RemoteTable(TableEngine):
    """The table in the warehouse."""

    table: TablePolicy

    @abstractmethod
    def fetch(
        self, columns: Sequence[str], by: Sequence[str], coded: Mapping[str, Needs]
    ) -> DistinctRecords:
        """Fetch the distinct records on some columns, and by the columns that divide them, these last."""

    def is_fetched(self, check: Check) -> bool:
        """Whether the client answers, as the warehouse lacks the function."""
        return is_answered_by_client(self.table, check)

    @abstractmethod
    def leave(self) -> None:
        """End the warehouse's transaction: the client computes from here on."""


class Client:
    """The DuckDB of the client, opened when it is first asked."""

    def __init__(self, stack: ExitStack) -> None:
        """Remember what closes it."""
        self._stack = stack

    @cached_property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The connection."""
        return self._stack.enter_context(open_client())


def is_answered_by_client(table: TablePolicy, check: Check) -> bool:
    """Whether the client answers a check of a warehouse's table, from its distinct records."""
    given = {**check.parameters, "nulls": table.nulls, "entity": table.entity}
    return bool(check.measure.over) or check.measure.declared.uses_fallback("ibis", given)


def _needs_of(check: Check) -> Needs:
    """What a check needs of its columns; a fitted model has values."""
    return Needs.VALUES if check.measure.over else check.measure.declared.needs


# columns, those that divide the records, and what is needed of columns of which numbers came
Key = tuple[frozenset[str], tuple[str, ...], frozenset[tuple[str, Needs]]]


@dataclass(frozen=True)
class View:
    """Records at the client: the name of their view, how many are distinct, how many values that is."""

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
        self._views: dict[Key, View] = {}
        self._refused: dict[Key, ReidError] = {}
        self._created = 0
        self._has_all = False  # whether the records of all checks were fetched, as far as they fit
        self._is_full = False  # whether some did not

    @cached_property
    def _calls(self) -> Calls:
        return Calls(self._client.con, self._table, {})

    def call(
        self,
        function: Function,
        qi: Sequence[str],
        given: Mapping[str, Any],
        by: Sequence[str],
        group: Group,
    ) -> list[Row]:
        """Call a function on the records of a group, or of the whole table."""
        columns = self._needed(function, qi, given)
        part = self._part(columns, by, group, self._coded(function.needs, given, columns))
        return self._calls.call(function, qi, given, part)

    def call_measure(self, check: Check, given: Mapping[str, Any], group: Group) -> list[Row]:
        """Return the share of a group's records for which a measure's condition is true."""
        columns = self._needed(check.measure.declared, check.quasi_identifiers, given)
        part = self._part(columns, check.by, group, {})
        return self._calls.call_measure(check, given, part)

    def call_by_group(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str]
    ) -> list[Row]:
        """Call a function on all groups at once; the values of a group are under the names of the source."""
        columns = self._needed(function, qi, given)
        view = self._view(columns, by, self._coded(function.needs, given, columns))
        names, groups = self._source.group_names(by), self._source.groups(by)
        rows = self._calls.call(function, qi, {**given, "by": [PLACE]}, view)
        return [
            dict(zip(names, groups[row[PLACE]].values, strict=True)) | _without_place(row)
            for row in rows
        ]

    def _needed(self, function: Function, qi: Sequence[str], given: Mapping[str, Any]) -> list[str]:
        """List the columns that the call is about, with those of a model and the one of people."""
        arguments = {
            p.name: qi if p.domain.role == "counted" else given.get(p.name)
            for p in function.parameters
        }
        person = [] if self._table.entity is None else [self._table.entity]
        return list(
            dict.fromkeys([*qi, *(needed_columns(function, "tbl", arguments) or []), *person])
        )

    def _coded(
        self,
        needs: Needs,
        given: Mapping[str, Any],
        columns: Sequence[str],
        *,
        of_any_size: bool = False,
    ) -> dict[str, Needs]:
        """Choose the columns of which numbers are enough for a call on the table or a group.

        With `of_any_size` the table may have so many records that a model draws some of them.
        """
        arguments = {**given, "entity": self._table.entity, "by": None}
        is_drawn = not KEEPS_VALUES.get() and (
            of_any_size or self._source.count_records() > MAX_DRAWN
        )
        return columns_as_codes(needs, arguments, columns, is_drawn=is_drawn)

    def _view(self, columns: Sequence[str], by: Sequence[str], coded: Mapping[str, Needs]) -> str:
        """Name a view of all records, with the place of their group."""
        key = (frozenset(columns), tuple(by), frozenset(coded.items()))
        if self._find_view(key) is None:
            self._fetch_view(key, columns, by)
        self._fetch_all()
        self._source.leave()
        return (self._find_view(key) or self._views[key]).name

    def _find_view(self, key: Key) -> View | None:
        """Find the records with at least what is needed of each column: values serve for codes."""
        needed = dict(key[2])
        for (names, by, coded), view in self._views.items():
            if (names, by) == key[:2] and all(
                need.serves(needed.get(name, Needs.VALUES)) for name, need in coded
            ):
                return view
        return None

    def columns_fetched(self, check: Check, texts: Collection[str]) -> list[str]:
        """List the columns whose values the check fetches: of its groups, and of what the client computes.

        Of `texts`, positions are fetched only where they are numbers or dates, which a query shows. The table
        may have so many records that a model draws some of them by their values.
        """
        if not self._source.is_fetched(check):
            return list(check.by)
        columns = self._needed(
            check.measure.declared,
            check.quasi_identifiers,
            {**check.parameters, "sensitive": check.sensitive},
        )
        needs = self._coded(_needs_of(check), check.parameters, columns, of_any_size=True)
        codes = {name for name, need in needs.items() if need.is_by_code or name in texts}
        return [*check.by, *(name for name in columns if name not in codes)]

    def fetch_with(self, columns: Sequence[str]) -> None:
        """Fetch the records that a check needs anyway, if they have these columns, and fit next to others."""
        for needed, by, coded in self._list_needed():
            if set(columns) <= set(needed):
                self._fetch_ahead(needed, by, coded)
                return

    def _fetch_all(self) -> None:
        """Fetch the records of all checks before the first of them is computed, in the same transaction.

        From the first that does not fit next to the others, each is fetched when its check is computed.
        """
        if not self._has_all:
            self._has_all = True
            for columns, by, coded in self._list_needed():
                self._fetch_ahead(columns, by, coded)

    def _fetch_ahead(
        self, columns: Sequence[str], by: Sequence[str], coded: Mapping[str, Needs]
    ) -> None:
        """Fetch the records before their check is computed, unless they do not fit next to the others.

        They are known not to fit if those on some of the columns, which are no more, would not.
        """
        key = (frozenset(columns), tuple(by), frozenset(coded.items()))
        every = {*columns, *by}
        least = [
            view.rows for (names, own, _), view in self._views.items() if names | set(own) <= every
        ]
        may_fit = (
            self._total + max(least, default=0) * (len(columns) + len(by) + 1)
            <= max_collected_values()
        )
        if self._find_view(key) or self._is_full or not may_fit:
            return
        with suppress(ReidError):  # the check that is about them is refused
            self._fetch_view(key, columns, by, ahead=True)

    @property
    def _total(self) -> int:
        return sum(view.values for view in self._views.values())

    def _list_needed(
        self,
    ) -> Iterator[tuple[Sequence[str], Sequence[str], Mapping[str, Needs]]]:
        """Yield the columns of each check that the client answers, and by which; and of the overview.

        Those of which most is needed come first: they serve where less would do.
        """
        yield from sorted(
            self._list_checked(),
            key=lambda each: sum(1 + need.is_by_code for need in each[2].values()),
        )

    def _list_checked(
        self,
    ) -> Iterator[tuple[Sequence[str], Sequence[str], Mapping[str, Needs]]]:
        table = self._table
        for check in table.checks:
            if self._source.is_fetched(check):
                given = {**check.parameters, "sensitive": check.sensitive}
                columns = self._needed(check.measure.declared, check.quasi_identifiers, given)
                yield columns, check.by, self._coded(_needs_of(check), check.parameters, columns)
        is_asked = self._source.counts_overview and table.asks_for_population
        population = largest_population(table) if is_asked else None
        if table.quasi_identifiers and (population or 0) > self._source.count_records():
            function = declared()["population_risk"]
            columns = self._needed(function, table.quasi_identifiers, {})
            yield columns, (), self._coded(function.needs, {}, columns)

    def _fetch_view(
        self, key: Key, columns: Sequence[str], by: Sequence[str], *, ahead: bool = False
    ) -> None:
        if key in self._refused:
            raise self._refused[key]
        try:
            self._create(key, columns, by, ahead=ahead)
        except ReidError as error:  # once for all groups: a refusal takes as long as counting
            self._refused[key] = error
            raise

    def _create(self, key: Key, columns: Sequence[str], by: Sequence[str], *, ahead: bool) -> None:
        """Fetch the records; of more than the client may have, keep those that are needed now."""
        fetched = self._source.fetch(columns, by, dict(key[2]))
        if ahead and self._total + fetched.values > max_collected_values():
            self._is_full = True
            return
        while self._views and self._total + fetched.values > max_collected_values():
            drop_view(self._client.con, self._views.pop(next(iter(self._views))).name)
        self._created += 1
        view = View(f"{self._name}_{self._created}", len(fetched.fetched.codes), fetched.values)
        create_view(self._client.con, view.name, *self._with_places(fetched, by))
        self._views[key] = view

    def _with_places(
        self, fetched: DistinctRecords, by: Sequence[str]
    ) -> tuple[Sequence[str], pa.Table]:
        """Replace the columns that divide the records, which are the last, by the places of their groups."""
        if not by:
            return fetched.columns, fetched.rows
        names, own = aliases(fetched.columns), len(fetched.columns) - len(by)
        kinds, of_kind = np.unique(fetched.fetched.codes[:, own:], axis=0, return_inverse=True)
        values = [[None, *each.to_pylist()] for each in fetched.fetched.values[own:]]
        places = [
            self._source.place_of(
                by, [listed[code] for listed, code in zip(values, kind, strict=True)]
            )
            for kind in kinds
        ]
        rows = fetched.rows.select([*names[:own], "records"])
        numbers = np.array(places, dtype=np.int64)[of_kind.ravel()]
        return [*fetched.columns[:own], PLACE], rows.append_column(f"q{own + 1}", pa.array(numbers))

    def _part(
        self,
        columns: Sequence[str],
        by: Sequence[str],
        group: Group,
        coded: Mapping[str, Needs],
    ) -> str:
        """Name a view of the group's records alone."""
        view = self._view(columns, by, coded)
        if not by:
            return view
        part = f"{view}_of_{group.place}"
        listed = ", ".join(quoted(name) for name in columns)
        select = f"SELECT {listed} FROM {view} WHERE {quoted(PLACE)} = {group.place}"
        self._client.con.execute(f"CREATE OR REPLACE TEMP VIEW {part} AS {select}")
        return part


def _without_place(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != PLACE}


WORDS: Final = "what a check is judged by"
Ask = Callable[[Callable[[], pa.Table]], pa.Table]
Asked = tuple[str, tuple[tuple[str, Any], ...]]  # the measure and its options
Place = tuple[tuple[str, ...], str]  # quasi-identifiers and the sensitive column


class SensitiveMeasures:
    """How many classes have each size and value of a measure; the cells of the classes are counted once."""

    def __init__(self, table: TablePolicy, frame: Table) -> None:
        """Remember which measures the checks of the table ask for."""
        self._table, self._frame = table, frame
        self._counts: dict[tuple[Place, Asked], pa.Table] = {}
        # that were asked together, whether they were answered or not
        self._joined: set[Place] = set()

    def has(self, function: Function, given: Mapping[str, Any]) -> bool:
        """Whether the function is such a measure of the whole table, and the database can answer it."""
        plain = given.get("nulls") != "wildcard" and not given.get("entity")
        return function.reduction in MEASURES and plain and not given.get("by")

    def call(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], ask: Ask
    ) -> list[Row]:
        """Answer one measure; the others of the same columns are counted with it."""
        place, asked = (tuple(qi), given["sensitive"]), _asked(function, given)
        if (place, asked) not in self._counts:
            self._count(place, asked, ask)
        counts = self._counts[place, asked]
        own = {each.name: argument_of(each, given) for each in function.own_parameters}
        inputs = list(function.reduction.inputs) if function.reduction else []
        treated = {name: pc.max(counts[name]).as_py() for name in NULL_REPORT_COLUMNS}
        return [
            row | treated for row in answer_rows(function, arrays_of(counts.select(inputs)), own)
        ]

    def _count(self, place: Place, asked: Asked, ask: Ask) -> None:
        """Count this one with the others; alone if that was tried, as the others may be what is refused."""
        recipe = recipe_of(self._frame, asked[0], dict(asked[1]))
        others = self._others(place, asked) if place not in self._joined else {}
        self._joined.add(place)
        if others:
            try:
                self._fetch(place, {asked: recipe, **others}, ask)
            except ReidError:
                self._fetch(place, {asked: recipe}, ask)
        else:
            self._fetch(place, {asked: recipe}, ask)

    def _others(self, place: Place, asked: Asked) -> dict[Asked, Recipe]:
        """Return another measure of each function that the checks ask of the same columns."""
        found: dict[str, tuple[Asked, Recipe]] = {
            asked[0]: (asked, Recipe(lambda each: each["parts"]))
        }
        for check in self._table.checks:
            function = check.measure.declared
            same = (check.quasi_identifiers, check.sensitive) == place and not check.by
            if not same or function.reduction not in MEASURES or function.reduction.name in found:
                continue
            try:
                other = _asked(function, _given(check))
                found[other[0]] = (other, recipe_of(self._frame, other[0], dict(other[1])))
            except ReidError:  # the check itself says so
                continue
        return {each: recipe for each, recipe in found.values() if each != asked}

    def _fetch(self, place: Place, recipes: Mapping[Asked, Recipe], ask: Ask) -> None:
        qi, sensitive = place
        nulls = self._table.nulls
        joint = ask(
            lambda: collected(
                several_kinds(self._frame, qi, sensitive, nulls, *recipes.values()), WORDS
            )
        )
        for each, name in zip(recipes, value_names(len(recipes)), strict=True):
            self._counts[place, each] = _of_one(joint, name)


def _of_one(joint: pa.Table, value: str) -> pa.Table:
    """Add up the classes of each size and value of one measure."""
    keys = ["class_size", value, *NULL_REPORT_COLUMNS]
    sums = [("classes", "sum"), ("records", "sum")]
    summed = joint.group_by(keys).aggregate(sums)
    renamed = {value: "value", "classes_sum": "classes", "records_sum": "records"}
    named = summed.rename_columns([renamed.get(name, name) for name in summed.column_names])
    return named.sort_by("class_size")


def _asked(function: Function, given: Mapping[str, Any]) -> Asked:
    reduction = function.reduction
    names = [] if reduction is None else [each.name for each in reduction.arguments]
    options = [name for name in ("variant", "c") if name in names]
    return (str(reduction and reduction.name), tuple((name, given[name]) for name in options))


def _given(check: Check) -> dict[str, Any]:
    return {
        each.name: argument_of(each, check.parameters) for each in check.measure.declared.parameters
    }
