"""The calls that DuckDB plans, for a page that shows their answers: rows of their tables may not be people.

Nothing is recorded unless somebody listens.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from reid_sql.engines.counted_rows import CountedRows, find_counted_rows
from reid_sql.engines.duckdb.source import DuckDBSource
from reid_sql.function import Function

MAX_CALLS: Final = 100  # that a listener remembers


@dataclass(frozen=True)
class PlannedCall:
    """A call: its tables as FROM items, and what it counts of them.

    The `items` have a row for a person, as far as the call knows; in the `identified` a column names people.
    """

    function: str
    items: tuple[str, ...]
    rows: CountedRows
    identified: tuple[str, ...] = ()


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


def record_call(declared: Function, checked: Mapping[str, Any]) -> None:
    """Record a call of a table, where somebody listens."""
    if not LISTENERS:
        return
    rows = find_counted_rows(declared, checked)
    items, identified = (
        tuple(dict.fromkeys(each.item for name in names if isinstance(each := checked[name], DuckDBSource)))
        for names in (rows.tables, rows.identified)
    )
    for each in LISTENERS if items or identified else ():
        each.append(PlannedCall(declared.name, items, rows, identified))
