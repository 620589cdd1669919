"""A warehouse by its connection URL: opened read-only, its tables found by schema and name."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, TypeVar

import duckdb
import ibis
from ibis.expr.types import Table

from reid_sql.engines.ibis.frames import UNFILTERED, collected
from reid_sql.errors import (
    OutOfDomainError,
    ReidError,
    UnavailableError,
    UnknownNameError,
    name_error,
    suggestion,
)
from reid_sql.parameters import Rows, quoted, sql_text
from reid_sql.sources.files import CONFIG
from reid_sql.sources.remote import masked, path_of, scheme_of, url_of
from reid_sql.terminal.control_characters import escape_control_characters

CATALOG: Final = "reid_warehouse"  # of a DuckDB file: its macros shadow no function
NAME: Final = re.compile(r'"((?:[^"]|"")+)"|([^."]+)')
NAMES: Final = 3  # catalog, schema, table
SCHEMAS: Final = 20  # that are looked through for a name
SYSTEM_SCHEMAS: Final = ("information_schema", "mysql", "performance_schema", "sys")
WAIT: Final = 15  # seconds for a server to answer
APPLICATION: Final = "reid-sql"
# Tables of any schema are named in full; a function of another schema is never called. Rows that the
# database would hide from this user in silence are an error: the figures would be those of fewer people.
# then a query is refused of which it would hide rows
WITHOUT_ROW_SECURITY: Final = "row_security = off"
SETTINGS: Final = (
    "search_path = pg_catalog",
    WITHOUT_ROW_SECURITY,
    "standard_conforming_strings = on",
    f"application_name = '{APPLICATION}'",  # by which an administrator finds the session
    # which take more of the server's time for the same counts
    "max_parallel_workers_per_gather = 0",
    "DateStyle = 'ISO'",  # of dates that come as text
    "IntervalStyle = 'postgres'",
    "TimeZone = 'UTC'",
    "extra_float_digits = 1",
)
NAME_IN_REDSHIFT: Final = f"query_group = '{APPLICATION}'"  # which speaks as PostgreSQL
POSTGRES: Final = ("postgres", "postgresql")
# How an administrator of another server finds the session's queries, where the server has a name for them.
TAGS: Final = {
    "snowflake": f"ALTER SESSION SET QUERY_TAG = '{APPLICATION}'",
    "oracle": f"BEGIN DBMS_APPLICATION_INFO.SET_MODULE('{APPLICATION}', NULL); END;",
}
Open = Callable[[str, str, Path], tuple[Any, str | None]]
Found = TypeVar("Found")


class Warehouse:
    """An open connection."""

    def __init__(self, url: str, backend: Any, schema: str | None) -> None:  # noqa: ANN401 - Ibis has a class for each
        """Remember the connection, and the schema of names without one."""
        self.url, self.backend, self.schema = url, backend, schema
        # A read-only file is locked, and PostgreSQL is read in one transaction: nothing changes meanwhile.
        self.still = scheme_of(url) in {"duckdb", *POSTGRES}
        self.transactions = 1  # that were begun
        self.is_idle = False  # whether no transaction is open

    def leave(self) -> None:
        """End the server's transaction, so that none stays open while the client computes."""
        if not self.is_idle and self.backend.name in {"postgres", "mysql"}:
            self.backend.con.rollback()
            self.is_idle = True

    def enter(self) -> None:
        """Begin the next transaction, if the last one was ended."""
        if self.is_idle:
            self.transactions, self.is_idle = self.transactions + 1, False
            if self.backend.name == "mysql":
                _read_snapshot(self.backend.con)  # psycopg begins its own with the next statement

    def rows(self, table: Callable[[], Table], words: str) -> Rows:
        """Fetch the rows of a table; a database's error becomes one sentence without a secret."""
        return rows(table, words)

    def table(self, words: str, name: str) -> Table:
        """Find a table or view by `table`, `schema.table` or `catalog.schema.table`, or refuse the name."""
        *place, table = _parts(words, name)
        schema = place[-1] if place else self.schema
        catalog = place[0] if place[1:] else (CATALOG if self.backend.name == "duckdb" else None)
        try:
            found_table: Table = self.backend.table(
                table, database=(catalog, schema) if schema else None
            )
        except Exception as error:  # noqa: BLE001 - each database has its own for a table that is not there
            raise self._unknown(words, name, table, schema, error) from None
        return found_table

    def is_view(self, name: str) -> bool:
        """Whether the name is known to be a view, or another relation that is no table of its own records."""
        *place, table = _parts("table", name)
        schema = place[-1] if place else self.schema
        where = f"WHERE table_name = {sql_text(table)}"
        where += f" AND table_schema = {sql_text(schema)}" if schema else ""
        query = f"SELECT table_type FROM information_schema.tables {where}"
        if self.backend.name == "sqlite":
            query = f"SELECT upper(type) FROM sqlite_master WHERE name = {sql_text(table)}"
        with suppress(Exception):  # not every database lists its tables there
            cursor = self.backend.raw_sql(query)
            kinds = [str(row[0]).upper() for row in cursor.fetchall()]
            # PostgreSQL does not list a materialized view there.
            is_unlisted = not kinds and self.backend.name == "postgres" and bool(schema)
            return is_unlisted or "VIEW" in " ".join(kinds)
        return False

    def _unknown(
        self, words: str, name: str, table: str, schema: str | None, error: Exception
    ) -> UnknownNameError:
        """Refuse a table that does not exist, and suggest the nearest."""
        siblings = self._listed(schema)
        elsewhere = [
            other for other in self._schemas() if other != schema and table in self._listed(other)
        ]
        if elsewhere:
            hint = f"did you mean '{elsewhere[0]}.{table}'?"
        elif siblings:
            hint = suggestion(table, siblings, f"tables of {schema or 'the database'}")
        elif schema is not None and schema not in self._schemas():
            hint = suggestion(schema, self._schemas(), "schemas")
        else:
            hint = f"the database answered with {name_error(error)}"
        return UnknownNameError(f"{words} must be a table of the database, got '{name}'; {hint}")

    def tables(self) -> list[str]:
        """Name the tables and views of every schema that is not the database's own."""
        schemas = self._schemas(None) or ([self.schema] if self.schema else [])
        named: list[str] = []
        for schema in schemas:
            if schema in SYSTEM_SCHEMAS or schema.startswith("pg_"):
                continue
            before = "" if schema == self.schema else f"{_name(schema)}."
            named += [f"{before}{_name(table)}" for table in self._listed(schema)]
        return named

    def _listed(self, schema: str | None) -> list[str]:
        if self.backend.name == "duckdb":
            return self._in_file("table_name", schema)
        with suppress(Exception):  # a schema that is not there, or not to be read, has none
            return sorted(self.backend.list_tables(database=schema))
        return []

    def _schemas(self, most: int | None = SCHEMAS) -> list[str]:
        if self.backend.name == "duckdb":
            return self._in_file("table_schema")
        with suppress(Exception):  # not every database has schemas
            return sorted(self.backend.list_databases())[:most]
        return []

    def _in_file(self, column: str, schema: str | None = None) -> list[str]:
        """The names that a DuckDB file has; Ibis asks for them in a way that DuckDB 2 no longer has."""
        query = f"""SELECT DISTINCT {column} FROM information_schema.tables WHERE table_catalog = $1
            AND ($2 IS NULL OR table_schema = $2) ORDER BY ALL"""
        return [row[0] for row in self.backend.con.execute(query, [CATALOG, schema]).fetchall()]


