"""Columns whose texts a collation makes alike, and their refusal, where Python counts by them itself."""

from collections.abc import Callable, Sequence
from typing import Any

from reid_sql.engines.duckdb.macros import PUBLIC
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import quoted
from reid_sql.reduction import FOLDED


def folded(ask: Callable[[str], list[tuple[Any, ...]]], tbl: str, columns: Sequence[str]) -> set[str]:
    """Those of the columns that hold texts, at any depth, of which two that differ may be the same.

    A connection that has registered is asked; an empty table has none.
    """
    tests = ", ".join(f"{PUBLIC}.main.reid_is_folded(row({quoted(column)}))" for column in columns)
    rows = ask(f"SELECT {tests} FROM {tbl} LIMIT 1")
    return {column for row in rows for column, held in zip(columns, row, strict=True) if held}


def refuse(columns: Sequence[str], held: set[str]) -> None:
    """Refuse to count by the columns where some of them are held to be so."""
    if not held.isdisjoint(columns):
        raise OutOfDomainError(FOLDED.format(", ".join(columns)))
