"""Polars: what users pass for a table: frames, and what Arrow reads as a table (pandas, pyarrow, DuckDB)."""

import re
import sys
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any, Final

import polars as pl
import pyarrow as pa
from pyarrow import types

from reid_sql.engines.contract import Kind
from reid_sql.engines.counted_rows import (
    CountedRows,
    find_counted_rows,
    find_identified_tables,
    find_watched_columns,
)
from reid_sql.engines.drawn_rows import ROWS_DRAWN, encode_columns, find_candidates
from reid_sql.engines.file_headers import refuse_repeated_names
from reid_sql.engines.people_warnings import warn_of_nobodies
from reid_sql.engines.polars.frames import exact_column, framed, map_whole
from reid_sql.errors import OutOfDomainError, RowsNotPeopleWarning
from reid_sql.function import Function
from reid_sql.models.columns.identifiers import hint, likely, repeating
from reid_sql.models.columns.nobodies import (
    COUNTS_OF_NOBODIES,
    MAX_NOBODIES,
    NOBODY_NUMBERS,
    NOBODY_WORDS,
    count_rows_of_nobodies,
    counts_of_nobodies,
)
from reid_sql.models.columns.panels import find_people_columns
from reid_sql.reduction import refuse_unidentified

FRAMES: Final = (pl.LazyFrame, pl.DataFrame)
# Kinds of pandas whose values are of one Python type, which Arrow holds as they are.
OF_ONE_TYPE: Final = {"string", "empty", "integer", "floating", "boolean", "bytes", "time", "decimal"}
WORDS: Final = "a Polars LazyFrame or DataFrame, or a table with __arrow_c_stream__ (pandas, pyarrow, DuckDB)"
ZONED_TIME: Final = re.compile(r"(?i)time with time zone|timetz")
REFUSAL_COLUMN: Final = "tbl must have columns of types that Polars can represent, got {} for '{}'"
REFUSAL_UNREAD: Final = (
    "tbl must be a table that Arrow can represent, got a {} that it cannot ({}); "
    "give each column one type, such as text, and a name of its own"
)
# What Polars does not read, or where it would stop with a panic.
FOREIGN: Final = (
    types.is_decimal256,
    types.is_interval,
    types.is_union,
    types.is_run_end_encoded,
    types.is_list_view,
    types.is_large_list_view,
)


def from_arrow_stream(given: Any) -> pl.DataFrame | None:  # noqa: ANN401 - whatever a user passes
    """Read the table that an object offers to Arrow; None of what offers none.

    It is read at once, and once: a stream or a relation that draws its rows may give others a second time.
    Refuses a type whose values would come as others, or not at all.
    """
    if not hasattr(given, "__arrow_c_stream__"):
        return None
    _refuse_zoned_times(given)
    try:
        table = pa.RecordBatchReader.from_stream(given).read_all()
    except Exception as error:  # noqa: BLE001 - of any library; a message may hold a value of the data
        if isinstance(error, pa.ArrowException) and "non-struct" in str(error):  # one column, as a Series is
            return None
        raise OutOfDomainError(REFUSAL_UNREAD.format(type(given).__name__, type(error).__name__)) from None
    refuse_repeated_names("tbl", table.column_names, str)
    for field in table.schema:
        if _is_foreign(field.type):
            raise OutOfDomainError(f"{REFUSAL_COLUMN.format(field.type, field.name)}; cast it to text")
    _refuse_merged_objects(given, table)
    return framed(table).collect()


def _refuse_merged_objects(given: Any, table: pa.Table) -> None:  # noqa: ANN401 - see above
    """Refuse columns of any Python objects, as pandas has them, of which Arrow makes some equal.

    Arrow takes a moment among days for its day, bytes for text, and one without a zone for one in UTC.
    """
    pandas = sys.modules.get("pandas")  # a frame has imported it
    if pandas is None or not isinstance(given, pandas.DataFrame):
        return
    for place, (name, kind) in enumerate(given.dtypes.items()):
        column = given.iloc[:, place].dropna()
        if (kind is not object and kind != "object") or pandas.api.types.infer_dtype(column) in OF_ONE_TYPE:
            continue
        came = framed(table.select([str(name)])).select(pl.all().drop_nulls().n_unique()).collect().item()
        if came != len({_key_of(value) for value in column}):
            rule = REFUSAL_COLUMN.format("Python objects of which some would become equal", name)
            raise OutOfDomainError(f"{rule}; give the column one type, such as text")


def _key_of(value: Any) -> Any:  # noqa: ANN401 - an object of a pandas column
    """What is equal for equal values alone: numbers by their size, others by their type too."""
    if type(value) is not bool and isinstance(value, Number):
        return value
    return type(value), value if isinstance(value, Hashable) and not isinstance(value, tuple) else repr(value)


