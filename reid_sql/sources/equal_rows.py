"""Rows that equal others, counted where DuckDB reads: copies, and people whom sets of columns single out.

Copies take two passes over all columns; of sets of columns, a statement counts many.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import duckdb
import numpy as np

from reid_sql.engines.duckdb.source import known_value, table_source
from reid_sql.models.classes.repeats import (
    MAX_ROWS,
    MIN_COPIES,
    MIN_SHARE,
    choose_columns,
    share_of_copies,
)
from reid_sql.parameters import ColumnNames, quoted

COPIES_OF_ROWS: Final = (
    "about {} of the rows equal another one in all columns, more than chance explains: remove the copies, "
    "or count people with entity"
)
Ask = Callable[[str], Sequence[tuple[Any, ...]]]
EqualRows = tuple[str, Sequence[str], int]  # rows that may be equal, their columns, how many others


def find_copies(ask: Ask, item: str, columns: ColumnNames, rest: EqualRows | None = None) -> float:
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


def _hashes(item: str, columns: ColumnNames) -> str:
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
    ask: Ask, item: str, columns: ColumnNames, of: str = "", rest: EqualRows | None = None
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


# People who are the only one with their values of a set of columns.

MAX_COLUMNS_AT_ONCE: Final = 60  # grouping() tells up to 63 columns apart
MAX_ROWS_AT_ONCE: Final = (
    20_000_000  # rows times sets of columns, as each set has a hash table of its own
)
Sets = Sequence[Sequence[str]]


def count_unique(
    ask: Ask, table: str, sets: Sets, rows: int, entity: str | None = None
) -> list[int | None]:
    """Count the people who are the only one with their values of each set of columns; NULL is a value.

    None of columns whose values cannot be compared, and of all where a row names nobody. A statement counts
    several sets, as one for each of a thousand columns would be bound a thousand times.
    """
    if entity is not None and not _has_entity(ask, table, entity):
        return [None] * len(sets)
    parts = _parts(sets, max(1, MAX_ROWS_AT_ONCE // max(1, rows)))
    return [unique for part in parts for unique in _count_part(ask, table, part, entity)]


def _has_entity(ask: Ask, table: str, entity: str) -> bool:
    """Whether each row names a person, by values that can be compared."""
    rows = table_source(table).rows([entity])
    try:
        return ask(f"SELECT count({known_value('q1')}) = count(*) FROM {rows}")[0][0] is True
    except duckdb.InterruptException:
        raise
    except duckdb.Error:
        return False


def _count_part(ask: Ask, table: str, sets: Sets, entity: str | None) -> Sequence[int | None]:
    """Count sets in one statement; where one of them cannot be compared, each half by itself."""
    try:
        return _count_sets(ask, table, sets, entity)
    except duckdb.InterruptException:
        raise
    except duckdb.Error:
        if len(sets) == 1:
            return [None]
    half = len(sets) // 2
    return [
        *_count_part(ask, table, sets[:half], entity),
        *_count_part(ask, table, sets[half:], entity),
    ]


def _parts(sets: Sets, size: int) -> Iterator[Sets]:
    """Divide sets of columns into parts of at most so many sets, of at most so many different columns."""
    part: list[Sequence[str]] = []
    for each in sets:
        columns = {*each, *(name for other in part for name in other)}
        if part and (len(part) == size or len(columns) > MAX_COLUMNS_AT_ONCE):
            yield part
            part = []
        part.append(each)
    if part:
        yield part


def _count_sets(ask: Ask, table: str, sets: Sets, entity: str | None) -> list[int]:
    """Count the people who are the only one with their values, set by set, in one statement."""
    columns = list(dict.fromkeys(name for each in sets for name in each))
    read = columns if entity is None else [*columns, entity]
    aliases = {name: f"q{place}" for place, name in enumerate(columns, 1)}
    person = f"q{len(read)}"
    is_alone, people = "count(*) = 1", "count(*)"
    if entity is not None:
        is_alone, people = f"min({person}) = max({person})", "count(DISTINCT person)"
    bits = {name: 1 << place for place, name in enumerate(reversed(columns))}
    grouped = dict.fromkeys(_grouping_set(each, aliases) for each in sets)
    # grouping() has a bit of each column, the last one the lowest, that is 0 in the sets of the column
    of_columns = f"grouping({', '.join(aliases.values())})" if len(grouped) > 1 else "0"
    unique: dict[int, int] = dict(
        ask(f"""SELECT of_columns, {people} FROM (
          SELECT {of_columns} AS of_columns, min({person}) AS person,
          FROM {table_source(table).rows(read)} GROUP BY GROUPING SETS ({", ".join(grouped)})
          HAVING {is_alone}
        ) GROUP BY of_columns""")
    )
    if len(grouped) == 1:
        return [int(unique.get(0, 0))] * len(sets)
    left_out = [sum(bits.values()) - sum(bits[name] for name in {*each}) for each in sets]
    return [int(unique.get(key, 0)) for key in left_out]


def _grouping_set(names: Sequence[str], aliases: Mapping[str, str]) -> str:
    return f"({', '.join(alias for name, alias in aliases.items() if name in names)})"
