"""Registering: the macros and the Python functions in a database, of whose files none is written to."""

import json
import re
import threading
import uuid
from collections.abc import Callable, Collection, Mapping
from inspect import Parameter as Argument
from inspect import Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import duckdb
from duckdb import DuckDBPyConnection
from duckdb.func import FunctionNullHandling, PythonUDFType

from reid_sql._version import __version__
from reid_sql.engines import registry
from reid_sql.engines.duckdb.names import BODY, DATABASE, HOME, PLAN, REFUSE, qualified
from reid_sql.errors import OutOfDomainError, WrongTypeError

if TYPE_CHECKING:
    from reid_sql.function import Function


# What registering makes: the macros, their comments, and how each Python function is called.
#
# It is stored next to this file, so that registering imports no function and no model; `python -m
# tools.prepared` writes it anew, and a test compares it. A set of functions other than the shipped one is
# prepared when asked. To copy a catalogue takes 10 ms where its 105 kB of CREATE MACRO take 60 to 110.

FILE: Final = "prepared.json"
COPIED_FILE: Final = (
    "prepared.duckdb"  # the catalogue that registering makes, by the DuckDB that wrote it
)


class PythonFunction(NamedTuple):
    """How DuckDB calls a Python function; types of None are any number of arguments of any type."""

    types: list[Any] | None
    answer: str
    is_volatile: bool  # whether each call counts, so that none is folded away or made twice


class Prepared(NamedTuple):
    """The macros by name with their definitions, those of the bare names, and the Python functions."""

    names: list[str]
    macros: Mapping[str, str]
    bare_macros: Mapping[str, str]
    comments: str
    python: Mapping[str, PythonFunction]

    def text(self) -> str:
        """The stored form."""
        python = {name: each._asdict() for name, each in self.python.items()}
        return json.dumps({**self._asdict(), "python": python}, indent=1, ensure_ascii=False) + "\n"


def prepared(functions: "Mapping[str, Function]") -> Prepared:
    """What was stored, or what is prepared for another set of functions."""
    stored: dict[str, Any] = json.loads(Path(__file__).with_name(FILE).read_text("utf-8"))
    if stored["names"] != list(functions):
        return prepare(functions)
    python = {name: PythonFunction(**each) for name, each in stored.pop("python").items()}
    return Prepared(**stored, python=python)


def prepare(functions: "Mapping[str, Function]") -> Prepared:
    """Prepare the macros and Python functions from the declarations."""
    from reid_sql.engines.duckdb.macros import bare_definitions, comments, definitions  # noqa: PLC0415
    from reid_sql.engines.duckdb.python import python_functions  # noqa: PLC0415

    bound = python_functions(functions.values())
    python = {
        name: PythonFunction(each.types, each.answer, each.volatile) for name, each in bound.items()
    }
    return Prepared(
        list(functions),
        definitions(functions),
        bare_definitions(functions),
        comments(functions),
        python,
    )


PUBLIC: Final = "reid"  # the catalogue of short names: FROM reid.risk_summary(…)
CATALOGUE: Final = "reid_sql_functions"  # its name where the user has something of that name
COPIED: Final = "reid_sql_copied"  # the stored catalogue, while it is copied
REFUSAL_NAMES_TAKEN: Final = (
    f"a database instance must leave one of the names {PUBLIC} and {CATALOGUE} to the functions, got "
    "databases or schemas of both names; attach one AS another name"
)
REFUSAL_RESERVED: Final = (
    "macros must leave query and the names of reid_sql's own functions free, got {}; drop it, or give it "
    "another name"
)
REFUSAL_LATE: Final = (
    "a connection must register before its transaction calls functions, got one that called some; "
    "register before BEGIN"
)
REFUSAL_NAMESAKES: Final = "a connection in a transaction must have no macros of its own named like ours, got {}; register before BEGIN"
MARKER: Final = "reid_functions"  # a macro that lists what is there
MARKED: Final = "reid_sql_registered"  # a variable of a connection that has the bare names
# Names that are the user's: of schemas, and of databases in files, or in memory where they do not hold ours.
TAKEN: Final = qualified("""SELECT lower(database_name), path IS NULL FROM duckdb_databases()
    UNION SELECT lower(schema_name), false FROM duckdb_schemas()""")
