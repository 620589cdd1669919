"""Spark: all that a copula is fitted to."""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import class_columns, class_size, drop_nulls, null_report
from reid_sql.engines.spark.frames import Rows, as_number, column, read_rows, resolve_columns, to_spark
from reid_sql.engines.spark.values import count_pairs, refuse_without_text
from reid_sql.models.evidence_kinds import MARGINAL_SHARE
from reid_sql.parameters import QUASI_IDENTIFIERS, Columns


def pairs(
    tbl: DataFrame,
    qi: Sequence[str],
    weight: str | None,
    marginals: DataFrame | None,
    nulls: str,
) -> DataFrame:
    """Count values and pairs of values, and who is alone, from the distinct records in one pass."""
    taken = qi if weight is None else [*qi, weight]
    every = read_rows(tbl, taken, QUASI_IDENTIFIERS, **class_columns(tbl))
    lines = pair_lines(every, qi, weight, marginals, nulls)
    return null_report(every, nulls, lines.withColumn("cell", F.monotonically_increasing_id()))


def pair_lines(
    every: Rows,
    qi: Sequence[str],
    weight: str | None,
    marginals: DataFrame | None,
    nulls: str,
    groups: Sequence[str] = (),
) -> DataFrame:
    """The same of the columns and of the weight, if any, after them; in each group where there are groups."""
    columns = Rows(every.frame, qi, every.found[: len(qi)])
    number = F.lit(1.0) if weight is None else as_number(every.frame, every.names[-1])
    mass = F.sum(F.when(number >= 0, number).otherwise(float("nan"))).alias("mass")
    records, counts = drop_nulls(every, nulls), F.count(F.lit(1)).alias("records")
    distinct = records.groupBy(*groups, *columns.names).agg(counts, class_size(records), mass)
    refuse_without_text(columns)
    lines = count_pairs(distinct, qi, alone=weight is None, groups=groups)
    if marginals is None:
        return lines
    shares = _outside(marginals, qi, drop=nulls == "drop")
    return lines.unionByName(records.select(*groups).distinct().crossJoin(shares) if groups else shares)


def _outside(marginals: DataFrame, columns: Sequence[str], *, drop: bool) -> DataFrame:
    """Shares from outside, as counts of the columns that they name; 0 is the column of an unknown name."""
    named = resolve_columns(Columns("columns of the marginals"), ["column_name", "value", "share"], marginals)
    label, value, _ = (column(name) for name in named)
    shared = marginals.filter(value.isNotNull()) if drop else marginals
    known = pa.table({"label": list(columns), "first": pa.array(range(1, len(columns) + 1), pa.int32())})
    shares = shared.select(
        label.cast("string").alias("label"),
        value.cast("string").alias("first_value"),
        F.coalesce(as_number(shared, named[2]), F.lit(float("nan"))).alias("mass"),
    )
    placed = shares.join(F.broadcast(to_spark(shared.sparkSession, known)), "label", "left")
    return placed.select(
        F.coalesce("first", F.lit(0)).cast("bigint").alias("first"),
        F.lit(MARGINAL_SHARE).cast("bigint").alias("second"),
        "label",
        "first_value",
        F.lit(None).cast("string").alias("second_value"),
        F.lit(0).cast("bigint").alias("records"),
        "mass",
    )
