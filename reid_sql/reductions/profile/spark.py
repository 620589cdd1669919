"""Spark: single columns, by how many records have each of their values, and how these are written."""

from collections.abc import Sequence
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    IntegralType,
    NumericType,
    StringType,
    TimestampNTZType,
    TimestampType,
    VarcharType,
)

from reid_sql.engines.spark.counting import null_report
from reid_sql.engines.spark.frames import Rows, column, is_incomparable, resolve_columns
from reid_sql.reductions.profile import (
    DATE_PATTERN,
    MISSING_DATES,
    MISSING_NUMBERS,
    MISSING_WORDS,
    NUMBER_PATTERN,
    PADDED_PATTERN,
    SOME_COLUMNS,
)

VALUE, RECORDS, TEXT, PLAIN = "q1", "n", "t", "NOT marked"
KINDS: Final[dict[str, tuple[type[DataType], ...]]] = {
    "text": (StringType, CharType, VarcharType),
    "integer": (IntegralType,),
    "decimal": (DecimalType,),
    "float": (NumericType,),
    "boolean": (BooleanType,),
    "date": (DateType,),
    "timestamp": (TimestampType, TimestampNTZType),
}


def column_counts(tbl: DataFrame, columns: Sequence[str] | None) -> DataFrame:
    """For each column, its records by distinct value, and how the values are written."""
    names = tbl.columns if columns is None else resolve_columns(SOME_COLUMNS, columns, tbl)
    counted = (_column(tbl, place, name) for place, name in enumerate(names, 1))
    return null_report(Rows(tbl, [], []), "value", reduce(DataFrame.unionByName, counted))


def _column(tbl: DataFrame, place: int, name: str) -> DataFrame:
    dtype = tbl.schema[name].dataType
    kind = next((kind for kind, types in KINDS.items() if isinstance(dtype, types)), "other")
    value = F.to_json(column(name)) if is_incomparable(dtype) and kind == "other" else column(name)
    groups = tbl.select(value.alias(VALUE)).groupBy(VALUE).agg(F.count(F.lit(1)).alias(RECORDS))
    constants = {"place": F.lit(place).cast("bigint"), "column_name": F.lit(name), "column_type": F.lit(kind)}
    profiled = _read(groups, kind).agg(*_counts(), *_forms())
    return profiled.select(*(each.alias(name) for name, each in constants.items()), "*")


def _read(groups: DataFrame, kind: str) -> DataFrame:
    """The values as text t and as numbers, and whether they may be marks for a missing one."""
    text = F.col(VALUE).cast("string") if kind in KINDS else F.lit(None).cast("string")
    read = groups.withColumn(TEXT, text)
    number = F.when(F.col(TEXT).rlike(rf"\A(?:{NUMBER_PATTERN})\z"), F.col(TEXT).try_cast("double"))
    words = F.lower(F.trim(TEXT)).isin(*MISSING_WORDS)
    marked = words | number.isin(*map(float, MISSING_NUMBERS)) | F.substring(TEXT, 1, 10).isin(*MISSING_DATES)
    return read.withColumn("number", number).withColumn("marked", F.coalesce(marked, F.lit(False)))  # noqa: FBT003


def _counts() -> list[Column]:
    """How many records there are, and of what."""
    n, missing = F.col(RECORDS), F.col(VALUE).isNull()
    pairs = n.cast("decimal(19,0)") * (n - 1).cast("decimal(18,0)")
    nothing = F.lit(0).cast("bigint")
    return [
        F.coalesce(F.sum(n), nothing).alias("records"),
        F.coalesce(F.sum(F.when(missing, n)), nothing).alias("missing"),
        F.count(VALUE).alias("distinct_values"),
        F.coalesce(F.sum(F.when(n == 1, n)), nothing).alias("unique_records"),
        F.coalesce(F.sum(pairs).cast("decimal(38,0)"), nothing.cast("decimal(38,0)")).alias("pairs_alike"),
        F.coalesce(F.sum(n * F.log(n)), F.lit(0.0)).alias("n_log_n"),
    ]


def _forms() -> list[Column]:
    """How many values are written how, those aside that may be marks."""
    number, length = (
        F.expr(f"CASE WHEN {PLAIN} THEN number END"),
        F.expr(f"CASE WHEN {PLAIN} THEN length({TEXT}) END"),
    )
    text = F.expr(f"CASE WHEN {PLAIN} THEN {TEXT} END")
    spaces = F.length(text) - F.length(F.replace(text, F.lit(" "), F.lit("")))
    whole = {"shortest": F.min(length), "longest": F.max(length), "letters": F.sum(length)}
    marks = F.when(F.col("marked"), F.concat(F.col(RECORDS).cast("string"), F.lit(":"), F.col(TEXT)))
    return [
        F.count(number).alias("numbers"),
        F.count_if(number == F.floor(number)).alias("whole"),
        F.coalesce(F.min(number), F.lit(0.0)).alias("least"),
        F.coalesce(F.max(number), F.lit(0.0)).alias("greatest"),
        F.count_if(text.rlike(rf"\A(?:{DATE_PATTERN})\z")).alias("dates"),
        F.count_if(text.rlike(rf"\A(?:{PADDED_PATTERN})\z")).alias("padded"),
        F.count_if(spaces > 1).alias("spaced"),
        *(F.coalesce(expression.cast("bigint"), F.lit(0)).alias(name) for name, expression in whole.items()),
        F.collect_list(marks).alias("candidates"),
    ]
