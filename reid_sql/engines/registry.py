"""Fitted models by name, apart for each database.

What is fitted outside a database is known to Python, Polars and Spark.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from weakref import ReferenceType, ref

from reid_sql.errors import OTHER_VALUE, UnknownNameError, suggestion

if TYPE_CHECKING:  # importing it takes longer than all else that registering imports
    from reid_sql.models.fitted_model import FittedModel

PYTHON: Final = ""
_DATABASE: Final = ContextVar("reid_sql_database", default=PYTHON)
_MODELS: Final[dict[str, dict[str, "FittedModel"]]] = {}
_HOLDERS: Final[dict[str, list[ReferenceType[Any]]]] = {}
_LOCK: Final = Lock()


@contextmanager
def within(database: str) -> Iterator[None]:
    """Keep and find models of this database, named by a text of its own."""
    token = _DATABASE.set(database)
    try:
        yield
    finally:
        _DATABASE.reset(token)


def holds(database: str, connection: Any) -> None:  # noqa: ANN401 - whatever an engine connects by
    """Remember that the connection holds the database open; forget models of those that none holds."""
    with _LOCK:
        for known_one, holders in list(_HOLDERS.items()):
            holders[:] = [holder for holder in holders if _is_open(holder)]
            if not holders and known_one != database:
                del _HOLDERS[known_one]
                _MODELS.pop(known_one, None)
        _HOLDERS.setdefault(database, []).append(ref(connection))


def _is_open(holder: ReferenceType[Any]) -> bool:
    connection = holder()
    if connection is None:
        return False
    try:
        connection.cursor().close()
    except Exception:  # noqa: BLE001 - each engine has a class of its own for what is closed
        return False
    return True


def keep(name: str, model: "FittedModel") -> None:
    """Make the model known by this name; one of the same name is forgotten."""
    with _LOCK:
        _MODELS.setdefault(_DATABASE.get(), {})[name] = model


def current_database() -> str:
    """The database whose models are known here."""
    return _DATABASE.get()


@contextmanager
def passed(models: "Mapping[str, FittedModel]", database: str) -> Iterator[None]:
    """Make models known by these names in the database meanwhile."""
    with within(database):
        for name, model in models.items():
            keep(name, model)
        try:
            yield
        finally:
            with _LOCK:
                for name in models:
                    _MODELS[database].pop(name, None)


def known(model: "str | FittedModel", *, of_column: bool = False) -> "FittedModel":
    """Give the model of this name, or the model itself; refuses a name that no model has.

    A name that may be a column's value is not repeated.
    """
    if not isinstance(model, str):
        return model
    fitted = models()
    if model not in fitted:
        got, nearest = (OTHER_VALUE, "") if of_column else (f"'{model}'", str(model))
        raise UnknownNameError(
            f"model must be a fitted model, got {got}; {suggestion(nearest, list(fitted), 'models')}"
        )
    return fitted[model]


def optional(model: "str | FittedModel | None") -> "FittedModel | None":
    """The same, or None where no model is asked for."""
    return None if model is None else known(model)


def models() -> "dict[str, FittedModel]":
    """All models of the database, by name."""
    with _LOCK:
        return dict(sorted(_MODELS.get(_DATABASE.get(), {}).items()))
