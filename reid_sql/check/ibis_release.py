"""A table of the policy as a warehouse measures it, through Ibis: by its URL, or handed over in Python."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial, reduce
from operator import and_
from typing import Any, Final

import ibis
from ibis.expr.types import BooleanValue, Table

import reid_sql.ibis as ri
from reid_sql.check.answers import Answers, counted_histogram
from reid_sql.check.client_records import Client, ClientRecords
from reid_sql.check.measure import Row, arguments_of
from reid_sql.check.policy import Check, Policy, TablePolicy, columns_counted, columns_named
from reid_sql.check.sources import Source
from reid_sql.client_fallback import DistinctRecords, fetch_distinct, profile_columns
from reid_sql.engines.duckdb.packed import Group
from reid_sql.engines.ibis.adapter import TABLE
from reid_sql.engines.ibis.alike import compared
from reid_sql.engines.ibis.frames import numbered, places, resolved, whole
from reid_sql.errors import OutOfDomainError, UnavailableError, WrongTypeError
from reid_sql.function import Function
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.parameters import MAX_COLUMNS, Columns
from reid_sql.sources.remote import url_of
from reid_sql.sources.warehouse import Warehouse, asked, rows, warehouse

POLICY_COLUMNS: Final = Columns("columns of the policy")
WORDS: Final = "what a check is judged by"
OWN: Final = "reid by"  # and a number: what no column of a warehouse is called
MOVING: Final = "the table must stand still while it is read, got {}; ask again, or ask about an extract"
HELD: Final = ("class_size", "classes", "records", "blank_records")


@contextmanager
def opened_in_ibis(
    policy: Policy,
    memory_limit: str | None,
    tell: Any,  # noqa: ANN401
    handed: Mapping[str, Any],
) -> Iterator[Sequence[Answers]]:
    """Open the tables of a policy, each warehouse once; the connections are closed at the end.

    The policy's own memory limit is for files.
    """
    if memory_limit is not None:
        rule = f"--memory-limit must not be given for a warehouse, got '{memory_limit}'"
        raise OutOfDomainError(f"{rule}; leave it away, as the client holds reduced statistics alone")
    _refuse_files(policy)
    with ExitStack() as stack:
        held: dict[str, Warehouse] = {}
        for number, table in enumerate(policy.tables, 1):
            for each in (table.source, table.population_source):
                if each is not None and each.url is not None and each.url not in held:
                    words = f"policy tables[{number}].url"
                    held[each.url] = stack.enter_context(warehouse(words, each.url, each.path))
        releases, client = [], Client(stack)
        for number, table in enumerate(policy.tables, 1):
            tell(f"{table.name}: opening")
            releases.append(IbisRelease(table, number, held, handed, client))
        yield releases


def _refuse_files(policy: Policy) -> None:
    for number, table in enumerate(policy.tables, 1):
        for each in (table.source, table.population_source):
            if each is not None and each.of_file:
                rule = f"policy tables[{number}] must lie in a warehouse as the others, got '{each.given}'"
                raise OutOfDomainError(f"{rule}; check files by a policy of their own")


class IbisRelease(Answers):
    """A table of a warehouse: each way to count is one query, whose reduced statistics alone come here."""

    engines = ("ibis-framework",)

    def __init__(
        self,
        table: TablePolicy,
        number: int,
        held: Mapping[str, Warehouse],
        handed: Mapping[str, Any],
        client: Client,
    ) -> None:
        """Find the table and hold the policy's columns against it."""
        super().__init__(table)
        self.url = table.source.url and url_of("policy url", table.source.url)
        self.frame = self._found(f"policy tables[{number}].table", table.source, held, handed)
        named = columns_named(table)
        for start in range(0, len(named), MAX_COLUMNS):
            resolved(POLICY_COLUMNS, named[start : start + MAX_COLUMNS], self.frame)
        given = table.population_source
        words = f"policy tables[{number}].population_table"
        self.population = given and self._found(words, given, held, handed)
        self._values: dict[tuple[str, ...], dict[str, int]] = {}
        self._count: int | None = None
        self._rows_there: int | None = None
        self._client = ClientRecords(client, table, number, self._brought, self._digits)
        still = table.source.url is not None and held[table.source.url].still
        self.stamps = None if still else self._stamps()

    def _found(
        self, words: str, source: Source, held: Mapping[str, Warehouse], handed: Mapping[str, Any]
    ) -> Table:
        if source.url is not None:
            return held[source.url].table(words, str(source.table))
        found = handed[str(source.handed)]
        if not isinstance(found, TABLE.types):
            rule = f"tables['{source.handed}'] must be {TABLE.words}, got {type(found).__name__}"
            raise WrongTypeError(f"{rule}; {TABLE.remedy}")
        return found

    def changed(self) -> bool:
        """Whether a table has other class sizes than when it was opened; one that stands still has not."""
        return self.stamps is not None and self._stamps() != self.stamps

    def _stamps(self) -> list[list[tuple[int, int]]]:
        """How many classes of each size there are: of the table by all that is counted, of the population."""
        of_table = [(self.frame, columns_counted(self.table)[:MAX_COLUMNS])]
        of_population = (
            [(self.population, list(self.table.quasi_identifiers))] if self.population is not None else []
        )
        return [self._sizes(frame, columns) for frame, columns in (*of_table, *of_population)]

    def _sizes(self, frame: Table, columns: Sequence[str]) -> list[tuple[int, int]]:
        if not columns:
            return [(self._number(frame), 1)]
        sizes = self._call("class_size_histogram", frame, list(columns))
        return [(row["class_size"], row["classes"]) for row in sizes]

    def _number(self, frame: Table) -> int:
        return int(self._rows(frame.agg(records=whole(frame.count())))[0]["records"])

    def _rows(self, frame: Table) -> list[Row]:
        return list(rows(lambda: frame, WORDS, self.url or ""))

    @property
    def records(self) -> int:
        """Records of the table, or its people where a column tells them apart."""
        if self._count is None:
            self._count = self._number(self.frame) if self.table.entity is None else self._people(())[()]
        return self._count

    def rarest(self, count: int) -> list[tuple[Any, ...]]:
        """The rarest combinations of the quasi-identifiers: how many records hold each, and the values."""
        names = self.table.quasi_identifiers
        classes = ri.equivalence_classes(self.frame, list(names), entity=self.table.entity)
        order = [classes["class_size"], *(classes[name].asc(nulls_first=False) for name in names)]
        found = self._rows(classes.order_by(order).limit(count).select("class_size", *names))
        return [tuple(row.values()) for row in found]

    def _groups(self, by: Sequence[str]) -> list[Group]:
        divided, names = self._divided(by)
        classes = self._rows(ri.equivalence_classes(divided, names))
        found = [(tuple(row[name] for name in names), int(row["records"])) for row in classes]
        found.sort(key=lambda group: [_order(value) for value in group[0]])
        self._values[tuple(by)] = {repr(values): place for place, (values, _) in enumerate(found)}
        return [Group((place,), values, records) for place, (values, records) in enumerate(found)]

    def _counted(
        self,
        qi: Sequence[str],
        by: Sequence[str],
        *,
        drop: bool,
        coarser: Mapping[str, str] | None,  # noqa: ARG002 - only advice asks for them, in DuckDB
    ) -> dict[tuple[int, ...], Histogram]:
        divided, names = self._divided(by)
        counted = ri.class_size_histogram(
            divided, list(qi), nulls="drop" if drop else "value", by=names or None
        )
        found: dict[tuple[int, ...], list[list[int]]] = {}
        for row in self._told(self._rows(counted), names, by):
            if row["classes"]:
                found.setdefault(row["digits"], []).append([row[name] or 0 for name in HELD])
        return {digits: counted_histogram(sorted(lines), "value") for digits, lines in found.items()}

    def few_gaps(self, columns: Sequence[str], by: Sequence[str], below: int) -> bool:
        """Whether few records of a group lack the same values, or none where others of it lack some."""
        gaps = {
            f"reid gap {place}": self.frame[name].isnull().ifelse(1, 0) for place, name in enumerate(columns)
        }
        divided, names = self._divided(by)
        marked = divided.mutate(**gaps)
        alike = marked.group_by([*names, *gaps]).agg(reid_n=whole(marked.count()))
        parts: dict[str, list[tuple[bool, int]]] = {}
        for row in self._rows(alike):
            lacking = any(row[name] for name in gaps)
            parts.setdefault(repr([row[name] for name in names]), []).append((lacking, row["reid_n"]))
        return any(
            any(lacking for lacking, _ in part) and min(records for _, records in part) < below
            for part in parts.values()
        )

    def _matched(self, qi: Sequence[str], by: Sequence[str], group: Group) -> Histogram:
        how = {"nulls": self.table.nulls, "entity": self.table.entity}
        found = self._call("class_size_histogram", self._part(by, group), list(qi), **how)
        return counted_histogram([[row[name] or 0 for name in HELD] for row in found], self.table.nulls)

    def _profiled(self, columns: Sequence[str]) -> list[Row]:
        """Profile the columns whose distinct values come to the client; among more, no mark stands out."""
        return list(profile_columns(self.frame, columns, partial(asked, url=self.url or "")))

    def _people(self, by: Sequence[str]) -> dict[tuple[int, ...], int]:
        divided, names = self._divided(by)
        each = [*names, str(self.table.entity)]
        people = numbered(divided, each).distinct()
        groups = places(each)[:-1]
        counted = people.group_by(groups).agg if groups else people.agg
        found = self._rows(counted(people=whole(people.count())))
        renamed = [{**dict(zip(names, (row[q] for q in groups), strict=True)), **row} for row in found]
        return {row["digits"]: int(row["people"]) for row in self._told(renamed, names, by)}

    def _divided(self, by: Sequence[str]) -> tuple[Table, list[str]]:
        """All records, with the columns that divide them under names that no answer has."""
        names = [f"{OWN} {place}" for place in range(1, len(by) + 1)]
        own = {name: self.frame[given] for name, given in zip(names, by, strict=True)}
        return (self.frame.mutate(**own) if own else self.frame), names

    def _told(self, found: Sequence[Row], names: Sequence[str], by: Sequence[str]) -> list[Row]:
        """The rows with the digits of their groups in place of the groups' values."""
        return [
            {name: value for name, value in row.items() if name not in names}
            | {"digits": self._digits(by, tuple(row[name] for name in names))}
            for row in found
        ]

    def _digits(self, by: Sequence[str], values: tuple[Any, ...]) -> tuple[int, ...]:
        """Where the group of these values stands."""
        if not by:
            return ()
        if tuple(by) not in self._values:
            self._groups(by)
        place = self._values[tuple(by)].get(repr(values))
        if place is None:
            raise UnavailableError(MOVING.format("a group that was not there"))
        return (place,)

    def _together(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str]
    ) -> list[Row]:
        if function.uses_fallback("ibis", given):
            return self._client.of_groups(function, qi, given, by)
        divided, names = self._divided(by)
        arguments = arguments_of(function, qi, {**given, "by": names}, (divided, self.population))
        return self._told(self._call(function.name, **arguments), names, by)

    def _part(self, by: Sequence[str], group: Group) -> Table:
        """The group's records alone."""
        tests = [_is(self.frame, name, value) for name, value in zip(by, group.values, strict=True)]
        return self.frame.filter(reduce(and_, tests)) if by else self.frame

    def _asked(self, function: Function, check: Check, given: Mapping[str, Any], group: Group) -> list[Row]:
        if function.uses_fallback("ibis", given) or check.measure.takes("model"):
            return self._client.of_part(function, check, given, group)
        part = self._part(check.by, group)
        return self._call(
            function.name, **arguments_of(function, check.quasi_identifiers, given, (part, self.population))
        )

    def _brought(self, columns: Sequence[str], by: Sequence[str]) -> DistinctRecords:
        """The distinct records, with the columns that divide them last; all are there, or none is."""
        divided, names = self._divided(by)
        found = asked(lambda: fetch_distinct(divided, [*columns, *names]), self.url or "")
        if self._rows_there is None:
            self._rows_there = self._number(self.frame)
        if found.records != self._rows_there:
            raise UnavailableError(MOVING.format(f"{found.records} of {self._rows_there} records"))
        return found

    def _call(self, name: str, *arguments: Any, **options: Any) -> list[Row]:  # noqa: ANN401 - the function's
        return list(rows(lambda: getattr(ri, name)(*arguments, **options), WORDS, self.url or ""))


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
