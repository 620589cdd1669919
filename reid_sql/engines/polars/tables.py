"""Polars: what users pass for a table: frames, and what Arrow reads as a table (pandas, pyarrow, DuckDB)."""

import re
import sys
import warnings
from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from numbers import Number
from typing import Any, Final

import polars as pl
import pyarrow as pa
from pyarrow import types

from reid_sql.engines.contract import Kind
from reid_sql.engines.counted_rows import (
    CountedRows,
    find_counted_rows,
    list_identified_tables,
    list_tables,
    list_watched_columns,
)
from reid_sql.engines.drawn_rows import ROWS_DRAWN, encode_columns, find_candidates
from reid_sql.engines.file_headers import refuse_repeated_names
from reid_sql.engines.polars.coded_values import (
    Look,
    count_nobodies_of,
    look_for_codes,
    look_for_nobodies,
)
from reid_sql.engines.polars.frames import exact_column, framed, known_value, map_whole
from reid_sql.errors import OutOfDomainError, RowsNotPeopleWarning
from reid_sql.function import Function
from reid_sql.models.columns.identifiers import (
    RepeatedColumn,
    find_people_columns,
    hint,
    likely,
    repeating,
    repeating_people,
)
from reid_sql.models.columns.nobodies import counts_of_nobodies
from reid_sql.parameters import Arguments, ColumnNames
from reid_sql.reduction import refuse_unidentified

FRAMES: Final = (pl.LazyFrame, pl.DataFrame)
# Kinds of pandas whose values are of one Python type, which Arrow holds as they are.
OF_ONE_TYPE: Final = {
    "string",
    "empty",
    "integer",
    "floating",
    "boolean",
    "bytes",
    "time",
    "decimal",
}
WORDS: Final = (
    "a Polars LazyFrame or DataFrame, or a table with __arrow_c_stream__ (pandas, pyarrow, DuckDB)"
)
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


def from_arrow_stream(source: Any) -> pl.DataFrame | None:  # noqa: ANN401 - whatever a user passes
    """Read the table that an object offers to Arrow; None of what offers none.

    It is read at once, and once: a stream or a relation that draws its rows may give others a second time.
    Refuses a type whose values would come as others, or not at all.
    """
    if not hasattr(source, "__arrow_c_stream__"):
        return None
    _refuse_zoned_times(source)
    try:
        table = pa.RecordBatchReader.from_stream(source).read_all()
    except Exception as error:  # noqa: BLE001 - of any library; a message may hold a value of the data
        # one column, as a Series is
        if isinstance(error, pa.ArrowException) and "non-struct" in str(error):
            return None
        raise OutOfDomainError(
            REFUSAL_UNREAD.format(type(source).__name__, type(error).__name__)
        ) from None
    refuse_repeated_names("tbl", table.column_names, str)
    for field in table.schema:
        if _is_foreign(field.type):
            raise OutOfDomainError(
                f"{REFUSAL_COLUMN.format(field.type, field.name)}; cast it to text"
            )
    _refuse_merged_objects(source, table)
    return framed(table).collect()


def _refuse_merged_objects(source: Any, table: pa.Table) -> None:  # noqa: ANN401 - see above
    """Refuse columns of any Python objects, as pandas has them, of which Arrow makes some equal.

    Arrow takes a moment among days for its day, bytes for text, and one without a zone for one in UTC.
    """
    pandas = sys.modules.get("pandas")  # a frame has imported it
    if pandas is None or not isinstance(source, pandas.DataFrame):
        return
    for place, (name, kind) in enumerate(source.dtypes.items()):
        column = source.iloc[:, place].dropna()
        if (kind is not object and kind != "object") or pandas.api.types.infer_dtype(
            column
        ) in OF_ONE_TYPE:
            continue
        came = (
            framed(table.select([str(name)]))
            .select(pl.all().drop_nulls().n_unique())
            .collect()
            .item()
        )
        if came != len({_key_of(value) for value in column}):
            rule = REFUSAL_COLUMN.format("Python objects of which some would become equal", name)
            raise OutOfDomainError(f"{rule}; give the column one type, such as text")


def _key_of(value: Any) -> Any:  # noqa: ANN401 - an object of a pandas column
    """What is equal for equal values alone: numbers by their size, others by their type too."""
    if type(value) is not bool and isinstance(value, Number):
        return value
    return type(value), value if isinstance(value, Hashable) and not isinstance(
        value, tuple
    ) else repr(value)


def _refuse_zoned_times(source: Any) -> None:  # noqa: ANN401 - see above
    """Refuse a relation of DuckDB with times that know their zone: Arrow has no such type, and drops it."""
    duckdb = sys.modules.get("duckdb")  # a relation has imported it
    if duckdb is None or not isinstance(source, duckdb.DuckDBPyRelation):
        return
    for name, kind in zip(source.columns, map(str, source.types), strict=True):
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


