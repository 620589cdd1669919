"""Ibis: columns by their names, the relations that all reductions share, and every fetch of rows."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from itertools import islice
from operator import or_
from typing import Any, Final, NamedTuple
from weakref import WeakSet

import duckdb
import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import pyarrow as pa
from ibis.expr.types import (
    BooleanValue,
    Column,
    FloatingValue,
    IntegerScalar,
    IntegerValue,
    Table,
    Value,
)

from reid_sql.engines.contract import read_limit
from reid_sql.engines.ibis.alike import comparable, register_with_polars, restored
from reid_sql.engines.ibis.lineage import columns_of_values
from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError, name_error
from reid_sql.parameters import ColumnNames, Columns, fold_case

SETTING: Final = "REID_SQL_MAX_COLLECTED_VALUES"
LIMIT: Final = 50_000_000  # values, rows times columns: 400 MB of numbers
WHOLE: Final = dt.int64
POSTGRES: Final = "postgres"
# asked of the settings, as servers that speak as PostgreSQL may have none of this name
ROW_SECURITY: Final = """SELECT pg_catalog.set_config(name, '{}', true) FROM pg_catalog.pg_settings
    WHERE name = 'row_security' AND setting = '{}'"""
# connections of PostgreSQL whose row security is off for good
UNFILTERED: Final[WeakSet[Any]] = WeakSet()
LIBPQ_WITH_CHUNKS: Final = 170_000  # older ones pass on a row at a time
# rows that PostgreSQL sends at a time, each a tuple of Python's on its way
ROWS_PER_BATCH: Final = 20_000
INTERRUPTIONS: Final = (KeyboardInterrupt, SystemExit, GeneratorExit, duckdb.InterruptException)
IGNORES_CAPITALS: Final = (
    "",
    "duckdb",
    "sqlite",
    "mysql",
    "mssql",
    "trino",
    "bigquery",
    "databricks",
)
WITHOUT_WINDOWS: Final = ("polars",)  # by Ibis; Polars' own functions have them
WITHOUT_NAN: Final = ("sqlite", "mysql", "mssql")  # there a float is a number, or NULL


COMPUTING: Final[ContextVar[Callable[[], None]]] = ContextVar(
    "reid_sql_computing", default=lambda: None
)


class Statement(NamedTuple):
    """A query that would be asked, and the columns of which it returns values."""

    sql: str
    columns: list[str]


PLANNED: Final[ContextVar[list[Statement] | None]] = ContextVar("reid_sql_planned", default=None)
KEEPS_VALUES: Final[ContextVar[bool]] = ContextVar("reid_sql_keeps_values", default=False)
REFUSAL_VALUES: Final = (
    "{} must be counts and codes where keep_values = true, got values of {}; "
    "leave out what needs them, or remove keep_values"
)


def check_columns(words: Columns, columns: ColumnNames, frame: Table) -> list[str]:
    """Give the names as a list, or refuse: no list of distinct columns that can be compared."""
    checked = words.check(columns, frame.columns)
    _refuse_capitals(words, checked, frame)
    for name in checked:
        kind = frame.schema()[name]
        # which writes a value of any type as text
        as_text = kind.is_unknown() and backend(frame) == POSTGRES
        if _is_incomparable(kind) and not as_text:
            # a type of the database's own has several lines
            type_text = " ".join(str(kind).split())
            raise OutOfDomainError(
                f"{words.words} must be of types that can be compared, got '{name}' of type {type_text}; "
                "cast it to text first"
            )
    return checked


def _refuse_capitals(words: Columns, columns: ColumnNames, frame: Table) -> None:
    """Refuse a column that another one equals but for capitals, where the database ignores them.

    The schema of Ibis has both, as the frame in memory had; the database takes one for the other.
    """
    if backend(frame) not in IGNORES_CAPITALS:
        return
    for name in columns:
        alike = [
            each for each in frame.columns if each != name and fold_case(each) == fold_case(name)
        ]
        if alike:
            raise OutOfDomainError(
                f"{words.words} must differ by more than capitals, got '{name}' beside '{alike[0]}'; "
                "rename one of them"
            )


def _is_incomparable(kind: dt.DataType) -> bool:
    """Whether values of the type have no equality, or none on which databases agree."""
    if kind.is_array():
        return _is_incomparable(kind.value_type)
    if kind.is_struct():
        return any(_is_incomparable(each) for each in kind.types)
    return bool(
        kind.is_map()
        or kind.is_interval()
        or kind.is_json()
        or kind.is_geospatial()
        or kind.is_unknown()
    )


def aliases(names: ColumnNames) -> list[str]:
    """The names q1, q2, … that `with_aliases` gives."""
    return [f"q{place}" for place in range(1, len(names) + 1)]


def with_aliases(frame: Table, columns: ColumnNames) -> Table:
    """Select the columns, made comparable, as q1, q2, …: no name can clash with one of the counts'."""
    if backend(frame) == "polars":
        register_with_polars()
    return frame.select(
        **{q: comparable(frame[name]) for q, name in zip(aliases(columns), columns, strict=True)}
    )


