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
from reid_sql.parameters import Column, Columns, Groups, OptionalTable, Table

MAX_CALLS: Final = 100  # that a listener remembers
OF_COLUMNS: Final = ("profile",)  # describes a column that repeats itself


@dataclass(frozen=True)
class PlannedCall:
    """A call: its tables of which each row counts, as FROM items, and the columns that it names.

    By those that are `counted`, people are distinguished; the others have a role of their own.
    """

    function: str
    items: tuple[str, ...]
    counted: tuple[str, ...]
    named: tuple[str, ...]
    takes_entity: bool


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
    # An entity identifies the people of the table, and of one that the function always compares it with.
    whole = OptionalTable if checked.get("entity") is not None else Table | OptionalTable
    tables = [checked[p.name] for p in declared.parameters if isinstance(p.domain, whole)]
    items = tuple(dict.fromkeys(each.item for each in tables if isinstance(each, DuckDBSource)))
    counted, named = (_names(declared, checked, kind) for kind in (Columns, Column | Groups))
    takes_entity = checked.get("entity", "") is None
    call = PlannedCall(declared.name, items, counted, named, takes_entity)
    for each in LISTENERS if items else ():
        each.append(call)


def _names(declared: Function, checked: Mapping[str, Any], kind: Any) -> tuple[str, ...]:  # noqa: ANN401 - of domains
    """Return the columns that parameters of such a domain name."""
    given = [checked[p.name] for p in declared.parameters if isinstance(p.domain, kind)]
    return tuple(name for value in given for name in ([value] if isinstance(value, str) else value or ()))
