"""Columns whose texts a collation makes the same, and their refusal, where Python counts by them itself."""

from collections.abc import Callable, Sequence
from typing import Any

from reid_sql.engines.duckdb.qualify import qualified
from reid_sql.engines.duckdb.source import has_collation
from reid_sql.errors import OutOfDomainError
from reid_sql.reduction import REFUSAL_COLLATION
from reid_sql.sql.text import name


def folded(ask: Callable[[str], list[tuple[Any, ...]]], tbl: str, columns: Sequence[str]) -> set[str]:
    """Those of the columns with texts, at any depth, of which two that differ may be the same.

    An empty table has none.
    """
    tests = ", ".join(has_collation([name(column)]) for column in columns)
    rows = ask(qualified(f"SELECT {tests} FROM {tbl} LIMIT 1"))
    return {column for row in rows for column, has_one in zip(columns, row, strict=True) if has_one}


def refuse(columns: Sequence[str], with_collation: set[str]) -> None:
    """Refuse to count by the columns where some of them have such a collation."""
    if not with_collation.isdisjoint(columns):
        raise OutOfDomainError(REFUSAL_COLLATION.format(", ".join(columns)))
