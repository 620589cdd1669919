"""Polars: what a model of people is fitted to."""

from collections.abc import Sequence

import polars as pl

from reid_sql.domains import QUASI_IDENTIFIERS
from reid_sql.engines.polars.frames import how_nulls, kept, numbered, placed, places, resolved
from reid_sql.engines.polars.pairs import whole
from reid_sql.reductions.pairs.polars import pairs
from reid_sql.reductions.people import DRAWN, MOST_DRAWN, MOST_LINES, SIZES


def people(  # noqa: PLR0917 - the arguments of the reduction
    tbl: pl.LazyFrame,
    qi: Sequence[str],
    weight: str | None,
    marginals: pl.LazyFrame | None,
    seed: float,
    nulls: str,
) -> pl.LazyFrame:
    """Count values, pairs that are not too many, and class sizes; draw records by a hash of values."""
    counted = pairs(tbl, qi, weight, marginals, nulls).drop("cell", "records_dropped", "nulls")
    few = (pl.col("second") <= 0) | (pl.len().over("first", "second") <= MOST_LINES)
    every = resolved(QUASI_IDENTIFIERS, qi if weight is None else [*qi, weight], tbl)
    rows, names = numbered(tbl, every), places(every)
    own = places(qi)
    classes = kept(rows, names, nulls).group_by(own).agg(pl.len().cast(pl.Int64).alias("records"))
    sizes = classes.group_by("records").agg(pl.len().cast(pl.Float64).alias("mass"))
    told = [
        counted.filter(few),
        sizes.with_columns(whole(0, "first"), whole(SIZES, "second")),
        drawn(classes, own, int(seed)).with_columns(whole(0, "first"), whole(DRAWN, "second")),
    ]
    return how_nulls(rows, names, nulls, placed(pl.concat(told, how="diagonal"), "line"))


def drawn(classes: pl.LazyFrame, names: Sequence[str], seed: int) -> pl.LazyFrame:
    """Records in a random order that the values and the seed decide, whatever order they are read in."""
    copies = classes.with_columns(pl.int_ranges(pl.col("records")).alias("copy")).explode("copy")
    key = pl.struct(*names, "copy").hash(seed).cast(pl.Float64) / 2.0**64
    texts = pl.concat_list(pl.col(name).cast(pl.String) for name in names)
    return copies.select("records", key.alias("mass"), texts.alias("texts")).bottom_k(MOST_DRAWN, by="mass")
