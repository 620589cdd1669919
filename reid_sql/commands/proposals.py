"""The profile of a table, and what is proposed for its columns by their values and what repeats."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Final

from duckdb import DuckDBPyConnection

from reid_sql.commands.starter import CONTACTS, KNOWABLE, Starter
from reid_sql.commands.tables import call, table_columns
from reid_sql.models.columns import column_profile as kinds
from reid_sql.models.columns.direct_identifiers import are_contacts
from reid_sql.models.columns.identifiers import names_a_person
from reid_sql.models.columns.sensitive_columns import reason_by_name, reason_by_values
from reid_sql.parameters import MAX_COLUMNS, ColumnNames, Rows, fold_case, quoted, sql_text
from reid_sql.sources.column_roles import read_comments
from reid_sql.sources.files import VIEW
from reid_sql.sources.identifiers import find_panels

COLUMNS_AT_ONCE: Final = 500  # of a table that has more than a call may name
MAX_VALUES_AT_ONCE: Final = (
    20_000_000  # records times columns, each of which has a hash table of its own
)
PART: Final = "reid_part"  # a view of so many columns
TEXTS_AT_ONCE: Final = 32  # whose values are counted by one statement
ROWS_READ: Final = 1000  # in which an amount shows how amounts are written
MAX_VALUES_READ: Final = 50  # of a column, the most frequent, which show whether they are diseases


def propose(
    con: DuckDBPyConnection,
    name: str,
    source: Mapping[str, str],
    population: float | None = None,
) -> Starter:
    """Profile the table, read the comments of its columns, and propose a role for each."""
    people = find_panels(con.sql, f"query_table({sql_text(name)})")
    rows = repeat_identifiers(profile_columns(con, name, []), people)
    reasons = find_reasons_by_values(con, name, rows)
    labels = read_comments(con, f"{VIEW}_database", source.get("table"))
    starter = Starter(rows, source, population, reasons, labels=labels)
    if starter.entity is None or not starter.sensitive:
        return starter
    # The sensitive columns of which a person has several values, NULL among them. Of all of a person's values
    # only the ends are in memory.
    columns = [quoted(column) for column in starter.sensitive]
    tests = ", ".join(
        f"min({each}) IS DISTINCT FROM max({each}) OR count({each}) BETWEEN 1 AND count(*) - 1"
        for each in columns
    )
    aliases = [f"several_{place}" for place, _ in enumerate(columns)]
    of_any = ", ".join(f"bool_or({each})" for each in aliases)
    of_people = f"SELECT {tests} FROM query_table(?) GROUP BY {quoted(starter.entity)}"
    are_several = con.execute(
        f"SELECT {of_any} FROM ({of_people}) AS reid({', '.join(aliases)})", [name]
    ).fetchall()[0]
    several = [*compress(starter.sensitive, are_several)]
    return replace(starter, several={starter.entity: several})


def profile_columns(con: DuckDBPyConnection, table: str, columns: list[str]) -> Rows:
    """Profile these columns of the table, or all if none is named.

    Columns that are named are counted one by one, a few of a large table in each statement, as the values of
    each are in memory; without names, the function counts all of them. A wide table is profiled in parts, as
    2,048 rows of all columns are in memory as texts. Intervals are profiled by their texts.
    """
    wanted = columns or table_columns(con, table)
    intervals = [name for name in find_intervals(con, table) if name in wanted]
    names = [name for name in wanted if name not in intervals]
    [(records,)] = con.execute("SELECT count(*) FROM query_table(?)", [table]).fetchall()
    size = min(COLUMNS_AT_ONCE, len(names) or 1, max(1, MAX_VALUES_AT_ONCE // max(1, records)))
    is_wide = size > MAX_COLUMNS
    rows = []
    parts = [(names[start : start + size], start) for start in range(0, len(names), size)]
    for part, start in [*parts, *([(intervals, len(names))] if intervals else [])]:
        if is_unnamed := is_wide or part is intervals:
            listed = ", ".join(map(quoted, part))
            con.execute(f"CREATE OR REPLACE TEMP VIEW {PART} AS SELECT {listed} FROM {table}")
        words = "columns" if size == len(names) else f"columns from {start + 1:,} of {len(names):,}"
        arguments = [PART, None] if is_unnamed else [table, part]
        rows += call(con, "profile", arguments, words).records()
    con.execute(f"DROP VIEW IF EXISTS {PART}")
    places = {fold_case(name): place for place, name in enumerate(wanted)}
    return sorted(rows, key=lambda row: places[fold_case(row["column_name"])])


def find_intervals(con: DuckDBPyConnection, table: str) -> list[str]:
    """Find the columns of intervals, of which 1 month equals 30 days, so that no function counts them."""
    types = con.execute("DESCRIBE FROM query_table(?)", [table]).fetchall()
    return [name for name, kind, *_ in types if "INTERVAL" in kind]


def find_texts(rows: Rows) -> list[str]:
    """Return the columns of texts whose values may be sensitive, where their names do not say so."""
    return [
        row["column_name"]
        for row in rows
        if row["column_type"] == "text"
        and row["looks_like"] in {kinds.CATEGORY, kinds.CODE, kinds.CONSTANT, kinds.NUMBER}
        and not reason_by_name(row["column_name"])
    ]


def repeat_identifiers(rows: Rows, people: Sequence[str]) -> Rows:
    """Take columns within whose values others are constant for identifiers of people that repeat.

    Where the name of one says so, what is constant within its values describes a person, as a sex does.
    """
    repeated = {"looks_like": kinds.REPEATED_IDENTIFIER}
    named = {row["column_name"] for row in rows if row["looks_like"] == kinds.REPEATED_IDENTIFIER}
    if any(map(names_a_person, named)):
        return list(rows)
    return [
        {**row, **repeated}
        if row["column_name"] in people and kinds.kind_of_advice(row, 1) in KNOWABLE
        else row
        for row in rows
    ]


def find_reasons_by_values(con: DuckDBPyConnection, table: str, rows: Rows) -> dict[str, str]:
    """Find the columns of texts whose most frequent values are diseases, amounts or contacts, and which."""
    named = find_texts(rows)
    values = _draw_amounts(con, table, rows, named)
    named = [name for name in named if name not in values]
    values |= {name: [] for name in named}
    for start in range(0, len(named), TEXTS_AT_ONCE):
        part = named[start : start + TEXTS_AT_ONCE]
        columns = ", ".join(map(quoted, part))
        texts = ", ".join(f"{quoted(name)}::VARCHAR AS {quoted(name)}" for name in part)
        # of all columns in one reading of the file; a bit of `rest` is 0 for the column that is grouped by
        frequent = con.execute(
            f"""SELECT rest, v FROM (
              SELECT grouping({columns}) AS rest, coalesce({columns}, NULL) AS v, count(*) AS n
              FROM (SELECT {texts} FROM query_table(?))
              GROUP BY GROUPING SETS ({", ".join(f"({quoted(name)})" for name in part)})
            )
            WHERE v IS NOT NULL
            QUALIFY row_number() OVER (PARTITION BY rest ORDER BY n DESC, v) <= {MAX_VALUES_READ}""",
            [table],
        ).fetchall()
        for rest, value in frequent:
            grouped = (1 << len(part)) - 1 - rest
            values[part[len(part) - grouped.bit_length()]].append(value)
    return {name: reason for name, each in values.items() if (reason := judge_values(each))}


def _draw_amounts(
    con: DuckDBPyConnection, table: str, rows: Rows, named: ColumnNames
) -> dict[str, list[str]]:
    """Return some values of the texts that are numbers: if they are amounts, the first of them are."""
    looks = {row["column_name"]: row["looks_like"] for row in rows}
    numbers = [name for name in named if looks[name] == kinds.NUMBER]
    if not numbers:
        return {}
    texts = ", ".join(f"{quoted(name)}::VARCHAR" for name in numbers)
    drawn = con.execute(f"SELECT {texts} FROM query_table(?) LIMIT {ROWS_READ}", [table]).fetchall()
    return {
        name: [each for each in dict.fromkeys(values) if each is not None][:MAX_VALUES_READ]
        for name, values in zip(numbers, zip(*drawn, strict=True), strict=True)
    }


def judge_values(values: Sequence[str]) -> str | None:
    """Say what some values of a column are, where nobody should learn them, or they identify people."""
    return CONTACTS if are_contacts(values) else reason_by_values(values)
