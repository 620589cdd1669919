"""How one engine reads and counts the records of one table: what an engine owes the gate."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import duckdb

from reid_sql.check.exact_figures import WHOLE, Group
from reid_sql.check.policy_model import Check, TablePolicy
from reid_sql.errors import UnavailableError
from reid_sql.function import Function
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.columns.nobodies import IdentifierCounts
from reid_sql.parameters import MAX_COLUMNS, Arguments, ColumnNames, Rows
from reid_sql_udfs import declared

if TYPE_CHECKING:
    from reid_sql.check.remarks import Remark

POLICY_COLUMNS: Final = "columns of the policy"
GROUP_COLUMN: Final = "reid by"
Tuples = list[tuple[Any, ...]]  # rows that an engine counted
Relation: TypeAlias = Any  # a name or a frame, as the engine has it
# of each column, its distinct values and records with one
Counts = tuple[Sequence[int], Sequence[int]]
Errors = tuple[type[Exception], ...]


T = TypeVar("T")


def parts_of(listed: Sequence[T], most: int = MAX_COLUMNS) -> list[Sequence[T]]:
    """Divide a list into parts of so many at most."""
    return [listed[start : start + most] for start in range(0, len(listed), most)]


class TableEngine(ABC):
    """How one engine reads and counts the records of one table."""

    table: TablePolicy
    packages: tuple[str, ...] = ()  # those that count, other than DuckDB
    errors: Errors = ()  # what they raise
    attacks = False  # whether it compares a table with its original, a former release or a join

    def __init__(self) -> None:
        """Begin with no group counted."""
        self.columns: list[str] = []
        self.population_columns: list[str] = []  # of the population table, if there is one
        self.cautions: list[Remark] = []  # caveats on the table, whatever the check
        self.other_tables: Sequence[str] = ()  # of the file, if it is a database
        self.is_prepared = False  # whether it is a release that was made of a file
        self.omitted: list[str] = []  # columns of the file that such a release lacks
        self.keeps_values = False  # whether a warehouse returns counts and codes alone
        self.counts_overview = True  # whether a report shows the overview of each column
        self._groups: dict[tuple[str, ...], list[Group]] = {}
        self._places: dict[tuple[str, ...], dict[str, int]] = {}

    def columns_fetched(self, check: Check) -> Sequence[str]:  # noqa: ARG002 - of a warehouse
        """List the columns whose values a check of a warehouse fetches."""
        return ()

    @abstractmethod
    def count_records(self) -> int:
        """Count the records of the table."""

    @abstractmethod
    def count_people(self, by: ColumnNames) -> Tuples:
        """Count the people in each group: its values, then the people."""

    @abstractmethod
    def count_groups(self, by: ColumnNames) -> Tuples:
        """Count the records of each group, by its values, NULL first: the values, then the records."""

    @abstractmethod
    def count_gaps(self, columns: ColumnNames, by: ColumnNames) -> Tuples:
        """Count records by group and by which columns are NULL.

        A row has the values of the group, whether any column is NULL, and the records.
        """

    @abstractmethod
    def class_sizes(self, qi: ColumnNames, by: ColumnNames, *, drop: bool) -> Tuples:
        """Count the classes of each size in each group: its values, the size, the classes."""

    def match_groups(self, qi: ColumnNames, by: ColumnNames) -> dict[int, Histogram]:
        """Return matches of all groups at once, where NULL is a wildcard; nothing if each needs a call.

        By default nothing: matching runs in this process, and an engine may have its records elsewhere.
        """
        del qi, by
        return {}

    @abstractmethod
    def rarest(self, count: int) -> Tuples:
        """List the rarest combinations of the quasi-identifiers: how many records, and the values."""

    def profile(self, columns: ColumnNames) -> Rows:
        """Profile some columns of the table."""
        return self.call(declared()["profile"], columns, {})

    @abstractmethod
    def count_values(self, names: ColumnNames, *, in_population: bool = False) -> Counts:
        """Count each column's distinct values, and the records with one, of the table or its population."""

    def count_unique(self, sets: Sequence[ColumnNames], errors: Errors) -> list[int | None]:
        """Count the people who are the only one with their values of each set of columns; NULL is a value.

        None of columns whose values cannot be compared, which raises one of the `errors`.
        """
        counted: list[int | None] = []
        options = {**self.table.call_options, "nulls": "value"}
        for columns in sets:
            try:
                sizes = self.call(declared()["class_size_histogram"], columns, options)
            except (duckdb.InterruptException, KeyboardInterrupt):
                raise
            except errors:
                counted.append(None)
                continue
            counted.append(sum(int(row["records"]) for row in sizes if row["class_size"] == 1))
        return counted

    def joined_columns(self) -> list[str]:
        """Name the columns of the joined table, which is a file that DuckDB reads; nothing elsewhere."""
        return []

    @abstractmethod
    def count_nobodies(self, column: str) -> IdentifierCounts:
        """Count the values of a column of people or households, from which those of nobody stand out."""

    def describe_copies(self, role: str | None = None) -> str:
        """Say that rows of the table, or of another one, are copies; nothing if an engine does not look."""
        del role
        return ""

    @abstractmethod
    def list_spellings(self, name: str, codes: Sequence[str]) -> tuple[list[str], bool]:
        """List the values of a column, as texts, that are codes but for how they are written.

        Of the table as it is stored, where no code is NULL; with whether the column's type is one of numbers.
        """

    @abstractmethod
    def find_panels(self, named: ColumnNames, *, in_population: bool = False) -> list[str]:
        """Return columns of people by the structure of a draw of rows."""

    def call(
        self,
        function: Function,
        qi: ColumnNames,
        arguments: Arguments,
        by: ColumnNames = (),
        group: Group = WHOLE,
    ) -> Rows:
        """Call a public function on the records of one group."""
        return self.call_on(self.part(by, group), function, qi, arguments)

    def call_by_group(
        self, function: Function, qi: ColumnNames, arguments: Arguments, by: ColumnNames
    ) -> Rows:
        """Call a public function on all groups at once; the values of a group are under `group_names(by)`."""
        return self.call_on(
            self.divided(by), function, qi, {**arguments, "by": self.group_names(by)}
        )

    @abstractmethod
    def call_on(
        self,
        relation: Relation,
        function: Function,
        qi: ColumnNames,
        arguments: Arguments,
    ) -> Rows:
        """Call a public function on a relation of the engine."""

    @abstractmethod
    def part(self, by: ColumnNames, group: Group) -> Relation:
        """Return the records of one group alone, or the table."""

    @abstractmethod
    def divided(self, by: ColumnNames) -> Relation:
        """Return all records, with copies of the columns that divide them under `group_names(by)`."""

    def is_fetched(self, check: Check) -> bool:
        """Whether a check is computed here, from records that a server sends."""
        del check
        return False

    @abstractmethod
    def call_measure(self, check: Check, arguments: Arguments, group: Group) -> Rows:
        """Return the share of a group's records for which a measure's condition is true."""

    def has_changed(self) -> bool:
        """Whether the table is no longer what was opened."""
        return False

    def group_names(self, by: ColumnNames) -> list[str]:
        """Return names that no column has, for the columns that divide the table.

        They are given to copies, as an answer may have a column of the same name.
        """
        prefix = GROUP_COLUMN
        while any(name.lower().startswith(prefix) for name in self.columns):
            prefix += "_"
        return [f"{prefix} {place}" for place in range(1, len(by) + 1)]

    def groups(self, by: ColumnNames) -> list[Group]:
        """Return the groups of the table by some columns; one without a name where there are none."""
        key = tuple(by)
        if key not in self._groups:
            rows = self.count_groups(by) if by else [(0,)]
            self._groups[key] = [
                Group(tuple(row[:-1]), int(row[-1]), place) for place, row in enumerate(rows)
            ]
            self._places[key] = {repr(each.values): each.place for each in self._groups[key]}
        return self._groups[key]

    def place_of(self, by: ColumnNames, values: Sequence[Any]) -> int:
        """Return the position of the group with these values."""
        self.groups(by)
        place = self._places[tuple(by)].get(repr(tuple(values)))
        if place is None:
            raise UnavailableError(
                "the table must not change while it is read, got a group that was not there; "
                "ask again, or ask about an extract"
            )
        return place
