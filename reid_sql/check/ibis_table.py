"""A table of the policy in a warehouse, through Ibis: opened by its URL, or passed in Python.

What the warehouse cannot answer, DuckDB answers at the client, from the distinct records.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial, reduce
from operator import and_
from typing import Any, Final

import duckdb
import ibis
import numpy as np
import pyarrow as pa
from ibis.expr.types import BooleanValue, Table

import reid_sql.ibis as ri
from reid_sql.check.duckdb_table import CAUTION_VIEW, Calls
from reid_sql.check.measure import Row, arguments_of
from reid_sql.check.policy_model import Check, Policy, TablePolicy, columns_counted, columns_named
from reid_sql.check.release import POLICY_COLUMNS, Group, Release, TableEngine
from reid_sql.check.sources import Source
from reid_sql.client_fallback import (
    DistinctRecords,
    create_view,
    drop_view,
    fetch_distinct,
    needed_columns,
    open_client,
    profile_columns,
)
from reid_sql.engines.ibis.adapter import TABLE
from reid_sql.engines.ibis.alike import comparable
from reid_sql.engines.ibis.frames import aliases, bigint, check_columns, max_collected_values, with_aliases
from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError, WrongTypeError
from reid_sql.function import Function
from reid_sql.parameters import MAX_COLUMNS, Columns, NullWord, quoted
from reid_sql.sources.identifiers import repeated_in_warehouse
from reid_sql.sources.remote import url_of
from reid_sql.sources.warehouse import Warehouse, asked, rows, warehouse

PLACE: Final = "reid place of the group"


class RemoteTable(TableEngine):
    """The table in the warehouse."""

    @abstractmethod
    def fetch(self, columns: Sequence[str], by: Sequence[str]) -> DistinctRecords:
        """Fetch the distinct records on some columns, and by the columns that divide them, these last."""


class Client:
    """The DuckDB of the client, opened when it is first asked."""

    def __init__(self, stack: ExitStack) -> None:
        """Remember what closes it."""
        self._stack = stack

    @cached_property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The connection."""
        return self._stack.enter_context(open_client())