LOCK: Final = threading.Lock()
MAKING: Final = threading.local()  # whether this thread makes macros
LISTED: Final = (
    qualified("""SELECT DISTINCT database_name, database_name = current_database(),
    lower(function_name), function_type FROM duckdb_functions()
    WHERE NOT internal OR starts_with(function_name, 'reid_')""")
)  # some versions call those of Python internal
SEEN: Final = qualified(f"SELECT count(*) FROM duckdb_functions() WHERE function_name = '{PLAN}'")
HERE: Final = qualified(f"""SELECT coalesce(nullif(current_setting('search_path'), ''),
    '"' || replace(current_database(), '"', '""') || '"."' || replace(current_schema(), '"', '""') || '"'),
    getvariable('{MARKED}'), txid_current()""")

# DuckDB does not keep a registered Python function alive: it must live as long as the process.
CALLABLES: Final[dict[str, Callable[..., Any]]] = {}
PARSED: Final[dict[str, list[duckdb.Statement]]] = {}  # by their text
PLANNED: Final[list["Mapping[str, Function]"]] = []  # what the planner knows, over all databases


def register(
    connection: Any,  # noqa: ANN401 - see connection_of
    functions: "Mapping[str, Function]",
) -> str:
    """Put the functions into this connection, and return the schema that contains them.

    Twice is harmless, and an open transaction stays as it is.

    They live in a catalogue of our own in memory, once for a database instance and without a trace in a file,
    so that every connection and cursor of it knows them as reid.name. Names alone are temporary macros of
    this connection.
    """
    con = connection_of(connection)
    with LOCK:
        cursor = con.cursor()  # what fails in the connection itself would abort its transaction
        # the catalogue of the database instance that has all the functions, if there is one
        expected = [__version__, *functions]
        catalogue = next(
            (each for each in (PUBLIC, CATALOGUE) if _list_ours(cursor, each) == expected), None
        ) or _make_catalogue(cursor, functions)
        _hold_models(con, cursor)
        _reach(con, functions, catalogue)
    return f"{catalogue}.main"


def _hold_models(con: DuckDBPyConnection, cursor: DuckDBPyConnection) -> None:
    """Keep the models of this database while the connection is open."""
    registry.holds(cursor.execute(f"SELECT system.main.{DATABASE}()").fetchall()[0][0], con)


class _Private(NamedTuple):
    """What can be made in a private connection, and the names of what was."""

    functions: Prepared
    ready: set[str]


PRIVATE: Final[WeakKeyDictionary[DuckDBPyConnection, _Private]] = WeakKeyDictionary()
CALLED: Final = re.compile(rf"{re.escape(HOME)}(\w+)")


def open_private(con: DuckDBPyConnection, functions: "Mapping[str, Function]") -> None:
    """Prepare a connection that a command has just opened for those functions that `make_functions` names.

    Nothing in it has a name of ours, and nobody writes USE there. So the search path suffices: it contains no
    database of the user's, whose macros would answer for a function that is not made.
    """
    with LOCK:
        cursor = con.cursor()
        contents = _plan_for(functions)
        # A body of a whole table is called by the plan of its own function alone, one of rows by any plan.
        of_tables = {
            name
            for name, each in contents.python.items()
            if name.startswith(BODY) and each.is_volatile
        }
        shared = {name: each for name, each in contents.python.items() if name not in of_tables}
        _register_python(cursor, shared, set())
        con.execute(f"ATTACH ':memory:' AS {PUBLIC} (READ_WRITE)")
        con.execute(f"SET search_path = 'memory.main,{PUBLIC}.main'")
        _hold_models(con, cursor)
        PRIVATE[con] = _Private(contents, {PLAN, REFUSE, DATABASE, *shared})


