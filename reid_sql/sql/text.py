"""Pieces of SQL text: names, literals and lists, quoted here and nowhere else."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from reid_sql.parameters import ColumnNames, fold_case, sql_text

text = sql_text  # quotes a text as a literal
# SQL has no empty name: a control character, which no table has as a name, replaces it until the check of
# the columns refuses it.
NO_NAME = "\x01"


def name(column: str) -> str:
    r"""Quote a column's name.

    >>> name("it's")
    '"it\'s"'
    """
    return '"' + (column.replace('"', '""') or NO_NAME) + '"'


def is_nan(number: str) -> str:
    """Test whether a number is NaN.

    DuckDB 2.0 takes isnan for false in a Parquet file whose statistics leave NaN out, as most writers do.
    """
    return f"NOT isfinite({number}) AND NOT isinf({number})"


def texts(values: Iterable[str]) -> str:
    """Write a list of texts.

    >>> texts(["age", "sex"]), texts([])
    ("['age', 'sex']", '[]::VARCHAR[]')
    """
    listed = ", ".join(map(text, values))
    return f"[{listed}]" if listed else "[]::VARCHAR[]"


def any_of(words: Sequence[str]) -> str:
    """Write many texts as a query for IN: DuckDB makes a hash table of its answer, and compares a long list.

    >>> any_of(["n/a", "unknown"])
    "(SELECT unnest(string_split('n/a|unknown', '|')))"
    """
    return f"(SELECT unnest(string_split({text('|'.join(words))}, '|')))"


def aliases(number: int, first: int = 1) -> list[str]:
    """Name so many columns by their places: no name of a table can clash with these.

    >>> aliases(2), aliases(2, first=3)
    (['q1', 'q2'], ['q3', 'q4'])
    """
    return [f"q{place}" for place in range(first, first + number)]


def numbered(columns: ColumnNames) -> str:
    """List the aliases of the columns: q1, q2 and so on."""
    return ", ".join(aliases(len(columns)))


def with_names(columns: ColumnNames) -> str:
    """Select the aliases under the columns' own names."""
    return ", ".join(f"q{place} AS {name(column)}" for place, column in enumerate(columns, 1))


def prefix(columns: Iterable[str]) -> str:
    """List columns that stand before others, each with a comma after it."""
    return "".join(f"{column}, " for column in columns)


def same(
    one: str, other: str, columns: Iterable[str], other_columns: Iterable[str] | None = None
) -> str:
    """Compare two relations by these columns, NULL equal to NULL.

    >>> same("s", "p", ["q1", "q2"])
    's.q1 IS NOT DISTINCT FROM p.q1 AND s.q2 IS NOT DISTINCT FROM p.q2'
    """
    pairs = (
        zip(columns, other_columns, strict=True)
        if other_columns is not None
        else ((each, each) for each in columns)
    )
    return " AND ".join(
        f"{one}.{left} IS NOT DISTINCT FROM {other}.{right}" for left, right in pairs
    )


def all_null(columns: ColumnNames) -> str:
    """Test that every aliased column is NULL."""
    return " AND ".join(f"{alias} IS NULL" for alias in aliases(len(columns)))


def none_null(columns: ColumnNames) -> str:
    """Test that no aliased column is NULL."""
    return " AND ".join(f"{alias} IS NOT NULL" for alias in aliases(len(columns)))


def sort_keys(json: str, depth: int = 3) -> str:
    """Write a value of JSON as text whose keys are in order: objects are equal in whatever order."""
    if not depth:
        return f"{json}::VARCHAR"
    key, each = f"reid_key_{depth}", f"reid_each_{depth}"
    field = f"json_extract({json}, '/' || replace(replace({key}, '~', '~0'), '/', '~1'))"
    fields = f"lambda {key}: to_json({key})::VARCHAR || ':' || {sort_keys(field, depth - 1)}"
    items = (
        f"list_transform(json_extract({json}, '$[*]'), lambda {each}: {sort_keys(each, depth - 1)})"
    )
    return f"""CASE json_type({json})
        WHEN 'OBJECT' THEN '{{' || array_to_string(
          list_transform(list_sort(json_keys({json}), 'ASC', 'NULLS LAST'), {fields}), ',') || '}}'
        WHEN 'ARRAY' THEN '[' || array_to_string({items}, ',') || ']'
        ELSE {json}::VARCHAR END"""


def refusal(sentence: str, kind: str = "BOOLEAN") -> str:
    """Raise the sentence where the expression is evaluated."""
    return f"error({text(sentence)})::{kind}"


def fold_case_in_sql(expression: str) -> str:
    """Fold ASCII upper case alone in the text of an expression."""
    return f"translate({expression}, '{ASCII_UPPER}', '{ASCII_UPPER.lower()}')"


def list_described(what: str, item: str, where: str = "true") -> str:
    """List what DESCRIBE has of each column, in their order, which DuckDB keeps of 2,048 columns alone."""
    described = f"SELECT *, row_number() OVER () AS reid_place FROM (DESCRIBE FROM {item})"
    return f"SELECT list({what} ORDER BY reid_place ASC) FROM ({described}) WHERE {where}"


