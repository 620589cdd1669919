"""The calls that DuckDB plans, for a page that shows their answers: rows of their tables may not be people.

Nothing is recorded unless somebody listens.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from reid_sql.engines.counted_rows import CountedRows, find_counted_rows, find_watched_columns
from reid_sql.engines.duckdb.source import DuckDBSource
from reid_sql.function import Function

MAX_CALLS: Final = 100  # that a listener remembers


@dataclass(frozen=True)
class PlannedCall:
    """A call: its tables as FROM items, and what it counts of them.

    The `items` have a row for a person, as far as the call knows; in each of the `watched` a column names
    people or households: the item, which of them, and the column. In those that are `coded`, missing-value
    codes count as values.
    """

    function: str
    items: tuple[str, ...]
    rows: CountedRows
    watched: tuple[tuple[str, str, str], ...] = ()
    coded: tuple[str, ...] = ()


Calls = deque[PlannedCall]
LISTENERS: Final[list[Calls]] = []


def listen() -> Calls:
    """Record calls from now on, the last ones."""
    calls: Calls = deque(maxlen=MAX_CALLS)
    LISTENERS.append(calls)
    return calls


def stop_listening(calls: Calls) -> None:
    """Record no more calls there."""
    LISTENERS[:] = [each for each in LISTENERS if each is not calls]


@contextmanager
def planned_calls() -> Iterator[Calls]:
    """Record the calls that are planned meanwhile."""
    calls = listen()
    try:
        yield calls
    finally:
        stop_listening(calls)


def record_call(declared: Function, checked: Mapping[str, Any]) -> bool:
    """Record a call of a table, where somebody listens; return whether somebody does."""
    if not LISTENERS:
        return False
    rows = find_counted_rows(declared, checked)
    sources = {name: each.item for name, each in checked.items() if isinstance(each, DuckDBSource)}
    items = tuple(dict.fromkeys(sources[name] for name in rows.tables if name in sources))
    watched = tuple(
        (sources[name], *each)
        for name, columns in find_watched_columns(declared, checked).items()
        for each in columns
        if name in sources
    )
    coded = tuple(
        dict.fromkeys(sources[name] for name in rows.coded_tables if name in sources and rows.coded)
    )
    for each in LISTENERS if items or watched or coded else ():
        each.append(PlannedCall(declared.name, items, rows, watched, coded))
    return True
