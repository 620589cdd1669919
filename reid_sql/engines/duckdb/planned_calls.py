"""The calls that DuckDB plans, for a page that shows their answers: rows of their tables may not be people.

Nothing is recorded unless somebody listens.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from reid_sql.engines.duckdb.source import DuckDBSource
from reid_sql.function import Function
from reid_sql.parameters import Column, Columns, Groups

MAX_CALLS: Final = 100  # that a listener remembers
OF_COLUMNS: Final = ("profile",)  # describes a column that repeats itself
NAMES: Final = Column | Columns | Groups  # not a key: it names rows, and is to be one for each person


@dataclass(frozen=True)
class PlannedCall:
    """A call: its tables as FROM items, the columns that it names, and whether it counts people or rows."""

    function: str
    items: tuple[str, ...]
    columns: tuple[str, ...]
    takes_entity: bool
    has_entity: bool


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
    if not LISTENERS or declared.name in OF_COLUMNS:
        return
    sources = tuple(dict.fromkeys(each.item for each in checked.values() if isinstance(each, DuckDBSource)))
    given = [checked[p.name] for p in declared.parameters if isinstance(p.domain, NAMES)]
    columns = [name for value in given for name in ([value] if isinstance(value, str) else value or ())]
    has_entity = checked.get("entity") is not None
    call = PlannedCall(declared.name, sources, tuple(columns), "entity" in checked, has_entity)
    for each in LISTENERS if sources else ():
        each.append(call)