def answer_with_warnings(
    answer: pl.LazyFrame,
    declared: Function,
    arguments: Arguments,
    *,
    refuses_nobody: bool = False,
) -> pl.LazyFrame:
    """Return the answer, whose collection warns of what is doubtful of the rows and values of its tables.

    Columns that look like an identifier and repeat, values that stand for nobody, and missing-value codes are
    counted with the answer, and judged together. `refuses_nobody` refuses a table with rows of nobody.
    """
    looks = list(_list_looks(declared, arguments))
    if refuses_nobody:
        looks = [*_look_for_unidentified(declared, arguments), *looks]
    if not looks:
        return answer
    # of each look one row with the list of its rows, as the frames have different ones
    counts = [
        each.select(pl.struct(pl.all()).implode().alias(str(place)))
        for place, (each, _) in enumerate(looks)
    ]
    schema = answer.collect_schema()

    def judge(counted: pl.DataFrame) -> pl.DataFrame:
        for place, (_, look) in enumerate(looks):
            look(counted[str(place)][0].struct.unnest())
        return pl.DataFrame(schema=schema)

    return pl.concat([answer, map_whole(pl.concat(counts, how="horizontal"), judge, schema)])


def _list_looks(declared: Function, arguments: Arguments) -> Iterator[Look]:
    """List what is counted of the tables of a call, and by what it is judged."""
    rows = find_counted_rows(declared, arguments)
    for table in rows.tables:
        for frame in list_tables(arguments[table]):
            lazy = frame.lazy()
            yield from _look_for_identifiers(lazy, rows)
            plain = [
                exact_column(name)
                for name, kind in lazy.collect_schema().items()
                if not kind.is_nested() and kind != pl.Object
            ]
            if plain:
                first_rows = lazy.select(plain).head(ROWS_DRAWN)
                yield first_rows, partial(_warn_of_panels, rows=rows)
    for frame, column, unit in list_watched_columns(declared, arguments):
        yield from look_for_nobodies(frame.lazy(), column, unit)
    for table in rows.coded_tables:
        for frame in list_tables(arguments[table]):
            yield from look_for_codes(frame.lazy(), rows.coded)


def _warn_of_panels(drawn: pl.DataFrame, rows: CountedRows) -> None:
    """Warn of columns that identify people by the structure of rows."""
    table = drawn.to_arrow()
    candidates = find_candidates(table, rows.named)
    likely_ones = likely(drawn.columns, rows.counted, rows.named)
    names = [
        name
        for name in find_people_columns(encode_columns(table), candidates)
        if name not in likely_ones
    ]
    distinct = [drawn[name].drop_nulls().n_unique() for name in names]
    filled = [len(drawn) - drawn[name].null_count() for name in names]
    _warn_of_columns(repeating(names, distinct, filled, of_rows=len(drawn)), rows)


def _warn_of_columns(columns: Sequence[RepeatedColumn], rows: CountedRows) -> None:
    if columns:
        advice = hint(columns, "entity =" if rows.takes_entity else None)
        warnings.warn(advice, RowsNotPeopleWarning, stacklevel=2)


def _look_for_identifiers(frame: pl.LazyFrame, rows: CountedRows) -> Iterator[Look]:
    """Count the values of the columns that look like an identifier."""
    types = frame.collect_schema()
    likely_ones = likely(types.names(), rows.counted, rows.named)
    names = [
        each for each in likely_ones if types[each] != pl.Object and not types[each].is_nested()
    ]
    if not names:
        return
    values = [exact_column(name).drop_nulls() for name in names]
    distinct = [each.n_unique().alias(f"distinct{place}") for place, each in enumerate(values)]
    records = [each.len().alias(f"records{place}") for place, each in enumerate(values)]
    nobodies = [
        count_nobodies_of(frame, name).select(pl.struct(pl.all()).alias(name)) for name in names
    ]
    counted = [frame.select(*distinct, *records, rows=pl.len()), *nobodies]
    yield pl.concat(counted, how="horizontal"), partial(_warn_of_repeats, names=names, rows=rows)


def _warn_of_repeats(counts: pl.DataFrame, names: ColumnNames, rows: CountedRows) -> None:
    """Warn of what the counts of some columns show."""
    numbers, last = counts.row(0), 2 * len(names)
    distinct, records, total = numbers[: len(names)], numbers[len(names) : last], numbers[last]
    columns = repeating(names, distinct, records, rows.counted, of_rows=total)
    nobodies = (numbers[last + 1 + names.index(each.name)] for each in columns)
    counted = (counts_of_nobodies([*each.values()]) for each in nobodies)
    _warn_of_columns(repeating_people(columns, counted), rows)


def _look_for_unidentified(declared: Function, arguments: Arguments) -> Iterator[Look]:
    """Count the rows without an identifier."""
    for table, role, column in list_identified_tables(declared, arguments):
        frame = table.lazy()
        kind = frame.collect_schema().get(column)
        if kind is not None:  # else the answer refuses the name
            counts = frame.select(
                identified=known_value(exact_column(column), kind).count(), rows=pl.len()
            )
            yield counts, partial(_refuse_unidentified, role=role, column=column)


def _refuse_unidentified(counts: pl.DataFrame, role: str, column: str) -> None:
    """Refuse rows without an identifier, by their number."""
    identified, rows = counts.row(0)
    refuse_unidentified(role, column, rows - identified, rows)
