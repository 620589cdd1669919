"""Find columns that look like identifiers and repeat: then rows are not people."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import duckdb

from reid_sql.models.columns.column_profile import IDENTIFIER_NAME
from reid_sql.parameters import quoted, sql_text

if TYPE_CHECKING:
    from ibis.expr.types import Table

    from reid_sql.engines.duckdb.planned_calls import PlannedCall

MOST: Final = 8  # columns that are looked at


def repeated(
    con: duckdb.DuckDBPyConnection, table: str, quasi_identifiers: Sequence[str]
) -> list[tuple[str, int, int]]:
    """Return columns named like an identifier that repeat: name, distinct values, records with a value.

    The quasi-identifiers are skipped. It costs one scan if there is such a name.
    """
    return repeated_in(con.sql, f"query_table({sql_text(table)})", quasi_identifiers)


def repeated_in(
    ask: Callable[[str], duckdb.DuckDBPyRelation], item: str, named: Sequence[str]
) -> list[tuple[str, int, int]]:
    """Return the same of a FROM item; `named` are columns that are known not to be a person's identifier."""
    every = [row[0] for row in ask(f"DESCRIBE FROM {item}").fetchall()]
    names = likely(every, named)
    if not names:
        return []
    counts = ", ".join(f"count(DISTINCT {quoted(name)}), count({quoted(name)})" for name in names)
    numbers = ask(f"SELECT {counts} FROM {item}").fetchall()[0]
    return repeating(names, numbers[::2], numbers[1::2])


def describe_calls(
    calls: Iterable["PlannedCall"],
    ask: Callable[[str], duckdb.DuckDBPyRelation],
    option: str = "entity :=",
) -> str:
    """Say of which tables of some calls rows may not be people; nothing of a table that is there no more."""
    sentences: dict[str, None] = {}
    for call in dict.fromkeys(calls):
        for item in () if call.has_entity else call.items:
            with suppress(duckdb.Error):
                columns = repeated_in(ask, item, call.columns)
                advice = hint(columns, option if call.takes_entity else None)
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


def likely(every: Sequence[str], quasi_identifiers: Sequence[str]) -> list[str]:
    """Return the columns that are named like an identifier, but for the quasi-identifiers."""
    taken = {name.lower() for name in quasi_identifiers}
    return [name for name in every if IDENTIFIER_NAME.search(name) and name.lower() not in taken][:MOST]


def repeating(
    names: Sequence[str], distinct: Sequence[int], records: Sequence[int]
) -> list[tuple[str, int, int]]:
    """Return the columns with several distinct values, and fewer than records with a value."""
    counted = zip(names, distinct, records, strict=True)
    return [(name, values, filled) for name, values, filled in counted if 1 < values < filled]


def hint(identifiers: Sequence[tuple[str, int, int]], option: str | None) -> str:
    """Write one sentence of advice for each; without an option to count people, one row each is asked for."""
    sentences = (
        f"Column '{name}' looks like an identifier and repeats ({values:,} values in {records:,} rows): "
        f"if it identifies people, {f'count them with {option} {name}' if option else 'pass a row of each'}."
        for name, values, records in identifiers
    )
    return " ".join(sentences)
