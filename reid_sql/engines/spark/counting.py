"""Spark: distinct records and their counts, without windows.

Grouping is partial before it shuffles, and joins are NULL-safe.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.arrow import ARROW_TYPES, answer_columns
from reid_sql.engines.spark.frames import Rows, column, fetch, same_key, to_spark, with_key
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Function
from reid_sql.models.classes.minimal_uniques import SINGLED_OUT
from reid_sql.reduction import CLASS_PEOPLE, refuse_repeated_key


def any_null(names: Sequence[str]) -> Column:
    """Whether one of the columns is NULL."""
    return reduce(or_, (F.col(name).isNull() for name in names))


def drop_nulls(rows: Rows, nulls: str) -> DataFrame:
    """The records, without those that lack a value where these are dropped."""
    return rows.frame.filter(~any_null(rows.names)) if nulls == "drop" else rows.frame


def count_records(rows: Rows, nulls: str) -> DataFrame:
    """Distinct records with their counts."""
    return drop_nulls(rows, nulls).groupBy(*rows.names).agg(F.count(F.lit(1)).alias("records"))


def class_columns(tbl: DataFrame) -> dict[str, Column]:
    """The columns that count the people of each row's class, where the table has one row per person."""
    return {"class_people": column(CLASS_PEOPLE)} if CLASS_PEOPLE in tbl.columns else {}


def class_size(rows: DataFrame) -> Column:
    """Aggregate the rows of a class to its size: their number, or the people of the class."""
    size = F.max("class_people") if "class_people" in rows.columns else F.count(F.lit(1))
    return size.alias("class_size")


def no_blank_records() -> Column:
    """NULL: no record counts as without any value where NULL is no wildcard."""
    return F.lit(None).cast("bigint").alias("blank_records")


def number_classes(classes: DataFrame) -> DataFrame:
    """Number the classes and store them on the executors: a second run could number them otherwise."""
    return classes.withColumn("place", F.monotonically_increasing_id()).localCheckpoint()


def null_report(rows: Rows, nulls: str, reduced: DataFrame) -> DataFrame:
    """Report in each row how many records were dropped and how NULLs were treated."""
    if nulls == "drop":
        incomplete = rows.frame.filter(any_null(rows.names))
        dropped = incomplete.agg(F.count(F.lit(1)).alias("records_dropped"))
        reduced = reduced.crossJoin(F.broadcast(dropped))
    else:
        reduced = reduced.withColumn("records_dropped", F.lit(0).cast("bigint"))
    return reduced.withColumn("nulls", F.lit(nulls))


def masks_frame(distinct: DataFrame, chosen: Sequence[Sequence[int]]) -> DataFrame:
    """The choices of columns, by place, as masks."""
    marks = [mask_of(subset) for subset in chosen]
    return to_spark(distinct.sparkSession, pa.table({"mask": pa.array(marks, pa.int64())}))


def counts_in_order(
    counts: DataFrame, chosen: Sequence[Sequence[int]]
) -> tuple[list[int], list[float]]:
    """How many distinct values each choice has, and how many right matches are to be expected by it."""
    columns = ("mask", "classes", "reidentifications")
    fetched = fetch(counts.select(*columns), "counts of choices of columns").to_pylist()
    by_mask = {row["mask"]: row for row in fetched}
    rows = [by_mask[mask_of(subset)] for subset in chosen]
    return [row["classes"] for row in rows], [row["reidentifications"] for row in rows]


def mask_of(subset: Sequence[int]) -> int:
    """The subset as the bits of a signed 64-bit number.

    >>> mask_of([0, 2]), mask_of([63])
    (5, -9223372036854775808)
    """
    bits = sum(1 << place for place in subset)
    return bits - (1 << 64) if bits >> 63 else bits


def count_masks(
    distinct: DataFrame, names: Sequence[str], masks: DataFrame, *, drop: bool
) -> DataFrame:
    """Group the distinct records by each mask's columns; with `drop`, those with a NULL are not counted."""
    grouped = group_by_masks(distinct, names, masks, drop=drop)
    counts = F.when(~F.col("aside"), F.col("records"))
    pairs = counts.cast("decimal(19,0)") * (F.col("records") - 1).cast("decimal(18,0)")
    return grouped.groupBy("mask").agg(
        F.sum(counts).alias("records"),
        F.count(counts).alias("classes"),
        F.count(counts).cast("double").alias("reidentifications"),
        F.sum(pairs).cast("decimal(38,0)").alias("pairs_alike"),
        F.sum(F.when(counts == 1, 1)).alias("unique_records"),
        F.sum(F.when(F.col("aside"), F.col("records"))).alias("records_dropped"),
    )