def backend(frame: Table) -> str:
    """The backend's name; empty where the table has none yet."""
    return next((str(source.name) for source in sources(frame)), "")


def sources(frame: Table) -> Iterator[Any]:
    """The connections to the table's backends."""
    return (node.source for node in frame.op().find((ops.DatabaseTable, ops.SQLQueryResult)))


def has_null(rows: Table, names: ColumnNames) -> BooleanValue:
    """Whether one of the columns is NULL."""
    return reduce(or_, (rows[name].isnull() for name in names))


def known_value(frame: Table, name: str) -> Value:
    """The values of a column, NULL for NaN."""
    value = frame[name]
    if not value.type().is_floating() or backend(frame) in WITHOUT_NAN:
        return value
    # DuckDB 2.0 takes isnan for false in Parquet files whose statistics leave NaN out.
    is_nan = value.cast("string") == "nan" if backend(frame) == "duckdb" else value.isnan()
    return is_nan.ifelse(ibis.null(value.type()), value)


def drop_nulls(rows: Table, names: ColumnNames, nulls: str) -> Table:
    """The rows, without those that have a NULL where NULLs are dropped."""
    return rows.filter(~has_null(rows, names)) if nulls == "drop" else rows


def count_distinct(rows: Table, names: ColumnNames, nulls: str) -> Table:
    """Distinct records with their counts."""
    return count_by(drop_nulls(rows, names, nulls), names, "records")


def count_by(rows: Table, names: ColumnNames, count: str) -> Table:
    """How many rows have each combination of values."""
    return rows.group_by(list(names)).agg(**{count: bigint(rows.count())})


def count_over(rows: Table, names: ColumnNames) -> IntegerValue:
    """How many rows share the values of each, in a column of ones: some dialects count no rows in windows."""
    return bigint(rows["reid_one"].count().over(group_by=window_keys(rows, names)))


def window_keys(rows: Table, names: ColumnNames) -> list[Column]:
    """The columns that a window is by, or a refusal where Ibis has no windows."""
    if (engine := backend(rows)) in WITHOUT_WINDOWS:
        raise UnavailableError(
            f"a window must be asked of a database that has it by Ibis, got {engine}; "
            f"pass the frame to reid_sql.{engine}"
        )
    return [rows[name] for name in names]


def with_ones(rows: Table, one: str = "reid_one") -> Table:
    """The rows with a column of ones."""
    return rows.mutate(**{one: ibis.literal(1, dt.int8)})


def bigint(value: Any) -> Any:  # noqa: ANN401 - a column or a scalar of whole numbers, as it came
    """The number as 64 bits: a database's own sum may be as narrow as what it adds, or a decimal."""
    return value.cast(WHOLE)


def sum_bigint(value: IntegerValue) -> IntegerScalar:
    """The sum of whole numbers, each made wide before it is added."""
    return bigint(bigint(value).sum())


def sum_over(rows: Table, names: ColumnNames) -> FloatingValue:
    """The sum of the count `n` over all rows that share the values of each, as a double, exact up to 2^53.

    A window's: databases guess badly how many rows a NULL-safe join gives, and then go through every pair.
    A double: PostgreSQL adds 64-bit numbers up as decimals of any length, which takes far longer.
    """
    return rows["n"].cast(dt.float64).sum().over(group_by=window_keys(rows, names))