def _refuse_zoned_times(given: Any) -> None:  # noqa: ANN401 - see above
    """Refuse a relation of DuckDB with times that know their zone: Arrow has no such type, and drops it."""
    duckdb = sys.modules.get("duckdb")  # a relation has imported it
    if duckdb is None or not isinstance(given, duckdb.DuckDBPyRelation):
        return
    for name, kind in zip(given.columns, map(str, given.types), strict=True):
        if ZONED_TIME.search(kind):
            raise OutOfDomainError(f"{REFUSAL_COLUMN.format(kind, name)}; cast it to VARCHAR")


def _is_foreign(kind: pa.DataType) -> bool:
    """Whether a type, or one within it, is none that Polars reads; extensions may compare by their bytes."""
    if isinstance(kind, pa.BaseExtensionType):
        return not types.is_fixed_size_binary(kind.storage_type)  # as a UUID is
    if types.is_dictionary(kind):
        return _is_foreign(kind.value_type)
    return any(test(kind) for test in FOREIGN) or any(
        _is_foreign(kind.field(place).type) for place in range(kind.num_fields)
    )


TABLE: Final = Kind(FRAMES, WORDS, "pass pl.scan_parquet('file')", from_arrow_stream)


def warn_of_rows(answer: pl.LazyFrame, declared: Function, arguments: Mapping[str, Any]) -> pl.LazyFrame:
    """Return the answer, whose collection warns of columns that are named like an identifier and repeat.

    They are counted with the answer, if there is such a name.
    """
    rows = find_counted_rows(declared, arguments)
    frames = [arguments[name].lazy() for name in rows.tables]
    named = [(frame, names) for frame in frames if (names := _identifiers(frame, rows))]
    warnings = [_nothing_but_a_warning(frame, names, rows, answer) for frame, names in named]
    warnings += [_of_panels(arguments[name].lazy(), rows, answer) for name in rows.tables]
    warnings += [
        _of_nobodies(arguments[name].lazy(), column, unit, answer)
        for name, columns in find_watched_columns(declared, arguments).items()
        for unit, column in columns
    ]
    return pl.concat([answer, *warnings]) if warnings else answer


def _of_panels(frame: pl.LazyFrame, rows: CountedRows, answer: pl.LazyFrame) -> pl.LazyFrame:
    """Look at the structure of the first rows."""
    schema = answer.collect_schema()
    plain = [
        name for name, kind in frame.collect_schema().items() if not kind.is_nested() and kind != pl.Object
    ]
    drawn = frame.select(exact_column(name) for name in plain).head(ROWS_DRAWN)
    return map_whole(drawn, _Panels(rows, schema), schema)


@dataclass(frozen=True)
class _Panels:
    """Warn of columns that identify people by the structure of rows, and return a frame without rows."""

    rows: CountedRows
    schema: pl.Schema

    def __call__(self, drawn: pl.DataFrame) -> pl.DataFrame:
        table = drawn.to_arrow()
        candidates = find_candidates(table, self.rows.counted, self.rows.named)
        likely_ones = likely(drawn.columns, self.rows.counted, self.rows.named)
        names = [
            name for name in find_people_columns(encode_columns(table), candidates) if name not in likely_ones
        ]
        distinct = [drawn[name].drop_nulls().n_unique() for name in names]
        filled = [len(drawn) - drawn[name].null_count() for name in names]
        if columns := repeating(names, distinct, filled, of_rows=len(drawn)):
            advice = hint(columns, "entity =" if self.rows.takes_entity else None)
            warnings.warn(advice, RowsNotPeopleWarning, stacklevel=2)
        return pl.DataFrame(schema=self.schema)


def _of_nobodies(frame: pl.LazyFrame, column: str, unit: str, answer: pl.LazyFrame) -> pl.LazyFrame:
    """Count the values of a column of people or households, and how they are written."""
    schema = answer.collect_schema()
    kind = frame.collect_schema().get(column)
    if kind is None or kind.is_nested() or kind == pl.Object:
        return pl.LazyFrame(schema=schema)  # the answer refuses the name, or the values are no codes
    return map_whole(_count_nobodies_of(frame, column), _Nobodies(column, unit, schema), schema)


def _count_nobodies_of(frame: pl.LazyFrame, column: str) -> pl.LazyFrame:
    value = exact_column(column).alias("value")
    sizes = frame.group_by(value).agg(pl.len().cast(pl.Int64).alias("size"))
    return count_nobodies(sizes, frame.collect_schema()[column])


def _count_rows(counts: Mapping[str, Any]) -> int:
    return count_rows_of_nobodies(counts_of_nobodies(list(counts.values())))


