"""What a place of records lacks, DuckDB computes in this process, from what the place reads or counts.

A place (a warehouse, Spark, Polars) groups by the columns that a question is about. What comes is each
distinct record with its count, within the place's limit. DuckDB sees each as often as it was counted, so that
every function computes as it does from a file.

A call is planned from its arguments. Planning needs the names of the columns alone, and refuses what the
arguments show to be wrong. The query has none of the checks of a user's connection: this one is our own, and
its columns are known.
"""

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final, Protocol

import duckdb
import polars as pl
import pyarrow as pa
from duckdb import DuckDBPyConnection

import reid_sql_udfs
from reid_sql.engines import registry
from reid_sql.engines.arrow import ARROW_TYPES
from reid_sql.engines.duckdb import make_functions, open_cursor
from reid_sql.engines.duckdb.answers import check_arguments
from reid_sql.engines.duckdb.names import qualified
from reid_sql.engines.duckdb.planner import write_answer
from reid_sql.engines.duckdb.source import DuckDBSource, table_source
from reid_sql.errors import (
    NoRecordsError,
    OutOfDomainError,
    ReidError,
    UnavailableError,
    UnknownNameError,
)
from reid_sql.function import Function
from reid_sql.models.fitted_model import OPTIONAL_MODEL, FittedModel
from reid_sql.parameters import (
    TABLE,
    Arguments,
    ColumnNames,
    Columns,
    Rows,
    Tables,
    fold_case,
    list_text,
    quoted,
    sql_text,
)
from reid_sql.parameters.domain import POPULATION_TABLE, rename_columns
from reid_sql.parameters.outputs import Parameter
from reid_sql.reductions.distinct_records import LABEL_SAVED, SAVED, SAVED_COLUMNS
from reid_sql.reductions.profile import COLUMN_COUNTS
from reid_sql.sources.files import connect_quietly
from reid_sql.sources.spill import process_folder, spill_folder, spill_into
from reid_sql.terminal.runner import sentence

NAMES: Final = Columns("columns")
MARGINALS_TABLE: Final = "marginals"
OF_MARGINALS: Final = Columns("columns of the marginals")
OF_MODELS: Final = Columns(LABEL_SAVED)
MARGINALS: Final = ("column_name", "value", "share")
RECORDS: Final = "records"  # next to q1, q2, …
ANSWER: Final = "reid_answer"
PIECE: Final = 1024  # equal records that are in memory together
LOOK: Final = 0.05  # seconds between two looks whether Ctrl-C was pressed
# of a name that differs from another in capitals alone
SUFFIX: Final = f"reid{secrets.token_hex(8)}"
# DuckDB passes on the sentence of a refusal, but not its class.
KINDS: Final[Mapping[str, type[ReidError]]] = {
    "must be columns of ": UnknownNameError,
    "must contain at least one record, got 0": NoRecordsError,
}
NAME_COLUMNS: Final = ("scenario", MARGINALS_TABLE, "tables", "bins")  # whose texts name columns
REFUSAL_CAPITALS: Final = (
    "columns of {} must differ by more than capitals, got {}; rename one of them"
)


class Place(Protocol):
    """Where records are: an engine's adapter, as far as DuckDB answers from what it reads."""

    def column_names(self, frame: Any) -> list[str]:  # noqa: ANN401 - a frame of the engine
        """The names of the frame's columns."""

    def find_lacked(self, frame: Any, columns: ColumnNames) -> list[str]:  # noqa: ANN401 - the same
        """The names among these that are no columns of the frame."""

    def read(self, frame: Any, columns: ColumnNames) -> pa.Table:  # noqa: ANN401 - the same
        """The columns as q1, q2, …: the rows, or the distinct rows with the number of each in `records`."""

    def finish_reading(self) -> None:
        """Called when all that a function needs has been read, before it computes."""


@dataclass(frozen=True)
class CallTable:
    """A table of a call: the name of its view, the place's frame, and the columns that the call needs."""

    view: str
    frame: Any
    columns: list[str]


@dataclass(frozen=True)
class Call:
    """A call as a query over the views of its tables; `names` are the columns' names there."""

    function: str
    query: str
    tables: list[CallTable]
    names: Mapping[str, str]
    database: str  # whose models it keeps and finds
    # that were passed, by passing names
    models: Mapping[str, FittedModel] = field(default_factory=dict)


