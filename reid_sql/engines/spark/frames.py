"""Spark: columns by their names, distinct records, and the one door for rows to the driver."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_, or_
from typing import Any, Final, TypeAlias

import pyarrow as pa
import sqlglot
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - what everybody calls it
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    NullType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    VarcharType,
    YearMonthIntervalType,
)
from sqlglot import exp

from reid_sql.engines.contract import read_limit, unused_name
from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.parameters import ColumnNames, Columns
from reid_sql.sql.text import Source

COMPARED: Final = (
    NumericType,
    BooleanType,
    BinaryType,
    CharType,
    VarcharType,
    DateType,
    TimestampType,
    TimestampNTZType,
    YearMonthIntervalType,
    DayTimeIntervalType,
    NullType,
)
KEY: Final = ("reid_key", "reid_hash")  # the columns of a row as one, and their hash
GROUPED_BY: Final = "spark.sql.retainGroupColumns"
SETTING: Final = "spark.reid_sql.maxCollectedValues"
LIMIT: Final = 50_000_000  # values, rows times columns: 400 MB of numbers


def column(name: str) -> Column:
    """The column of this very name, dots and backticks included."""
    return F.col("`" + name.replace("`", "``") + "`")


def resolve_columns(label: Columns, names: ColumnNames, frame: DataFrame) -> list[str]:
    """Find the columns under the frame's own names, or refuse them.

    Refused are unknown and repeated names, and types without order. Spark's names differ by case only where
    spark.sql.caseSensitive is set.
    """
    refuse_settings(frame.sparkSession)
    table_columns, fold = frame.columns, str if is_case_sensitive(frame) else str.lower
    columns = (
        names
        if isinstance(names, str) or not isinstance(names, Sequence)
        else [find_column(name, frame) for name in names]
    )
    checked = label.check(columns, table_columns)
    for name in checked:
        if [fold(other) for other in table_columns].count(fold(name)) > 1:
            raise OutOfDomainError(
                f"{label.words} must each name one column, got '{name}', which two columns of this table have; "
                "rename one of them"
            )
        kind = frame.schema.fields[table_columns.index(name)].dataType
        if is_incomparable(kind):
            raise OutOfDomainError(
                f"{label.words} must be of types that can be compared, got '{name}' of type {kind.simpleString()}; "
                "cast it first, a map to array_sort(map_entries(…)), a variant to a type of its own, text to collate(…, 'UTF8_BINARY')"
            )
    return checked


def is_case_sensitive(frame: DataFrame) -> bool:
    """Whether names that differ by capitals are two to the session."""
    return str(frame.sparkSession.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"


def find_column(name: Any, frame: DataFrame) -> Any:  # noqa: ANN401 - refused later
    """The name as the table has it; one that it lacks, and what is no name, as it is."""
    table_columns = frame.columns
    if name in table_columns or not isinstance(name, str) or is_case_sensitive(frame):
        return name
    return next((other for other in table_columns if other.lower() == name.lower()), name)


def known_value(frame: DataFrame, name: str) -> Column:
    """The values of a column, NULL for NaN."""
    value = column(name)
    is_float = frame.schema[name].dataType.typeName() in {"double", "float"}
    return F.when(~F.isnan(value), value) if is_float else value


def is_incomparable(kind: DataType) -> bool:
    """Whether values of the type have no equality, or none on which the engines agree."""
    if isinstance(kind, ArrayType):
        return is_incomparable(kind.elementType)
    if isinstance(kind, StructType):
        return any(is_incomparable(field.dataType) for field in kind.fields)
    if isinstance(kind, StringType):
        return not kind.isUTF8BinaryCollation()
    return not isinstance(kind, COMPARED)


def refuse_settings(spark: SparkSession) -> None:
    """Refuse a session in which groups come without the columns that they are by."""
    if str(spark.conf.get(GROUPED_BY, "true")).lower() != "true":
        raise OutOfDomainError(
            f"{GROUPED_BY} must be true, got {spark.conf.get(GROUPED_BY)}; call spark.conf.unset('{GROUPED_BY}')"
        )


@dataclass(frozen=True)
class Rows:
    """Columns of a table under aliases, q1, q2, …, so that none can clash with one of the counts'."""

    frame: DataFrame
    public_names: ColumnNames  # the columns' names, as they were asked for
    table_names: ColumnNames  # the same, as the table names them

    @property
    def names(self) -> list[str]:
        """The numbers of the columns."""
        return aliases(self.public_names)


