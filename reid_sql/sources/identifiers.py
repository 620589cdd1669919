"""Find columns that look like identifiers and repeat: then rows are not people."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import duckdb

from reid_sql.models.columns.identifiers import hint, likely, repeating
from reid_sql.parameters import quoted, sql_text

if TYPE_CHECKING:
    from ibis.expr.types import Table

    from reid_sql.engines.duckdb.planned_calls import PlannedCall


def repeated(
    con: duckdb.DuckDBPyConnection, table: str, counted: Sequence[str], named: Sequence[str] = ()
) -> list[tuple[str, int, int]]:
    """Return columns named like an identifier that repeat: name, distinct values, records with a value.

    `counted` are the quasi-identifiers, `named` columns that are known not to be a person's identifier. It
    costs one scan if there is such a name.
    """
    return repeated_in(con.sql, f"query_table({sql_text(table)})", counted, named)


def repeated_in(
    ask: Callable[[str], duckdb.DuckDBPyRelation],
    item: str,
    counted: Sequence[str],
    named: Sequence[str] = (),
) -> list[tuple[str, int, int]]:
    """Return the same of a FROM item."""
    every = [row[0] for row in ask(f"DESCRIBE FROM {item}").fetchall()]
    names = likely(every, counted, named)
    if not names:
        return []
    counts = ", ".join(f"count(DISTINCT {quoted(name)}), count({quoted(name)})" for name in names)
    numbers = ask(f"SELECT {counts} FROM {item}").fetchall()[0]
    return repeating(names, numbers[::2], numbers[1::2], counted)


def describe_calls(
    calls: Iterable["PlannedCall"],
    ask: Callable[[str], duckdb.DuckDBPyRelation],
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
    return " ".join(sentences)


def count_values(
    table: "Table",
    names: Sequence[str],
    ask: Callable[[Callable[[], "Table"]], Sequence[Mapping[str, Any]]],
) -> tuple[list[int], list[int]]:
    """Count the distinct values of columns of a table of Ibis, and the records with one, in one query."""
    counts = {
        f"{kind}{place}": count
        for place, name in enumerate(names)
        for kind, count in (("d", table[name].nunique()), ("n", table[name].count()))
    }
    row = ask(lambda: table.aggregate(**counts))[0]
    distinct, records = ([int(row[f"{kind}{place}"]) for place in range(len(names))] for kind in "dn")
    return distinct, records