class ClientRecords:
    """One table's records at the client, fetched once for the same columns and groups."""

    def __init__(self, client: Client, table: TablePolicy, number: int, source: RemoteTable) -> None:
        """Remember where the records come from."""
        self._client, self._table, self._name = client, table, f"reid_client_{number}"
        self._source = source
        self._views: dict[Any, tuple[str, int]] = {}  # with how many values each has
        self._refused: dict[Any, ReidError] = {}
        self._created = 0

    @cached_property
    def _calls(self) -> Calls:
        return Calls(self._client.con, self._table, "")

    def call(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str], group: Group
    ) -> list[Row]:
        """Call a function on the records of a group, or of the whole table."""
        return self._calls.call(function, qi, given, self._part(self._needed(function, qi, given), by, group))

    def call_measure(self, check: Check, given: Mapping[str, Any], group: Group) -> list[Row]:
        """Return the share of a group's records for which a measure's condition is true."""
        columns = self._needed(check.measure.declared, check.quasi_identifiers, given)
        return self._calls.call_measure(check, given, self._part(columns, check.by, group))

    def call_by_group(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str]
    ) -> list[Row]:
        """Call a function on all groups at once; the values of a group are under the names of the source."""
        view = self._view(self._needed(function, qi, given), by)
        names, groups = self._source.group_names(by), self._source.groups(by)
        rows = self._calls.call(function, qi, {**given, "by": [PLACE]}, view)
        return [
            dict(zip(names, groups[row[PLACE]].values, strict=True)) | _without_place(row) for row in rows
        ]

    def _needed(self, function: Function, qi: Sequence[str], given: Mapping[str, Any]) -> list[str]:
        """List the columns that the call is about, with those of a model and the one of people."""
        arguments = {
            p.name: qi if isinstance(p.domain, Columns) else given.get(p.name) for p in function.parameters
        }
        person = [] if self._table.entity is None else [self._table.entity]
        return list(dict.fromkeys([*qi, *(needed_columns(function, "tbl", arguments) or []), *person]))

    def _view(self, columns: Sequence[str], by: Sequence[str]) -> str:
        """Name a view of all records, with the place of their group."""
        key = (frozenset(columns), tuple(by))
        if key not in self._views:
            if key in self._refused:
                raise self._refused[key]
            try:
                self._views[key] = self._create(columns, by)
            except ReidError as error:  # once for all groups: a refusal takes as long as counting
                self._refused[key] = error
                raise
        return self._views[key][0]

    def _create(self, columns: Sequence[str], by: Sequence[str]) -> tuple[str, int]:
        """Fetch the records; drop those of the oldest calls if all were more than the client may have."""
        fetched = self._source.fetch(columns, by)
        while (
            self._views and sum(n for _, n in self._views.values()) + fetched.values > max_collected_values()
        ):
            view, _ = self._views.pop(next(iter(self._views)))
            drop_view(self._client.con, view)
        self._created += 1
        view = f"{self._name}_{self._created}"
        create_view(self._client.con, view, self._with_places(fetched, by) if by else fetched)
        return view, fetched.values

    def _with_places(self, fetched: DistinctRecords, by: Sequence[str]) -> DistinctRecords:
        """Replace the columns that divide the records, which are the last, by the places of their groups."""
        names = aliases(fetched.columns)
        own = len(names) - len(by)
        try:
            encoded = [
                fetched.rows[alias].combine_chunks().dictionary_encode(null_encoding="encode")
                for alias in names[own:]
            ]
        except pa.ArrowNotImplementedError:
            rule = f"a check by {', '.join(by)} must be by columns of single values, got others"
            raise OutOfDomainError(f"{rule}; cast them to text in a view") from None
        codes = np.column_stack([each.indices.to_numpy(zero_copy_only=False) for each in encoded])
        kinds, of_kind = np.unique(codes, axis=0, return_inverse=True)
        values = [each.dictionary.to_pylist() for each in encoded]
        numbers = np.array(
            [
                self._source.place_of(by, [listed[code] for listed, code in zip(values, kind, strict=True)])
                for kind in kinds
            ],
            dtype=np.int64,
        )[of_kind.ravel()]
        rows = fetched.rows.select([*names[:own], "records"])
        rows = rows.append_column(f"q{own + 1}", pa.array(numbers))
        return DistinctRecords((*fetched.columns[:own], PLACE), rows)

    def _part(self, columns: Sequence[str], by: Sequence[str], group: Group) -> str:
        """Name a view of the group's records alone."""
        view = self._view(columns, by)
        if not by:
            return view
        part = f"{view}_of_{group.place}"
        listed = ", ".join(quoted(name) for name in columns)
        select = f"SELECT {listed} FROM {view} WHERE {quoted(PLACE)} = {group.place}"
        self._client.con.execute(f"CREATE OR REPLACE TEMP VIEW {part} AS {select}")
        return part


def _without_place(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != PLACE}


LABEL: Final = "what a check is judged by"


@contextmanager
def open_in_ibis(
    policy: Policy,
    memory_limit: str | None,
    show_progress: Any,  # noqa: ANN401
    given: Mapping[str, Any],
) -> Iterator[list[Release]]:
    """Open the tables of a policy, each warehouse once; the connections are closed at the end.

    The policy's own memory limit is for files.
    """
    if memory_limit is not None:
        rule = f"--memory-limit must not be given for a warehouse, got '{memory_limit}'"
        raise OutOfDomainError(f"{rule}; leave it away, as the client holds reduced statistics alone")
    _refuse_files(policy)
    with ExitStack() as stack:
        warehouses: dict[str, Warehouse] = {}
        for number, table in enumerate(policy.tables, 1):
            for each in (table.source, table.population_source):
                if each is not None and each.url is not None and each.url not in warehouses:
                    label = f"policy tables[{number}].url"
                    warehouses[each.url] = stack.enter_context(warehouse(label, each.url, each.path))
        client = Client(stack)
        releases: list[Release] = []
        for number, table in enumerate(policy.tables, 1):
            show_progress(f"{table.name}: opening")
            engine = IbisTable(table, number, warehouses, given, client)
            releases.append(Release(table, engine))
        yield releases


def _refuse_files(policy: Policy) -> None:
    for number, table in enumerate(policy.tables, 1):
        for each in (table.source, table.population_source):
            if each is not None and each.of_file:
                rule = f"policy tables[{number}] must lie in a warehouse as the others, got '{each.given}'"
                raise OutOfDomainError(f"{rule}; check files by a policy of their own")


