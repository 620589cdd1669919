"""Polars: what uniqueness in the population is estimated from."""

from collections.abc import Sequence

import polars as pl

from reid_sql.domains import QUASI_IDENTIFIERS
from reid_sql.engines.polars.distinct import distinct, log_independent
from reid_sql.engines.polars.frames import how_nulls, kept, numbered, placed, places, resolved
from reid_sql.engines.polars.pairs import has_text, pair_counts, whole
from reid_sql.reductions.evidence import DRAWN, OF_INDEPENDENCE, OF_PAIRS, OF_PEOPLE, SEED
from reid_sql.reductions.people.polars import drawn


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
    both = pl.concat([classes, _pairs(held, qi, method), _people(held, names, method)], how="diagonal")
    numbers = pl.col("class_size", "classes", "first", "second", "records", "mass")
    return how_nulls(rows, names, nulls, placed(both).with_columns(numbers.fill_null(0)))


def _pairs(held: pl.LazyFrame, qi: Sequence[str], method: str) -> pl.LazyFrame:
    """Pairs of values where the method asks for them; without texts the other methods go on without.

    So it is where Polars has no text of a value.
    """
    names = places(qi)
    told = method in OF_PAIRS and (_texts(held) or method != "all")
    rows = held if told else pl.LazyFrame(schema=dict.fromkeys(names, pl.String))
    return pair_counts(rows, qi).filter(told)


def _people(held: pl.LazyFrame, names: Sequence[str], method: str) -> pl.LazyFrame:
    """Records drawn as population_risk draws them, where the method asks for them and values have texts."""
    told = method in OF_PEOPLE and _texts(held)
    rows = held if told else pl.LazyFrame(schema=dict.fromkeys(names, pl.String))
    classes = rows.group_by(names).agg(pl.len().cast(pl.Int64).alias("records"))
    return drawn(classes, names, SEED).with_columns(whole(DRAWN, "second"))


def _texts(held: pl.LazyFrame) -> bool:
    return all(has_text(kind) for kind in held.collect_schema().dtypes())
