"""Polars: what uniqueness in the population is estimated from."""

from collections.abc import Sequence

import polars as pl

from reid_sql.domains import QUASI_IDENTIFIERS
from reid_sql.engines.polars.distinct import distinct, log_independent
from reid_sql.engines.polars.frames import how_nulls, kept, numbered, placed, places, resolved
from reid_sql.engines.polars.pairs import has_text, pair_counts
from reid_sql.reductions.evidence import OF_COPULAS, OF_INDEPENDENCE


def evidence(tbl: pl.LazyFrame, qi: Sequence[str], method: str, nulls: str) -> pl.LazyFrame:
    """Classes by size, and, where the method asks, by the log of the count under independence.

    Under independence: the count that independent columns would hold.
    """
    rows, names = numbered(tbl, resolved(QUASI_IDENTIFIERS, qi, tbl)), places(qi)
    held = kept(rows, names, nulls)
    log = (
        (log_independent(names) * 1000).round() / 1000
        if method in OF_INDEPENDENCE
        else pl.lit(None, dtype=pl.Float64)
    )
    lines = distinct(held, names).select(pl.col("records").alias("class_size"), log.alias("log_expected"))
    classes = lines.group_by("class_size", "log_expected").agg(pl.len().cast(pl.Int64).alias("classes"))
    both = pl.concat([classes, _pairs(held, qi, method)], how="diagonal")
    whole = pl.col("class_size", "classes", "first", "second", "records", "mass")
    return how_nulls(rows, names, nulls, placed(both).with_columns(whole.fill_null(0)))


def _pairs(held: pl.LazyFrame, qi: Sequence[str], method: str) -> pl.LazyFrame:
    """Pairs of values where the method asks for them; without texts the other methods go on without.

    So it is where Polars has no text of a value.
    """
    names = places(qi)
    texts = all(has_text(kind) for kind in held.collect_schema().dtypes())
    told = method in OF_COPULAS and (texts or method != "all")
    rows = held if told else pl.LazyFrame(schema=dict.fromkeys(names, pl.String))
    return pair_counts(rows, qi).filter(told)
