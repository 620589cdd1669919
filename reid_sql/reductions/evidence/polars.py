"""Polars: what uniqueness in the population is estimated from."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import (
    distinct,
    kept,
    log_independent,
    null_report,
    numbered,
    placed,
    places,
    resolved,
)
from reid_sql.engines.polars.groups import of_groups, raw_rows_of_groups
from reid_sql.engines.polars.pairs import has_text, pair_counts, whole
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reductions.evidence import DRAWN, OF_INDEPENDENCE, OF_PAIRS, OF_PEOPLE, SEED
from reid_sql.reductions.people.polars import drawn


def evidence(
    tbl: pl.LazyFrame, qi: Sequence[str], method: str, nulls: str, by: Sequence[str] | None = None
) -> pl.LazyFrame:
    """Classes by size, and, where the method asks, by the log of the count under independence.

    Under independence: the count that independent columns would hold.
    """
    if by is not None:
        rows, _, groups = raw_rows_of_groups(tbl, qi, by, nulls)
        return of_groups(rows, _lines(rows.filter("kept"), qi, method, groups), groups, by, nulls)
    rows, names = numbered(tbl, resolved(QUASI_IDENTIFIERS, qi, tbl)), places(qi)
    return null_report(rows, names, nulls, _lines(kept(rows, names, nulls), qi, method))


def _lines(held: pl.LazyFrame, qi: Sequence[str], method: str, groups: Sequence[str] = ()) -> pl.LazyFrame:
    """All that is told of the rows, or of those of each group."""
    names = places(qi)
    log = (
        (log_independent(names, groups) * 1000).round() / 1000
        if method in OF_INDEPENDENCE
        else pl.lit(None, dtype=pl.Float64)
    )
    told = pl.col("records").alias("class_size"), log.alias("log_expected")
    lines = distinct(held, [*groups, *names]).select(*groups, *told)
    number = pl.len().cast(pl.Int64).alias("classes")
    classes = lines.group_by(*groups, "class_size", "log_expected").agg(number)
    beside = [_pairs(held, qi, method, groups), _people(held, names, method, groups)]
    numbers = pl.col("class_size", "classes", "first", "second", "records", "mass")
    return placed(pl.concat([classes, *beside], how="diagonal")).with_columns(numbers.fill_null(0))


def _pairs(held: pl.LazyFrame, qi: Sequence[str], method: str, groups: Sequence[str]) -> pl.LazyFrame:
    """Pairs of values where the method asks for them; without texts the other methods go on without.

    So it is where Polars has no text of a value.
    """
    names = places(qi)
    told = method in OF_PAIRS and (_texts(held, names) or method != "all")
    rows = held if told else _nothing(held, names, groups)
    return pair_counts(rows, qi, groups=groups).filter(told)


def _people(held: pl.LazyFrame, names: Sequence[str], method: str, groups: Sequence[str]) -> pl.LazyFrame:
    """Records drawn as population_risk draws them, where the method asks for them and values have texts."""
    told = method in OF_PEOPLE and _texts(held, names)
    rows = held if told else _nothing(held, names, groups)
    classes = rows.group_by([*groups, *names]).agg(pl.len().cast(pl.Int64).alias("records"))
    return drawn(classes, names, SEED, groups).with_columns(whole(DRAWN, "second"))


def _nothing(held: pl.LazyFrame, names: Sequence[str], groups: Sequence[str]) -> pl.LazyFrame:
    kinds = held.collect_schema()
    return pl.LazyFrame(
        schema={**{group: kinds[group] for group in groups}, **dict.fromkeys(names, pl.String)}
    )


def _texts(held: pl.LazyFrame, names: Sequence[str]) -> bool:
    return all(has_text(kind) for kind in held.select(names).collect_schema().dtypes())