class IbisTable(RemoteTable):
    """A table of a warehouse: each way to count is one query, whose reduced statistics alone come here."""

    packages = ("ibis-framework",)

    def __init__(
        self,
        table: TablePolicy,
        number: int,
        warehouses: Mapping[str, Warehouse],
        given: Mapping[str, Any],
        client: Client,
    ) -> None:
        """Open the table, and check that it has the columns that the policy names."""
        super().__init__()
        self.table = table
        self.url = table.source.url and url_of("policy url", table.source.url)
        self.frame = _open_table(f"policy tables[{number}].table", table.source, warehouses, given)
        self.columns = list(self.frame.columns)
        named = columns_named(table)
        for start in range(0, len(named), MAX_COLUMNS):
            check_columns(Columns(POLICY_COLUMNS), named[start : start + MAX_COLUMNS], self.frame)
        label, source = f"policy tables[{number}].population_table", table.population_source
        self.population = source and _open_table(label, source, warehouses, given)
        for each in (table.source, table.population_source):
            if each is not None and each.url is not None and warehouses[each.url].is_view(str(each.table)):
                self.cautions.append(CAUTION_VIEW.format(each.table))
        self._records: int | None = None
        self._client = ClientRecords(client, table, number, self)
        is_snapshot = table.source.url is not None and warehouses[table.source.url].still
        self._sizes_at_opening = None if is_snapshot else self._class_sizes()

    def has_changed(self) -> bool:
        """Whether a table has other class sizes than when it was opened; a snapshot has not."""
        return self._sizes_at_opening is not None and self._class_sizes() != self._sizes_at_opening

    def _class_sizes(self) -> list[list[tuple[int, int]]]:
        """Count the classes of each size: of the table by all that is counted, and of the population."""
        sizes = [self._sizes_of(self.frame, columns_counted(self.table)[:MAX_COLUMNS])]
        if self.population is not None:
            sizes.append(self._sizes_of(self.population, list(self.table.quasi_identifiers)))
        return sizes

    def _sizes_of(self, frame: Table, columns: Sequence[str]) -> list[tuple[int, int]]:
        if not columns:
            return [(self._number(frame), 1)]
        rows = self._ask(lambda: ri.class_size_histogram(frame, list(columns)))
        return [(row["class_size"], row["classes"]) for row in rows]

    def _number(self, frame: Table) -> int:
        return int(self._ask(lambda: frame.agg(records=bigint(frame.count())))[0]["records"])

    def _ask(self, question: Callable[[], Any]) -> list[Row]:
        return list(rows(question, LABEL, self.url or ""))

    def count_records(self) -> int:
        """Count the records of the table."""
        if self._records is None:
            self._records = self._number(self.frame)
        return self._records

    def count_people(self, by: Sequence[str]) -> list[tuple[Any, ...]]:
        """Count the people in each group: its values, then the people. NULL is one person."""
        each = [*by, str(self.table.entity)]
        people = with_aliases(self.frame, each).distinct()
        groups = aliases(each)[:-1]
        counted = people.group_by(groups).agg if groups else people.agg
        answer = self._ask(lambda: counted(people=bigint(people.count())))
        return [(*(row[alias] for alias in groups), row["people"]) for row in answer]

    def count_groups(self, by: Sequence[str]) -> list[tuple[Any, ...]]:
        """Count the records of each group, by its values, NULL first: the values, then the records."""
        divided, names = self._divided(by), self.group_names(by)
        classes = self._ask(lambda: ri.equivalence_classes(divided, names))
        groups = [(*(row[name] for name in names), int(row["records"])) for row in classes]
        return sorted(groups, key=lambda group: [_order(value) for value in group[:-1]])

    def count_gaps(self, columns: Sequence[str], by: Sequence[str]) -> list[tuple[Any, ...]]:
        """Count records by group and by which columns are NULL."""
        gaps = {
            f"reid gap {place}": self.frame[name].isnull().ifelse(1, 0) for place, name in enumerate(columns)
        }
        names = self.group_names(by)
        marked = self._divided(by).mutate(**gaps)
        counted = marked.group_by([*names, *gaps]).agg(reid_n=bigint(marked.count()))
        return [
            (*(row[name] for name in names), any(row[name] for name in gaps), row["reid_n"])
            for row in self._ask(lambda: counted)
        ]

    def class_sizes(
        self,
        qi: Sequence[str],
        by: Sequence[str],
        *,
        drop: bool,
        coarser: Mapping[str, str],  # noqa: ARG002 - only advice asks for them, in DuckDB
    ) -> list[tuple[Any, ...]]:
        """Count the classes of each size in each group: its values, the size, the classes."""
        divided, names = self._divided(by), self.group_names(by)
        nulls: NullWord = "drop" if drop else "value"
        counted = self._ask(lambda: ri.class_size_histogram(divided, list(qi), nulls=nulls, by=names or None))
        return [
            (*(row[name] for name in names), row["class_size"], row["classes"])
            for row in counted
            if row["classes"]
        ]

    def rarest(self, count: int) -> list[tuple[Any, ...]]:
        """List the rarest combinations of the quasi-identifiers: how many records, and the values."""
        names = self.table.quasi_identifiers
        classes = ri.equivalence_classes(self.frame, list(names), entity=self.table.entity)
        order = [classes["class_size"], *(classes[name].asc(nulls_first=False) for name in names)]
        rarest = classes.order_by(order).limit(count).select("class_size", *names)
        return [tuple(row.values()) for row in self._ask(lambda: rarest)]

    def profile(self, columns: Sequence[str]) -> list[Row]:
        """Profile the columns whose distinct values can come to the client; the others show no mark."""
        return list(profile_columns(self.frame, columns, partial(asked, url=self.url or "")))

    def repeated_identifiers(self, skipped: Sequence[str]) -> list[tuple[str, int, int]]:
        """Return columns named like an identifier that repeat: name, distinct values, records with one."""
        return repeated_in_warehouse(self.frame, skipped, self._ask)

    def call(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str], group: Group
    ) -> list[Row]:
        """Call a public function on the records of one group."""
        if function.uses_fallback("ibis", given):
            return self._client.call(function, qi, given, by, group)
        return self._call(function, qi, given, self._part(by, group))

    def call_by_group(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str]
    ) -> list[Row]:
        """Call a public function on all groups at once."""
        if function.uses_fallback("ibis", given):
            return self._client.call_by_group(function, qi, given, by)
        return self._call(function, qi, {**given, "by": self.group_names(by)}, self._divided(by))

    def _call(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], frame: Table
    ) -> list[Row]:
        arguments = arguments_of(function, qi, given, (frame, self.population))
        return self._ask(lambda: getattr(ri, function.name)(**arguments))

    def call_measure(self, check: Check, given: Mapping[str, Any], group: Group) -> list[Row]:
        """Score a group's records at the client; return the share that a measure asks for."""
        return self._client.call_measure(check, given, group)

    def _divided(self, by: Sequence[str]) -> Table:
        """All records, with copies of the columns that divide them."""
        copies = {name: self.frame[given] for name, given in zip(self.group_names(by), by, strict=True)}
        return self.frame.mutate(**copies) if copies else self.frame

    def _part(self, by: Sequence[str], group: Group) -> Table:
        """The group's records alone."""
        tests = [_is(self.frame, name, value) for name, value in zip(by, group.values, strict=True)]
        return self.frame.filter(reduce(and_, tests)) if by else self.frame

    def fetch(self, columns: Sequence[str], by: Sequence[str]) -> DistinctRecords:
        """Fetch the distinct records, with the columns that divide them last; refuse if some are missing."""
        divided, names = self._divided(by), self.group_names(by)
        fetched = asked(lambda: fetch_distinct(divided, [*columns, *names]), self.url or "")
        if fetched.records != self.count_records():
            rule = "the table must not change while it is read"
            got = f"got {fetched.records} of {self.count_records()} records"
            raise UnavailableError(f"{rule}, {got}; ask again, or ask about an extract")
        return fetched


