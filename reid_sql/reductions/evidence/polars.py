"""Polars: what uniqueness in the population is estimated from."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    class_columns,
    distinct_records,
    drop_nulls,
    log_independent,
    null_report,
    with_aliases,
    with_row_numbers,
)
from reid_sql.engines.polars.groups import raw_rows_of_groups, report_groups
from reid_sql.engines.polars.pairs import bigint, has_text, pair_counts
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reductions.evidence import DRAWN, OF_INDEPENDENCE, OF_PAIRS, OF_PEOPLE, SEED
from reid_sql.reductions.people.polars import drawn, size_classes


def evidence(
    tbl: pl.LazyFrame, qi: Sequence[str], method: str, nulls: str, by: Sequence[str] | None = None
) -> pl.LazyFrame:
    """Classes by size, and, where the method asks, by the log of the count under independence.

    Under independence: the count that independent columns would hold.
    """
    if by is not None:
        rows, _, groups = raw_rows_of_groups(tbl, qi, by, nulls)
        return report_groups(rows, _lines(rows.filter("kept"), qi, method, groups), groups, by, nulls)
    rows = with_aliases(tbl, check_columns(QUASI_IDENTIFIERS, qi, tbl), *class_columns(tbl))
    names = aliases(qi)
    return null_report(rows, names, nulls, _lines(drop_nulls(rows, names, nulls), qi, method))


def _lines(taken: pl.LazyFrame, qi: Sequence[str], method: str, groups: Sequence[str] = ()) -> pl.LazyFrame:
    """All evidence of the rows, or of those of each group."""
    names = aliases(qi)
    log = (
        (log_independent(names, groups) * 1000).round() / 1000
        if method in OF_INDEPENDENCE
        else pl.lit(None, dtype=pl.Float64)
    )
    result = "class_size", log.alias("log_expected"), "records"
    lines = distinct_records(taken, [*groups, *names]).select(*groups, *result)
    number = (pl.col("records").sum() / pl.col("class_size").first()).alias("classes")
    classes = lines.group_by(*groups, "class_size", "log_expected").agg(number)
    others = [_pairs(taken, qi, method, groups), _people(taken, names, method, groups)]
    numbers = pl.col("class_size", "classes", "first", "second", "records", "mass")
    return with_row_numbers(pl.concat([classes, *others], how="diagonal")).with_columns(numbers.fill_null(0))


def _pairs(taken: pl.LazyFrame, qi: Sequence[str], method: str, groups: Sequence[str]) -> pl.LazyFrame:
    """Pairs of values where the method asks for them; without texts the other methods go on without.

    So it is where Polars has no text of a value.
    """
    names = aliases(qi)
    is_asked = method in OF_PAIRS and (_texts(taken, names) or method != "all")
    rows = taken if is_asked else _nothing(taken, names, groups)
    return pair_counts(rows, qi, groups=groups).filter(is_asked)


def _people(taken: pl.LazyFrame, names: Sequence[str], method: str, groups: Sequence[str]) -> pl.LazyFrame:
    """Records drawn as population_risk draws them, where the method asks for them and values have texts."""
    is_asked = method in OF_PEOPLE and _texts(taken, names)
    rows = taken if is_asked else _nothing(taken, names, groups)
    return drawn(size_classes(rows, names, groups), names, SEED, groups).with_columns(bigint(DRAWN, "second"))


def _nothing(taken: pl.LazyFrame, names: Sequence[str], groups: Sequence[str]) -> pl.LazyFrame:
    kinds = taken.collect_schema()
    return pl.LazyFrame(
        schema={**{group: kinds[group] for group in groups}, **dict.fromkeys(names, pl.String)}
    )


def _texts(taken: pl.LazyFrame, names: Sequence[str]) -> bool:
    return all(has_text(kind) for kind in taken.select(names).collect_schema().dtypes())
