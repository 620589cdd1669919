"""Spark: functions of fitted models. The model goes to the executors by value, the records stay there."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from reid_sql import registry
from reid_sql.domains import Columns
from reid_sql.engines.arrow import model_answer, record_codes
from reid_sql.engines.spark_copula import refuse_without_text
from reid_sql.engines.spark_frames import alike, arrow_type, column, keyed, numbered, places, resolved
from reid_sql.engines.spark_functions import (
    answered_or_refused,
    as_column,
    check_options,
    fields_of,
    refusable,
    typed,
    udf,
)
from reid_sql.engines.spark_reductions import counted, how_nulls
from reid_sql.errors import OutOfDomainError
from reid_sql.function import FUNCTIONS, Function
from reid_sql.models.copula.gaussian_copula import GaussianCopula


def model_column(
    declared: Function, model: str | GaussianCopula, own: Sequence[Any], columns: Sequence[Any]
) -> Column:
    """Bind a function of records under a model, by its name or itself: a Column named after the function."""
    found, count = _sent(model), len(own)
    if len(columns) != len(found.columns):
        found.codes([[]] * len(columns))

    def body(*given: pa.Array) -> pa.Array:
        return model_answer(declared, found.scored(record_codes(found, given[count:])), given[:count])

    texts = [as_column(one).cast("string") for one in columns]
    called = refusable(body, declared)(*(as_column(number).cast("double") for number in own), *texts)
    return answered_or_refused(declared, called)


def scored_frame(
    declared: Function, frame: DataFrame, model: str | GaussianCopula, options: dict[str, Any]
) -> DataFrame:
    """Bind a table function that scores a table's distinct records and puts the scores beside its rows."""
    check_options(declared, options | {"model": "the model itself"})
    found = _sent(model)
    names = _columns_of(found, frame)
    for name in frame.columns:
        if name.lower() in declared.columns:
            rule = f"the table must have no column that is named as a score ({', '.join(declared.columns)}), got '{name}'"
            raise OutOfDomainError(f"{rule}; rename it in a view")
    right = keyed(_scored_classes(declared, frame, found, options), places(names))
    joined = frame.join(right, alike([column(name) for name in names], right), "left")
    return joined.drop("reid_key", "reid_hash")


def drawn_frame(
    declared: Function, model: str | GaussianCopula, n: float, options: dict[str, Any]
) -> DataFrame:
    """Bind a table function of records drawn from a model: the executors draw them, each by its place alone."""
    checked = {"model": "the model itself", "n": n} | options
    check_options(declared, checked)
    found = _sent(model)
    own = {parameter.name: checked[parameter.name] for parameter in declared.own_parameters}

    def body(*columns: pa.Array) -> pa.Array:
        texts = found.texts(declared.body(found, columns[0].to_numpy(), **own))
        return pa.StructArray.from_arrays(
            [pa.array(values, pa.string()) for values in texts], places(found.columns)
        )

    kinds = ", ".join(f"{place} string" for place in places(found.columns))
    drawn = (
        SparkSession.active().range(int(n)).select(_udf(body, declared, kinds)(F.col("id")).alias("drawn"))
    )
    return drawn.select(
        *(
            F.col(f"drawn.{place}").alias(name)
            for place, name in zip(places(found.columns), found.columns, strict=True)
        )
    )


def scored_classes(frames: Sequence[DataFrame], _: Sequence[str], model: str, population: float) -> DataFrame:
    """Numbers of records by their score: what is said of all records needs no more of the distinct ones."""
    found = _sent(model)
    scored = _scored_classes(
        FUNCTIONS["score_copula"], frames[0], found, {"population": population, "sample": "ignored"}
    )
    told = scored.groupBy("uniqueness_xi").agg(F.sum("class_size").alias("class_size"))
    return how_nulls(frames[0], [], "value", told.withColumn("place", F.col("class_size")))


def _sent(model: str | GaussianCopula) -> GaussianCopula:
    """The model as it is sent, without the scores that it remembers."""
    return replace(registry.known(model), _scores={})


def _columns_of(model: GaussianCopula, frame: DataFrame) -> list[str]:
    names = resolved(Columns("columns of the model"), model.columns, frame)
    refuse_without_text(numbered(frame, names), names)
    return names


def _scored_classes(
    declared: Function, frame: DataFrame, model: GaussianCopula, options: dict[str, Any]
) -> DataFrame:
    """Score the distinct records on the executors, as numbered columns and the scores."""

    def body(*columns: pa.Array) -> pa.Array:
        cells = model.scored(record_codes(model, columns[1:]))
        answer = declared.body(cells, columns[0].to_numpy(), **options)
        arrays = [
            pa.array(getattr(answer, name), arrow_type(kind)) for name, kind in declared.columns.items()
        ]
        return pa.StructArray.from_arrays(arrays, list(declared.columns))

    names = places(model.columns)
    distinct = counted(numbered(frame, _columns_of(model, frame)), names, "value")
    called = _udf(body, declared, fields_of(declared))(
        F.col("records"), *(F.col(name).cast("string") for name in names)
    )
    return distinct.select(*names, called.alias("found")).select(*names, "found.*")


def _udf(body: Callable[..., pa.Array], declared: Function, fields: str) -> Any:  # noqa: ANN401 - a user-defined function
    return udf(typed(body, declared), f"struct<{fields}>")
