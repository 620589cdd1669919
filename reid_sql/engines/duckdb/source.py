"""A table of DuckDB as a plan reads it: found by DuckDB itself, its columns checked where the query runs.

A plan is text and looks nothing up. DuckDB resolves the table by query_table, so that views, CTEs, frames and
temporary tables are found; a column that the table lacks is refused, with the nearest name, by the query.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from reid_sql.engines.duckdb.names import EQUATES_VARIANTS, READS_QUOTES, REFUSE, qualified
from reid_sql.engines.file_headers import MAX_LINES_COMPARED
from reid_sql.errors import OutOfDomainError
from reid_sql.models.columns.units import COUNTS_OF_NOBODIES, MAX_TEXTS_COMPARED, UNIT_VALUE
from reid_sql.parameters import ColumnNames
from reid_sql.reduction import REFUSAL_COLLATION, REFUSAL_INTERVAL, REFUSAL_UNIDENTIFIED
from reid_sql.sql.text import (
    Source,
    is_nan,
    list_described,
    name,
    place_of,
    refusal,
    sort_keys,
    text,
    texts,
)

PART: Final = r'("([^"]|"")+"|[^".]+)'
QUOTED_NAME: Final = re.compile(rf"(?s){PART}([.]{PART}){{0,2}}")
FILE: Final = re.compile(r"(?is).*[.](parquet|csv|tsv|json|ndjson|jsonl)([.](gz|zst))?")
PARQUET: Final = re.compile(r"(?is).*[.]parquet([.](gz|zst))?")
DELIMITED: Final = re.compile(r"(?is).*[.][ct]sv([.](gz|zst))?")
DESCRIBE: Final = "DESCRIBE FROM "
# What a file itself names: the first lines of the first text file, and the fields of the first Parquet file
# with how many fields each has within it.
FIRST_LINES: Final = f"""
    SELECT list(line) FROM (
      SELECT line FROM read_csv({{file}}, columns = {{{{'line': 'VARCHAR'}}}}, auto_detect = false,
        header = false, delim = chr(1), quote = '', escape = '', comment = '', strict_mode = false,
        hive_partitioning = false)
      LIMIT {MAX_LINES_COMPARED}
    )"""
PARQUET_NAMES: Final = """
    SELECT list(concat(coalesce(num_children, 0), ' ', name)) FROM parquet_schema({file})
    WHERE file_name = (SELECT min(file_name) FROM parquet_schema({file}))"""
SPLIT: Final = "\x01"  # where a sentence has a count
THOUSANDS: Final = "format('{{:,}}', {})"
PATTERN_SIGNS: Final = re.compile(r"[\[?=]")

# A default collation would count texts that differ as one. It belongs to the connection, and the query alone
# can see it.
COLLATED: Final = (
    "default_collation must be unset, got one by which texts that differ are the same; "
    "run RESET default_collation"
)
EXACT: Final = "'a' <> 'A' AND 'a' <> 'á' AND 'é' <> concat('e', chr(769))"
TEXTS_ARE_EXACT: Final = f"CASE WHEN ({EXACT}) IS NOT TRUE THEN {refusal(COLLATED)} ELSE true END"
REFUSAL_VARIANT: Final = (
    "columns of type VARIANT must be counted by DuckDB 2.0 or later, got an older one, to which equal "
    "numbers of two types differ; cast them in a view to the type of their values"
)
BYTEWISE: Final = (  # the collations that compare bytes, as texts without one are compared
    r"'e\\x01\\x00\\x01\\x01d\\x01\\x00\\x03\\xC8\\x01\\x00(\\x01\\x01C|\\x05POSIX|\\x06binary)\\xFF\\xFF'"
)


@dataclass(frozen=True)
class DuckDBSource(Source):
    """A FROM item; `is_plain` leaves out the checks that need Python, for SQL that any client can run.

    `is_known` leaves out those of columns and collations: whoever wrote the item has made them. Wherever the
    column that identifies people is read, a row without a value of it is refused.
    """

    is_plain: bool = False
    is_known: bool = False
    # tests that are true before a value of the table is compared
    preconditions: tuple[str, ...] = ()
    identified_by: tuple[str, str] | None = (
        None  # the role of the column that identifies people, and its name
    )
    # people or households, and the column of which values are they
    watched: tuple[tuple[str, str], ...] = ()

    def count_reads(self, query: str) -> int:
        """Count how often a query reads the table; DESCRIBE reads its columns' names alone."""
        return query.count(self.item) - query.count(f"{DESCRIBE}{self.item}")

    def rename(self, item: str) -> "DuckDBSource":
        """The same table under the name of a common table expression."""
        return replace(self, item=item)

    def derive(self, query: str, *, has_people: bool = False) -> "DuckDBSource":
        """The rows of a query over this table, in its place."""
        derived = super().derive(query, has_people=has_people)
        return replace(derived, identified_by=None, watched=())

    def column(self, column: str) -> str:
        """A column of the table.

        Without the check of columns it is qualified, so that the binder refuses one that is missing; with it,
        a missing one binds to the NULL of the same name in the fallback, and the check refuses it by its own
        sentence.
        """
        return super().column(column) if self.is_plain or self.is_known else name(column)

    def tests(self, columns: ColumnNames, *, is_checked: bool) -> list[str]:
        """Test that equal values are one, other tables' types the same, and that each row has a person."""
        is_exact = is_checked and not (self.is_plain or self.is_known)
        of_people = [
            each for _, each in [*filter(None, [self.identified_by]), *self._watched_people()]
        ]
        return [
            *([self.is_exact(columns)] if is_exact else []),
            # names in it are none of the table's
            *(f"(SELECT {each})" for each in self.preconditions),
            *([self.is_identified()] if any(place_of(each, columns) for each in of_people) else []),
        ]

    def guard_types(
        self, compared: Sequence["DuckDBSource"], columns: ColumnNames
    ) -> list["DuckDBSource"]:
        """This table and others, whose values are read once the columns are known to have the same types.

        DuckDB casts values of unlike types before they are compared, in an order of its own; a cast that
        fails quotes the value.
        """
        tests = tuple(self._has_types_of(other, columns) for other in compared)
        return [
            each if each.is_plain else replace(each, preconditions=tests)
            for each in (self, *compared)
        ]

    def _has_types_of(self, other: Source, columns: ColumnNames) -> str:
        types = ", ".join(
            f"{_names_of(each)}, {_types_of(each)}" for each in (self.item, other.items())
        )
        return f"coalesce(error({REFUSE}('types', {texts(columns)}, {types}))::BOOLEAN, true)"

    def is_exact(self, columns: ColumnNames) -> str:
        """Test that no text in the columns, at any depth, has a collation, and that equal values are one.

        No row is looked at: DuckDB knows the types when it binds the query, finds that the test is always
        true, and drops it.
        """
        row = f"row({', '.join(self.column(column) for column in columns)})"
        variants = (
            "" if EQUATES_VARIANTS else f"WHEN {has_variant(row)} THEN {refusal(REFUSAL_VARIANT)}"
        )
        return f"""CASE WHEN {has_interval(row)}
            THEN {refusal(REFUSAL_INTERVAL.format(", ".join(columns)))}
            WHEN {has_collation(row)}
            THEN {refusal(REFUSAL_COLLATION.format(", ".join(columns)))} {variants} ELSE true END"""

    def is_identified(self) -> str:
        """Test that every row has an identifier, if a column is one; warn of values that stand for nobody."""
        tests = []
        if self.identified_by is not None:
            role, column = self.identified_by
            identifier = (
                f"reid_person.{name(column)}" if self.is_plain or self.is_known else name(column)
            )
            value = self.without_nan("identifier")
            parts = REFUSAL_UNIDENTIFIED.format(role, column, SPLIT, SPLIT, column).split(SPLIT)
            before, between, after = map(text, parts)
            tests.append(f"""(
            SELECT CASE WHEN missing > 0
              THEN error(concat({before}, {THOUSANDS.format("missing")}, {between},
                {THOUSANDS.format("total")}, {after}))::BOOLEAN ELSE true END
            FROM (
              SELECT count(*) - count({value}) AS missing, count(*) AS total
              FROM (SELECT {identifier} AS identifier FROM {self.item} AS reid_person) AS reid_people
            )
          )""")
        tests += [self._warn_of_nobodies(*each) for each in self._watched_people()]
        return " AND ".join(tests) or "true"

    def _watched_people(self) -> list[tuple[str, str]]:
        return [each for each in self.watched if each[0] != UNIT_VALUE]

    def _warn_of_nobodies(self, unit: str, column: str) -> str:
        """Warn of values that stand for nobody; true in any case, but where a warning is an error."""
        from reid_sql.sql.spelling import count_nobodies  # noqa: PLC0415 - it reads lists of words

        arguments = ", ".join(["'nobodies'", text(unit), text(column), *COUNTS_OF_NOBODIES])
        return f"""(
            SELECT coalesce(error({REFUSE}({arguments}))::BOOLEAN, true)
            FROM ({count_nobodies(self.item, known_value(name(column)))}) AS reid_nobodies
          )"""

    def _warn_of_values(self, columns: ColumnNames, body: str) -> str:
        """Write the body next to the warnings of sensitive texts that are written alike, or stand for none.

        As a test of each row they would be asked for before any row is counted, and the table stored.
        """
        values = [each for unit, each in self.watched if unit == UNIT_VALUE]
        values = [each for each in values if place_of(each, columns)]
        if not values:
            return body
        from reid_sql.sql.spelling import list_values  # noqa: PLC0415 - it reads lists of words

        tests = [
            f"""(
                SELECT coalesce(error({REFUSE}('values', {text(column)}, texts, sizes))::BOOLEAN, true)
                FROM ({list_values(self.item, name(column), MAX_TEXTS_COMPARED + 1)}) AS reid_listed
              )"""
            for column in values
        ]
        return f"""
            SELECT reid_valued.*
            FROM ({body}) AS reid_valued, (SELECT {" AND ".join(tests)} AS reid_is_warned) AS reid_warned
            WHERE reid_is_warned"""

    def without_nan(self, value: str) -> str:
        """A value, NULL where it is NaN."""
        return super().without_nan(value) if self.is_plain else known_value(value)

    def has_columns(self, label: str, columns: ColumnNames) -> str:
        """Test that the table has the columns, for a plan that must know before it joins by them."""
        if self.is_plain or self.is_known:
            return "true"
        sentence = f"{REFUSE}('columns', {text(label)}, {texts(columns)}, {_names_of(self.item)})"
        return f"coalesce(error({sentence})::BOOLEAN, true)"

    def check_columns(
        self, label: str, columns: ColumnNames, body: str, table: str = "the table"
    ) -> str:
        """Write the body behind the check that the table has the columns.

        A column that the table lacks binds to the NULL next to it, and the check refuses: so the sentence has
        the nearest column, and a bare name never binds to a column of the user's outer query.
        """
        body = self._warn_of_values(columns, body)
        if self.is_plain or self.is_known:
            return body
        distinct = list(dict.fromkeys(columns))
        arguments = [text(label), texts(distinct), _names_of(self.item)]
        arguments += [] if table == "the table" else [text(table)]
        return _add_check(f"{REFUSE}('columns', {', '.join(arguments)})", distinct, body)

    def check_columns_of_both(
        self, other: Source, tables: tuple[str, str], label: str, columns: ColumnNames, body: str
    ) -> str:
        """Write the body behind the check that two tables have the columns."""
        if self.is_plain or self.is_known:
            return body
        distinct = list(dict.fromkeys(columns))
        tests = [
            f"{REFUSE}('columns', {text(label)}, {texts(distinct)}, {_names_of(each)}, {text(table)})"
            for each, table in zip((self.item, other.items()), tables, strict=True)
        ]
        return _add_check(f"coalesce({', '.join(tests)})", distinct, body)

    def check_types(self, other: Source, columns: ColumnNames, body: str) -> str:
        """Write the body behind the check that the columns have comparable types in both tables.

        A cast would make one class of several.
        """
        if self.is_plain:
            return body
        return f"""
            SELECT reid_same.*
            FROM ({body}) AS reid_same,
              (SELECT {self._has_types_of(other, columns)} AS reid_is_same) AS reid_compared
            WHERE reid_compared.reid_is_same"""

    def check_sensitive(self, column: str, body: str) -> str:
        """Write the body behind the check that the sensitive column has values of one type."""
        if self.is_plain:
            return body
        test = (
            f"{REFUSE}('sensitive', {text(column)}, {_names_of(self.item)}, {_types_of(self.item)})"
        )
        return f"""
            SELECT reid_same.*
            FROM ({body}) AS reid_same, (
              SELECT coalesce(error({test})::BOOLEAN, true) AS reid_is_one_type
            ) AS reid_typed
            WHERE reid_is_one_type"""


