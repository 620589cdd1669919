"""Spark: functions as Columns and as DataFrames; Spark counts, and sends reduced statistics.

The driver gets nothing else but the distinct records where DuckDB answers.
"""

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import BooleanType, DateType, NumericType, StringType

from reid_sql.engines.arrow import answer_rows
from reid_sql.engines.contract import Kind, refuse_added_name
from reid_sql.engines.contract import signature_of_added_count as counting
from reid_sql.engines.counted_rows import (
    IS_REPORTED,
    list_identified_tables,
    list_watched_columns,
    warn_of_values,
)
from reid_sql.engines.drawn_rows import Values, find_panels_in
from reid_sql.engines.group_answers import answer_whole, answered_by_group, table_of
from reid_sql.engines.spark.frames import (
    Rows,
    aliases,
    column,
    count_records,
    count_rows,
    fetch,
    find_column,
    is_case_sensitive,
    known_value,
    refuse_no_key,
    refuse_without_text,
    resolve_columns,
    to_spark,
)
from reid_sql.engines.spark.frames import fetch as collected
from reid_sql.engines.spark.functions import model_column as score
from reid_sql.engines.spark.functions import row_column as value
from reid_sql.engines.spark.functions import scored_frame as scored_table
from reid_sql.engines.spark.people import (
    count_nobodies,
    name_groups,
    one_row_per_value,
    resolve_groups,
)
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Answer, Function
from reid_sql.models.columns.units import UNIT_PERSON
from reid_sql.models.people.evidence import MAX_DRAWN, ON_SCALE, SCALE_LETTERS
from reid_sql.parameters import MAX_COLUMNS, Arguments, ColumnNames, Columns
from reid_sql.reduction import (
    PERSON,
    CodedCall,
    Needs,
    implementation,
    refuse_groups_named_like_results,
    refuse_unidentified,
)

__all__ = [
    "COLUMN",
    "ENGINE",
    "TABLE",
    "collected",
    "column_names",
    "count",
    "counting",
    "find_lacked",
    "framed",
    "score",
    "scored_table",
    "table",
    "value",
]
UNSIGNED: Final = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
ENGINE: Final = "spark"
TABLE: Final = Kind((DataFrame,), "a Spark DataFrame", "pass spark.table('name')")
COLUMN: Final = Kind((Column,), "a Column", "write 'age' or F.col('age')")

PLAIN_TYPES: Final = (NumericType, StringType, BooleanType, DateType)

WORDS: Final = "the distinct records that the driver answers from"
NAMES: Final = Columns("columns")


def framed(table: pa.Table) -> DataFrame:
    """The table in the active session, with types that Spark lacks as others."""
    return _frame(SparkSession.active(), table)


def frame_answer(table: pa.Table, arguments: Arguments) -> DataFrame:
    """The same in the session of the tables that were asked about."""
    return _frame(_session(arguments), table)