ASCII_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def union(columns: ColumnNames, more: Sequence[str]) -> list[str]:
    """All columns, each once: those, and the others that are not among them in any case."""
    folded = {fold_case(column) for column in columns}
    return [*columns, *(other for other in more if fold_case(other) not in folded)]


def place_of(column: str, columns: ColumnNames) -> int:
    """The place of a column among others, counted from 1; 0 where it is not among them."""
    folded = [fold_case(each) for each in columns]
    return folded.index(fold_case(column)) + 1 if fold_case(column) in folded else 0


@dataclass(frozen=True)
class Source:
    """A table as a plan reads it: a FROM item, whose columns whoever wrote the item has checked.

    Its engine makes the values comparable (collations, NaN, -0.0, padding) before any text of ours sees
    them: two values that differ must never count as one. A source whose columns only the query can check
    writes these checks around a text; here a body stays as it is.
    """

    item: str
    is_materialized: bool = (
        True  # whether a common table expression is computed once, however often it is read
    )
    has_people: bool = False  # whether each row is a person, and has how many people its class has

    def items(self) -> str:
        """The table itself as a FROM item, with all of its own columns."""
        return self.item

    def derive(self, query: str, *, has_people: bool = False) -> Self:
        """The rows of a query over this table, in its place."""
        return replace(self, item=f"({query})", has_people=has_people)

    def column(self, column: str) -> str:
        """A column of the table."""
        return f"reid_source.{name(column)}"

    def rows(
        self,
        columns: ColumnNames,
        *,
        drop_nulls: bool = False,
        before: Mapping[str, str] | None = None,
        is_checked: bool = True,
    ) -> str:
        """Read the columns as q1, q2, … in a FROM item; `before` are expressions by the names they get.

        `drop_nulls` leaves out the rows with a NULL in one of the columns. `is_checked` is false where the
        same columns are checked for collations elsewhere in the query.
        """
        before = before or {}
        cells = [*before.values(), *map(self.column, columns)]
        names = [*before, *aliases(len(columns))]
        tests = self.tests(columns, is_checked=is_checked)
        tests += [f"{self.column(column)} IS NOT NULL" for column in columns if drop_nulls]
        where = f"WHERE {' AND '.join(tests)}" if tests else ""
        return f"""(
          SELECT {", ".join(cells)} FROM {self.item} AS reid_source {where}
        ) AS reid_source_rows({", ".join(names)})"""

    def tests(self, columns: ColumnNames, *, is_checked: bool) -> list[str]:  # noqa: ARG002 - of a subclass
        """Tests that are true, or refuse, before a value of the columns is compared."""
        return []

    def is_identified(self) -> str:
        """Test that each row has a value in the column that identifies people, if any; else refuse."""
        return "true"

    def without_nan(self, value: str) -> str:
        """A value, NULL where it is NaN."""
        return known_text(value)

    def count_nulls(self, columns: ColumnNames) -> str:
        """Count the rows with a NULL in one of the columns, in a query of one value."""
        tests = " OR ".join(f"{self.column(column)} IS NULL" for column in columns)
        return f"SELECT count(*) FROM {self.item} AS reid_source WHERE {tests}"

    def has_columns(self, label: str, columns: ColumnNames) -> str:  # noqa: ARG002 - of a subclass
        """Test that the table has the columns, for a plan that must know before it joins by them."""
        return "true"

    def check_columns(
        self,
        label: str,  # noqa: ARG002 - of a subclass
        columns: ColumnNames,  # noqa: ARG002 - the same
        body: str,
        table: str = "the table",  # noqa: ARG002 - the same
    ) -> str:
        """Write the body, a query, behind the check that the table has the columns; `label` names them."""
        return body

    def check_columns_of_both(
        self,
        other: "Source",  # noqa: ARG002 - of a subclass
        tables: tuple[str, str],  # noqa: ARG002 - the same
        label: str,  # noqa: ARG002 - the same
        columns: ColumnNames,  # noqa: ARG002 - the same
        body: str,
    ) -> str:
        """Write the body behind the check that both tables have the columns; `tables` names the tables."""
        return body

    def check_types(self, other: "Source", columns: ColumnNames, body: str) -> str:  # noqa: ARG002 - the same
        """Write the body behind the check that the columns have comparable types in both tables."""
        return body

    def guard_types(self, compared: "Sequence[Any]", columns: ColumnNames) -> "list[Any]":  # noqa: ARG002 - the same
        """This table and others, whose values no cast can reach before their types are found comparable."""
        return [self, *compared]


def known_text(value: str) -> str:
    """A value, NULL where it is NaN, in words that all databases have; a text 'nan' is no value either."""
    return f"CASE WHEN lower({value}::VARCHAR) = 'nan' THEN NULL ELSE {value} END"
