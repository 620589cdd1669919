"""Registering: the macros and the Python functions in a connection, its own database left without a trace."""

import hashlib
import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import duckdb
from duckdb.func import FunctionNullHandling, PythonUDFType

from reid_sql import registry
from reid_sql.engines.duckdb.awaited import OWN_MODELS
from reid_sql.engines.duckdb.kept import copied
from reid_sql.engines.duckdb.macros import CATALOGUE, forwards, macros, written
from reid_sql.engines.duckdb.python import python_functions
from reid_sql.engines.duckdb.qualify import NOT_USUAL, OPERATORS
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Function, sql_literal

PUBLIC: Final = "reid"  # the catalogue of short names: FROM reid.risk_summary(…)
MARKER: Final = "reid_is_whole"
TAKEN: Final = (
    "SELECT lower(database_name) FROM duckdb_databases() UNION SELECT "
    "lower(schema_name) FROM duckdb_schemas()"
)
HERE: Final = """SELECT coalesce(nullif(current_setting('search_path'), ''),
    '"' || replace(current_database(), '"', '""') || '"."' || replace(current_schema(), '"', '""') || '"')"""
LOCK: Final = threading.Lock()
BENT: Final = f"""SELECT count(*) FROM system.main.duckdb_functions() WHERE database_name = current_database()
    AND function_type IN ('macro', 'table_macro') AND NOT internal AND lower(function_name) IN {OPERATORS}"""
THIS: Final = f"SELECT {OWN_MODELS}()"

# DuckDB does not keep a registered Python function alive: it must live as long as the process.
CALLABLES: Final[dict[str, Callable[..., Any]]] = {}


def register(con: duckdb.DuckDBPyConnection, functions: Mapping[str, Function]) -> None:
    """Put the functions into this connection; twice is harmless, and an open transaction stays as it is.

    They live in a catalogue of our own in memory, once for a database instance and without a trace in a file,
    so that every connection and cursor of it knows them as reid.name. Names alone are temporary macros of the
    connection; inside a transaction, whose rollback would take those along, its search path ends with our
    catalogue.
    """
    found = _written(functions)
    with LOCK:
        cursor = con.cursor()  # what fails in the connection itself would abort its transaction
        catalogue = _catalogue(cursor, found)
        if catalogue is None:
            _refuse_operators(cursor)
            _register_python(cursor, functions)
            catalogue = _make_catalogue(cursor, found, functions)
        registry.holds(cursor.execute(THIS).fetchall()[0][0], con)
        mark = f"{catalogue} {found.version}"
        if con.execute("SELECT getvariable('reid_sql_registered') = $1", [mark]).fetchall() == [(True,)]:
            return
        if _in_transaction(con):
            _search(con, f"{catalogue}.main")
        else:
            con.execute(written(found.calls, "CREATE OR REPLACE TEMP MACRO ", f"{catalogue}.main."))
            con.execute(f"SET VARIABLE reid_sql_registered = '{mark}'")


@dataclass(frozen=True)
class _Written:
    """The macros of a set of functions, the calls of them under their bare names, and the version of both."""

    macros: Mapping[str, str]
    calls: Mapping[str, str]
    version: str


WRITTEN: Final[dict[tuple[tuple[str, int], ...], _Written]] = {}


def _written(functions: Mapping[str, Function]) -> _Written:
    key = tuple((name, id(declared)) for name, declared in functions.items())
    if key not in WRITTEN:
        definitions, calls = macros(functions, python=True), forwards(functions)
        version = hashlib.sha256(repr((definitions, calls)).encode()).hexdigest()[:16]
        WRITTEN[key] = _Written(definitions, calls, version)
    return WRITTEN[key]


def _catalogue(cursor: duckdb.DuckDBPyConnection, found: _Written) -> str | None:
    """The catalogue of the database instance that holds all the macros, if there is one."""
    for catalogue in (PUBLIC, f"{CATALOGUE}_{found.version}"):
        try:
            cursor.execute(f"DESCRIBE SELECT {catalogue}.main.{MARKER}_{found.version}()").fetchall()
        except (duckdb.CatalogException, duckdb.BinderException):
            continue
        return catalogue
    return None


def _make_catalogue(
    cursor: duckdb.DuckDBPyConnection, found: _Written, functions: Mapping[str, Function]
) -> str:
    """Make the catalogue: of the short name, or of a longer one where something else has that."""

    def make(con: duckdb.DuckDBPyConnection, catalogue: str) -> None:
        _register_python(con, functions)  # DuckDB looks for what a macro calls
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


def _refuse_operators(cursor: duckdb.DuckDBPyConnection) -> None:
    """Refuse a database with macros that are called where our SQL has operators or literals.

    Each call tries them too; that finds a macro that does something else, not one that does so at times.
    """
    if cursor.execute(BENT).fetchall() != [(0,)]:
        raise OutOfDomainError(NOT_USUAL)


def _register_python(cursor: duckdb.DuckDBPyConnection, functions: Mapping[str, Function]) -> None:
    """Register what needs Python in the database instance, where every connection and cursor sees it."""
    how: dict[str, Any] = {"type": PythonUDFType.ARROW, "null_handling": FunctionNullHandling.SPECIAL}
    listed = "SELECT function_name FROM duckdb_functions() WHERE database_name = 'system' AND NOT internal"
    there = {row[0] for row in cursor.execute(listed).fetchall()}
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


def _in_transaction(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether a transaction is open: outside one, every statement has an identity of its own."""
    first, second = (con.execute("SELECT txid_current()").fetchall() for _ in range(2))
    return bool(first == second)


def _search(con: duckdb.DuckDBPyConnection, place: str) -> None:
    """End the connection's search path with the place."""
    path = con.execute(HERE).fetchall()[0][0]
    if place not in path.split(","):
        con.execute(f"SET search_path = {sql_literal(f'{path},{place}')}")
