"""Polars: households, their classes and their risk."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    count_distinct,
    drop_nulls,
    null_report,
    with_aliases,
    with_row_numbers,
)
from reid_sql.reductions.households import HOUSEHOLD_AND_COLUMNS

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
