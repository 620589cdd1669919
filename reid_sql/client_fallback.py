"""What a place of records lacks, DuckDB computes in this process, from what the place reads or counts.

A place (a warehouse, Spark, Polars) groups by the columns that a question is about. What comes is each
distinct record with its count, within the place's limit. DuckDB sees each as often as it was counted, so that
every function computes as it does from a file.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, Protocol

import duckdb
import pyarrow as pa

import reid_sql_udfs
from reid_sql.engines.arrow import ARROW_TYPES
from reid_sql.engines.duckdb import make_functions
from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError
from reid_sql.function import Function
from reid_sql.models import registry
from reid_sql.models.fitted_model import FittedModel
from reid_sql.parameters import (
    TABLES,
    Columns,
    quoted,
)
from reid_sql.reductions.profile import COLUMN_COUNTS
from reid_sql.sources.files import connect_quietly
from reid_sql.sources.spill import spill_folder, spill_into
from reid_sql.terminal.runner import sentence

NAMES: Final = Columns("columns")
RECORDS: Final = "records"  # next to q1, q2, …
PIECE: Final = 1024  # equal records that are in memory together
ZONED: Final = "TIMESTAMP WITH TIME ZONE"
PASSED_MODEL: Final = "reid: the model that was passed"
MARGINALS: Final = ("column_name", "value", "share")


class Place(Protocol):
    """Where records are: an engine's adapter, as far as DuckDB answers from what it reads."""

    def column_names(self, frame: Any) -> list[str]:  # noqa: ANN401 - a frame of the engine
        """The names of the frame's columns."""

    def find_lacked(self, frame: Any, columns: Sequence[str]) -> list[str]:  # noqa: ANN401 - the same
        """The names among these that are no columns of the frame."""

    def read(self, frame: Any, columns: Sequence[str]) -> pa.Table:  # noqa: ANN401 - the same
        """The columns as q1, q2, …: the rows, or the distinct rows with the number of each in `records`."""

    def finish_reading(self) -> None:
        """Called when all that a function needs has been read, before it computes."""


@contextmanager
def open_client() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB in memory with the functions, which reads no file; what spills is encrypted, and goes."""
    with spill_folder() as folder:
        con = connect_quietly()
        try:
            spill_into(con, folder)
            con.execute("SET enable_external_access = false")
            yield con
        finally:
            con.close()


def drop_view(con: duckdb.DuckDBPyConnection, view: str) -> None:
    """Drop a view and its records."""
    con.execute(f"DROP VIEW {view}")
    con.unregister(f"{view}_distinct")


def create_view(con: duckdb.DuckDBPyConnection, view: str, columns: Sequence[str], rows: pa.Table) -> None:
    """Create the view of all records from the rows, or the distinct ones; refuse those equal to DuckDB.

    A time that knows its zone becomes one in UTC, as where a file is read.
    """
    name, names = f"{view}_distinct", aliases(columns)
    is_counted = RECORDS in rows.column_names
    with refused():
        con.register(name, rows)
        if is_counted:
            _refuse_equal(con, name, columns, rows)
    kinds = {name: kind for name, kind, *_ in con.execute(f"DESCRIBE {name}").fetchall()}
    values = [f"timezone('UTC', {name})" if kinds[name] == ZONED else name for name in names]
    selected = [f"{value} AS {quoted(name)}" for value, name in zip(values, columns, strict=True)]
    each = _repeat_records(name) if is_counted else name
    con.execute(f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT {', '.join(selected)} FROM {each}")


def _refuse_equal(con: duckdb.DuckDBPyConnection, name: str, columns: Sequence[str], rows: pa.Table) -> None:
    distinct = f"SELECT count(*) FROM (SELECT DISTINCT {', '.join(aliases(columns))} FROM {name})"
    alike = con.execute(distinct).fetchall()[0][0]
    if alike != rows.num_rows:
        rule = f"{', '.join(columns)} must come to the client as values that differ as in the database"
        got = f"got {alike} distinct records of {rows.num_rows}"
        raise OutOfDomainError(f"{rule}, {got}; cast the column to text or to a whole number in a view")


def _repeat_records(name: str) -> str:
    """Select each of the distinct records as often as it was counted."""
    pieces = f"SELECT *, unnest(range((records + {PIECE - 1}) // {PIECE})) AS piece FROM {name}"
    return f"(SELECT *, unnest(range(least({PIECE}, records - {PIECE} * piece))) AS one FROM ({pieces}))"


def aliases(columns: Sequence[str]) -> list[str]:
    """The names q1, q2, … of so many columns."""
    return [f"q{place}" for place, _ in enumerate(columns, 1)]


@contextmanager
def refused() -> Iterator[None]:
    """Raise DuckDB's refusals as one sentence."""
    try:
        yield
    except duckdb.InterruptException:
        raise
    except duckdb.InvalidInputException as error:
        raise OutOfDomainError(sentence(error)) from None
    except duckdb.Error as error:
        raise UnavailableError(sentence(error)) from None