def _add_check(sentence: str, columns: ColumnNames, body: str) -> str:
    fallback = ", ".join(f"NULL::VARCHAR AS {name(column)}" for column in columns) or "NULL"
    return f"""
        SELECT reid_result.*
        FROM (
          SELECT {fallback} WHERE {TEXTS_ARE_EXACT} AND coalesce(error({sentence})::BOOLEAN, true)
        ) AS reid_fallback, LATERAL ({body}) AS reid_result"""


def _names_of(item: str) -> str:
    return f"({list_described('column_name', item)})"


def _types_of(item: str) -> str:
    return f"({list_described('column_type', item)})"


def has_collation(row: str) -> str:
    """Test whether a text of a row, at any depth, has a collation that does not compare bytes.

    Neither its name nor the catalogue shows it, but the sort key of its type does: compared with that of the
    same type with every VARCHAR made plain, by way of a type that nobody has.
    """
    bare = f"""replace_type(replace_type({row}, NULL::VARCHAR, NULL::STRUCT("reid text" VARCHAR)),
        NULL::STRUCT("reid text" VARCHAR), NULL::VARCHAR)"""
    key = f"create_sort_key(get_type({row}), 'ASC NULLS LAST')::VARCHAR"
    return f"""regexp_replace({key}, {BYTEWISE}, '', 'gi')
        <> create_sort_key(get_type({bare}), 'ASC NULLS LAST')::VARCHAR"""


