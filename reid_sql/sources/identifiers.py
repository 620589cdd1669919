"""Find columns that look like identifiers and repeat: then rows are not people."""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import duckdb
import pyarrow as pa

from reid_sql.engines.drawn_rows import Values, find_panels_in
from reid_sql.engines.duckdb.source import known_value
from reid_sql.models.columns.identifiers import (
    RepeatedColumn,
    hint,
    likely,
    repeating,
    repeating_people,
)
from reid_sql.models.columns.nobodies import (
    IdentifierCounts,
    count_texts,
    counts_of_nobodies,
    describe_nobodies,
)
from reid_sql.models.columns.units import UNIT_PERSON, UNIT_VALUE
from reid_sql.parameters import MAX_COLUMNS, ColumnNames, Rows, quoted, sql_literal, sql_text
from reid_sql.sql.spelling import count_nobodies, list_values

if TYPE_CHECKING:
    from ibis.expr.types import Table

    from reid_sql.engines.duckdb.planner import PlannedCall

Ask = Callable[[str], duckdb.DuckDBPyRelation]
COMPARED_TYPES: Final = re.compile(
    r"U?(TINY|SMALL|BIG)?INT(EGER)?\b|FLOAT|DOUBLE|DECIMAL|VARCHAR|BOOLEAN|DATE|ENUM"
)


def repeated(
    con: duckdb.DuckDBPyConnection, table: str, counted: ColumnNames, named: ColumnNames = ()
) -> list[RepeatedColumn]:
    """Return columns named like an identifier that repeat: name, distinct values, records with a value.

    `counted` are the quasi-identifiers, `named` columns known not to be a person's identifier. Columns that
    identify people by the structure of the table are returned, too. It costs a scan for each of the two.
    """
    return repeated_in(con.sql, f"query_table({sql_text(table)})", counted, named)


def repeated_in(
    ask: Ask,
    item: str,
    counted: ColumnNames,
    named: ColumnNames = (),
) -> list[RepeatedColumn]:
    """Return the same of a FROM item."""
    columns = [row[0] for row in ask(f"DESCRIBE FROM {item}").fetchall()]
    names = likely(columns, counted, named)
    names += [name for name in find_panels(ask, item, named) if name not in names]
    if not names:
        return []
    counts = ", ".join(f"count(DISTINCT {quoted(name)}), count({quoted(name)})" for name in names)
    *numbers, rows = ask(f"SELECT {counts}, count(*) FROM {item}").fetchall()[0]
    repeated_columns = repeating(names, numbers[::2], numbers[1::2], counted, of_rows=rows)
    nobodies = (count_nobodies_in(ask, item, each.name) for each in repeated_columns)
    return repeating_people(repeated_columns, nobodies)


def find_panels(
    ask: Ask,
    item: str,
    named: ColumnNames = (),
) -> list[str]:
    """Return columns of people by the structure of a draw of rows of a FROM item; `named` are none."""
    types = {row[0]: row[1] for row in ask(f"DESCRIBE FROM {item}").fetchall()}
    plain = [
        name
        for name, kind in types.items()
        if COMPARED_TYPES.match(kind) and not kind.endswith("]")
    ]
    selected = f"SELECT {', '.join(map(quoted, plain[:MAX_COLUMNS]))} FROM {item}"

    def draw(values: Values, limit: int) -> pa.Table:
        tests = (
            f"{quoted(name)} IN ({', '.join(map(sql_literal, each))})"
            for name, each in values.items()
        )
        where = f"WHERE {' OR '.join(tests)}" if values else ""
        return ask(f"{selected} {where} LIMIT {limit}").to_arrow_table()

    return find_panels_in(plain, draw, named)


def describe_nobodies_in(ask: Ask, item: str, column: str, unit: str = UNIT_PERSON) -> str:
    """Write the cautions on values of the column of people that may stand for nobody, or nothing."""
    return describe_nobodies(column, count_nobodies_in(ask, item, column, unit), unit)


def count_nobodies_in(
    ask: Ask, item: str, column: str, unit: str = UNIT_PERSON
) -> IdentifierCounts:
    """Count the values of the column of people, from which those that stand for nobody stand out."""
    if unit == UNIT_VALUE:
        texts, sizes = ask(list_values(item, quoted(column))).fetchall()[0]
        return count_texts(texts or (), sizes or ())
    return counts_of_nobodies(ask(count_nobodies(item, known_value(quoted(column)))).fetchall()[0])


def describe_calls(
    calls: Iterable["PlannedCall"],
    ask: Ask,
    option: str = "entity :=",
) -> str:
    """Say of which tables of some calls rows may not be people; nothing of a table that is there no more."""
    sentences: dict[str, None] = {}
    for call in dict.fromkeys(calls):
        for item in call.items:
            with suppress(duckdb.Error):
                columns = repeated_in(ask, item, call.rows.counted, call.rows.named)
                advice = hint(columns, option if call.rows.takes_entity else None)
                sentences |= dict.fromkeys([advice] * bool(columns))
        for item, unit, column in call.watched:
            with suppress(duckdb.Error):
                caution = describe_nobodies_in(ask, item, column, unit)
                sentences |= dict.fromkeys([caution] * bool(caution))
    return " ".join(sentences)


def count_values(
    table: "Table",
    names: ColumnNames,
    ask: Callable[[Callable[[], "Table"]], Rows],
) -> tuple[list[int], list[int]]:
    """Count the distinct values of columns of a table of Ibis, and the records with one, in one query."""
    from reid_sql.engines.ibis.frames import known_value  # noqa: PLC0415 - Ibis is optional

    counts = {
        f"{kind}{place}": count
        for place, name in enumerate(names)
        for kind, count in (("d", table[name].nunique()), ("n", known_value(table, name).count()))
    }
    row = ask(lambda: table.aggregate(**counts))[0]
    distinct, records = (
        [int(row[f"{kind}{place}"]) for place in range(len(names))] for kind in "dn"
    )
    return distinct, records
