"""Polars: distinct records, with which records hold each; scores and households."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    class_columns,
    count_distinct,
    distinct_records,
    drop_nulls,
    exact_column,
    log_independent,
    null_report,
    record_label,
    with_aliases,
    with_row_numbers,
)
from reid_sql.engines.polars.records import score_distinct
from reid_sql.function import FUNCTIONS
from reid_sql.models import registry
from reid_sql.reduction import CLASS_PEOPLE, CLASS_WEIGHT
from reid_sql.reductions.records import HOUSED_QI, HOUSEHOLD_AND_COLUMNS, KEYED_QI


def fitted_records(
    tbl: pl.LazyFrame, qi: Sequence[str], interactions: int, nulls: str, key: str | None = None
) -> pl.LazyFrame:
    """Distinct records with the log of the count under independence; codes if there are interactions."""
    _check(tbl, qi, key)
    rows, names = with_aliases(tbl, qi, record_label(key), *class_columns(tbl)), aliases(qi)
    records = distinct_records(drop_nulls(rows, names, nulls), names, "members")
    codes = [pl.col("place").first().over(name) for name in names]
    listed = pl.concat_list(codes) if interactions else pl.lit([], dtype=pl.List(pl.Int64))
    log = log_independent(names).alias("log_expected")
    reduced = records.select("place", "records", "class_size", log, listed.alias("codes"), "members")
    return null_report(rows, names, nulls, reduced)


def weighted_records(
    tbl: pl.LazyFrame,
    qi: Sequence[str],
    nulls: str,
    weight: str | None = None,
    household: str | None = None,
    key: str | None = None,
) -> pl.LazyFrame:
    """Distinct records with the sum of their class's weights, NaN where one of them is no number above 0.

    With a household, a member is the record and its household.
    """
    _check(tbl, qi, weight)
    _check(tbl, qi, key)
    member = record_label(key)
    if household is not None:
        [own, *_] = check_columns(HOUSED_QI, [household, *qi], tbl)
        member = pl.struct(member.alias("record"), exact_column(own).alias("household")).alias("members")
    number = pl.lit(1.0) if weight is None else exact_column(weight).cast(pl.Float64, strict=False)
    each = pl.when(number > 0).then(number).otherwise(float("nan")).alias("mass")
    mass, sums = pl.col("mass").sum(), []
    if people := class_columns(tbl):  # whose classes have people who are in a smaller one, too
        mass = mass * pl.col(CLASS_PEOPLE).max() / pl.len()
    if CLASS_WEIGHT in tbl.collect_schema():
        mass, sums = pl.col(CLASS_WEIGHT).max().alias("mass"), [pl.col(CLASS_WEIGHT)]
    rows, names = with_aliases(tbl, qi, member, each, *people, *sums), aliases(qi)
    records = distinct_records(drop_nulls(rows, names, nulls), names, "members", mass)
    reduced = records.select("place", "records", "class_size", "mass", "members")
    return null_report(rows, names, nulls, reduced)


def _check(tbl: pl.LazyFrame, qi: Sequence[str], name: str | None) -> None:
    check_columns(KEYED_QI, qi if name is None or name in qi else [*qi, name], tbl)


def scored_classes(tbl: pl.LazyFrame, model: str, population: float) -> pl.LazyFrame:
    """The distinct records on the model's columns, with their numbers of records and their scores."""
    scores = score_distinct(FUNCTIONS["score_copula"], tbl, registry.known(model), {"population": population})
    return null_report(tbl, [], "value", with_row_numbers(scores.select("class_size", "uniqueness_xi")))


HOUSEHOLD = "q1"


def households(*, tbl: pl.LazyFrame, household: str, columns: Sequence[str], nulls: str) -> pl.LazyFrame:
    """Count the households of each class size, number of members and risk.

    The class of a household is the multiset of its members' classes, here a text of their sorted numbers. A
    person without a household is one of their own.
    """
    checked = check_columns(HOUSEHOLD_AND_COLUMNS, [household, *columns], tbl)
    names = aliases(checked)
    rows = with_aliases(tbl, checked)
    present = drop_nulls(rows, names, nulls)
    classes = with_row_numbers(count_distinct(present, names[1:], "value"), "class")
    own = pl.when(pl.col(HOUSEHOLD).is_null()).then(pl.int_range(pl.len(), dtype=pl.Int64)).alias("alone")
    members = present.with_columns(own).join(classes, on=names[1:], how="left", nulls_equal=True)
    risk = 1 / pl.col("records")
    each = members.group_by(HOUSEHOLD, "alone").agg(
        pl.col("class").sort().cast(pl.String).str.join(",").alias("classes"),
        pl.len().cast(pl.Int64).alias("members"),
        (1 - (1 - risk).product()).alias("risk"),
        risk.sum().alias("member_risk"),
    )
    figures = ["members", "risk", "member_risk"]
    kinds = each.group_by("classes").agg(
        pl.len().cast(pl.Int64).alias("class_size"), *(pl.col(name).first() for name in figures)
    )
    counted = kinds.group_by("class_size", *figures).agg(pl.col("class_size").sum().alias("households"))
    return null_report(rows, names, nulls, counted)