def plan_call(declared: Function, arguments: Arguments, place: Place) -> Call:
    """Plan a call, or refuse it.

    A column that a table lacks is refused by the query itself, over tables without rows.
    """
    tables = list(_list_tables(declared, arguments, place))
    lacked = {table.view: place.find_lacked(table.frame, table.columns) for table in tables}
    is_known = not any(lacked.values())
    names = distinguish_names(
        name
        for table in tables
        for name in (table.columns if is_known else place.column_names(table.frame))
    )
    models = {
        f"reid: {id(arguments[each.name])}": arguments[each.name]
        for each in declared.parameters
        if each.domain is OPTIONAL_MODEL and isinstance(arguments[each.name], FittedModel)
    }
    values = [_argument(each, arguments[each.name], names, models) for each in declared.parameters]
    sources = {
        table_source(table.view).item: DuckDBSource(table.view, is_known=True)
        if is_known
        else DuckDBSource(_without_rows(place.column_names(table.frame), names))
        for table in tables
    }
    checked = {
        name: _replace_sources(value, sources)
        for name, value in check_arguments(declared, values).items()
    }
    database = registry.current_database()
    query = qualified(write_answer(declared, checked, database))
    call = Call(declared.name, query, tables, names, database, models)
    if not is_known:
        _refuse_lacked(declared, call, lacked, place)
    return call


def _refuse_lacked(
    declared: Function, call: Call, lacked: Mapping[str, ColumnNames], place: Place
) -> None:
    """Refuse columns that tables lack, by the sentences of their roles, by the query, or by any name."""
    tables = call.tables
    if declared.reduction is SAVED:
        OF_MODELS.known(SAVED_COLUMNS, place.column_names(tables[0].frame))
    if lacked[tables[0].view] == [] and (shares := lacked.get(f"reid_{MARGINALS_TABLE}")):
        OF_MARGINALS.known(shares, place.column_names(tables[-1].frame))
    with open_shared_client() as con:
        run_call(con, call, [])
    for table in tables:
        NAMES.known(table.columns, place.column_names(table.frame))


def _list_tables(declared: Function, arguments: Arguments, place: Place) -> Iterator[CallTable]:
    for parameter in declared.parameters:
        name, value = parameter.name, arguments[parameter.name]
        if isinstance(parameter.domain, Tables):
            needed = (
                needed_columns(declared, name, arguments) if parameter.domain.of_people else None
            )
            for number, each in enumerate(value):
                yield CallTable(f"reid_{name}_{number}", each, needed or place.column_names(each))
        elif parameter.domain.is_table and value is not None:
            needed = needed_columns(declared, name, arguments)
            yield CallTable(f"reid_{name}", value, needed or place.column_names(value))


def needed_columns(declared: Function, table: str, arguments: Arguments) -> list[str] | None:
    """Return the columns that a call needs of one of its tables; None for all of them."""
    if table == MARGINALS_TABLE:
        return list(MARGINALS)
    if declared.reduction is SAVED:
        return list(SAVED_COLUMNS)
    # A population that is always passed has the same people; columns that divide the table do not divide it.
    alike = any(each.name == table and each.domain == TABLE for each in declared.parameters)
    needed: list[str] = []
    for parameter in declared.parameters:
        if table == POPULATION_TABLE and parameter.domain.role == "groups":
            continue
        named = parameter.domain.columns_in(arguments[parameter.name], "tbl" if alike else table)
        if named is None and parameter.name == "columns":
            return None
        needed += named or ()
    if not needed and arguments.get("model") is not None:
        needed += registry.known(arguments["model"]).columns
    has_lists = any(each.domain.role == "counted" for each in declared.parameters)
    return list(dict.fromkeys(needed)) if needed or has_lists else None


def distinguish_names(columns: Iterable[str]) -> dict[str, str]:
    """Give each column a name that DuckDB distinguishes from the others: to it, capitals are no difference.

    >>> [name.replace(SUFFIX, "+") for name in distinguish_names(["age", "Age", "", "AGE"]).values()]
    ['age', 'Age+', '+', 'AGE++']
    """
    names: dict[str, str] = {}
    taken = {""}
    for column in dict.fromkeys(columns):
        name = column
        while fold_case(name) in taken:
            name += SUFFIX
        names[column] = name
        taken.add(fold_case(name))
    return names


def _argument(
    parameter: Parameter,
    value: Any,  # noqa: ANN401 - whatever is passed
    names: Mapping[str, str],
    models: Mapping[str, FittedModel],
) -> Any:  # noqa: ANN401 - the same
    """The argument as SQL takes it: tables by their views, columns by their names there, models by name."""
    domain, name = parameter.domain, parameter.name
    if value is not None and name in NAME_COLUMNS and (differing := _differ(names)):
        raise OutOfDomainError(REFUSAL_CAPITALS.format(name, list_text(differing)))
    if isinstance(domain, Tables):
        return [f"reid_{name}_{number}" for number, _ in enumerate(value)]
    if domain.is_table and value is not None:
        return f"reid_{name}"
    if isinstance(value, FittedModel):
        return next(key for key, each in models.items() if each is value)
    if domain.form != "names" and not domain.columns_in(value, "tbl"):
        return value
    return rename_columns(value, names)