def group_by_masks(
    distinct: DataFrame, names: Sequence[str], masks: DataFrame, *more: str, drop: bool
) -> DataFrame:
    """The distinct records of each mask's columns, and of more of them, with how many records have each.

    Those that lack one of the mask's values are `aside` where they are dropped.
    """
    inside = [F.col("mask").bitwiseAND(F.lit(mask_of([place]))) != 0 for place in range(len(names))]
    gaps = [one & F.col(name).isNull() for one, name in zip(inside, names, strict=True)]
    aside = (reduce(or_, gaps) if drop else F.lit(False)).alias("aside")  # noqa: FBT003 - a literal
    own = [F.when(one, F.col(name)).alias(name) for one, name in zip(inside, names, strict=True)]
    repeated = distinct.crossJoin(F.broadcast(masks)).select("mask", aside, "records", *more, *own)
    return repeated.groupBy("mask", "aside", *names, *more).agg(F.sum("records").alias("records"))


def with_expected_counts(classes: DataFrame, names: Sequence[str]) -> DataFrame:
    """Add to the classes the log of their expected count, and a code for each value.

    With independent columns, ln E = sum_i ln n_i - (d - 1) ln n: n records, n_i of which have the class's
    value in column i of d. Each column's values are counted from the classes, and joined back NULL-safe.
    """
    total = classes.agg(F.sum("records").cast("double").alias("total"))
    joined, logs = classes.crossJoin(F.broadcast(total)), []
    for place, name in enumerate(names, 1):
        marginal = F.sum("records").cast("double").alias(f"marginal{place}")
        code = F.min("place").alias(f"code{place}")
        right = with_key(classes.groupBy(name).agg(marginal, code), [name])
        joined = joined.join(right, same_key([F.col(name)], right)).drop("reid_key", "reid_hash")
        logs.append(F.log(f"marginal{place}"))
    independent = sum(logs, F.lit(0.0)) - (len(names) - 1) * F.log("total")
    return joined.withColumn("log_expected", independent)


def list_rare(
    records: DataFrame, names: Sequence[str], sets: Sequence[Sequence[int]], k: int
) -> DataFrame:
    """The keys of records, `record`, with the places of their sets, those that contain no smaller one.

    Fewer than k share a record's values in one of its sets. Records of one key are of one person, who has a
    set where it is so of one of their records.
    """
    is_of_one = k == SINGLED_OUT  # whom no join has to find, in a third of the time
    spread = _one_of_each(records, names) if is_of_one else _without_crowds(records, names, k)
    masks, by = to_spark(records.sparkSession, _masks(sets)), ["mask", "place", *names]
    inside = (F.col("mask").bitwiseAND(F.lit(mask_of([place]))) != 0 for place in range(len(names)))
    own = [F.when(one, F.col(name)).alias(name) for one, name in zip(inside, names, strict=True)]
    repeated = spread.crossJoin(F.broadcast(masks)).select(
        "mask", "place", "record", "is_crowd", *own
    )
    sets_of_records = _held_by_one(repeated, by) if is_of_one else _held_by_few(repeated, by, k)
    each = sets_of_records.groupBy("record").agg(
        F.collect_set(F.struct("mask", "place")).alias("sets")
    )
    minimal = F.filter("sets", lambda one: ~F.exists("sets", lambda other: _within(other, one)))
    listed = each.select("record", F.explode(minimal).alias("set"))
    return listed.select("record", F.col("set.place").alias("place")).orderBy("record", "place")


def _one_of_each(records: DataFrame, names: Sequence[str]) -> DataFrame:
    """One record of all that share every value, which are a crowd where they are several."""
    return records.groupBy(*names).agg(
        F.first("record").alias("record"), (F.count(F.lit(1)) > 1).alias("is_crowd")
    )


def _without_crowds(records: DataFrame, names: Sequence[str], k: int) -> DataFrame:
    """The records, with one in place of all that share every value with k or more: no set is theirs."""
    classes = records.groupBy(*names).agg((F.count(F.lit(1)) >= k).alias("is_crowd"))
    few = with_key(classes.filter(~F.col("is_crowd")).select(*names), names)
    alone = records.join(few, same_key([F.col(name) for name in names], few))
    crowds = classes.filter("is_crowd").select(F.lit(None).alias("record"), *names, "is_crowd")
    return (
        alone.select("record", *names, (F.lit(1) > 1).alias("is_crowd"))
        .union(crowds)
        .localCheckpoint()
    )


def _held_by_one(repeated: DataFrame, by: Sequence[str]) -> DataFrame:
    """The combinations that one person has, who is `record`."""
    is_one = F.min("record").eqNullSafe(F.max("record")) & F.count("record").isin(
        0, F.count(F.lit(1))
    )
    combinations = repeated.groupBy(*by).agg(
        (is_one & ~F.bool_or("is_crowd")).alias("is_alone"), F.first("record").alias("record")
    )
    return combinations.filter("is_alone")


