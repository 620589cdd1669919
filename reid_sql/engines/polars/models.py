"""Polars: functions of fitted models, over records of a frame or drawn from the model."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from reid_sql import registry
from reid_sql.domains import Columns
from reid_sql.engines.arrow import model_answer, record_codes
from reid_sql.engines.polars.tables import (
    REDUCED,
    TYPES,
    Frame,
    IntoColumn,
    _counted,
    _expression,
    _how_nulls,
    _schema,
)
from reid_sql.engines.polars_copula import drawn
from reid_sql.function import FUNCTIONS, Function
from reid_sql.models.copula.gaussian_copula import GaussianCopula


def model_expression(
    declared: Function, found: GaussianCopula, own: Sequence[Any], columns: Sequence[IntoColumn]
) -> pl.Expr:
    """Bind a function of records under a model, by its name or itself: an expression named after the function."""
    numbers = [
        _expression(argument).cast(pl.Float64).alias(f"own{place}") for place, argument in enumerate(own)
    ]
    if len(columns) != len(found.columns):
        found.codes([[]] * len(columns))
    texts = [_expression(column).cast(pl.String).alias(f"c{place}") for place, column in enumerate(columns)]

    def of_struct(struct: pl.Series) -> pl.Series:
        codes = record_codes(
            found, [struct.struct.field(text.meta.output_name()).to_arrow() for text in texts]
        )
        given = [struct.struct.field(number.meta.output_name()).to_arrow() for number in numbers]
        return pl.Series(declared.name, model_answer(declared, found.scored(codes), given), dtype=pl.Float64)

    struct = pl.struct(*numbers, *texts)
    return struct.map_batches(of_struct, return_dtype=pl.Float64, is_elementwise=True).alias(declared.name)


def scored_frame(
    declared: Function, frame: Frame, found: GaussianCopula, options: dict[str, Any]
) -> pl.LazyFrame:
    """Bind a table function that scores a table's distinct records and puts the scores beside its rows."""
    lazy = frame.lazy()
    scored = _scored_classes(declared, lazy, found, options)
    return lazy.join(scored, on=list(found.columns), how="left", nulls_equal=True)


def _scored_classes(
    declared: Function, lazy: pl.LazyFrame, model: GaussianCopula, options: dict[str, Any]
) -> pl.LazyFrame:
    names = Columns("columns of the model").check(model.columns, lazy.collect_schema().names())
    counted = _counted(lazy, names, "value", "class_size")
    schema = pl.Schema(counted.collect_schema() | _schema(declared.columns))

    def score(distinct: pl.DataFrame) -> pl.DataFrame:
        codes = record_codes(model, [distinct[name].cast(pl.String).to_arrow() for name in names])
        answer = declared.body(model.scored(codes), distinct["class_size"].to_numpy(), **options)
        scores = [
            pl.Series(name, getattr(answer, name), dtype=TYPES[kind])
            for name, kind in declared.columns.items()
        ]
        return distinct.select(names).hstack(scores)

    return counted.map_batches(score, schema=schema)


def _reduced(frame: pl.LazyFrame, _: list[str], model: str, population: float) -> pl.LazyFrame:
    """Score distinct records for what is said of all of them."""
    scored = _scored_classes(
        FUNCTIONS["score_copula"], frame, registry.known(model), {"population": population}
    )
    told = (
        scored.select("class_size", "uniqueness_xi")
        .with_row_index("place")
        .with_columns(pl.col("place").cast(pl.Int64))
    )
    return _how_nulls(frame, told, [], "value")


REDUCED["scored_classes"] = _reduced


def drawn_frame(declared: Function, model: GaussianCopula, n: int, options: dict[str, Any]) -> pl.LazyFrame:
    """Bind a table function of records drawn from a model: they are drawn when collected, as many as are asked for."""
    return drawn(model, n, lambda places: model.texts(declared.body(model, places, **options)))