def null_report(rows: Table, names: ColumnNames, nulls: str, reduced: Table) -> Table:
    """Add to each row how many records were dropped and how NULLs were treated."""
    if nulls == "drop":
        left_out = rows.filter(has_null(rows, names)).agg(
            records_dropped=lambda lacking: bigint(lacking.count())
        )
        reduced = reduced.cross_join(left_out)
    else:
        reduced = reduced.mutate(records_dropped=zero())
    return reduced.mutate(nulls=ibis.literal(nulls, dt.string))


def zero() -> IntegerScalar:
    """0, as a count."""
    return ibis.literal(0, WHOLE)


def null_count() -> IntegerScalar:
    """NULL, in place of `blank_records` where NULL is no wildcard."""
    return ibis.null(WHOLE)


def with_names(rows: Table, columns: ColumnNames) -> dict[str, Any]:
    """The columns, as they were, under their original names."""
    return {name: restored(rows[q]) for q, name in zip(aliases(columns), columns, strict=True)}


@contextmanager
def before_computing(call: Callable[[], None]) -> Iterator[None]:
    """Call this when all that a function needs has come, and the client computes from here on."""
    token = COMPUTING.set(call)
    try:
        yield
    finally:
        COMPUTING.reset(token)


def collected(frame: Table, words: str) -> pa.Table:
    """Fetch the table, or refuse where it has more values than the client may receive."""
    return fetch(frame, words, len(frame.columns))