def _name(name: str) -> str:
    """Write a name as `table` reads it."""
    return name if not {'"', "."} & {*name} else quoted(name)


def rows(table: Callable[[], Table], words: str) -> Rows:
    """Fetch the rows of a table of a warehouse."""
    return run_query(lambda: list(collected(table(), words).to_pylist()))


def run_query(question: Callable[[], Found]) -> Found:
    """Run a query of a warehouse; its error becomes one sentence without the driver's words."""
    try:
        return question()
    except (ReidError, duckdb.InterruptException):
        raise
    except Exception as error:  # noqa: BLE001 - each driver has its own
        raise UnavailableError(
            f"the table must be one that the database can count, got {name_error(error)}; mend that there, or ask about an extract"
        ) from None


def _parts(words: str, name: str) -> list[str]:
    """Read a name by points, quoted where it has one itself."""
    parts = [(quoted or plain).replace('""', '"') for quoted, plain in NAME.findall(name)]
    if not 1 <= len(parts) <= NAMES or not re.fullmatch(
        rf"(?:{NAME.pattern})(?:\.(?:{NAME.pattern}))*", name
    ):
        raise OutOfDomainError(
            f"{words} must be a name like people or schema.people, got '{escape_control_characters(name)}'"
            '; put a name that has a point into quotes, like "my.table"'
        )
    return parts


