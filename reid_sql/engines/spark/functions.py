"""Spark: row functions as Columns, and what all functions on the executors are made of."""

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf

from reid_sql.engines.arrow import kernel
from reid_sql.engines.spark.frames import column
from reid_sql.errors import ReidError
from reid_sql.function import Function, Parameter
from reid_sql.parameters import Number

SPARK_TYPES: Final = {"BIGINT": "BIGINT", "DOUBLE": "DOUBLE", "VARCHAR": "STRING"}
udf: Final[Any] = arrow_udf  # whose overloads leave out the plain way to call it


def row_column(declared: Function, arguments: Sequence[Any]) -> SparkColumn:
    """Bind a row function to Columns, column names or numbers: a Column named after the function."""
    inputs = (number(p, argument) for p, argument in zip(declared.parameters, arguments, strict=True))
    return answered_or_refused(declared, row_body(declared)(*inputs))


def answered_or_refused(declared: Function, found: SparkColumn) -> SparkColumn:
    """The answer of a body that may refuse, or its refusal as Spark's error."""
    refused = F.raise_error(found["refusal"]).cast("double")
    return F.when(found["refusal"].isNull(), found["answer"]).otherwise(refused).alias(declared.name)


def as_column(argument: Any) -> SparkColumn:  # noqa: ANN401 - a name, a Column, a number or None
    """The Column that is meant."""
    if isinstance(argument, SparkColumn):
        return argument
    if isinstance(argument, str):
        return column(argument)
    return F.lit(None if argument is None else float(argument))


def number(parameter: Parameter, argument: Any) -> SparkColumn:  # noqa: ANN401 - see above
    """The argument as doubles; no number is refused, also where Spark's ANSI mode is off.

    Without that mode Spark makes NULL of what is no number.
    """
    given = as_column(argument)
    doubles = given.try_cast("double")
    domain, name = parameter.domain, parameter.name
    whole = domain.sentence(name, "\0") if isinstance(domain, Number) else f"{name} must be a number, got \0"
    head, tail = whole.split("\0")
    refused = F.raise_error(F.concat(F.lit(head), given.cast("string"), F.lit(tail))).cast("double")
    return F.when(given.isNotNull() & doubles.isNull(), refused).otherwise(doubles)


def row_body(declared: Function) -> Any:  # noqa: ANN401 - Spark's
    """The body over Arrow arrays of doubles: an answer for each row, or the refusal in its own words.

    The refusal is for all rows.
    """
    return refusable(kernel(declared), declared)


def refusable(call: Callable[..., pa.Array], declared: Function) -> Any:  # noqa: ANN401 - Spark's
    """Make a function whose answers, doubles, come with its refusal."""

    def body(*columns: pa.Array) -> pa.Array:
        try:
            answers, refusals = call(*columns), pa.nulls(len(columns[0]), pa.string())
        except ReidError as error:  # Spark would show a traceback of its worker around the sentence
            answers, refusals = (
                pa.nulls(len(columns[0]), pa.float64()),
                pa.array([str(error)] * len(columns[0])),
            )
        return pa.StructArray.from_arrays([refusals, answers], ["refusal", "answer"])

    return udf(typed(body, declared.name), "struct<refusal string, answer double>")


def typed(body: Any, name: str = "reid_sql") -> Any:  # noqa: ANN401 - a callable
    """Spark tells the kind of a function by its hints, and shows its name in plans."""
    body.__annotations__ = dict.fromkeys([*signature(body).parameters, "return"], pa.Array)
    body.__name__ = name
    return body


def fields_of(columns: Mapping[str, str]) -> str:
    """Columns with their types, as Spark SQL spells them."""
    return ", ".join(f"{name} {SPARK_TYPES[kind]}" for name, kind in columns.items())