def read_rows(tbl: DataFrame, names: ColumnNames, label: Columns, **more: Column) -> Rows:
    """Select the columns under aliases; `label` names them in a refusal, and `more` columns come first."""
    checked = resolve_columns(label, names, tbl)
    numbered = (
        column(name).alias(place) for name, place in zip(checked, aliases(checked), strict=True)
    )
    return Rows(
        tbl.select(*(value.alias(name) for name, value in more.items()), *numbered), names, checked
    )


def aliases(names: ColumnNames) -> list[str]:
    """The numbers of so many columns."""
    return [f"q{place}" for place in range(1, len(names) + 1)]


def with_key(frame: DataFrame, names: ColumnNames) -> DataFrame:
    """Put the columns into one, with a hash of them in another, for joins by `same_key`."""
    columns = [F.col(name) for name in names]
    rest = (name for name in frame.columns if name not in names)
    return frame.select(*rest, F.struct(*columns).alias(KEY[0]), F.xxhash64(*columns).alias(KEY[1]))


def same_key(
    columns: Sequence[Column], right: DataFrame, key: str = KEY[0], hashed: str = KEY[1]
) -> Column:
    """Whether the columns are those of the right side's key, NULL alike NULL and NaN alike NaN.

    Spark joins by the hash, one number, as it would sort whole keys otherwise; the values themselves then
    decide. They are compared from both sides, as Spark would take an equality for a key to
    sort by.
    """
    left, right_key = (
        F.struct(*(part.alias(f"q{place}") for place, part in enumerate(columns, 1))),
        right[key],
    )
    return (F.xxhash64(*columns) == right[hashed]) & (left <= right_key) & (left >= right_key)


def same_values(left: DataFrame, right: DataFrame, names: ColumnNames) -> tuple[DataFrame, Column]:
    """The right side and the condition to join it by: the same values in the columns, NULL like NULL."""
    renames = {name: f"{name}_right" for name in names}
    renamed = right.withColumnsRenamed(renames)
    return renamed, reduce(
        and_, (left[name].eqNullSafe(renamed[other]) for name, other in renames.items())
    )


def join_classes(tbl: DataFrame, columns: ColumnNames, right: DataFrame) -> DataFrame:
    """Join to every record the columns of its class, by the key of these columns; no record is lost."""
    keys = {name: unused_name(name, tbl.columns) for name in KEY}
    renamed = right.withColumnsRenamed(keys)
    key = same_key([column(name) for name in columns], renamed, *keys.values())
    return tbl.join(renamed, key, "left").drop(*keys.values())


