"""Polars: values of columns and pairs of values of two columns, over rows as q1, q2, …."""

from collections.abc import Sequence
from itertools import combinations
from typing import Final

import polars as pl

from reid_sql.engines.polars.frames import aliases, class_size
from reid_sql.errors import OutOfDomainError
from reid_sql.models.evidence_kinds import UNIQUE_RECORDS

NOTHING: Final = pl.lit(None, dtype=pl.String)


def pair_counts(
    rows: pl.LazyFrame, columns: Sequence[str], *, weighted: bool = False, groups: Sequence[str] = ()
) -> pl.LazyFrame:
    """Count values and pairs of values, and who is alone; weights, if any, follow the columns.

    Where there are groups, it is within each.
    """
    names, numbers = aliases(columns), range(len(columns))
    refuse_without_text(rows, columns)
    weight = pl.col(f"q{len(columns) + 1}").cast(pl.Float64, strict=False) if weighted else None
    lines = [_values(rows, names[place], place + 1, columns[place], weight, groups) for place in numbers]
    lines += [_crossed(rows, names, one, other, weight, groups) for one, other in combinations(numbers, 2)]
    return pl.concat(lines if weighted else [*lines, _alone(rows, names, groups)], how="diagonal")


def _alone(rows: pl.LazyFrame, names: Sequence[str], groups: Sequence[str]) -> pl.LazyFrame:
    sizes = rows.group_by([*groups, *names]).agg(class_size(rows))
    records = (pl.col("class_size") == 1).sum().cast(pl.Int64).alias("records")
    counted = sizes.group_by(groups).agg(records) if groups else sizes.select(records)
    return counted.with_columns(bigint(0, "first"), bigint(UNIQUE_RECORDS, "second"))


def refuse_without_text(rows: pl.LazyFrame, columns: Sequence[str]) -> None:
    """Refuse values that have no text of their own."""
    names = aliases(columns)
    for column, kind in zip(columns, rows.select(names).collect_schema().dtypes(), strict=True):
        if not has_text(kind):
            rule = "columns of a copula must hold numbers, texts or other plain values in Polars"
            raise OutOfDomainError(f"{rule}, got '{column}' of type {kind}; turn it into text")


def has_text(kind: pl.DataType) -> bool:
    """Test that Polars has a distinct text for each value of the type."""
    return not kind.is_nested() and kind not in {pl.Binary, pl.Object}


def _values(  # noqa: PLR0917 - a column, its label, and within what
    rows: pl.LazyFrame, name: str, first: int, label: str, weight: pl.Expr | None, groups: Sequence[str]
) -> pl.LazyFrame:
    counted = rows.group_by([*groups, name]).agg(*_counts(weight))
    result = (
        pl.lit(label).alias("label"),
        pl.col(name).cast(pl.String).alias("first_value"),
        NOTHING.alias("second_value"),
    )
    return counted.select(*groups, bigint(first, "first"), bigint(0, "second"), *result, "records", "mass")


def _crossed(  # noqa: PLR0917 - two columns, and within what
    rows: pl.LazyFrame,
    names: Sequence[str],
    one: int,
    other: int,
    weight: pl.Expr | None,
    groups: Sequence[str],
) -> pl.LazyFrame:
    counted = rows.group_by([*groups, names[one], names[other]]).agg(*_counts(weight))
    values = (
        pl.col(names[p]).cast(pl.String).alias(alias)
        for p, alias in ((one, "first_value"), (other, "second_value"))
    )
    result = bigint(one + 1, "first"), bigint(other + 1, "second"), NOTHING.alias("label"), *values
    return counted.select(*groups, *result, "records", "mass")


def _counts(weight: pl.Expr | None) -> tuple[pl.Expr, pl.Expr]:
    """Records, and their weights; a missing or negative weight makes the sum NaN, which the model refuses."""
    mass = pl.len() if weight is None else pl.when(weight >= 0).then(weight).otherwise(float("nan")).sum()
    return pl.len().cast(pl.Int64).alias("records"), mass.cast(pl.Float64).alias("mass")


def bigint(value: int, name: str) -> pl.Expr:
    """A constant column of whole numbers."""
    return pl.lit(value, dtype=pl.Int64).alias(name)