def count_nobodies(sizes: pl.LazyFrame, kind: pl.DataType) -> pl.LazyFrame:
    """Count the values of an identifier from their sizes, in one row of COUNTS_OF_NOBODIES."""
    is_coded = kind.is_numeric() or kind in (pl.String, pl.Categorical, pl.Enum)
    value = pl.col("value").cast(pl.String) if is_coded else pl.lit(None, pl.String)
    number = value.cast(pl.Float64, strict=False)
    word = value.str.strip_chars(" \t\r\n").str.to_lowercase()
    is_code = number.is_in([*map(float, NOBODY_NUMBERS)])
    coded = pl.when(is_code).then(number).cast(pl.Int64, strict=False).cast(pl.String)
    code = pl.when(word.is_in(NOBODY_WORDS)).then(word).otherwise(coded)
    values = sizes.filter(known_value(pl.col("value"), kind).is_not_null()).select(
        "size", code=code, number=pl.when(number.is_finite()).then(number)
    )
    is_one, numbers = pl.col("code").is_not_null(), pl.col("number").filter(pl.col("code").is_null())
    counts = (
        pl.col("size").top_k(MAX_NOBODIES + 1).implode(),
        pl.col("code").filter(is_one).implode(),
        pl.col("size").filter(is_one).implode(),
        (~is_one).sum().cast(pl.Int64),
        numbers.count().cast(pl.Int64),
        numbers.min(),
        numbers.max(),
    )
    return values.select(each.alias(name) for name, each in zip(COUNTS_OF_NOBODIES, counts, strict=True))


@dataclass(frozen=True)
class _Nobodies:
    """Warn of values that may stand for nobody, and return a frame without rows."""

    column: str
    unit: str
    schema: pl.Schema

    def __call__(self, counts: pl.DataFrame) -> pl.DataFrame:
        warn_of_nobodies(self.column, counts_of_nobodies(counts.row(0)), self.unit)
        return pl.DataFrame(schema=self.schema)


def _identifiers(frame: pl.LazyFrame, rows: CountedRows) -> list[str]:
    known = frame.collect_schema()
    names = likely(known.names(), rows.counted, rows.named)
    return [name for name in names if known[name] != pl.Object and not known[name].is_nested()]


def _nothing_but_a_warning(
    frame: pl.LazyFrame, names: Sequence[str], rows: CountedRows, answer: pl.LazyFrame
) -> pl.LazyFrame:
    """Count the values of some columns for a frame of the answer's columns without rows."""
    schema = answer.collect_schema()
    values = [exact_column(name).drop_nulls() for name in names]
    distinct = [each.n_unique().alias(f"distinct{place}") for place, each in enumerate(values)]
    records = [each.len().alias(f"records{place}") for place, each in enumerate(values)]
    nobodies = [_count_nobodies_of(frame, name).select(pl.struct(pl.all()).alias(name)) for name in names]
    counted = pl.concat([frame.select(*distinct, *records, rows=pl.len()), *nobodies], how="horizontal")
    return map_whole(counted, _Warning(names, rows, schema), schema)


@dataclass(frozen=True)
class _Warning:
    """Warn of what the counts of some columns show, and return a frame without rows."""

    names: Sequence[str]
    rows: CountedRows
    schema: pl.Schema

    def __call__(self, counts: pl.DataFrame) -> pl.DataFrame:
        numbers, last = counts.row(0), 2 * len(self.names)
        distinct, records, rows = numbers[: len(self.names)], numbers[len(self.names) : last], numbers[last]
        columns = [
            each._replace(of_nobody=_count_rows(numbers[last + 1 + self.names.index(each.name)]))
            for each in repeating(self.names, distinct, records, self.rows.counted, of_rows=rows)
        ]
        if columns:
            advice = hint(columns, "entity =" if self.rows.takes_entity else None)
            warnings.warn(advice, RowsNotPeopleWarning, stacklevel=2)
        return pl.DataFrame(schema=self.schema)


# Rows without an identifier


def refuse_unidentified_rows(
    answer: pl.LazyFrame, declared: Function, arguments: Mapping[str, Any]
) -> pl.LazyFrame:
    """Add to an answer, when it is collected, the refusal of tables with rows of nobody."""
    checks = [answer]
    for table, (role, column) in find_identified_tables(declared, arguments).items():
        frame = arguments[table].lazy()
        known = frame.collect_schema().get(column)
        if known is None:
            continue  # the answer refuses the name
        counts = frame.select(identified=known_value(exact_column(column), known).count(), rows=pl.len())
        schema = answer.collect_schema()
        checks.append(map_whole(counts, _Identified(role, column, schema), schema))
    return pl.concat(checks) if len(checks) > 1 else answer


def known_value(column: pl.Expr, kind: pl.DataType) -> pl.Expr:
    """A column's values, NULL for NaN."""
    return column.fill_nan(None) if kind.is_float() else column


@dataclass(frozen=True)
class _Identified:
    """Refuse rows without an identifier, by their number, or return a frame without rows."""

    role: str
    column: str
    schema: pl.Schema

    def __call__(self, counts: pl.DataFrame) -> pl.DataFrame:
        identified, rows = counts.row(0)
        refuse_unidentified(self.role, self.column, rows - identified, rows)
        return pl.DataFrame(schema=self.schema)
