"""Registering: the macros and the Python functions in a database, of whose files none is written to."""

import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

import duckdb
from duckdb.func import FunctionNullHandling, PythonUDFType

from reid_sql import registry
from reid_sql.engines.duckdb.awaited import OWN_MODELS
from reid_sql.engines.duckdb.bare import reach
from reid_sql.engines.duckdb.comments import comments
from reid_sql.engines.duckdb.kept import copied
from reid_sql.engines.duckdb.macros import CATALOGUE, PUBLIC, macros, written
from reid_sql.engines.duckdb.python import python_functions
from reid_sql.engines.duckdb.qualify import NOT_USUAL, OPERATORS
from reid_sql.engines.duckdb.versions import version_of
from reid_sql.errors import OutOfDomainError, WrongTypeError
from reid_sql.function import Function

MARKER: Final = "reid_is_whole"
TAKEN: Final = (
    "SELECT lower(database_name) FROM duckdb_databases() UNION SELECT "
    "lower(schema_name) FROM duckdb_schemas()"
)
LOCK: Final = threading.Lock()
LISTED: Final = """SELECT DISTINCT database_name, database_name = current_database(), lower(function_name),
    function_type IN ('macro', 'table_macro') FROM system.main.duckdb_functions() WHERE NOT internal"""
THIS: Final = f"SELECT {OWN_MODELS}()"

# DuckDB does not keep a registered Python function alive: it must live as long as the process.
CALLABLES: Final[dict[str, Callable[..., Any]]] = {}


def register(given: Any, functions: Mapping[str, Function]) -> str:  # noqa: ANN401 - see connection_of
    """Put the functions into this connection, and name the place where they are, which no other stands for.

    Twice is harmless, and an open transaction stays as it is.

    They live in a catalogue of our own in memory, once for a database instance and without a trace in a file,
    so that every connection and cursor of it knows them as reid.name. Names alone are temporary macros of
    this connection.
    """
    con = connection_of(given)
    found = _written(functions)
    with LOCK:
        cursor = con.cursor()  # what fails in the connection itself would abort its transaction
        catalogue = _catalogue(cursor, found)
        if catalogue is None:
            catalogue = _make_catalogue(cursor, found)
        registry.holds(cursor.execute(THIS).fetchall()[0][0], con)
        reach(con, functions, catalogue, found.version, partial(_namesakes, con, functions))
    return f"{catalogue}.main"


def connection_of(given: Any) -> duckdb.DuckDBPyConnection:  # noqa: ANN401 - whatever executes on one
    """The connection itself, or that of what wraps one, as SQLAlchemy's, or stands for one, as the module."""
    if isinstance(given, duckdb.DuckDBPyConnection):
        return given
    found = given.execute("SELECT 1") if hasattr(given, "execute") else given
    if not isinstance(found, duckdb.DuckDBPyConnection):
        raise WrongTypeError(
            f"con must be a connection of DuckDB, got {type(given).__name__}; "
            "pass what duckdb.connect() gives"
        )
    found.fetchall()
    return found


@dataclass(frozen=True)
class _Written:
    """The macros of a set of functions, and what names their version; written when they are needed."""

    functions: Mapping[str, Function]

    @cached_property
    def macros(self) -> Mapping[str, str]:
        return macros(self.functions, python=True)

    @cached_property
    def version(self) -> str:
        return version_of(self.functions, lambda: repr(self.macros))


@dataclass(frozen=True)
class _Listed:
    """What is not DuckDB's own among the functions of an instance."""

    python: set[str]
    in_current: set[str]  # the macros of the current database
    by_database: Mapping[str, set[str]]


WRITTEN: Final[dict[tuple[tuple[str, int], ...], _Written]] = {}


def _written(functions: Mapping[str, Function]) -> _Written:
    key = tuple((name, id(declared)) for name, declared in functions.items())
    return WRITTEN.setdefault(key, _Written(functions))


def _catalogue(cursor: duckdb.DuckDBPyConnection, found: _Written) -> str | None:
    """The catalogue of the database instance that holds all the macros, if there is one."""
    for catalogue in (PUBLIC, f"{CATALOGUE}_{found.version}"):
        try:
            cursor.execute(f"DESCRIBE SELECT {catalogue}.main.{MARKER}_{found.version}()").fetchall()
        except (duckdb.CatalogException, duckdb.BinderException):
            continue
        return catalogue
    return None


def _listed(cursor: duckdb.DuckDBPyConnection) -> _Listed:
    rows = cursor.execute(LISTED).fetchall()
    by_database: dict[str, set[str]] = {}
    for database, _, name, _ in rows:
        by_database.setdefault(database, set()).add(name)
    current = {name for _, is_current, name, is_macro in rows if is_current and is_macro}
    return _Listed(by_database.pop("system", set()), current, by_database)


def _namesakes(con: duckdb.DuckDBPyConnection, functions: Mapping[str, Function]) -> set[str]:
    """Names of ours that macros have in a database of the user's, wherever USE may lead.

    The connection itself is asked: those of its open transaction are known to no other.
    """
    others = _listed(con).by_database.values()
    theirs = (names for names in others if not any(name.startswith(MARKER) for name in names))
    return set().union(*theirs) & functions.keys()


def _make_catalogue(cursor: duckdb.DuckDBPyConnection, found: _Written) -> str:
    """Make the catalogue: of the short name, or of a longer one where something else has that."""
    listed = _listed(cursor)
    if listed.in_current & set(OPERATORS):  # each call tries them too, and misses one that differs at times
        raise OutOfDomainError(NOT_USUAL)
    _register_python(cursor, found.functions, listed.python)

    def make(con: duckdb.DuckDBPyConnection, catalogue: str) -> None:
        _register_python(con, found.functions, set())  # DuckDB looks for what a macro calls
        _make_macros(con, catalogue, found)

    taken = {name for (name,) in cursor.execute(TAKEN).fetchall()}
    catalogue = PUBLIC if PUBLIC not in taken else f"{CATALOGUE}_{found.version}"
    cursor.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {catalogue} (READ_WRITE)")
    if not (catalogue == PUBLIC and copied(cursor, catalogue, found.version, make)):
        _make_macros(cursor, catalogue, found)
    whole = (
        f"CREATE OR REPLACE MACRO {catalogue}.main.{MARKER}_{found.version}() AS true"  # what has it has all
    )
    cursor.execute(whole)
    return catalogue


def _make_macros(con: duckdb.DuckDBPyConnection, catalogue: str, found: _Written) -> None:
    home = f"{catalogue}.main."
    con.execute(written(found.macros, f"CREATE OR REPLACE MACRO {home}", home))
    con.execute(comments(found.functions, home))


def _register_python(
    cursor: duckdb.DuckDBPyConnection, functions: Mapping[str, Function], there: set[str]
) -> None:
    """Register what needs Python in the database instance, where every connection and cursor sees it."""
    how: dict[str, Any] = {"type": PythonUDFType.ARROW, "null_handling": FunctionNullHandling.SPECIAL}
    for name, bound in python_functions(functions.values()).items():
        if name not in there:
            CALLABLES.setdefault(name, bound.body)
            cursor.create_function(
                name, CALLABLES[name], bound.types, bound.answer, side_effects=bound.volatile, **how
            )
    if OWN_MODELS not in there:
        database = uuid.uuid4().hex
        CALLABLES[database] = lambda: database
        cursor.create_function(OWN_MODELS, CALLABLES[database], [], "VARCHAR")