@contextmanager
def warehouse(words: str, text: str, folder: Path) -> Iterator[Warehouse]:
    """Open a warehouse to be read; a file's path is seen from the folder. `words` is what calls the URL."""
    url = url_of(words, text)
    backend, schema = _opened(words, text, url, folder)
    try:
        yield Warehouse(url, backend, schema)
    finally:
        with suppress(Exception):  # a connection that broke cannot be closed
            backend.disconnect()


def _opened(words: str, text: str, url: str, folder: Path) -> tuple[Any, str | None]:
    scheme = scheme_of(url)
    schemes = sorted({*(each.name for each in entry_points(group="ibis.backends")), "postgresql"})
    if scheme not in schemes:
        raise UnknownNameError(
            f"{words} must begin with a database that Ibis knows, got '{scheme}://'; "
            f"{suggestion(scheme, schemes, 'databases')}"
        )
    opener: Open = {"duckdb": _duckdb, "sqlite": _sqlite}.get(scheme, _server)
    try:
        return opener(words, url, folder)
    except ReidError:
        raise
    except ImportError as error:
        extra = scheme.replace("postgresql", "postgres")
        raise UnavailableError(
            f"{words} must have the driver of {extra}, got none ({name_error(error)}); pip install 'ibis-framework[{extra}]'"
        ) from None
    except Exception as error:  # noqa: BLE001 - each driver has its own
        raise UnavailableError(
            f"{words} must lead to a database that answers, got '{masked(text, url)}' and {name_error(error)}; "
            "see that the server runs, and user, password and database"
        ) from None


def _duckdb(words: str, url: str, folder: Path) -> tuple[Any, str]:
    """A DuckDB file under a name of its own, as the gate attaches one: it reads itself and nothing else."""
    path = _file(words, url, folder)
    con = duckdb.connect(config=CONFIG)
    backend = ibis.duckdb.from_connection(con)
    con.execute(f"SET allowed_paths = [{sql_text(str(path))}, {sql_text(f'{path}.wal')}]")
    con.execute("SET enable_external_access = false; SET lock_configuration = true")
    con.execute(f"ATTACH {sql_text(str(path))} AS {CATALOG} (READ_ONLY, TYPE duckdb)")
    return backend, "main"


def _sqlite(words: str, url: str, folder: Path) -> tuple[Any, str]:
    path = _file(words, url, folder)
    con = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    return ibis.sqlite.from_connection(con), "main"


def _file(words: str, url: str, folder: Path) -> Path:
    """The database's file, which must be there: a driver would make one."""
    path = (folder / path_of(url)).absolute()
    if not path.is_file():
        siblings = sorted(each.name for each in path.parent.glob("*") if each.is_file())
        raise UnknownNameError(
            f"{words} must lead to an existing file, got '{masked(url, url)}'; {suggestion(path.name, siblings, 'files next to it')}"
        )
    return path


def _server(words: str, url: str, folder: Path) -> tuple[Any, str | None]:  # noqa: ARG001 - as every opener
    postgres = scheme_of(url) in POSTGRES
    backend = ibis.connect(url, **({"connect_timeout": WAIT} if postgres else {}))
    schema = getattr(backend, "current_database", None)
    if postgres:
        _read_only(backend.con)
    elif backend.name == "mysql":
        _read_snapshot(backend.con)
    elif backend.name in TAGS:
        with suppress(Exception):  # a server that takes no tag is read all the same
            backend.raw_sql(TAGS[backend.name])
    return backend, schema


def _read_snapshot(con: Any) -> None:  # noqa: ANN401 - the driver's connection
    """Read MySQL's transactional tables as they are now, in one transaction that can change nothing."""
    with con.cursor() as cursor:
        cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")


def _read_only(con: Any) -> None:  # noqa: ANN401 - psycopg's connection
    """Read PostgreSQL in one transaction, which sees the tables as they are now and can change nothing."""
    from psycopg import IsolationLevel  # noqa: PLC0415 - only for PostgreSQL
    from psycopg.errors import UndefinedObject  # noqa: PLC0415 - the same

    con.isolation_level, con.read_only = IsolationLevel.REPEATABLE_READ, True
    try:
        con.execute("; ".join(f"SET {setting}" for setting in SETTINGS))
        UNFILTERED.add(con)
    except UndefinedObject:  # Redshift has not all of them
        for setting in (*SETTINGS, NAME_IN_REDSHIFT):
            with suppress(UndefinedObject):
                con.execute(f"SET {setting}")
                if setting == WITHOUT_ROW_SECURITY:
                    UNFILTERED.add(con)
    con.autocommit = False
    con.execute("SELECT 1")  # what Ibis does after it are parts of this transaction