def has_variant(row: str) -> str:
    """Test whether a value of a row, at any depth, is a VARIANT."""
    return f"typeof(replace_type({row}, NULL::VARIANT, NULL::VARCHAR)) <> typeof({row})"


def has_interval(row: str) -> str:
    """Test whether a value of a row, at any depth, is an INTERVAL."""
    return f"typeof(replace_type({row}, NULL::INTERVAL, NULL::VARCHAR)) <> typeof({row})"


def known_value(value: str) -> str:
    """A value that is known, or NULL: DuckDB knows the type when it binds, and drops the test for others."""
    number = f"try_cast({value} AS DOUBLE)"
    return f"CASE WHEN typeof({value}) IN ('FLOAT', 'DOUBLE') AND {is_nan(number)} THEN NULL ELSE {value} END"


def table_source(table: Any, *, is_plain: bool = False) -> DuckDBSource:  # noqa: ANN401 - as SQL gave it
    """The table of a name, or the file of a path.

    A name is used as it is where it has no quotes or is quoted by SQL's rules; else it is an identifier that
    itself holds quotes: those arrive bare.
    """
    item_name = "" if table is None else str(table)
    if not item_name.strip():
        raise OutOfDomainError(
            "tbl must be a table, view or file, got an empty name; pass its name or path"
        )
    if '"' not in item_name:
        if FILE.fullmatch(item_name):
            return DuckDBSource(_file(item_name, is_plain=is_plain), is_plain=is_plain)
        return _named(item_name, is_plain=is_plain)
    if QUOTED_NAME.fullmatch(item_name):
        if PATTERN_SIGNS.search(item_name) and FILE.fullmatch(item_name.replace('"', "")):
            raise OutOfDomainError(
                f"tbl must be a path without quotes around it if it contains [, ? or =, got {item_name}; "
                "leave the inner quotes out, or pass a view of the table"
            )
        return _named(item_name, is_plain=is_plain)
    if FILE.fullmatch(item_name) and "/" in item_name:
        return DuckDBSource(_file(item_name, is_plain=is_plain), is_plain=is_plain)
    return _named(name(item_name), is_plain=is_plain)