def _open_table(
    label: str, source: Source, warehouses: Mapping[str, Warehouse], given: Mapping[str, Any]
) -> Table:
    """Open a table of a warehouse, or take the one that the caller passed."""
    if source.url is not None:
        return warehouses[source.url].table(label, str(source.table))
    frame = given[str(source.passed)]
    if not isinstance(frame, TABLE.types):
        rule = f"tables['{source.passed}'] must be {TABLE.words}, got {type(frame).__name__}"
        raise WrongTypeError(f"{rule}; {TABLE.remedy}")
    return frame


def _is(frame: Table, name: str, value: Any) -> BooleanValue:  # noqa: ANN401 - a cell
    """Whether the column has this very value, texts by their bytes, NULL like NULL, NaN like NaN."""
    column = frame[name]
    if value is None:
        return column.isnull()
    if isinstance(value, float) and math.isnan(value):
        return column.isnan()
    return comparable(column) == comparable(ibis.literal(value, column.type()))


def _order(value: Any) -> tuple[bool, bool, Any]:  # noqa: ANN401 - a cell
    """NULL first, NaN last, else by the value; what has no order by how it is written."""
    odd = isinstance(value, float) and math.isnan(value)
    plain = value if not isinstance(value, dict | list) else repr(value)
    return value is not None, odd, 0 if value is None or odd else plain
