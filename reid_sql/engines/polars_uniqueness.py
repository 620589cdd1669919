"""Polars: what uniqueness in the population is estimated from, over distinct records with columns named q1, q2, …."""

from collections.abc import Callable, Sequence
from typing import Final

import polars as pl

from reid_sql.engines.polars_copula import has_text, pairs
from reid_sql.reductions.records import KEYED_QI

COPULA: Final = ("all", "copula", "copula_calibrated")  # methods that ask for pairs of values
INDEPENDENT: Final = (
    "all",
    "loglinear",
    "loglinear_nb",
)  # methods that ask what independent columns would hold


def _evidence(frame: pl.LazyFrame, columns: Sequence[str], nulls: str, method: str) -> pl.LazyFrame:
    """Classes by size, and by the logarithm of the count that independent columns would hold where the method asks for it."""
    held, names = _held(frame, columns, nulls)
    log = (
        (_log_independent(names) * 1000).round() / 1000
        if method in INDEPENDENT
        else pl.lit(None, dtype=pl.Float64)
    )
    lines = held.select(pl.col("records").alias("class_size"), log.alias("log_expected"))
    counted = lines.group_by("class_size", "log_expected").agg(pl.len().cast(pl.Int64).alias("classes"))
    rows = _rows(frame, columns, nulls)[0]
    texts = all(has_text(kind) for kind in rows.collect_schema().dtypes())
    told = method in COPULA and (
        texts or method != "all"
    )  # Polars has no text of a list: the others go on without
    rows = rows if told else pl.LazyFrame(schema=dict.fromkeys(names, pl.String))
    of_copula = pairs(rows, columns, None, weighted=False, dropped=nulls == "drop").drop("cell").filter(told)
    both = pl.concat([counted, of_copula], how="diagonal").with_row_index("place")
    whole = ("class_size", "classes", "first", "second", "records", "mass")
    return both.with_columns(pl.col("place").cast(pl.Int64), pl.col(whole).fill_null(0))


def _fitted_records(
    frame: pl.LazyFrame, columns: Sequence[str], nulls: str, interactions: int, key: str | None = None
) -> pl.LazyFrame:
    """Distinct records with the logarithm of the count that independent columns would hold; codes if there are interactions."""
    held, names = _held(frame, columns, nulls, _member(frame, columns, key))
    codes = [pl.col("place").first().over(name) for name in names]
    listed = pl.concat_list(codes) if interactions else pl.lit([], dtype=pl.List(pl.Int64))
    log = _log_independent(names).alias("log_expected")
    return held.select("place", "records", log, listed.alias("codes"), "members")


def _weighted_records(
    frame: pl.LazyFrame, columns: Sequence[str], nulls: str, weight: str | None = None, key: str | None = None
) -> pl.LazyFrame:
    """Distinct records with the sum of their weights, NaN where one of them is no number above 0."""
    _check(frame, columns, weight)
    number = pl.lit(1.0) if weight is None else pl.col(weight).cast(pl.Float64, strict=False)
    checked = pl.when(number > 0).then(number).otherwise(float("nan")).alias("mass")
    held, _ = _held(frame, columns, nulls, _member(frame, columns, key), checked)
    return held.select("place", "records", pl.col("mass").list.sum(), "members")


def _held(
    frame: pl.LazyFrame, columns: Sequence[str], nulls: str, *listed: pl.Expr
) -> tuple[pl.LazyFrame, list[str]]:
    """Distinct records, numbered, with how many hold each, and the listed values of those that do."""
    kept, names = _rows(frame, columns, nulls, *listed)
    found = kept.group_by(names).agg(
        pl.len().cast(pl.Int64).alias("records"), *(pl.col(e.meta.output_name()) for e in listed)
    )
    return found.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64)), names


def _rows(
    frame: pl.LazyFrame, columns: Sequence[str], nulls: str, *listed: pl.Expr
) -> tuple[pl.LazyFrame, list[str]]:
    names = [f"q{place}" for place in range(1, len(columns) + 1)]
    own = [pl.col(column).alias(name) for column, name in zip(columns, names, strict=True)]
    rows = frame.select(*listed, *own)
    return rows.drop_nulls(names) if nulls == "drop" else rows, names


def _member(frame: pl.LazyFrame, columns: Sequence[str], key: str | None) -> pl.Expr:
    """What tells a record: its key, else its place in the scan."""
    _check(frame, columns, key)
    return (pl.int_range(pl.len(), dtype=pl.Int64) if key is None else pl.col(key)).alias("members")


def _check(frame: pl.LazyFrame, columns: Sequence[str], name: str | None) -> None:
    KEYED_QI.check(
        [*columns] if name is None or name in columns else [*columns, name], frame.collect_schema().names()
    )


def _log_independent(names: Sequence[str]) -> pl.Expr:
    margins = [pl.col("records").sum().over(name).cast(pl.Float64).log() for name in names]
    return pl.sum_horizontal(margins) - (len(names) - 1) * pl.col("records").sum().cast(pl.Float64).log()


IN_POPULATION: Final[dict[str, Callable[..., pl.LazyFrame]]] = {
    "evidence": _evidence,
    "fitted_records": _fitted_records,
    "weighted_records": _weighted_records,
}