def needed_columns(declared: Function, table: str, arguments: Mapping[str, Any]) -> list[str] | None:
    """Return the columns that a call needs of one of its tables; None for all of them."""
    if table == "marginals":
        return list(MARGINALS)
    needed: list[str] = []
    for parameter in declared.parameters:
        named = parameter.domain.columns_in(arguments[parameter.name], table)
        if named is None:
            return None
        needed += named
    if not needed and arguments.get("model") is not None:
        needed += registry.known(arguments["model"]).columns
    has_lists = any(isinstance(each.domain, Columns) for each in declared.parameters)
    return list(dict.fromkeys(needed)) if needed or has_lists else None


def answer_by_duckdb(declared: Function, arguments: Mapping[str, Any], place: Place) -> pa.Table:
    """Call the function in DuckDB on the records of a place's tables."""
    with open_client() as con:
        if declared.reduction is not COLUMN_COUNTS:
            return ask(con, declared, arguments, place)
        frame = arguments["tbl"]
        given = place.column_names(frame) if arguments["columns"] is None else arguments["columns"]
        # Of each column the distinct values alone: the records on all of them are never asked.
        lacked = place.find_lacked(frame, given) if isinstance(given, list) else []
        known = [*place.column_names(frame), *(name for name in given if name not in lacked)]
        each = ({"tbl": frame, "columns": [name]} for name in NAMES.check(given, known))
        return pa.concat_tables([ask(con, declared, asked, place) for asked in each])


def profile_columns(
    frame: Any,  # noqa: ANN401 - a frame of the place
    columns: Sequence[str],
    run: Callable[[Callable[[], pa.Table]], pa.Table],
    fetched: Mapping[str, Any],
    place: Place,
) -> list[dict[str, Any]]:
    """Profile the columns whose distinct values come to the client; among more, no value is suspicious.

    `run` asks the database, and raises its refusals as one sentence. Nothing is asked of columns that were
    `fetched`.
    """
    profiles: list[dict[str, Any]] = []
    profile = reid_sql_udfs.declared()["profile"]
    with open_client() as con:
        for name in columns:
            with suppress(ReidError):
                given = {"tbl": fetched.get(name, frame), "columns": [name]}
                question = partial(ask, con, profile, given, place)
                profiles += (question() if name in fetched else run(question)).to_pylist()
    return profiles


def ask(
    con: duckdb.DuckDBPyConnection, declared: Function, arguments: Mapping[str, Any], place: Place
) -> pa.Table:
    """Call the function in this DuckDB on the records of a place's tables."""
    values = []
    for parameter in declared.parameters:
        name, value = parameter.name, arguments[parameter.name]
        if parameter.domain == TABLES:
            value = [_put(con, f"reid_{name}_{n}", each, None, place) for n, each in enumerate(value)]
        elif parameter.domain.is_table and value is not None:
            value = _put(con, f"reid_{name}", value, needed_columns(declared, name, arguments), place)
        values.append(list(value) if isinstance(value, tuple) else value)
    call = f"FROM {declared.name}({', '.join('?' * len(values))})"
    place.finish_reading()
    with _models_of(con, values, keep=declared.models), refused():
        make_functions(con, [declared.name])
        return _typed(declared, con.sql(call, params=values).to_arrow_table())


def _put(
    con: duckdb.DuckDBPyConnection,
    view: str,
    frame: Any,  # noqa: ANN401 - a frame of the place
    columns: list[str] | None,
    place: Place,
) -> str:
    """Create a view of the table's records; without a column, an empty one, which DuckDB refuses."""
    needed = place.column_names(frame) if columns is None else columns
    if not place.find_lacked(frame, needed):
        create_view(con, view, needed, place.read(frame, needed))
    else:
        empty = ", ".join(f"NULL::VARCHAR AS {quoted(name)}" for name in place.column_names(frame))
        con.execute(f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT {empty} WHERE false")
    return view


@contextmanager
def _models_of(con: duckdb.DuckDBPyConnection, values: list[Any], *, keep: bool) -> Iterator[None]:
    """Share fitted models between Python and DuckDB, with one that is passed as an argument."""
    if not keep:
        yield
        return
    known = registry.models()
    for place, value in enumerate(values):
        if isinstance(value, FittedModel):
            values[place] = PASSED_MODEL
            known[PASSED_MODEL] = value
    database = con.execute("SELECT reid_database()").fetchall()[0][0]
    with registry.within(database):
        for name, model in known.items():
            registry.keep(name, model)
    yield
    with registry.within(database):
        fitted = registry.models()
    for name, model in fitted.items():
        if known.get(name) is not model:
            registry.keep(name, model)


def _typed(declared: Function, answered: pa.Table) -> pa.Table:
    """The answer with the types that every engine of dataframes gives."""
    kinds = declared.answer_columns
    types = [ARROW_TYPES[kinds[each.name]] if each.name in kinds else each.type for each in answered.schema]
    return answered.cast(pa.schema(list(zip(answered.column_names, types, strict=True))))
