"""A table of the policy in a warehouse, through Ibis: opened by its URL, or passed in Python.

What the warehouse cannot answer, DuckDB answers at the client, from the distinct records.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any, Final, TypeVar

import ibis
import pyarrow as pa
from ibis.expr.types import Table

import reid_sql.ibis as ri
from reid_sql.check.client_records import (
    Client,
    ClientRecords,
    RemoteTable,
    SensitiveMeasures,
    null_codes,
    order_of,
)
from reid_sql.check.duckdb_table import CAUTION_VIEW
from reid_sql.check.exact_figures import WHOLE, Group
from reid_sql.check.measure import arguments_of
from reid_sql.check.policy_model import (
    Check,
    Policy,
    TablePolicy,
    columns_counted,
    columns_required,
    sets_counted,
)
from reid_sql.check.remarks import remark
from reid_sql.check.sources import Source
from reid_sql.check.table_counts import TableCounts
from reid_sql.check.table_engine import POLICY_COLUMNS, Counts, Errors, Tuples, parts_of
from reid_sql.client.calls import open_client, profile_columns
from reid_sql.engines.ibis import adapter
from reid_sql.engines.ibis.adapter import TABLE, DistinctRecords, fetch_distinct, find_panels
from reid_sql.engines.ibis.alike import comparable
from reid_sql.engines.ibis.frames import (
    KEEPS_VALUES,
    aliases,
    bigint,
    check_columns,
    collected,
    count_by,
    keep_values,
    with_aliases,
)
from reid_sql.engines.ibis.lineage import LISTED
from reid_sql.engines.ibis.people import count_nobodies
from reid_sql.engines.ibis.reductions.classes import histogram, histograms
from reid_sql.engines.ibis.transfer import NumberedRows, fetch_rarest, fetch_values, number_values
from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError, WrongTypeError
from reid_sql.function import Function
from reid_sql.models.columns.missing_value_codes import spellings_of
from reid_sql.models.columns.nobodies import IdentifierCounts
from reid_sql.parameters import MAX_COLUMNS, Arguments, ColumnNames, Columns, Rows
from reid_sql.reduction import DIVIDING, Needs, group_names
from reid_sql.sources.identifiers import count_values
from reid_sql.sources.warehouse import Warehouse, run_query, warehouse

MAX_SETS: Final = 200  # that one statement counts
LABEL: Final = "what a check is judged by"
Answer = TypeVar("Answer")


@contextmanager
def open_in_ibis(
    policy: Policy,
    memory_limit: str | None,
    show_progress: Any,  # noqa: ANN401
    passed: Mapping[str, Any],
) -> Iterator[list[TableCounts]]:
    """Open the tables of a policy, each warehouse once; the connections are closed at the end.

    The policy's own memory limit is for files.
    """
    if memory_limit is not None:
        raise OutOfDomainError(
            f"--memory-limit must not be given for a warehouse, got '{memory_limit}'; "
            "omit it, as the client receives only reduced statistics"
        )
    for table in policy.tables:
        for source in table.sources:
            if source.of_file:
                raise OutOfDomainError(
                    f"policy tables[{table.number}] must lie in a warehouse as its others, got '{source.location}'; "
                    "put that table into the warehouse too"
                )
    with ExitStack() as stack:
        warehouses: dict[str, Warehouse] = {}
        for table in policy.tables:
            for each in table.sources:
                if each.url is not None and each.url not in warehouses:
                    label = f"policy tables[{table.number}].url"
                    warehouses[each.url] = stack.enter_context(
                        warehouse(label, each.url, each.path)
                    )
        stack.enter_context(keep_values(kept=policy.keep_values))
        client = cache(lambda: stack.enter_context(open_client()))
        counted_tables: list[TableCounts] = []
        for table in policy.tables:
            show_progress(f"{table.name}: opening")
            engine = IbisTable(table, table.number, warehouses, passed, client)
            counted_tables.append(TableCounts(table, engine))
        yield counted_tables


class IbisTable(RemoteTable):
    """A table of a warehouse: each way to count is one query, whose reduced statistics alone come here."""

    packages = ("ibis-framework",)

    def __init__(
        self,
        table: TablePolicy,
        number: int,
        warehouses: Mapping[str, Warehouse],
        passed: Mapping[str, Any],
        client: Client,
    ) -> None:
        """Open the table, and check that it has the columns that the policy names."""
        super().__init__()
        self.table = table
        self.raw = _open_table(f"policy tables[{number}].table", table.source, warehouses, passed)
        self.columns = list(self.raw.columns)
        for part in parts_of(columns_required(table)):
            check_columns(Columns(POLICY_COLUMNS), part, self.raw)
        self.frame = null_codes(self.raw, table.codes_as_nulls)
        self.population: Table | None = None
        sources = [table.source]
        if source := table.role_sources.get("population"):
            label = f"policy tables[{number}].population_table"
            population = _open_table(label, source, warehouses, passed)
            self.population_columns = list(population.columns)
            self.population = null_codes(population, table.codes_as_nulls)
            sources.append(source)
        self._warehouses: dict[str, Warehouse] = {}
        for each in sources:
            if each.url is not None:
                self._warehouses[each.url] = warehouses[each.url]
                if warehouses[each.url].is_view(str(each.table)):
                    self.cautions.append(remark(CAUTION_VIEW.format(each.table), code="view"))
        # Whether all is read in one transaction of warehouses that show the same meanwhile.
        self._is_snapshot = all(
            each.url is not None and warehouses[each.url].still for each in sources
        )
        self._records: int | None = None
        self._measures = SensitiveMeasures(table, self.frame)
        self._codes: dict[tuple[str, ...], dict[str, list[int]]] = {}  # of the values of each group
        # the class sizes by sets of columns
        self._counted: dict[frozenset[str], Tuples] = {}
        self._has_counted_sets = False  # whether all sets were counted at once
        self._columns: dict[str, DistinctRecords] = {}  # of those that came to the client
        self._parts: dict[Any, int] = {}  # the records of each group that was asked alone
        self._client = ClientRecords(client, table, number, self)
        self.keeps_values = KEEPS_VALUES.get()
        if self.keeps_values:
            self._refuse_values(number)
        # of the warehouses, in which something was asked
        self._transactions: set[tuple[int, ...]] = set()
        self._sizes = None if self._is_snapshot else self._class_sizes()
        if self._sizes is not None and table.nulls != "drop":
            self._counted[frozenset(self._compared)] = list(self._sizes[0])

    def columns_fetched(self, check: Check) -> Sequence[str]:
        texts = {name for name, kind in self.frame.schema().items() if kind.is_string()}
        return self._client.columns_fetched(check, texts)

    def _refuse_values(self, number: int) -> None:
        """Refuse each check that needs values which the policy keeps in the warehouse."""
        for place, check in enumerate(self.table.checks, 1):
            if columns := self.columns_fetched(check):
                raise UnavailableError(
                    f"policy tables[{number}] must have checks by counts and codes where keep_values = true, got '{check.measure.name}' as check {place}, which fetches values of {', '.join(columns)}; "
                    "leave it out, or remove keep_values"
                )

    def has_changed(self) -> bool:
        """Whether a table has other class sizes than before; what was read in one transaction has not."""
        in_one = self._is_snapshot and len(self._transactions) <= 1
        return not in_one and self._class_sizes() != self._sizes

    def leave(self) -> None:
        """End the warehouses' transactions; if more is asked later, the class sizes must be the same."""
        if self._sizes is None:
            compared = frozenset(self._compared)
            counted = None if self.table.nulls == "drop" else self._counted.get(compared)
            self._sizes = self._class_sizes(counted)
        for each in self._warehouses.values():
            each.leave()

    def _asked(self, question: Callable[[], Answer]) -> Answer:
        """Run a query, and remember in which transaction."""
        for each in self._warehouses.values():
            each.enter()
        self._transactions.add(tuple(each.transactions for each in self._warehouses.values()))
        return run_query(question)

    @property
    def _compared(self) -> list[str]:
        """The columns whose class sizes show whether the table changed."""
        return columns_counted(self.table)[:MAX_COLUMNS]

    def _class_sizes(self, counted: Tuples | None = None) -> list[Tuples]:
        """Count the classes of each size: of the table by all that is counted, and of the population."""
        sizes = [sorted(counted) if counted else self._sizes_of(self.frame, self._compared)]
        if self.population is not None:
            sizes.append(self._sizes_of(self.population, list(self.table.quasi_identifiers)))
        return sizes

    def _sizes_of(self, frame: Table, columns: ColumnNames) -> Tuples:
        if not columns:
            return [(self._number(frame), 1)]
        rows = self._ask(lambda: ri.class_size_histogram(frame, list(columns)))
        return [(row["class_size"], row["classes"]) for row in rows]

    def _number(self, frame: Table) -> int:
        return int(self._ask(lambda: frame.agg(records=bigint(frame.count())))[0]["records"])

    def _ask(self, question: Callable[[], Any]) -> Rows:
        return self._asked(lambda: list(collected(question(), LABEL).to_pylist()))

    def _ask_groups(
        self, question: Callable[[], Table], by: ColumnNames, names: ColumnNames
    ) -> Rows:
        """Ask for rows of groups, whose values under these names are those of `by` as they are compared."""
        return (
            _rows_of(self._fetch_groups(question, by, names), names) if by else self._ask(question)
        )

    def _fetch_groups(
        self, question: Callable[[], Table], by: ColumnNames, names: ColumnNames
    ) -> NumberedRows:
        return self._asked(
            lambda: fetch_values(question(), dict(zip(names, by, strict=True)), LABEL)
        )

    def count_records(self) -> int:
        if self._records is None:
            self._records = self._number(self.frame)
        return self._records

    def count_people(self, by: ColumnNames) -> Tuples:
        columns = [*by, str(self.table.entity)]
        people = with_aliases(self.frame, columns).group_by(aliases(columns)).agg()
        groups = aliases(by)
        counted = people.group_by(groups).agg if groups else people.agg
        answer = self._ask_groups(lambda: counted(people=bigint(people.count())), by, groups)
        return [(*(row[alias] for alias in groups), row["people"]) for row in answer]

    def count_groups(self, by: ColumnNames) -> Tuples:
        check_columns(DIVIDING, by, self.frame)
        names = aliases(by)
        classes = self._fetch_groups(
            lambda: count_by(with_aliases(self.frame, by), names, "records"), by, names
        )
        groups = [
            (*(row[name] for name in names), int(row["records"]))
            for row in _rows_of(classes, names)
        ]
        self._codes[tuple(by)] = {
            repr(group[:-1]): codes
            for group, codes in zip(groups, classes.codes.tolist(), strict=True)
        }
        return sorted(groups, key=lambda group: [order_of(value) for value in group[:-1]])

    def count_gaps(self, columns: ColumnNames, by: ColumnNames) -> Tuples:
        named, groups = [*by, *columns], aliases(by)
        rows = with_aliases(self.frame, named)
        gaps = {
            f"gap_{name}": rows[name].isnull().ifelse(1, 0) for name in aliases(named)[len(by) :]
        }
        counted = (
            rows.mutate(**gaps)
            .group_by([*groups, *gaps])
            .agg(records=lambda each: bigint(each.count()))
        )
        return [
            (*(row[name] for name in groups), any(row[name] for name in gaps), row["records"])
            for row in self._ask_groups(lambda: counted, by, groups)
        ]

    def class_sizes(self, qi: ColumnNames, by: ColumnNames, *, drop: bool) -> Tuples:
        if not by:
            return self._class_sizes_of_table(qi, drop=drop)
        nulls, names = "drop" if drop else "value", group_names(by)
        check_columns(DIVIDING, by, self.frame)
        counted = self._ask_groups(lambda: histogram(self.frame, list(qi), nulls, by=by), by, names)
        return [
            (*(row[name] for name in names), row["class_size"], row["classes"])
            for row in counted
            if row["classes"]
        ]

    def _class_sizes_of_table(self, qi: ColumnNames, *, drop: bool) -> Tuples:
        """Count by these columns, and at once by all others that the checks and the report count by.

        Records that come to the client for a check are counted there, as `fetch` does.
        """
        columns = frozenset(qi)
        if columns not in self._counted:
            self._client.fetch_with(qi)
        if columns not in self._counted:
            sets = list(
                {frozenset(each): each for each in (tuple(qi), *self._uncounted())}.values()
            )
            if self._has_counted_sets or len(sets) > MAX_SETS:
                sets = sets[:1]
            self._has_counted_sets = True
            for counted, sizes in zip(sets, self._count_sets(sets, drop=drop), strict=True):
                self._counted[frozenset(counted)] = sizes
        return self._counted[columns]

    def _count_sets(self, sets: Sequence[ColumnNames], *, drop: bool) -> list[Tuples]:
        """Count the classes of each size by each of some sets of columns, in one statement."""
        sizes: list[Tuples] = [[] for _ in sets]
        for row in self._ask(lambda: histograms(self.frame, sets, drop=drop)):
            sizes[row["place"]].append((row["class_size"], row["classes"]))
        return sizes

    def _uncounted(self) -> list[tuple[str, ...]]:
        """List the sets of columns that the checks and the report count by, and that were not counted."""
        sets = sets_counted(self.table, overview=self.counts_overview)
        return [each for each in sets if frozenset(each) not in self._counted]

    def rarest(self, count: int) -> Tuples:
        names = self.table.quasi_identifiers
        classes = ri.equivalence_classes(self.frame, list(names), entity=self.table.entity)
        return self._asked(lambda: fetch_rarest(classes, names, count, LABEL))

    def profile(self, columns: ColumnNames) -> Rows:
        self._client.fetch_with(columns)
        return list(profile_columns(self.frame, columns, self._asked, self._columns, adapter))

    def count_values(self, names: ColumnNames, *, in_population: bool = False) -> Counts:
        return count_values(self.population if in_population else self.frame, names, self._ask)

    def count_unique(self, sets: Sequence[ColumnNames], errors: Errors) -> list[int | None]:
        """Count the records by many sets in one statement; people by one for each set."""
        if self.table.entity is not None:
            return super().count_unique(sets, errors)
        comparable_sets = list(filter(self._has_comparable, sets))
        if not comparable_sets:
            return super().count_unique(sets, errors)
        counted: dict[tuple[str, ...], int] = {}
        try:
            for part in parts_of(comparable_sets, MAX_SETS):
                for columns, sizes in zip(part, self._count_sets(part, drop=False), strict=True):
                    counted[tuple(columns)] = next(
                        (number for size, number in sizes if size == 1), 0
                    )
        except errors:  # the checks say why; the report names the columns as not counted
            return [None for _ in sets]
        return [counted.get(tuple(each)) for each in sets]

    def _has_comparable(self, columns: ColumnNames) -> bool:
        """Whether the warehouse can compare the values of these columns."""
        try:
            check_columns(Columns(POLICY_COLUMNS), columns, self.frame)
        except ReidError:
            return False
        return True

    def find_panels(self, named: ColumnNames, *, in_population: bool = False) -> list[str]:
        frame = self.population if in_population else self.frame
        return find_panels(frame, lambda draw: self._asked(lambda: collected(draw(), LABEL)), named)

    def count_nobodies(self, column: str) -> IdentifierCounts:
        return count_nobodies(self.frame, column, self._ask)

    def list_spellings(self, name: str, codes: Sequence[str]) -> tuple[list[str], bool]:
        values = self.raw.select(t=self.raw[name].cast("string"))
        spelled = values["t"].strip().lower().isin(spellings_of(codes))
        is_day = values["t"][:10].isin(list(codes))
        alike = values.filter(spelled | is_day).rename({LISTED: "t"})
        rows = self._ask(lambda: alike.group_by(LISTED).agg(records=alike.count()))
        return [row[LISTED] for row in rows], self.raw[name].type().is_numeric()

    def call(
        self,
        function: Function,
        qi: ColumnNames,
        arguments: Arguments,
        by: ColumnNames = (),
        group: Group = WHOLE,
    ) -> Rows:
        if function.uses_fallback("ibis", arguments):
            return self._client.call(function, qi, arguments, by, group)
        return super().call(function, qi, arguments, by, group)

    def call_by_group(
        self, function: Function, qi: ColumnNames, arguments: Arguments, by: ColumnNames
    ) -> Rows:
        if function.uses_fallback("ibis", arguments):
            return self._client.call_by_group(function, qi, arguments, by)
        return super().call_by_group(function, qi, arguments, by)

    def call_on(
        self, relation: Table, function: Function, qi: ColumnNames, arguments: Arguments
    ) -> Rows:
        if relation is self.frame and self._measures.has(function, arguments):
            return self._measures.call(function, qi, arguments, self._asked)
        bound = arguments_of(function, qi, arguments, (relation, self.population))
        return self._ask(lambda: getattr(ri, function.name)(**bound, **function.preset))

    def call_measure(self, check: Check, arguments: Arguments, group: Group) -> Rows:
        """Score a group's records at the client; return the share that a measure asks for."""
        return self._client.call_measure(check, arguments, group)

    def divided(self, by: ColumnNames) -> Table:
        copies = {
            name: self.frame[column] for name, column in zip(self.group_names(by), by, strict=True)
        }
        return self.frame.mutate(**copies) if copies else self.frame

    def part(self, by: ColumnNames, group: Group) -> Table:
        if not by:
            return self.frame
        self.groups(by)
        codes = self._codes[tuple(by)][repr(group.values)]
        part, key = self.frame, (tuple(by), group.place)
        for place, (name, value, code) in enumerate(zip(by, group.values, codes, strict=True)):
            number = f"{self.group_names([name])[0]} {place}"  # of no column
            part = _only(part, name, value, code, number)
        if key not in self._parts:
            self._parts[key] = self._number(part)
        counted = self.groups(by)[group.place].records
        if self._parts[key] != counted:
            raise OutOfDomainError(
                f"a check by {', '.join(by)} must be by values that the database finds again, got {self._parts[key]} of {counted} records; "
                "cast them to text in a view"
            )
        return part

    def fetch(
        self, columns: ColumnNames, by: ColumnNames, coded: Mapping[str, Needs]
    ) -> DistinctRecords:
        """Fetch the distinct records, with the columns that divide them last; refuse if some are missing."""
        divided, names = self.divided(by), self.group_names(by)
        fetched = self._asked(lambda: fetch_distinct(divided, [*columns, *names], coded))
        if fetched.records != self.count_records():
            raise UnavailableError(
                f"the table must not change while it is read, got {fetched.records} of {self.count_records()} records; "
                "ask again, or ask about an extract"
            )
        # Count here what the records on these columns answer, so that the database need not.
        without_nan = {name for name, need in coded.items() if need is Needs.KNOWN_CODES}
        for each in self._uncounted():
            if set(each) <= set(columns) - without_nan:
                drop = self.table.nulls == "drop"
                self._counted[frozenset(each)] = fetched.class_sizes(each, drop=drop)
        self._columns |= {
            name: fetched.of_column(name)
            for name in columns
            if name not in self._columns and name not in coded
        }
        return fetched


