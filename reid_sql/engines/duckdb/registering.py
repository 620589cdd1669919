"""Registering: the macros and the Python functions in a connection, its own database left without a trace."""

import hashlib
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

import duckdb
from duckdb.func import FunctionNullHandling, PythonUDFType

from reid_sql.engines.duckdb.macros import OWN_MODELS, macros, written
from reid_sql.engines.duckdb.python import python_functions
from reid_sql.function import Function, sql_literal

DATABASE: Final = "reid_sql_functions"
HERE: Final = """SELECT coalesce(nullif(current_setting('search_path'), ''),
    '"' || replace(current_database(), '"', '""') || '"."' || replace(current_schema(), '"', '""') || '"')"""
LOCK: Final = threading.Lock()

# DuckDB does not keep a registered Python function alive: it must live as long as the process.
CALLABLES: Final[dict[str, Callable[..., Any]]] = {}


def register(con: duckdb.DuckDBPyConnection, functions: Mapping[str, Function]) -> None:
    """Put the functions into this connection; twice is harmless, and an open transaction stays as it is.

    Macros are temporary, so they leave no trace in a database file. Inside a transaction, whose rollback
    would take temporary macros along, they go to a database in memory that the connection's search path then
    ends with.
    """
    definitions = macros(functions, python=True)
    version = hashlib.sha256(repr(definitions).encode()).hexdigest()[:16]
    with LOCK:
        _register_python(
            con, functions
        )  # first: a transaction sees no function made after its first call of any
        done = con.execute("SELECT getvariable('reid_sql_registered') = $1", [version]).fetchall()[0][0]
        if done:
            return
        if _in_transaction(con):
            _register_searched(con, definitions, f"{DATABASE}_{version}")
        else:
            con.execute(written(definitions, "CREATE OR REPLACE TEMP MACRO"))
            con.execute(f"SET VARIABLE reid_sql_registered = '{version}'")


def _register_python(con: duckdb.DuckDBPyConnection, functions: Mapping[str, Function]) -> None:
    """Register what needs Python in the database instance, where every connection and cursor sees it."""
    how: dict[str, Any] = {"type": PythonUDFType.ARROW, "null_handling": FunctionNullHandling.SPECIAL}
    cursor = con.cursor()
    for name, (body, types, answer) in python_functions(functions.values()).items():
        try:
            cursor.execute(f"DESCRIBE SELECT {name}({', '.join(['NULL'] * len(types))})").fetchall()
        except duckdb.CatalogException:
            CALLABLES.setdefault(name, body)
            cursor.create_function(name, CALLABLES[name], types, answer, **how)
    try:
        cursor.execute(f"DESCRIBE SELECT {OWN_MODELS}()").fetchall()
    except duckdb.CatalogException:
        database = uuid.uuid4().hex
        CALLABLES[database] = lambda: database
        cursor.create_function(OWN_MODELS, CALLABLES[database], [], "VARCHAR")


def _in_transaction(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether a transaction is open: outside one, every statement has an identity of its own."""
    first, second = (con.execute("SELECT txid_current()").fetchall() for _ in range(2))
    return bool(first == second)


def _register_searched(con: duckdb.DuckDBPyConnection, definitions: Mapping[str, str], database: str) -> None:
    path = con.execute(HERE).fetchall()[0][0]
    if f"{database}.main" in path.split(","):
        return
    cursor = con.cursor()
    cursor.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {database} (READ_WRITE)")
    cursor.execute(f"USE {database}")
    cursor.execute(written(definitions, "CREATE OR REPLACE MACRO"))
    con.execute(f"SET search_path = {sql_literal(f'{path},{database}.main')}")