def open_cursor(con: DuckDBPyConnection) -> DuckDBPyConnection:
    """Open another connection to the database of a private one, with the functions that either makes."""
    cursor = con.cursor()
    PRIVATE[cursor] = PRIVATE[con]
    return cursor


def make_functions(con: DuckDBPyConnection, names: Collection[str]) -> None:
    """Make the functions that a private connection is about to call; any other connection has all of them.

    Making all takes longer than most answers.
    """
    with LOCK:
        private = PRIVATE.get(con)
        if private is None or private.ready.issuperset(names):
            return
        macros, python = private.functions.macros, private.functions.python
        needed, called = set(names), set(names)
        while called:
            called = {
                each for name in called for each in CALLED.findall(macros.get(name, ""))
            } - needed
            needed |= called
        cursor = con.cursor()
        # of each output of a function, whose key begins with its name
        keys = tuple(f"{BODY}{name}_" for name in needed)
        bodies = {
            name: each
            for name, each in python.items()
            if name.removeprefix(BODY) in needed or name.startswith(keys)
        }
        _register_python(cursor, bodies, private.ready)
        private.ready.update(bodies)
        for name in [each for each in macros if each in needed - private.ready]:
            _make_macros(
                cursor, {name: macros[name]}, f"CREATE MACRO {PUBLIC}.main.", f"{PUBLIC}.main."
            )
            private.ready.add(name)


def connection_of(wrapper: Any) -> DuckDBPyConnection:  # noqa: ANN401 - whatever executes on one
    """The connection itself, or that of what wraps one, as SQLAlchemy's, or that of the module."""
    if isinstance(wrapper, DuckDBPyConnection):
        return wrapper
    is_table = hasattr(type(wrapper), "columns")  # a relation, or a frame
    probe = wrapper.execute("SELECT 1") if hasattr(wrapper, "execute") and not is_table else wrapper
    if not isinstance(probe, DuckDBPyConnection):
        raise WrongTypeError(
            f"con must be a connection of DuckDB, got {type(wrapper).__name__}; "
            "pass what duckdb.connect() gives, and a table after it"
        )
    probe.fetchall()
    return probe


class _Listed(NamedTuple):
    """What is not DuckDB's own among the functions of an instance."""

    python: set[str]
    of_values: set[str]  # macros of the current database that are no tables
    by_database: Mapping[str, set[str]]


def _list_ours(cursor: DuckDBPyConnection, catalogue: str) -> list[str] | None:
    """What a catalogue of ours says that it has, if it is one."""
    if catalogue not in {PUBLIC, CATALOGUE, COPIED}:
        return None
    try:
        listed: list[str] = cursor.execute(f"SELECT {catalogue}.main.{MARKER}()").fetchall()[0][0]
    except (duckdb.CatalogException, duckdb.BinderException):
        return None
    return listed


def _list_functions(cursor: DuckDBPyConnection) -> _Listed:
    rows = cursor.execute(LISTED).fetchall()
    by_database: dict[str, set[str]] = {}
    for database, _, name, _ in rows:
        by_database.setdefault(database, set()).add(name)
    of_values = {name for _, is_current, name, kind in rows if is_current and kind == "macro"}
    return _Listed(by_database.pop("system", set()), of_values, by_database)


def _make_catalogue(cursor: DuckDBPyConnection, functions: "Mapping[str, Function]") -> str:
    """Make the catalogue: of the short name, or of a longer one where something else has that."""
    taken = {
        name
        for name, in_memory in cursor.execute(TAKEN).fetchall()
        if not (in_memory and _list_ours(cursor, name) is not None)
    }
    if {PUBLIC, CATALOGUE} <= taken:  # to make ours there would write into a file of the user's
        raise OutOfDomainError(REFUSAL_NAMES_TAKEN)
    catalogue = CATALOGUE if PUBLIC in taken else PUBLIC
    contents = _plan_for(functions)
    # To list the functions takes as long as to register those of Python, and a new database has none of ours.
    try:
        _fill_catalogue(cursor, functions, catalogue, contents, set())
    except duckdb.Error:
        there = _list_python(cursor, contents)
        _fill_catalogue(cursor, functions, catalogue, contents, there)
    return catalogue


