"""People whom sets of columns of a table single out, counted where DuckDB reads them: many sets at a time."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import duckdb

from reid_sql.engines.duckdb.source import known_value, table_source

MAX_COLUMNS_AT_ONCE: Final = 60  # grouping() tells up to 63 columns apart
MAX_ROWS_AT_ONCE: Final = (
    20_000_000  # rows times sets of columns, as each set has a hash table of its own
)
Ask = Callable[[str], Sequence[tuple[Any, ...]]]
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
    grouped = dict.fromkeys(
        f"({', '.join(alias for name, alias in aliases.items() if name in each)})" for each in sets
    )
    # grouping() has a bit of each column, the last one the lowest, that is 0 in the sets of the column
    of_columns = f"grouping({', '.join(aliases.values())})" if len(grouped) > 1 else "0"
    unique: dict[int, int] = dict(
        ask(f"""SELECT of_columns, {people} FROM (
          SELECT {of_columns} AS of_columns, min({person}) AS person,
          FROM {table_source(table).rows(read)} GROUP BY GROUPING SETS ({", ".join(grouped)})
          HAVING {is_alone}
        ) GROUP BY of_columns""")
    )
    bits = {name: 1 << place for place, name in enumerate(reversed(columns))}
    all_bits = sum(bits.values()) if len(grouped) > 1 else 0
    return [
        int(unique.get(all_bits - sum(bits[name] for name in set(each)) if all_bits else 0, 0))
        for each in sets
    ]
