"""Spark: values of two tables in one type, and types whose values their texts distinguish."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from reid_sql.engines.spark.frames import Rows
from reid_sql.errors import OutOfDomainError

Cast: TypeAlias = Callable[[Column, DataType], Column]
DIGITS: Final = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}  # that a whole number may have
MAX_DIGITS: Final = 38
FLOATING: Final = (FloatType, DoubleType)
WITHOUT_ZONE: Final = (DateType, TimestampNTZType)
INT64_BOUND: Final = 2.0**63


def cast_alike(rows: Rows, population: Rows, tables: str = "tbl and population_tbl") -> tuple[Rows, Rows]:
    """Give both tables' columns in types that compare exactly; refuses other kinds and what would round.

    It would round in a cast. A date or local time has no instant without a time zone, and a decimal no exact
    double: these compare only with their own kind. `tables` is what the sentence calls both.
    """
    mine: dict[str, Column] = {}
    theirs: dict[str, Column] = {}
    for given, name in zip(rows.given, rows.names, strict=True):
        own, other = rows.frame.schema[name], population.frame.schema[name]
        cast = exact_cast(own.dataType, other.dataType)
        if cast is None:
            rule = f"{tables} must contain '{given}' as the same type"
            got = f"{own.dataType.simpleString()} and {other.dataType.simpleString()}"
            raise OutOfDomainError(f"{rule}, got {got}; cast one of them")
        mine[name] = cast(F.col(name), own.dataType)
        theirs[name] = cast(F.col(name), other.dataType)
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


def _all(kinds: tuple[type[DataType], ...], *given: DataType) -> bool:
    return all(isinstance(kind, kinds) for kind in given)


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
    for name, place in zip(rows.given, rows.names, strict=True):
        kind = rows.frame.schema[place].dataType
        if not has_text(kind):
            rule = "columns of a copula must contain numbers, texts or other plain values on Spark"
            raise OutOfDomainError(f"{rule}, got '{name}' of type {kind.simpleString()}; turn it into text")


def has_text(kind: DataType) -> bool:
    """Whether the texts of the type's values differ wherever the values do.

    An instant has the text of the session's time zone, in which two of an hour that the clocks repeat are
    one.
    """
    return not isinstance(kind, ArrayType | StructType | BinaryType | TimestampType)