def fetch(frame: Table, words: str, width: int, types: str = "") -> pa.Table:
    """Fetch a table of whose rows the client keeps `width` values each.

    `types` names the columns that a driver may fail to read.
    """
    operation = frame.op()
    if isinstance(operation, ops.InMemoryTable):
        return operation.data.to_pyarrow(operation.schema)
    if KEEPS_VALUES.get() and (columns := columns_of_values(frame)):
        raise UnavailableError(REFUSAL_VALUES.format(words, ", ".join(columns)))
    if (planned := PLANNED.get()) is not None:
        sql = str(ibis.to_sql(frame, pretty=False))
        planned.append(Statement(sql, columns_of_values(frame)))
        return _one_row(frame)
    rows = max(1, max_collected_values() // max(1, width))
    fetched = _fetch(frame.limit(rows + 1), words + types)
    if fetched.num_rows > rows:
        raise OutOfDomainError(
            f"{words} must be at most {rows} rows, as they come to the client, got more; "
            f"take fewer or coarser columns, or raise {SETTING} with the client's memory"
        )
    return fetched


def _fetch(frame: Table, words: str) -> pa.Table:
    """Fetch the rows; of an error, report the type alone, as the words of a driver may quote a value."""
    try:
        in_parts = backend(frame) == POSTGRES and not frame.op().find(ops.InMemoryTable)
        return _fetch_in_parts(frame) if in_parts else frame.to_pyarrow()
    except (ReidError, *INTERRUPTIONS):
        raise
    except BaseException as error:  # noqa: BLE001 - each driver has its own, and some are no Exception
        raise UnavailableError(
            f"{words} must be what the database can count and its driver can read, got {name_error(error)}; "
            "correct it there, or ask about an extract"
        ) from None


@contextmanager
def keep_values(*, kept: bool = True) -> Iterator[None]:
    """Refuse each query that returns values of a column, by what the query is, before it runs."""
    token = KEEPS_VALUES.set(kept)
    try:
        yield
    finally:
        KEEPS_VALUES.reset(token)


@contextmanager
def plan_queries() -> Iterator[list[Statement]]:
    """List the queries in place of running them; one row of ones, empty texts and NULLs is each answer.

    A column `place` is 0: the first of a list, which may have only one.
    """
    planned: list[Statement] = []
    token = PLANNED.set(planned)
    try:
        yield planned
    finally:
        PLANNED.reset(token)


def _one_row(frame: Table) -> pa.Table:
    cells = {}
    for field in frame.schema().to_pyarrow():
        number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        text = "" if pa.types.is_string(field.type) else None
        one = 0 if field.name == "place" else 1
        cells[field.name] = pa.array([one if number else text], field.type)
    return pa.table(cells)


def _fetch_in_parts(frame: Table) -> pa.Table:
    """Fetch PostgreSQL's rows a few at a time, by one statement in a part of the transaction.

    So an error leaves the rest of the transaction as it was.
    """
    from psycopg import pq  # noqa: PLC0415 - only for PostgreSQL

    source, schema = next(sources(frame)), frame.schema().to_pyarrow()
    query, kind = source.compile(frame), pa.struct(list(schema))
    size = ROWS_PER_BATCH if pq.version() >= LIBPQ_WITH_CHUNKS else 1
    with source.con.transaction(), _all_rows(source.con), source.con.cursor() as cursor:
        streamed = cursor.stream(query, size=size)
        parts = []
        while rows := list(islice(streamed, ROWS_PER_BATCH)):
            parts.append(pa.RecordBatch.from_struct_array(pa.array(rows, type=kind)))
    return pa.Table.from_batches(parts, schema=schema)


@contextmanager
def _all_rows(connection: Any) -> Iterator[None]:  # noqa: ANN401 - of any driver
    """Let PostgreSQL refuse a query of which row-level security would hide rows from this user.

    The figures would be those of fewer people. The user's transaction gets its own setting back.
    """
    if connection in UNFILTERED:
        yield
        return
    changed = connection.execute(ROW_SECURITY.format("off", "on")).fetchall()
    yield
    if changed:  # an error takes the setting back with the part of the transaction
        connection.execute(ROW_SECURITY.format("on", "off"))


def max_collected_values() -> int:
    """Read how many values may come to the client, rows times columns."""
    return read_limit(SETTING, os.environ.get(SETTING, str(LIMIT)), LIMIT)


def framed(table: pa.Table) -> Table:
    """The table in this process, as one of Ibis."""
    return ibis.memtable(table)


# A number before the keys that PostgreSQL sorts by


NUMBER: Final = "reid_scatter"
HASH: Final = "hashtextextended"  # of a text and a number, since PostgreSQL 11
PLACE: Final = "pg_catalog"


@ibis.udf.scalar.builtin(name=HASH, database=PLACE, signature=((str, int), int))  # type: ignore[untyped-decorator]
def _hash(text: str, seed: int) -> int:  # type: ignore[empty-body]
    """The database's hash of a text and a number."""


def with_sort_hash(rows: Table, names: ColumnNames) -> tuple[Table, list[str]]:
    """Return the rows, and the keys to sort them by where only equal rows need be adjacent."""
    hashes = [each.name(NUMBER) for each in sort_hash(rows, [rows[name] for name in names])]
    return (rows.mutate(*hashes) if hashes else rows), [
        *(each.get_name() for each in hashes),
        *names,
    ]


def sort_hash(rows: Table, keys: Sequence[Column]) -> list[Column]:
    """Hash the keys, where the rows are PostgreSQL's.

    The keys are as `comparable` makes them: equal texts have the same bytes, and so the same number.
    """
    numbers = [key for key in keys if key.type().is_integer()]
    texts = [key for key in keys if key.type().is_string()]
    if not texts or len(numbers) + len(texts) == 1 or not _has_hash(rows):
        return []
    return [reduce(_with_text, texts, reduce(_with_number, numbers, ibis.literal(0, WHOLE)))]


def _with_number(mixed: IntegerValue, key: Column) -> IntegerValue:
    return mixed ^ ibis.coalesce(bigint(key), 0)


def _with_text(mixed: IntegerValue, key: Column) -> IntegerValue:
    hashed: IntegerValue = _hash(ibis.coalesce(key, ""), mixed)
    return hashed


def _has_hash(rows: Table) -> bool:
    """Whether the server has PostgreSQL's own function: others that speak as it does may not."""
    if backend(rows) != POSTGRES or PLANNED.get() is not None:
        return False
    question = f"SELECT count(*) AS number FROM {PLACE}.pg_proc WHERE proname = '{HASH}'"
    answer = _fetch_in_parts(next(sources(rows)).sql(question, schema={"number": WHOLE}))
    return bool(answer["number"][0].as_py())
