"""Rows that were written several times, counted where DuckDB reads them: two passes over all columns."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from reid_sql.models.columns.copies import (
    MAX_ROWS,
    MIN_COPIES,
    MIN_SHARE,
    choose_columns,
    share_of_copies,
)
from reid_sql.parameters import quoted

COPIES_OF_ROWS: Final = (
    "about {} of the rows equal another one in all columns, more than chance explains: remove the copies, "
    "or count people with entity"
)
Ask = Callable[[str], Sequence[tuple[Any, ...]]]
EqualRows = tuple[str, Sequence[str], int]  # rows that may be equal, their columns, how many others


def find_copies(
    ask: Ask, item: str, columns: Sequence[str], rest: EqualRows | None = None
) -> float:
    """Find the share of the rows of a FROM item that are copies of another in all columns.

    The `rest` are the rows that may be equal, where they are known: the others are not counted.
    """
    names = [f"h{place}" for place in range(len(columns))]
    counted, read, others = rest or (item, columns, 0)
    counts = f"SELECT count(*) AS n FROM ({_hashes(counted, read)}) AS reid_rows GROUP BY h"
    rows_counted, distinct = ask(
        f"SELECT coalesce(sum(n), 0)::BIGINT, count(*) FROM ({counts}) AS reid_n"
    )[0]
    if rows_counted - distinct < max(MIN_COPIES, MIN_SHARE * (rows_counted + others)):
        return 0.0
    rows = _hashes(item, columns)
    classes = _draw_classes(rows, names)
    drawn = np.array(
        ask(f"{classes} SELECT n::UBIGINT, {', '.join(names)} FROM reid_drawn ORDER BY h ASC"),
        dtype=np.uint64,
    )
    sizes = drawn[:, 0].astype(np.int64)
    chosen, odds = choose_columns(drawn[:, 1:].view(np.int64), sizes)
    used = [names[column] for column in chosen]
    drawn_near = (
        ask(f"{_draw_classes(rows, used)} {_count_near(used)} ORDER BY place ASC, h ASC")
        if used
        else []
    )
    near = np.array([row[2] for row in drawn_near], dtype=np.int64).reshape(len(used), len(sizes)).T
    return share_of_copies(sizes, near, odds)


def _hashes(item: str, columns: Sequence[str]) -> str:
    """Select the hash of each row, and those of its columns."""
    hashes = ", ".join(
        f"hash({quoted(column)}, {place}) AS h{place}" for place, column in enumerate(columns)
    )
    names = [f"h{place}" for place in range(len(columns))]
    return f"SELECT {_xor(names)} AS h, * FROM (SELECT {hashes} FROM {item}) AS reid_hashed"


def _count_near(names: Sequence[str]) -> str:
    """Of each class drawn, the rows that equal it in all columns but one, by the place of this column."""
    counts = []
    for place, name in enumerate(names):
        rest = _xor([other for other in names if other != name])
        counts.append(f"""
            SELECT {place} AS place, h, others - n AS near
            FROM (SELECT h, n, {rest} AS rest FROM reid_drawn) JOIN (
              SELECT {rest} AS rest, sum(n)::BIGINT AS others FROM reid_classes
              WHERE {rest} IN (SELECT {rest} FROM reid_drawn) GROUP BY 1
            ) USING (rest)""")
    return " UNION ALL ".join(counts)


def _draw_classes(rows: str, names: Sequence[str]) -> str:
    """The classes of equal rows, with the hashes of some columns, and a draw of them: the same each time."""
    kept = "".join(f", any_value({name}) AS {name}" for name in names)
    return f"""
        WITH reid_classes AS MATERIALIZED (
          SELECT h, count(*) AS n{kept} FROM ({rows}) AS reid_rows GROUP BY h
        ),
        reid_drawn AS MATERIALIZED (SELECT * FROM reid_classes ORDER BY hash(h), h LIMIT {MAX_ROWS})"""


def describe_copies(
    ask: Ask, item: str, columns: Sequence[str], of: str = "", rest: EqualRows | None = None
) -> str:
    """Write the caution on the rows of a FROM item that are copies of another; nothing where none are."""
    share = find_copies(ask, item, columns, rest)
    return of + COPIES_OF_ROWS.format(f"{float(f'{100 * share:.1g}'):g} %") if share else ""


def _xor(names: Sequence[str]) -> str:
    """The hash of several columns together; 0 of none. In halves, as DuckDB limits the depth of a term."""
    if not names:
        return "0::UBIGINT"
    if len(names) == 1:
        return names[0]
    half = len(names) // 2
    return f"xor({_xor(names[:half])}, {_xor(names[half:])})"
