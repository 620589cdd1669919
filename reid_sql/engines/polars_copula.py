"""Polars: what a copula is fitted to, over columns named q1, q2, …, and records drawn from one."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from reid_sql.domains import Columns
from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.copula.gaussian_copula import GaussianCopula

BATCH: Final = 1 << 16
NOTHING: Final = pl.lit(None, dtype=pl.String)


def pairs(
    kept: pl.LazyFrame,
    columns: Sequence[str],
    marginals: pl.LazyFrame | None,
    *,
    weighted: bool,
    dropped: bool,
) -> pl.LazyFrame:
    """Count values and pairs of values, and who is alone; the words of DuckDB's `reid_plan_pairs`."""
    names = [f"q{place}" for place in range(1, len(columns) + 1)]
    places = range(len(columns))
    for column, kind in zip(columns, kept.select(names).collect_schema().dtypes(), strict=True):
        if not has_text(kind):
            rule = f"columns of a copula must hold numbers, texts or other plain values in Polars, got '{column}' of type {kind}"
            raise OutOfDomainError(f"{rule}; turn it into text")
    weight = pl.col(f"q{len(columns) + 1}").cast(pl.Float64, strict=False) if weighted else None
    lines = [_values(kept, names[place], place + 1, columns[place], weight) for place in places]
    lines += [_crossed(kept, names, one, other, weight) for one, other in combinations(places, 2)]
    if not weighted:
        alone = (
            kept.group_by(names)
            .agg(pl.len() == 1)
            .select(pl.col("len").sum().cast(pl.Int64).alias("records"))
        )
        lines.append(alone.with_columns(_whole(0, "first"), _whole(-2, "second")))
    if marginals is not None:
        lines.append(_outside(marginals.drop_nulls("value") if dropped else marginals, columns))
    return pl.concat(lines, how="diagonal").with_row_index("cell").with_columns(pl.col("cell").cast(pl.Int64))


def has_text(kind: pl.DataType) -> bool:
    """Whether Polars can tell each value of the type by a text of its own."""
    return not kind.is_nested() and kind not in {pl.Binary, pl.Object}


def _values(kept: pl.LazyFrame, name: str, first: int, label: str, weight: pl.Expr | None) -> pl.LazyFrame:
    counted = kept.group_by(name).agg(*_counts(weight))
    told = (
        pl.lit(label).alias("label"),
        pl.col(name).cast(pl.String).alias("first_value"),
        NOTHING.alias("second_value"),
    )
    return counted.select(_whole(first, "first"), _whole(0, "second"), *told, "records", "mass")


def _crossed(
    kept: pl.LazyFrame, names: Sequence[str], one: int, other: int, weight: pl.Expr | None
) -> pl.LazyFrame:
    counted = kept.group_by(names[one], names[other]).agg(*_counts(weight))
    values = (
        pl.col(names[p]).cast(pl.String).alias(alias)
        for p, alias in ((one, "first_value"), (other, "second_value"))
    )
    told = _whole(one + 1, "first"), _whole(other + 1, "second"), NOTHING.alias("label"), *values
    return counted.select(*told, "records", "mass")


def _counts(weight: pl.Expr | None) -> tuple[pl.Expr, pl.Expr]:
    """Records, and their weights; a missing or negative weight makes the sum NaN, which the model refuses."""
    mass = pl.len() if weight is None else pl.when(weight >= 0).then(weight).otherwise(float("nan")).sum()
    return pl.len().cast(pl.Int64).alias("records"), mass.cast(pl.Float64).alias("mass")


def _whole(value: int, name: str) -> pl.Expr:
    return pl.lit(value, dtype=pl.Int64).alias(name)


def _outside(marginals: pl.LazyFrame, columns: Sequence[str]) -> pl.LazyFrame:
    """Shares from outside, as counts of the columns that they name; 0 is the column of a name that is none."""
    Columns("columns of the marginals").check(
        ["column_name", "value", "share"], marginals.collect_schema().names()
    )
    name, place = (
        pl.col("column_name").cast(pl.String),
        {column: number for number, column in enumerate(columns, 1)},
    )
    return marginals.select(
        name.replace_strict(place, default=0, return_dtype=pl.Int64).alias("first"),
        _whole(-1, "second"),
        name.alias("label"),
        pl.col("value").cast(pl.String).alias("first_value"),
        NOTHING.alias("second_value"),
        _whole(0, "records"),
        pl.col("share").cast(pl.Float64, strict=False).fill_null(float("nan")).alias("mass"),
    )


def drawn(model: GaussianCopula, n: int, draw: Callable[[Integers], list[list[str | None]]]) -> pl.LazyFrame:
    """Records of an endless sample, the first n of them, in batches; `draw` gives those at some places by column."""
    schema = pl.Schema({name: pl.String() for name in model.columns})

    def batches(
        columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        size, last = batch_size or BATCH, n if n_rows is None else min(n, n_rows)
        for start in range(0, last, size):
            values = draw(np.arange(start, min(start + size, last)))
            frame = pl.DataFrame(dict(zip(model.columns, values, strict=True)), schema=schema)
            frame = frame.filter(predicate) if predicate is not None else frame
            yield frame.select(columns) if columns is not None else frame

    return register_io_source(batches, schema=schema, is_pure=True)
