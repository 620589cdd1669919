"""Polars: what a sample shows of its population."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import polars as pl

from reid_sql.engines.codes import has_text, text_of
from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    class_columns,
    class_size,
    drop_nulls,
    log_independent,
    null_report,
    refuse_without_text,
    schema,
    with_aliases,
    with_row_numbers,
)
from reid_sql.engines.polars.groups import raw_rows_of_groups, report_groups
from reid_sql.models.evidence import CLASS_SIZE, DRAWN_RECORD, MARGINAL_SHARE, PAIR, VALUE
from reid_sql.models.people.evidence import MAX_DRAWN, max_combinations
from reid_sql.parameters import Columns
from reid_sql.reductions.evidence import EVIDENCE, Parts, columns_asked, implement


def _count_evidence(
    *,
    tbl: pl.LazyFrame,
    qi: Sequence[str],
    parts: Parts,
    nulls: str,
    by: Sequence[str] | None,
    weight: str | None,
    marginals: pl.LazyFrame | None,
) -> pl.LazyFrame:
    """Count the parts over all records, or in each group."""
    label, asked = columns_asked(qi, weight)
    groups: list[str] = []
    if by is None:
        rows = with_aliases(tbl, check_columns(label, asked, tbl), *class_columns(tbl))
        taken = drop_nulls(rows, aliases(asked), nulls)
    else:
        rows, _, groups = raw_rows_of_groups(tbl, asked, by, nulls, label)
        taken = rows.filter("complete")
    names = aliases(qi)
    number = pl.col(aliases(asked)[-1]).cast(pl.Float64, strict=False) if weight is not None else None
    classes = _group_records(taken, [*groups, *names], number)
    lines = list(_count_parts(classes, qi, parts, groups, is_weighted=number is not None))
    if marginals is not None:
        shares = _select_shares(marginals, qi, nulls)
        lines.append(classes.select(groups).unique().join(shares, how="cross") if groups else shares)
    types = schema({name: kind for name, kind in EVIDENCE.columns.items() if name != "line"})
    counted = pl.concat([pl.LazyFrame(schema=types), *lines], how="diagonal")
    whole = [name for name, kind in types.items() if kind == pl.Int64]
    counted = with_row_numbers(counted.with_columns(pl.col(whole).fill_null(0)), "line")
    if by is None:
        return null_report(rows, aliases(asked), nulls, counted)
    return report_groups(rows, counted, groups, by, nulls)


pairs, people, evidence = implement(_count_evidence)


def _group_records(rows: pl.LazyFrame, names: Sequence[str], weight: pl.Expr | None) -> pl.LazyFrame:
    """The distinct records: how many there are of each, the sizes of their classes, and their weights.

    A missing or negative weight makes the sum NaN, which the models refuse.
    """
    weights = pl.len() if weight is None else pl.when(weight >= 0).then(weight).otherwise(float("nan")).sum()
    records = pl.len().cast(pl.Int64).alias("records")
    return rows.group_by(names).agg(records, class_size(rows), weights.cast(pl.Float64).alias("weight"))


def _count_parts(
    classes: pl.LazyFrame, qi: Sequence[str], parts: Parts, groups: Sequence[str], *, is_weighted: bool
) -> Iterator[pl.LazyFrame]:
    """Count the parts; where Polars has no text of a value, an optional part is left out."""
    names = aliases(qi)
    yield _count_sizes(classes, names, groups, is_independent=parts.log_expected)
    if parts.is_optional and not all(map(has_text, classes.select(names).collect_schema().dtypes())):
        return
    if parts.pairs:
        refuse_without_text(classes, qi)
        yield from (_count_values(classes, place, name, groups) for place, name in enumerate(qi, 1))
        most = None if parts.all_pairs else max_combinations(len(qi))
        for one, other in combinations(range(1, len(qi) + 1), 2) if most != 0 else ():
            yield _count_pairs(classes, (one, other), groups, most, is_weighted=is_weighted)
    if parts.seed is not None:
        yield _draw_records(classes, names, parts.seed, groups)


def _count_sizes(
    classes: pl.LazyFrame, names: Sequence[str], groups: Sequence[str], *, is_independent: bool
) -> pl.LazyFrame:
    """Count the records in classes of each size, and of each expected count, to a thousandth of its log."""
    log = pl.lit(None, dtype=pl.Float64)
    if is_independent:
        log = (log_independent(names, groups) * 1000).round() / 1000
    sized = classes.select(*groups, "class_size", log.alias("log_expected"), "records")
    counted = sized.group_by(*groups, "class_size", "log_expected").agg(pl.col("records").sum())
    return counted.with_columns(pl.lit(CLASS_SIZE).alias("kind"))


def _count_values(classes: pl.LazyFrame, place: int, label: str, groups: Sequence[str]) -> pl.LazyFrame:
    counted = classes.group_by(*groups, f"q{place}").agg(pl.col("records", "weight").sum())
    labels = pl.lit(VALUE).alias("kind"), bigint(place, "first"), pl.lit(label).alias("label")
    return counted.select(*groups, *labels, _text(place, "first_value"), "records", "weight")


def _count_pairs(
    classes: pl.LazyFrame,
    places: tuple[int, int],
    groups: Sequence[str],
    most: int | None,
    *,
    is_weighted: bool,
) -> pl.LazyFrame:
    """Count a pair of columns if it has at most so many combinations.

    Drawn records that are the whole table replace it.
    """
    one, other = places
    counted = classes.group_by(*groups, f"q{one}", f"q{other}").agg(pl.col("records", "weight").sum())
    if most is not None:
        counts = [pl.len(), pl.col("records").sum()]
        combinations_found, records = (each.over(groups) for each in counts) if groups else counts
        few = combinations_found <= most
        counted = counted.filter(few if is_weighted else few & (records > MAX_DRAWN))
    labels = pl.lit(PAIR).alias("kind"), bigint(one, "first"), bigint(other, "second")
    values = _text(one, "first_value"), _text(other, "second_value")
    return counted.select(*groups, *labels, *values, "records", "weight")


def _text(place: int, name: str) -> pl.Expr:
    return text_of(pl.col(f"q{place}")).alias(name)


def bigint(value: int, name: str) -> pl.Expr:
    """A constant column of whole numbers."""
    return pl.lit(value, dtype=pl.Int64).alias(name)


def _draw_records(
    classes: pl.LazyFrame, names: Sequence[str], seed: int, groups: Sequence[str]
) -> pl.LazyFrame:
    """Records in a random order that the values and the seed decide, whatever order they are read in."""
    copies = classes.with_columns(pl.int_ranges(pl.col("records")).alias("copy")).explode(
        "copy", empty_as_null=False
    )
    order = (pl.struct(*names, "copy").hash(seed).cast(pl.Float64) / 2.0**64).alias("draw_order")
    texts = pl.concat_list(text_of(pl.col(name)) for name in names).alias("texts")
    kind = pl.lit(DRAWN_RECORD).alias("kind")
    listed = copies.select(*groups, kind, "class_size", order, texts)
    if groups:
        return listed.filter(pl.col("draw_order").rank("ordinal").over(groups) <= MAX_DRAWN)
    return listed.bottom_k(MAX_DRAWN, by="draw_order")


def _select_shares(marginals: pl.LazyFrame, columns: Sequence[str], nulls: str) -> pl.LazyFrame:
    """Shares from outside, by the columns that they name; 0 is the column of an unknown name."""
    given = marginals.drop_nulls("value") if nulls == "drop" else marginals
    Columns("columns of the marginals").check(
        ["column_name", "value", "share"], marginals.collect_schema().names()
    )
    name = pl.col("column_name").cast(pl.String)
    place = {column: number for number, column in enumerate(columns, 1)}
    return given.select(
        pl.lit(MARGINAL_SHARE).alias("kind"),
        name.replace_strict(place, default=0, return_dtype=pl.Int64).alias("first"),
        name.alias("label"),
        pl.col("value").cast(pl.String).alias("first_value"),
        pl.col("share").cast(pl.Float64, strict=False).fill_null(float("nan")).alias("weight"),
    )