def _list_python(con: DuckDBPyConnection, contents: Prepared) -> set[str]:
    """The Python functions of an instance; refuses macros next to which DuckDB has no place for ours."""
    listed = _list_functions(con)
    reserved = listed.of_values & {"query", PLAN, REFUSE, DATABASE, *contents.python}
    if reserved:
        refused = REFUSAL_RESERVED.format(", ".join(sorted(reserved)))
        raise OutOfDomainError(refused) from None
    return listed.python


def _fill_catalogue(
    cursor: DuckDBPyConnection,
    functions: "Mapping[str, Function]",
    catalogue: str,
    contents: Prepared,
    there: set[str],
) -> None:
    """Make what is not there yet; the marker last, so that what has it has all."""
    _register_python(cursor, contents.python, there)
    place = f"{catalogue}.main."
    create = f"CREATE OR REPLACE MACRO {place}"
    cursor.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {catalogue} (READ_WRITE)")
    if catalogue == PUBLIC and _copy_catalogue(cursor, functions):
        return
    _make_macros(cursor, contents.macros, create, place)
    _execute(cursor, contents.comments.replace(HOME, place))
    cursor.execute(f"{create}{MARKER}() AS {[__version__, *functions]}")


def _copy_catalogue(cursor: DuckDBPyConnection, functions: "Mapping[str, Function]") -> bool:
    """Copy the stored catalogue, unless it is of other functions or this database cannot read it."""
    file = str(Path(__file__).with_name(COPIED_FILE)).replace("'", "''")
    try:
        cursor.execute(f"ATTACH '{file}' AS {COPIED} (READ_ONLY)")
    except duckdb.Error:
        return False
    try:
        is_ours = _list_ours(cursor, COPIED) == [__version__, *functions]
        if is_ours:
            cursor.execute(f"COPY FROM DATABASE {COPIED} TO {PUBLIC}")
    except duckdb.Error:  # an earlier registering was interrupted, or was of other functions
        return False
    finally:
        cursor.execute(f"DETACH {COPIED}")
    return is_ours


def _plan_for(functions: "Mapping[str, Function]") -> Prepared:
    """Let the planner know the functions, and return what is made for them."""
    PLANNED[:] = [*(each for each in PLANNED if list(each) != list(functions)), functions]
    return prepared(functions)


def _register_python(
    cursor: DuckDBPyConnection, functions: Mapping[str, PythonFunction], there: set[str]
) -> None:
    """Register what is Python in the database instance, where every connection and cursor sees it."""
    how: dict[str, Any] = {
        "type": PythonUDFType.ARROW,
        "null_handling": FunctionNullHandling.SPECIAL,
    }
    for name, each in functions.items():
        if name not in there:
            body = CALLABLES.setdefault(name, _bind_when_called(name, each.types))
            cursor.create_function(
                name, body, each.types, each.answer, side_effects=each.is_volatile, **how
            )
    for name, body in ((PLAN, _plan), (REFUSE, _refuse)):
        if name not in there:
            cursor.create_function(
                name, body, None, "VARCHAR", null_handling=FunctionNullHandling.SPECIAL
            )
    if DATABASE not in there:
        database = uuid.uuid4().hex
        CALLABLES[database] = lambda: database
        cursor.create_function(DATABASE, CALLABLES[database], [], "VARCHAR")


