"""Polars: equivalence classes."""

from collections.abc import Sequence

import polars as pl

from reid_sql.domains import QUASI_IDENTIFIERS
from reid_sql.engines.polars.frames import counted, how_nulls, numbered, places, resolved, sized
from reid_sql.engines.polars.keys import class_size
from reid_sql.reduction import refuse_own_names

__all__ = ["class_size", "classes", "histogram"]


def classes(tbl: pl.LazyFrame, qi: Sequence[str], nulls: str) -> pl.LazyFrame:
    """The distinct combinations of values, with how many records share each."""
    rows, names = numbered(tbl, resolved(QUASI_IDENTIFIERS, qi, tbl)), places(qi)
    refuse_own_names(qi)
    own = (pl.col(q).alias(name) for q, name in zip(names, qi, strict=True))
    found = sized(counted(rows, names, nulls), names, nulls)
    return how_nulls(rows, names, nulls, found).select(
        *own, "class_size", "records", "records_dropped", "nulls"
    )


def histogram(tbl: pl.LazyFrame, qi: Sequence[str], nulls: str) -> pl.LazyFrame:
    """How many classes, and how many records, have each class size."""
    rows, names = numbered(tbl, resolved(QUASI_IDENTIFIERS, qi, tbl)), places(qi)
    found = sized(counted(rows, names, nulls), names, nulls)
    reduced = found.group_by("class_size").agg(
        pl.len().cast(pl.Int64).alias("classes"), pl.col("records").sum()
    )
    return how_nulls(rows, names, nulls, reduced).sort("class_size")
