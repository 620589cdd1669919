"""Warn of values that stand for nobody, unless the caller reports them in its own answer."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from reid_sql.errors import RowsNotPeopleWarning
from reid_sql.models.columns.nobodies import UNIT_PERSON, IdentifierCounts, describe_nobodies

IS_REPORTED: ContextVar[bool] = ContextVar("reid_is_reported", default=False)


@contextmanager
def report_people() -> Iterator[None]:
    """Warn of nothing meanwhile: a command, or the gate, looks at people itself, and reports them."""
    token = IS_REPORTED.set(True)
    try:
        yield
    finally:
        IS_REPORTED.reset(token)


def warn_of_nobodies(column: str, counts: IdentifierCounts, unit: str = UNIT_PERSON) -> None:
    """Warn of values of a column of people or households that may stand for nobody."""
    if caution := describe_nobodies(column, counts, unit):
        warnings.warn(caution, RowsNotPeopleWarning, stacklevel=3)