def fetch(frame: DataFrame, label: str) -> pa.Table:
    """Fetch the frame to the driver, or refuse where it has more values than the limit."""
    setting = str(frame.sparkSession.conf.get(SETTING, str(LIMIT)))
    rows = max(1, read_limit(SETTING, setting, LIMIT) // max(1, len(frame.columns)))
    try:
        fetched = frame.limit(rows + 1).toArrow()
    except PySparkException as error:
        raise UnavailableError(name_condition(error)) from None
    if fetched.num_rows > rows:
        raise OutOfDomainError(
            f"{label} must be at most {rows} rows, as they come to the driver, got more; "
            f"take fewer or coarser columns, or raise {SETTING} with the driver's memory"
        )
    return fetched


# by the refusals of our own functions, and by a user's view
RAISED: Final = "USER_RAISED_EXCEPTION"


def name_condition(error: PySparkException) -> str:
    """Spark's name of the error, or our own refusal; its other words may quote a value."""
    words = str(error).split("\n", maxsplit=1)[0].split(" SQLSTATE", maxsplit=1)[0].rstrip(".")
    condition = error.getCondition()
    ours = condition == RAISED and re.search(r" must .*; ", words)
    return words.removeprefix(f"[{RAISED}] ") if ours else condition or type(error).__name__


def to_spark(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Give the table to Spark; of one without rows Spark Connect needs the types."""
    if not table.num_rows:
        return spark.createDataFrame([], from_arrow_schema(table.schema))
    return spark.createDataFrame(table)


# Distinct records and their counts, without windows: grouping is partial before it shuffles.


def any_null(names: ColumnNames) -> Column:
    """Whether one of the columns is NULL."""
    return reduce(or_, (F.col(name).isNull() for name in names))


def drop_nulls(rows: Rows, nulls: str) -> DataFrame:
    """The records, without those that lack a value where these are dropped."""
    return rows.frame.filter(~any_null(rows.names)) if nulls == "drop" else rows.frame


def count_rows(name: str) -> Column:
    """The number of rows, as a column of this name."""
    return F.count(F.lit(1)).alias(name)


def count_records(rows: Rows, nulls: str) -> DataFrame:
    """Distinct records with their counts."""
    return drop_nulls(rows, nulls).groupBy(*rows.names).agg(count_rows("records"))


def no_blank_records() -> Column:
    """NULL: no record counts as without any value where NULL is no wildcard."""
    return F.lit(None).cast("bigint").alias("blank_records")


def null_report(rows: Rows, nulls: str, reduced: DataFrame) -> DataFrame:
    """Report in each row how many records were dropped and how NULLs were treated."""
    if nulls == "drop":
        incomplete = rows.frame.filter(any_null(rows.names))
        dropped = incomplete.agg(count_rows("records_dropped"))
        reduced = reduced.crossJoin(F.broadcast(dropped))
    else:
        reduced = reduced.withColumn("records_dropped", F.lit(0).cast("bigint"))
    return reduced.withColumn("nulls", F.lit(nulls))


NO_POSITION = "must name the column that distinguishes records, got None: a Spark table has no order; pass key='id'"


def refuse_no_key(key: str | None) -> None:
    """Refuse to answer for each record where no column distinguishes them."""
    if key is None:
        raise OutOfDomainError(f"key {NO_POSITION}")


Cast: TypeAlias = Callable[[Column, DataType], Column]
# that a whole number may have
DIGITS: Final = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
MAX_DIGITS: Final = 38
FLOATING: Final = (FloatType, DoubleType)
WITHOUT_ZONE: Final = (DateType, TimestampNTZType)
INT64_BOUND: Final = 2.0**63


def cast_alike(rows: Rows, population: Rows) -> tuple[Rows, Rows]:
    """Give both tables' columns in types that compare exactly; refuses other kinds and what would round.

    It would round in a cast. A date or local time has no instant without a time zone, and a decimal no exact
    double: these compare only with their own kind.
    """
    mine: dict[str, Column] = {}
    theirs: dict[str, Column] = {}
    for public_name, name in zip(rows.public_names, rows.names, strict=True):
        sample_field, population_field = rows.frame.schema[name], population.frame.schema[name]
        cast = exact_cast(sample_field.dataType, population_field.dataType)
        if cast is None:
            raise OutOfDomainError(
                f"tbl and population_tbl must contain '{public_name}' as the same type, got {sample_field.dataType.simpleString()} and {population_field.dataType.simpleString()}; "
                "cast one of them"
            )
        mine[name] = cast(F.col(name), sample_field.dataType)
        theirs[name] = cast(F.col(name), population_field.dataType)
    return (
        replace(rows, frame=rows.frame.withColumns(mine)),
        replace(population, frame=population.frame.withColumns(theirs)),
    )


def exact_cast(one: DataType, other: DataType) -> Cast | None:
    """The cast under which values of the types are equal exactly where they are the same, if any."""
    if one.simpleString() == other.simpleString():
        return lambda column, _: column
    kind = _wider(one, other)
    if kind is not None:
        return lambda column, _: column.cast(kind)
    return _parts if _all((IntegralType, *FLOATING), one, other) else None


def _wider(one: DataType, other: DataType) -> str | None:
    """The type that represents every value of both exactly, if there is any."""
    if _all((IntegralType,), one, other):
        return "bigint"
    if _all(FLOATING, one, other):
        return "double"
    if _all((IntegralType, DecimalType), one, other):
        whole, scale = (max(sizes) for sizes in zip(_digits(one), _digits(other), strict=True))
        return f"decimal({whole + scale},{scale})" if whole + scale <= MAX_DIGITS else None
    return "timestamp_ntz" if _all(WITHOUT_ZONE, one, other) else None


def _all(kinds: tuple[type[DataType], ...], *types: DataType) -> bool:
    return all(isinstance(kind, kinds) for kind in types)


def _digits(kind: DataType) -> tuple[int, int]:
    """Digits before and after the point."""
    if isinstance(kind, DecimalType):
        return kind.precision - kind.scale, kind.scale
    return DIGITS[kind.simpleString()], 0


def _parts(column: Column, kind: DataType) -> Column:
    """A number as a whole one of 64 bits where it is one, else as it is: no double represents two."""
    if isinstance(kind, IntegralType):
        whole, rest = column.cast("bigint"), F.lit(None).cast("double")
    else:
        number = column.cast("double")
        fits = (F.rint(number) == number) & (number >= -INT64_BOUND) & (number < INT64_BOUND)
        whole, rest = F.when(fits, number.try_cast("bigint")), F.when(~fits, number)
    return F.when(column.isNotNull(), F.struct(whole.alias("whole"), rest.alias("rest")))


def refuse_without_text(rows: Rows) -> None:
    """Refuse values that their texts do not distinguish."""
    for name, place in zip(rows.public_names, rows.names, strict=True):
        kind = rows.frame.schema[place].dataType
        if not has_text(kind):
            raise OutOfDomainError(
                f"columns of a copula must contain numbers, texts or other plain values on Spark, got '{name}' of type {kind.simpleString()}; "
                "turn it into text"
            )


def has_text(kind: DataType) -> bool:
    """Whether the texts of the type's values differ wherever the values do.

    An instant has the text of the session's time zone, in which two of an hour that the clocks repeat are
    one.
    """
    return not isinstance(kind, ArrayType | StructType | BinaryType | TimestampType)


# The shared SQL texts of plans, run over a frame whose columns are checked and numbered before.

TABLE: Final = "reid_table"
NAMES: Final = {  # of functions that sqlglot leaves as they are
    "LIST_EXTRACT": "TRY_ELEMENT_AT",
    "LIST_SLICE": "SLICE",
    "ERROR": "RAISE_ERROR",
}


# A frame under the word TABLE, so that a text has no name of a user's. Spark groups by values as they are
# compared here: NaN is one value, -0.0 is 0.0, and `read_rows` refuses collations and types without order. It
# computes a common table expression wherever it is used.
SOURCE: Final = Source(TABLE, is_materialized=False)


def run_plan(rows: Rows, plan: Callable[..., str], *arguments: Any, **options: Any) -> DataFrame:  # noqa: ANN401 - the plan's
    """Run the shared text of a plan over the numbered rows; Spark sorts only where an answer is listed."""
    text = plan(SOURCE, *arguments, **options)
    tree = sqlglot.parse_one(text, read="duckdb").transform(_translate)
    tree.set("order", None)
    query = tree.sql("spark", comments=False).replace(TABLE, f"{{{TABLE}}}")
    return rows.frame.sparkSession.sql(query, reid_table=rows.frame)


def _translate(node: Any) -> Any:  # noqa: ANN401 - a node of sqlglot's tree
    """Write what Spark has in other words; a setting of it may refuse a join that has no condition."""
    if isinstance(node, exp.CTE):
        node.set("materialized", None)
    if isinstance(node, exp.Join) and not node.args.get("using"):
        condition = node.args.get("on")
        if condition is None or condition == exp.true():
            node.set("on", None)
            node.set("kind", "CROSS")
    if isinstance(node, exp.IgnoreNulls):
        return node.this
    if isinstance(node, exp.Anonymous):
        node.set("this", NAMES.get(node.name.upper(), node.name))
    return node