def _differ(names: Mapping[str, str]) -> list[str]:
    """The columns that have another name in DuckDB."""
    return [column for column, name in names.items() if column != name]


def _without_rows(columns: ColumnNames, names: Mapping[str, str]) -> str:
    cells = ", ".join(f"NULL::VARCHAR AS {quoted(names[name])}" for name in columns) or "NULL"
    return f"(SELECT {cells} WHERE false)"


def _replace_sources(value: Any, sources: Mapping[str, DuckDBSource]) -> Any:  # noqa: ANN401 - an argument
    if isinstance(value, DuckDBSource):
        return sources[value.item]
    if isinstance(value, list):
        return [sources[each.item] if isinstance(each, DuckDBSource) else each for each in value]
    return value


def run_call(con: DuckDBPyConnection, call: Call, rows: Sequence[pa.Table]) -> pa.Table:
    """Run a call over the rows of its tables, columns q1, q2, …, in their order."""
    for table, each in zip(call.tables, rows, strict=False):
        create_view(con, table.view, [call.names[name] for name in table.columns], each)
    with registry.passed(call.models, call.database), refused():
        make_functions(con, [call.function])
        # A relation would bind the query twice, and the result of execute() is copied row by row.
        _execute(con, f"CREATE OR REPLACE TEMP TABLE {ANSWER} AS {call.query}")
        answer = con.sql(f"FROM {ANSWER}").to_arrow_table()
    if not _differ(call.names):
        return answer
    # the texts and columns get the columns' own names again
    frame = pl.DataFrame(pl.from_arrow(answer))
    columns = (_restore(pl.col(name), kind).alias(name) for name, kind in frame.schema.items())
    return frame.select(columns).rename(lambda name: name.replace(SUFFIX, "")).to_arrow()


def _execute(con: DuckDBPyConnection, query: str) -> None:
    """Run the query, which Ctrl-C ends at once: DuckDB itself looks for it late, and raises another error."""
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(copy_context().run, con.execute, query)
        try:
            # a signal that another thread gets does not end a longer wait
            while not running.done():
                wait([running], LOOK)
        except KeyboardInterrupt:
            # DuckDB forgets an interrupt that comes before the query begins
            while not running.done():
                con.interrupt()
                wait([running], LOOK)
            raise
        running.result()


def _restore(texts: pl.Expr, kind: pl.DataType) -> pl.Expr:
    if isinstance(kind, pl.List):
        return texts.list.eval(_restore(pl.element(), kind.inner))  # type: ignore[arg-type] # an instance
    return texts.str.replace_all(SUFFIX, "", literal=True) if kind == pl.String else texts