def _named(table: str, *, is_plain: bool) -> DuckDBSource:
    if '""' in table and not READS_QUOTES:
        raise OutOfDomainError(
            f"tbl must be a name without quotes in it before DuckDB 2.0, got {table}; pass a view of the table"
        )
    return DuckDBSource(f"query_table({text(table)})", is_plain=is_plain)


def _file(path: str, *, is_plain: bool = False) -> str:
    """The very file: no folder's name is a column, no line a comment, and texts are texts.

    A text of JSON that would be a value of another kind keeps its quotes, so that 1 and "1" stay two.
    Its columns are those that the file itself names, each once; a check needs Python.
    """
    file = text(path if path.lower().startswith(("http://", "https://")) else escape_pattern(path))
    if PARQUET.fullmatch(path):
        item = f"read_parquet({file}, hive_partitioning = false)"
        return item if is_plain else _check_names(item, path, PARQUET_NAMES.format(file=file))
    if DELIMITED.fullmatch(path):
        item = f"read_csv({file}, all_varchar = true, comment = '', hive_partitioning = false)"
        return item if is_plain else _check_names(item, path, FIRST_LINES.format(file=file))
    return f"""(
      SELECT CASE WHEN json_type(COLUMNS(*)) = 'VARCHAR'
          AND NOT json_valid(json_extract_string(COLUMNS(*), '$'))
        THEN json_extract_string(COLUMNS(*), '$') ELSE {sort_keys("COLUMNS(*)", 2)} END
      FROM read_json({file}, maximum_depth = 1, hive_partitioning = false)
    )"""