def _open_table(
    label: str, source: Source, warehouses: Mapping[str, Warehouse], passed: Mapping[str, Any]
) -> Table:
    """Open a table of a warehouse, or take the one that the caller passed."""
    if source.url is not None:
        return warehouses[source.url].table(label, str(source.table))
    frame = passed[str(source.passed)]
    if not isinstance(frame, TABLE.types):
        raise WrongTypeError(
            f"tables['{source.passed}'] must be {TABLE.words}, got {type(frame).__name__}; {TABLE.remedy}"
        )
    return frame


def _only(frame: Table, name: str, value: Any, code: int, number: str) -> Table:  # noqa: ANN401 - a cell
    """The rows of this very value: by itself where it goes back as it came, else by its number."""
    column = frame[name]
    kind = column.type()
    if value is None:
        return frame.filter(column.isnull())
    whole = kind.is_integer() or kind.is_boolean()
    # an enum may have two that are empty
    text = isinstance(value, str) and value != "" and kind.is_string()
    if text or (isinstance(value, int) and whole):
        return frame.filter(comparable(column) == comparable(ibis.literal(value, kind)))
    numbered = frame.mutate(**{number: number_values(comparable(column))})
    return numbered.filter(numbered[number] == code).drop(number)


def _rows_of(fetched: NumberedRows, names: ColumnNames) -> Rows:
    columns = {name: fetched.column(place) for place, name in enumerate(names)}
    rows = fetched.unnumbered
    return list(
        pa.table({**columns, **{name: rows[name] for name in rows.column_names}}).to_pylist()
    )
