"""Spark: distinct records stay on the executors under numbers; only their counts come to the driver.

Their values do not.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.arrow import arrays_of
from reid_sql.engines.spark.counting import (
    DistinctRecords,
    class_columns,
    class_size,
    drop_nulls,
    null_report,
    number_classes,
    with_expected_counts,
)
from reid_sql.engines.spark.frames import (
    Rows,
    as_number,
    column,
    known_value,
    read_rows,
    resolve_columns,
    same_values,
)
from reid_sql.reduction import CLASS_WEIGHT
from reid_sql.reductions.records import HOUSED_QI, HOUSEHOLD_AND_COLUMNS, KEYED_QI

WORDS: Final = "the counts of the distinct records"


def fitted_records(
    tbl: DataFrame, qi: Sequence[str], interactions: int, key: str, nulls: str
) -> DistinctRecords:
    """How many records each distinct one represents, and how many it would with independent columns."""
    rows = read_rows(tbl, qi, KEYED_QI, record=_column(tbl, key), **class_columns(tbl))
    classes = _classes(rows, nulls)
    codes = [f"code{place}" for place in range(1, len(qi) + 1)] if interactions else []
    counts = with_expected_counts(classes, rows.names).select(
        "place", "records", "class_size", "log_expected", *codes
    )
    return DistinctRecords(
        rows, nulls, rows.names, counts, WORDS, partial(_with_codes, codes), classes
    )


def weighted_records(
    tbl: DataFrame,
    qi: Sequence[str],
    weight: str | None,
    household: str | None,
    key: str,
    nulls: str,
) -> DistinctRecords:
    """How many records each distinct one represents, and the sum of their class's weights.

    With a household, each record has its own with its key.
    """
    number = (
        F.lit(1.0)
        if weight is None
        else as_number(tbl, resolve_columns(KEYED_QI, [weight], tbl)[0])
    )
    people = class_columns(tbl)
    weights = {"class_weight": column(CLASS_WEIGHT)} if CLASS_WEIGHT in tbl.columns else {}
    own = {"record": _column(tbl, key), "weight": number}
    if household is not None:
        own["household"] = known_value(tbl, resolve_columns(HOUSED_QI, [household, *qi], tbl)[0])
    rows = read_rows(tbl, qi, KEYED_QI, **own, **people, **weights)
    mass = F.sum(F.when(F.col("weight") > 0, F.col("weight")).otherwise(float("nan")))
    if people:  # whose classes have people who are in a smaller one, too
        mass = (
            F.max("class_weight") if weights else mass * F.max("class_people") / F.count(F.lit(1))
        )
    classes = _classes(rows, nulls, mass.alias("mass"))
    independent = classes.withColumn("log_expected", F.lit(None).cast("double"))
    if weight is not None:
        independent = with_expected_counts(classes, rows.names)
    counts = independent.select("place", "records", "class_size", "mass", "log_expected")
    return DistinctRecords(rows, nulls, rows.names, counts, WORDS, _arrays, classes)


def _column(tbl: DataFrame, name: str) -> Column:
    return column(resolve_columns(KEYED_QI, [name], tbl)[0])


def _classes(rows: Rows, nulls: str, *more: Column) -> DataFrame:
    counts = F.count(F.lit(1)).alias("records"), class_size(rows.frame), *more
    return number_classes(drop_nulls(rows, nulls).groupBy(*rows.names).agg(*counts))


def _arrays(counts: pa.Table) -> dict[str, Any]:
    return arrays_of(counts.drop_columns("place"))


def _with_codes(codes: Sequence[str], counts: pa.Table) -> dict[str, Any]:
    """The counts as arrays, and the codes, each in a column of its own, as one matrix."""
    arrays = _arrays(counts)
    listed = [arrays.pop(code) for code in codes]
    none = np.empty((len(counts), 0), dtype=np.int64)
    return arrays | {"codes": np.stack(listed, axis=1) if listed else none}


# Spark: households, their classes and their risk.
#
# The sizes of classes are joined to their members: a window would hold a class of a billion people in one
# task.


def households(tbl: DataFrame, household: str, columns: Sequence[str], *, nulls: str) -> DataFrame:
    """Count the households of each class size, number of members and risk.

    The class of a household is the multiset of its members' values, a sorted array. A person without a
    household is one of their own.
    """
    home = resolve_columns(HOUSEHOLD_AND_COLUMNS, [household, *columns], tbl)[0]
    rows = read_rows(tbl, columns, HOUSEHOLD_AND_COLUMNS, household=known_value(tbl, home))
    values = rows.names
    present = drop_nulls(rows, nulls).withColumn("member", F.monotonically_increasing_id())
    sizes = present.groupBy(*values).agg(F.count(F.lit(1)).alias("size"))
    right, condition = same_values(present, sizes, values)
    alone = F.when(F.col("household").isNull(), F.col("member"))
    members = present.join(right, condition).select(
        "household",
        alone.alias("alone"),
        F.struct(*(present[name] for name in values)).alias("class"),
        (1 / F.col("size")).alias("risk"),
    )
    each = members.groupBy("household", "alone").agg(
        F.sort_array(F.collect_list("class")).alias("classes"),
        F.count(F.lit(1)).alias("members"),
        (1 - F.product(1 - F.col("risk"))).alias("risk"),
        F.sum("risk").alias("member_risk"),
    )
    figures = ["members", "risk", "member_risk"]
    kinds = each.groupBy("classes").agg(
        F.count(F.lit(1)).alias("class_size"), *(F.first(name).alias(name) for name in figures)
    )
    counted = kinds.groupBy("class_size", *figures).agg(F.sum("class_size").alias("households"))
    return null_report(rows, nulls, counted)
