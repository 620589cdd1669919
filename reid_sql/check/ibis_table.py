"""A table of the policy in a warehouse, through Ibis: opened by its URL, or passed in Python."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial, reduce
from operator import and_
from typing import Any, Final

import ibis
from ibis.expr.types import BooleanValue, Table

import reid_sql.ibis as ri
from reid_sql.check.client_records import Client, ClientRecords, RemoteTable
from reid_sql.check.measure import Row, arguments_of
from reid_sql.check.policy import Check, Policy, TablePolicy, columns_counted, columns_named
from reid_sql.check.release import POLICY_COLUMNS, Group, Release, TableEngine
from reid_sql.check.sources import Source
from reid_sql.client_fallback import DistinctRecords, fetch_distinct, profile_columns
from reid_sql.connection_url import url_of
from reid_sql.engines.ibis.alike import compared
from reid_sql.engines.ibis.frames import numbered, places, resolved, whole
from reid_sql.engines.ibis.kit import TABLE
from reid_sql.errors import OutOfDomainError, UnavailableError, WrongTypeError
from reid_sql.function import Function
from reid_sql.parameters import MAX_COLUMNS, Columns, NullWord
from reid_sql.warehouse import Warehouse, asked, rows, warehouse

LABEL: Final = "what a check is judged by"


@contextmanager
def open_in_ibis(
    policy: Policy,
    memory_limit: str | None,
    tell: Any,  # noqa: ANN401
    given: Mapping[str, Any],
) -> Iterator[list[Release[TableEngine]]]:
    """Open the tables of a policy, each warehouse once; the connections are closed at the end.

    The policy's own memory limit is for files.
    """
    if memory_limit is not None:
        rule = f"--memory-limit must not be set where a warehouse counts, got '{memory_limit}'"
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
        releases: list[Release[TableEngine]] = []
        for number, table in enumerate(policy.tables, 1):
            tell(f"{table.name}: opening")
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
            resolved(Columns(POLICY_COLUMNS), named[start : start + MAX_COLUMNS], self.frame)
        label, source = f"policy tables[{number}].population_table", table.population_source
        self.population = source and _open_table(label, source, warehouses, given)
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
        return int(self._ask(lambda: frame.agg(records=whole(frame.count())))[0]["records"])

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
        people = numbered(self.frame, each).distinct()
        groups = places(each)[:-1]
        counted = people.group_by(groups).agg if groups else people.agg
        answer = self._ask(lambda: counted(people=whole(people.count())))
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
        counted = marked.group_by([*names, *gaps]).agg(reid_n=whole(marked.count()))
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

    def call(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str], group: Group
    ) -> list[Row]:
        """Call a public function on the records of one group."""
        if function.is_handed("ibis", given):
            return self._client.call(function, qi, given, by, group)
        return self._call(function, qi, given, self._part(by, group))

    def call_by_group(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str]
    ) -> list[Row]:
        """Call a public function on all groups at once."""
        if function.is_handed("ibis", given):
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
    frame = given[str(source.handed)]
    if not isinstance(frame, TABLE.types):
        rule = f"tables['{source.handed}'] must be {TABLE.words}, got {type(frame).__name__}"
        raise WrongTypeError(f"{rule}; {TABLE.remedy}")
    return frame


def _is(frame: Table, name: str, value: Any) -> BooleanValue:  # noqa: ANN401 - a cell
    """Whether the column has this very value, texts by their bytes, NULL like NULL, NaN like NaN."""
    column = frame[name]
    if value is None:
        return column.isnull()
    if isinstance(value, float) and math.isnan(value):
        return column.isnan()
    return compared(column) == compared(ibis.literal(value, column.type()))


def _order(value: Any) -> tuple[bool, bool, Any]:  # noqa: ANN401 - a cell
    """NULL first, NaN last, else by the value; what has no order by how it is written."""
    odd = isinstance(value, float) and math.isnan(value)
    plain = value if not isinstance(value, dict | list) else repr(value)
    return value is not None, odd, 0 if value is None or odd else plain