def _check_names(item: str, path: str, header: str) -> str:
    """Read the file behind the check that its columns are those that it names itself."""
    return f"""(
      SELECT * FROM {item} WHERE (
        SELECT coalesce(error({REFUSE}('file', {text(path)}, {_names_of(item)}, ({header})))::BOOLEAN, true)
      )
    )"""


def escape_pattern(path: str) -> str:
    """Write a path in which * alone is a pattern."""
    return path.replace("[", "[[]").replace("?", "[?]")


# Columns whose texts a collation makes the same, and their refusal, where Python counts by them itself.


def folded(ask: Callable[[str], list[tuple[Any, ...]]], tbl: str, columns: ColumnNames) -> set[str]:
    """Those of the columns with texts, at any depth, of which two that differ may be the same.

    An empty table has none.
    """
    tests = ", ".join(has_collation(f"row({name(column)})") for column in columns)
    rows = ask(qualified(f"SELECT {tests} FROM {tbl} LIMIT 1"))
    return {column for row in rows for column, has_one in zip(columns, row, strict=True) if has_one}


def refuse(columns: ColumnNames, with_collation: set[str]) -> None:
    """Refuse to count by the columns where some of them have such a collation."""
    if not with_collation.isdisjoint(columns):
        raise OutOfDomainError(REFUSAL_COLLATION.format(", ".join(columns)))