def _held_by_few(repeated: DataFrame, by: Sequence[str], k: int) -> DataFrame:
    """The combinations that fewer than k people have, with each of these."""
    sharing = F.count_distinct(F.struct("record"))  # a struct, as NULL is a person too
    combinations = repeated.groupBy(*by).agg(
        ((sharing < k) & ~F.bool_or("is_crowd")).alias("is_rare")
    )
    rare = with_key(combinations.filter("is_rare").select(*by), by)
    return repeated.join(rare, same_key([F.col(name) for name in by], rare))


def _within(other: Column, one: Column) -> Column:
    """Whether the other set is a part of the one."""
    shared = other["mask"].bitwiseAND(one["mask"])
    return (shared == other["mask"]) & (other["mask"] != one["mask"])


def _masks(sets: Sequence[Sequence[int]]) -> pa.Table:
    marks = pa.array([mask_of(each) for each in sets], pa.int64())
    return pa.table({"mask": marks, "place": pa.array(range(len(sets)), pa.int64())})


@dataclass(frozen=True)
class RemoteColumns:
    """Whole columns that stay on the executors: what a body asks in their place, and how NULLs were treated.

    The answer's `record` numbers `keys`, which are known only when the body has asked.
    """

    arrays: Any
    treated: pa.Table
    keys: Sequence[pa.Array] = ()


@dataclass(frozen=True)
class DistinctRecords:
    """Distinct records, of which only the counts come to the driver; records are joined to answers by values.

    Either the values come to the driver among the counts, or `classes` has them on the executors under
    numbers, `place`, which the counts then have too.
    """

    rows: Rows  # every record, with `record`, its key, where there is one
    nulls: str
    # the columns that distinguish records, those that NULLs count in and others
    names: Sequence[str]
    counts: DataFrame
    label: str  # what a refusal calls the counts
    arrays: Callable[[pa.Table], dict[str, Any]]
    classes: DataFrame | None = None

    @property
    def by(self) -> list[str]:
        """The columns by which answers are joined to the distinct records."""
        return list(self.names) if self.classes is None else ["place"]

    def fetch(self) -> pa.Table:
        """Fetch the counts to the driver."""
        table = fetch(self.counts, self.label)
        return table if self.classes is None else table.sort_by("place")

    def treated(self) -> pa.Table:
        """How NULLs were treated, in one row."""
        nothing = self.rows.frame.sparkSession.range(1).select()
        return fetch(null_report(self.rows, self.nulls, nothing), "one row")


NO_POSITION = "must name the column that distinguishes records, got None: a Spark table has no order; pass key='id'"


def refuse_no_key(key: str | None) -> None:
    """Refuse to answer for each record where no column distinguishes them."""
    if key is None:
        raise OutOfDomainError(f"key {NO_POSITION}")


def refuse_repeated_keys(records: DataFrame) -> None:
    """Refuse a key with a value that several records have, NULL like any value."""
    shared = records.groupBy("record").agg(F.count(F.lit(1)).alias("n")).filter("n > 1")
    values = shared.agg(F.count(F.lit(1)).alias("values"))
    refuse_repeated_key(is_repeated=fetch(values, "one row")["values"][0].as_py() > 0)


def answer_records(
    declared: Function, distinct: DistinctRecords, parameters: Mapping[str, Any]
) -> DataFrame:
    """Join to the key of every record the body's answer for its distinct record."""
    records = drop_nulls(distinct.rows, distinct.nulls)
    refuse_repeated_keys(records)
    table = distinct.fetch()
    answer = answer_columns(declared, distinct.arrays(table), parameters)
    answers = table.select(distinct.by)
    for name, kind in declared.columns.items():
        answers = answers.append_column(name, pa.array(answer[name], ARROW_TYPES[kind]))
    classes = to_spark(distinct.rows.frame.sparkSession, answers)
    if distinct.classes is not None:
        classes = (
            distinct.classes.select("place", *distinct.names).join(classes, "place").drop("place")
        )
    right = with_key(classes, distinct.names)
    joined = records.join(right, same_key([F.col(name) for name in distinct.names], right))
    if "household" in records.columns:
        # Combine the risks of each household's members; a record without a household is one of its own.
        alone = F.when(F.col("household").isNull(), F.col("record"))
        members_of = Window.partitionBy("household", alone)
        joined = joined.withColumn(
            "household_risk", 1 - F.product(1 - F.col("risk")).over(members_of)
        )
    return null_report(distinct.rows, distinct.nulls, joined.select("record", *declared.columns))