def _bind_when_called(name: str, types: list[Any] | None) -> Callable[..., Any]:
    """A Python function that imports what it needs when it is called; DuckDB counts its parameters."""

    def call(*columns: Any) -> Any:  # noqa: ANN401 - Arrow arrays
        from reid_sql.engines.duckdb import python  # noqa: PLC0415 - it imports the functions and their models

        if not python.FUNCTION_FINDERS:
            python.FUNCTION_FINDERS.append(_find_body)
        return python.body_of(name)(*columns)

    if types is not None:
        each = [Argument(f"c{place}", Argument.POSITIONAL_ONLY) for place, _ in enumerate(types)]
        call.__signature__ = Signature(each)  # type: ignore[attr-defined]
    return call


def _find(name: str) -> "Function":
    """The function of this name, of the set that was registered last."""
    return next(functions[name] for functions in reversed(PLANNED) if name in functions)


def _find_body(key: str) -> "Function":
    """The output of this key, likewise."""
    from reid_sql.function import find_output  # noqa: PLC0415 - it imports what declares

    outputs = (find_output(key, functions) for functions in reversed(PLANNED))
    return next(each for each in outputs if each is not None)


def _plan(*call: Any) -> str:  # noqa: ANN401 - whatever SQL passes
    if getattr(MAKING, "is_making", False):
        return "SELECT NULL AS planned"
    from reid_sql.engines.duckdb.planner import plan  # noqa: PLC0415 - it imports the reductions

    return plan(_find, *call)


def _refuse(*call: Any) -> str | None:  # noqa: ANN401 - whatever DuckDB passes
    from reid_sql.engines.duckdb.refusals import refuse  # noqa: PLC0415 - only a query needs it

    return refuse(*call)


def _make_macros(
    con: DuckDBPyConnection, macros: Mapping[str, str], create: str, place: str
) -> None:
    """Make the macros at a place. DuckDB plans one without parameters when it is made: it need not."""
    statements = "".join(f"{create}{name}{text};\n" for name, text in macros.items())
    MAKING.is_making = True
    try:
        _execute(con, statements.replace(HOME, place))
    finally:
        MAKING.is_making = False


def _execute(con: DuckDBPyConnection, statements: str) -> None:
    """Run statements, which are parsed once in a process: parsing takes half of their time."""
    if statements not in PARSED:
        PARSED[statements] = con.extract_statements(statements)
    for statement in PARSED[statements]:
        con.execute(statement)


def _reach(con: DuckDBPyConnection, functions: "Mapping[str, Function]", catalogue: str) -> None:
    """Make temporary macros of the bare names: they follow USE, and no other macro goes before them.

    Inside a transaction, whose rollback would take those along, the search path of the connection ends with
    our catalogue: refused where a macro of the user's would be found first.
    """
    place, mark = f"{catalogue}.main", f"{catalogue} {__version__} {len(functions)}"
    path, marked, transaction = con.execute(HERE).fetchall()[0]
    if marked == mark:
        return
    now = con.execute("SELECT system.main.txid_current()").fetchall()
    if now == [(transaction,)]:  # else each statement has its own
        # it sees the functions of the time when it first called one
        if con.execute(SEEN).fetchall() == [(0,)]:
            raise OutOfDomainError(REFUSAL_LATE)
        # A rollback would take away what goes before macros of our names, wherever USE may lead. The
        # connection itself is asked: those of its open transaction are known to no other.
        macros = _list_functions(con).by_database.values()
        theirs = (names for names in macros if MARKER not in names)
        if namesakes := set().union(*theirs) & functions.keys():
            raise OutOfDomainError(REFUSAL_NAMESAKES.format(", ".join(sorted(namesakes))))
        if place not in path.split(","):
            path = path.replace("'", "''")
            con.execute(f"SET search_path = '{path},{place}'")
        return
    contents = prepared(functions)
    try:
        _make_macros(con, contents.bare_macros, "CREATE OR REPLACE TEMP MACRO ", f"{place}.")
    except duckdb.Error:
        _list_python(con, contents)
        raise
    con.execute(f"SET VARIABLE {MARKED} = '{mark}'")