def _frame(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Enumerations become texts, and unsigned numbers become wider signed ones."""
    kinds = (
        field.with_type(
            field.type.value_type
            if pa.types.is_dictionary(field.type)
            else UNSIGNED.get(field.type, field.type)
        )
        for field in table.schema
    )
    return to_spark(spark, table.cast(pa.schema(kinds)))


def refuse_unidentified_tables(declared: Function, arguments: Arguments) -> None:
    """Refuse each table with rows of nobody, where a call names the column of people or records."""
    for identified in list_identified_tables(declared, arguments):
        refuse_unidentified_rows(*identified)


def warn_of_people(declared: Function, arguments: Arguments) -> None:
    """Warn of values of columns of people and households that may stand for nobody."""
    for frame, name, unit in list_watched_columns(declared, arguments):
        _warn_of_nobodies(frame, name, unit)


def _warn_of_nobodies(frame: DataFrame, name: str, unit: str = UNIT_PERSON) -> None:
    column_name = find_column(name, frame)
    if not IS_REPORTED.get() and column_name in frame.columns:
        warn_of_values(name, count_nobodies(frame, column_name), unit)


def refuse_unidentified_rows(frame: DataFrame, role: str, name: str) -> None:
    """Refuse a frame with rows of nobody, whom Spark counts."""
    column_name = find_column(name, frame)
    if column_name not in frame.columns:
        return  # the count by it refuses the name
    counts = frame.agg(
        F.count(known_value(frame, column_name)).alias("identified"),
        count_rows("rows"),
    )
    row = collected(counts, f"the rows without {name}").to_pylist()[0]
    refuse_unidentified(role, name, row["rows"] - row["identified"], row["rows"])


def refuse_unordered(declared: Function, arguments: Arguments) -> None:
    """Refuse to number the records of a table without an order, where no column distinguishes them."""
    reduction = declared.reduction
    is_numbered = declared.answer is Answer.PER_RECORD or (reduction and reduction.keyed)
    if is_numbered and arguments.get("entity") is None:
        refuse_no_key(arguments.get("key"))


def table(declared: Function, arguments: Arguments) -> DataFrame:
    """Bind a table function, its arguments by name: Spark reduces the frames, the body answers."""
    options = declared.body_arguments(arguments)
    reduction = declared.reduction
    if reduction is None:
        return framed(table_of(answer_rows(declared, {}, options), declared.columns))
    refuse_unidentified_tables(declared, arguments)
    warn_of_people(declared, arguments)
    counted = {name: arguments.get(name) for name in reduction.arguments_of("spark")}
    by = arguments["by"] if declared.grouped else None
    if by is not None:
        refuse_groups_named_like_results(
            resolve_groups(arguments["tbl"], by, arguments["nulls"]), declared.answer_columns
        )
    if declared.one_row_per_person and arguments["entity"] is not None:
        is_of_shares = reduction.compares_shares(arguments)
        counted |= {
            "tbl": one_row_per_value(arguments, by, of_shares=is_of_shares),
            "entity": PERSON,
        }
    reduced = implementation(reduction, "spark")(**counted)
    if declared.answer is Answer.REDUCTION:
        listed = reduced.orderBy(next(iter(reduction.columns))) if reduction.arrays else reduced
        return listed if by is None else name_groups(listed, by)
    if by is not None:
        counts = collected(reduced, "the histograms of all groups")
        return to_spark(_session(arguments), answered_by_group(declared, counts, by, options))
    counts = collected(reduced, f"what {declared.name} is answered from")
    return to_spark(_session(arguments), answer_whole(declared, counts, options))


def _session(arguments: Arguments) -> SparkSession:
    """The session of the first table that is asked about."""
    listed = (each if isinstance(each, list) else [each] for each in arguments.values())
    return next(
        each.sparkSession for frames in listed for each in frames if isinstance(each, DataFrame)
    )


def count(
    declared: Function, columns: ColumnNames, *, tbl: DataFrame, name: str, entity: str | None
) -> DataFrame:
    """Bind a function that counts a record among all: the frame with another column, of this name."""
    refuse_added_name(name, tbl.columns)
    reduction: Any = declared.reduction
    if entity is not None:
        refuse_unidentified_rows(tbl, "entity", entity)
        _warn_of_nobodies(tbl, entity)
    frame: DataFrame = implementation(reduction, "spark")(tbl, columns, name, entity)
    return frame


def find_panels(frame: DataFrame, named: ColumnNames) -> list[str]:
    """Return columns of people by the structure of a draw of rows."""
    plain = [each.name for each in frame.schema.fields if isinstance(each.dataType, PLAIN_TYPES)]

    def draw(values: Values, limit: int) -> pa.Table:
        rows = frame.select(*map(column, plain[:MAX_COLUMNS]))
        tests = [column(name).isin(*each) for name, each in values.items()]
        return fetch(
            (rows.where(reduce(or_, tests)) if tests else rows).limit(limit), "a draw of rows"
        )

    return find_panels_in(plain, draw, named)


def column_names(frame: DataFrame) -> list[str]:
    """The names of the columns."""
    return frame.columns


def find_lacked(frame: DataFrame, columns: ColumnNames) -> list[str]:
    """The names among these that the table lacks; capitals count only where the session counts them."""
    return [name for name in columns if find_column(name, frame) not in frame.columns]


class CodedRecords(CodedCall):
    """The same place for a call of a function that needs less than the values of its columns."""

    column_names, find_lacked = staticmethod(column_names), staticmethod(find_lacked)

    def read(self, frame: DataFrame, columns: ColumnNames) -> pa.Table:
        """The distinct records, with ranks in place of the values that no answer needs."""
        coded = self.choose_codes(columns, lambda: frame.limit(MAX_DRAWN + 1).count() > MAX_DRAWN)
        people = [name for name in columns if coded.get(name) is Needs.KNOWN_CODES]
        counted = count_records(_select(frame, columns, people), "value")
        needed = {q: coded.get(name) for name, q in zip(columns, aliases(columns), strict=True)}
        ranked = {q for q, need in needed.items() if need is not None and need.is_by_code}
        ranked |= _lacks_scale(counted, [q for q in needed if needed[q] is Needs.POSITIONS])
        cells = (_rank(counted, q) if q in ranked else F.col(q) for q in aliases(columns))
        return fetch(counted.select(*cells, "records"), WORDS)

    @staticmethod
    def finish_reading() -> None:
        """Nothing is left open."""


def _lacks_scale(counted: DataFrame, names: ColumnNames) -> set[str]:
    """Return the columns of texts of which too few records are written like a number or a date."""
    texts = [name for name in names if isinstance(counted.schema[name].dataType, StringType)]
    if not texts:
        return set()
    shares = counted.agg(
        *(
            (
                F.sum(F.when(F.translate(name, SCALE_LETTERS, "") == "", F.col("records")))
                / F.sum(F.when(F.col(name).isNotNull(), F.col("records")))
            ).alias(name)
            for name in texts
        )
    )
    [row] = fetch(shares, WORDS).to_pylist()
    return {name for name in texts if (row[name] or 0) < ON_SCALE}


def _rank(counted: DataFrame, name: str) -> Column:
    """The place of a value among those of its column, as a text where they are texts; NULL stays NULL.

    Spark warns of a window over all rows: this one has a part of its own, in which all are.
    """
    everything = Window.partitionBy(F.col("records") < 0).orderBy(name)
    rank = F.dense_rank().over(everything)
    is_text = isinstance(counted.schema[name].dataType, StringType)
    shown = F.format_string("v%012d", rank) if is_text else rank
    return F.when(F.col(name).isNotNull(), shown).alias(name)


def _select(frame: DataFrame, columns: ColumnNames, people: Sequence[str] = ()) -> Rows:
    """The columns under aliases, as many as there are; of people, NaN is nobody."""
    folded = {name.lower() for name in columns}
    if len(folded) < len(columns) and is_case_sensitive(frame):
        raise OutOfDomainError(
            f"{NAMES.words} must differ by more than capitals where the driver answers, got {list(columns)}; "
            "rename one in a view"
        )
    names: list[str] = []
    for start in range(0, len(columns), MAX_COLUMNS):
        names += resolve_columns(NAMES, columns[start : start + MAX_COLUMNS], frame)
    cells = (
        (known_value(frame, name) if asked in people else column(name)).alias(q)
        for asked, name, q in zip(columns, names, aliases(columns), strict=True)
    )
    return Rows(frame.select(*cells), columns, names)


class SparkTexts:
    """The same place for a model that is fitted: values as the texts by which Spark scores records later."""

    column_names, find_lacked = staticmethod(column_names), staticmethod(find_lacked)
    finish_reading = staticmethod(CodedRecords.finish_reading)

    @staticmethod
    def read(frame: DataFrame, columns: ColumnNames) -> pa.Table:
        """The distinct records as texts; refuses values that their texts do not distinguish."""
        rows = _select(frame, columns)
        refuse_without_text(rows)
        texts = (F.col(name).cast("string").alias(name) for name in rows.names)
        return fetch(count_records(rows, "value").select(*texts, "records"), WORDS)
