"""Spark: functions of fitted models. The model goes to the executors by value, the records stay there."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from reid_sql import registry
from reid_sql.engines.arrow import model_answer, record_codes
from reid_sql.engines.spark.counting import counted
from reid_sql.engines.spark.frames import Rows, arrow_type, beside, keyed, places, rows_of
from reid_sql.engines.spark.functions import (
    answered_or_refused,
    as_column,
    fields_of,
    number,
    refusable,
    typed,
    udf,
)
from reid_sql.engines.spark.texts import refuse_without_text
from reid_sql.errors import OutOfDomainError
from reid_sql.fitted_model import FittedModel, Scores
from reid_sql.function import Function
from reid_sql.parameters import Columns, Integers


def model_column(
    declared: Function, model: FittedModel, arguments: Sequence[Any], columns: Sequence[Any]
) -> Column:
    """Bind a function of records under a model: a Column named after the function."""
    found, count = sent(model), len(arguments)
    if len(columns) != len(found.columns):
        found.codes([[]] * len(columns))

    def body(*given: pa.Array) -> pa.Array:
        return model_answer(declared, found.scored(record_codes(found, given[count:])), given[:count])

    texts = [as_column(one).cast("string") for one in columns]
    numbers = (number(p, given) for p, given in zip(declared.own_parameters, arguments, strict=True))
    called = refusable(body, declared)(*numbers, *texts)
    return answered_or_refused(declared, called)


def scored_frame(
    declared: Function, frame: DataFrame, model: FittedModel, options: Mapping[str, Any]
) -> DataFrame:
    """Bind a table function that scores a table's distinct records and puts the scores beside its rows."""
    found = sent(model)
    rows = rows_of_model(found, frame)
    for name in frame.columns:
        if name.lower() in declared.columns:
            rule = (
                "the table must have no column that is named as a score "
                f"({', '.join(declared.columns)}), got '{name}'"
            )
            raise OutOfDomainError(f"{rule}; rename it in a view")
    classes = scored(
        rows, found, lambda cells, sizes: declared.body(cells, sizes, **options), declared.columns
    )
    return beside(frame, rows.found, keyed(classes, rows.names))


def drawn_frame(declared: Function, model: FittedModel, n: int, options: Mapping[str, Any]) -> DataFrame:
    """Bind a table function of records drawn from a model: executors draw them, each by its place alone."""
    found = sent(model)
    own = {parameter.name: options[parameter.name] for parameter in declared.own_parameters}
    names = places(found.columns)

    def body(*columns: pa.Array) -> pa.Array:
        texts = found.texts(declared.body(found, columns[0].to_numpy(), **own))
        return pa.StructArray.from_arrays([pa.array(values, pa.string()) for values in texts], names)

    kinds = udf(typed(body), f"struct<{', '.join(f'{name} string' for name in names)}>")
    drawn = SparkSession.active().range(n).select(kinds(F.col("id")).alias("drawn"))
    return drawn.select(
        *(F.col(f"drawn.{place}").alias(name) for place, name in zip(names, found.columns, strict=True))
    )


def sent(model: str | FittedModel) -> FittedModel:
    """The model as it is sent, without the scores that it remembers."""
    return registry.known(model).light()


def rows_of_model(model: FittedModel, frame: DataFrame) -> Rows:
    """The columns of the model, found in the table by their names."""
    rows = rows_of(frame, model.columns, Columns("columns of the model"))
    refuse_without_text(rows)
    return rows


def scored(
    rows: Rows,
    model: FittedModel,
    answer: Callable[[Scores, Integers], Any],
    columns: Mapping[str, str],
) -> DataFrame:
    """Score the distinct records on the executors: their columns, and these of a dataclass of arrays."""

    def body(*cells: pa.Array) -> pa.Array:
        found = answer(model.scored(record_codes(model, cells[1:])), cells[0].to_numpy())
        arrays = [pa.array(getattr(found, name), arrow_type(kind)) for name, kind in columns.items()]
        return pa.StructArray.from_arrays(arrays, list(columns))

    texts = (F.col(name).cast("string") for name in rows.names)
    called = udf(typed(body), f"struct<{fields_of(columns)}>")(F.col("records"), *texts)
    return counted(rows, "value").select(*rows.names, called.alias("found")).select(*rows.names, "found.*")