def create_view(con: DuckDBPyConnection, view: str, columns: ColumnNames, rows: pa.Table) -> None:
    """Create the view of all records from the rows, or the distinct ones; refuse those equal to DuckDB.

    A time that knows its zone becomes one in UTC, as where a file is read.
    """
    name, names = f"{view}_distinct", aliases(columns)
    is_counted = RECORDS in rows.column_names
    if not is_counted and not any(_has_zone(each) or _has_order(each) for each in rows.schema):
        con.register(view, rows.rename_columns(list(columns)))
        return
    with refused():
        con.register(name, rows)
        if is_counted:
            distinct = f"SELECT count(*) FROM (SELECT DISTINCT {', '.join(names)} FROM {name})"
            alike = con.execute(distinct).fetchall()[0][0]
            if alike != rows.num_rows:
                raise OutOfDomainError(
                    f"{', '.join(columns)} must come to the client as values that differ as in the database, got {alike} distinct records of {rows.num_rows}; "
                    "cast the column to text or to a whole number in a view"
                )
    values = [_value_of(name, rows) for name in names]
    selected = [f"{value} AS {quoted(name)}" for value, name in zip(values, columns, strict=True)]
    each = _repeat_records(name) if is_counted else name
    con.execute(f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT {', '.join(selected)} FROM {each}")


def _value_of(name: str, rows: pa.Table) -> str:
    """The column in SQL; DuckDB reads an enumeration of Arrow as texts, without their order."""
    field, chunks = rows.schema.field(name), rows.column(name).chunks
    if _has_order(field) and chunks:
        return f"{name}::ENUM({', '.join(map(sql_text, chunks[0].dictionary.to_pylist()))})"
    return f"timezone('UTC', {name})" if _has_zone(field) else name


def _has_order(column: pa.Field) -> bool:
    return pa.types.is_dictionary(column.type) and bool(column.type.ordered)


def _has_zone(column: pa.Field) -> bool:
    return pa.types.is_timestamp(column.type) and column.type.tz is not None


def _repeat_records(name: str) -> str:
    """Select each of the distinct records as often as it was counted."""
    pieces = f"SELECT *, unnest(range((records + {PIECE - 1}) // {PIECE})) AS piece FROM {name}"
    return f"(SELECT *, unnest(range(least({PIECE}, records - {PIECE} * piece))) AS one FROM ({pieces}))"


def aliases(columns: ColumnNames) -> list[str]:
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
        words = _sentence(error)
        kind = next((kind for rule, kind in KINDS.items() if rule in words), OutOfDomainError)
        raise kind(words) from None
    except duckdb.Error as error:
        raise UnavailableError(_sentence(error)) from None


def _sentence(error: duckdb.Error) -> str:
    return sentence(error).replace(SUFFIX, "")


@contextmanager
def open_shared_client() -> Iterator[DuckDBPyConnection]:
    """Connect to the DuckDB of this process that has the functions, reads no file, and spills encrypted."""
    process = os.getpid()
    try:  # a database that broke down on a value is opened anew
        con = open_cursor(_database(process))
        con.execute("SET TimeZone = 'UTC'")
    except duckdb.Error:
        _database.cache_clear()
        con = open_cursor(_database(process))
        con.execute("SET TimeZone = 'UTC'")
    try:
        yield con
    finally:
        con.close()


@cache
def _database(process: int) -> DuckDBPyConnection:  # noqa: ARG001 - a fork has no threads of a database
    con = connect_quietly()
    spill_into(con, process_folder())
    con.execute("SET enable_external_access = false")
    return con


@contextmanager
def open_client() -> Iterator[DuckDBPyConnection]:
    """Open a DuckDB in memory with the functions, which reads no file; what spills is encrypted, and goes."""
    with spill_folder() as folder:
        con = connect_quietly()
        try:
            spill_into(con, folder)
            con.execute("SET enable_external_access = false")
            yield con
        finally:
            con.close()


def drop_view(con: DuckDBPyConnection, view: str) -> None:
    """Drop a view and its records."""
    con.execute(f"DROP VIEW {view}")
    con.unregister(f"{view}_distinct")


def answer_by_duckdb(declared: Function, arguments: Arguments, place: Place) -> pa.Table:
    """Call the function in DuckDB on the records of a place's tables."""
    with open_shared_client() as con:
        if declared.reduction is not COLUMN_COUNTS:
            return ask(con, declared, arguments, place)
        frame = arguments["tbl"]
        columns = (
            place.column_names(frame) if arguments["columns"] is None else arguments["columns"]
        )
        # Of each column the distinct values alone: the records on all of them are never asked.
        lacked = place.find_lacked(frame, columns) if isinstance(columns, list) else []
        names = [*place.column_names(frame), *(name for name in columns if name not in lacked)]
        each = ({"tbl": frame, "columns": [name]} for name in NAMES.check(columns, names))
        return pa.concat_tables([ask(con, declared, question, place) for question in each])


def profile_columns(
    frame: Any,  # noqa: ANN401 - a frame of the place
    columns: ColumnNames,
    run: Callable[[Callable[[], pa.Table]], pa.Table],
    fetched: Arguments,
    place: Place,
) -> Rows:
    """Profile the columns whose distinct values come to the client; among more, no value is suspicious.

    `run` asks the database, and raises its refusals as one sentence. Nothing is asked of columns that were
    `fetched`.
    """
    profiles: list[dict[str, Any]] = []
    profile = reid_sql_udfs.declared()["profile"]
    with open_client() as con:
        for name in columns:
            with suppress(ReidError):
                arguments = {"tbl": fetched.get(name, frame), "columns": [name]}
                question = partial(ask, con, profile, arguments, place)
                profiles += (question() if name in fetched else run(question)).to_pylist()
    return profiles


def ask(
    con: DuckDBPyConnection, declared: Function, arguments: Arguments, place: Place
) -> pa.Table:
    """Call the function in this DuckDB on the records of a place's tables."""
    call = plan_call(declared, arguments, place)
    rows = [place.read(table.frame, table.columns) for table in call.tables]
    place.finish_reading()
    return _typed(declared, run_call(con, call, rows))


def _typed(declared: Function, answered: pa.Table) -> pa.Table:
    """The answer with the types that every engine of dataframes gives; keys of records have their own."""
    kinds = {name: kind for name, kind in declared.answer_columns.items() if name != "record"}
    types = [
        ARROW_TYPES[kinds[each.name]] if each.name in kinds else each.type
        for each in answered.schema
    ]
    return answered.cast(pa.schema(list(zip(answered.column_names, types, strict=True))))
