"""Spark: how many people's sets contain what an attacker knows of a target.

The rules are those of sql.py. A person's set is one row, an array of its items, rarest first: what is known
of a target is then made within the row.
"""

from collections.abc import Sequence
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import drop_nulls, null_report
from reid_sql.engines.spark.frames import fetch, read_rows, to_spark
from reid_sql.parameters import Columns
from reid_sql.reductions.matches import (
    ALL_POINTS,
    COLUMNS,
    MAX_JOINED,
    PRIME,
    implement,
)

ROW_BITS = 33  # of monotonically_increasing_id that count the rows of a partition


def _count(
    *,
    tbl: DataFrame,
    label: Columns,
    columns: Sequence[str],
    points: Sequence[int],
    exact_up_to: int,
    samples: int,
    seed: int,
    nulls: str,
) -> DataFrame:
    """Count by each number of points; the first column is the person's, the others make a point."""
    rows = read_rows(tbl, columns, label)
    once = drop_nulls(rows, nulls).distinct().localCheckpoint()
    coded = _coded(_coded(once, rows.names[:1], "p"), rows.names[1:], "i").select("p", "i").localCheckpoint()
    sets = _sets(coded)
    counted = (_matches(coded, sets, each, exact_up_to, samples, seed) for each in points)
    return null_report(rows, nulls, reduce(DataFrame.unionByName, counted))


matches, row_matches = implement(_count)


def _matches(
    coded: DataFrame, sets: DataFrame, points: int, exact_up_to: int, samples: int, seed: int
) -> DataFrame:
    """Count the matches of every known combination of so many points."""
    size = F.size("items")
    chosen = F.sum(F.lit(1.0) if points == ALL_POINTS else _choose(size, points))
    fewer = F.count_if(size < (0 if points == ALL_POINTS else points))
    total = fetch(
        sets.agg(F.count(F.lit(1)).alias("people"), fewer.alias("fewer"), chosen.alias("combinations")),
        "the number of people",
    ).to_pylist()[0]
    people, exact = total["people"], (total["combinations"] or 0) <= exact_up_to
    if not people:
        known = sets.select(F.col("items").alias("known"), F.lit(1.0).alias("weight"))
    else:
        known = _every(sets, points) if exact else _drawn(sets, points, samples, seed, people)
    numbers = {
        "points": points % ALL_POINTS,
        "people": people,
        "people_with_fewer": total["fewer"],
        "draws": 0 if exact else samples,
    }
    candidates = _counted(coded, known, points).withColumns(
        {name: F.lit(number).cast("bigint") for name, number in numbers.items()}
    )
    return candidates.select(*COLUMNS)


def _coded(pairs: DataFrame, names: Sequence[str], code: str) -> DataFrame:
    """Number the values of columns by their order, NULL last.

    They are sorted over the partitions, each of which counts its own. The sorted values are stored on the
    executors, so that no second run can sort them into other partitions.
    """
    values = pairs.select(*names).distinct()
    listed = (
        values.sort(*(F.col(name).asc_nulls_last() for name in names))
        .select(F.struct(*names).alias("value"))
        .localCheckpoint()
    )
    placed = listed.withColumns({"partition": F.spark_partition_id(), "row": F.monotonically_increasing_id()})
    sizes = fetch(
        placed.groupBy("partition").agg(F.count(F.lit(1)).alias("size")), "the partitions"
    ).to_pylist()
    before, offsets = 0, []
    for line in sorted(sizes, key=lambda line: line["partition"]):
        offsets.append({"partition": line["partition"], "before": before})
        before += line["size"]
    schema = pa.schema([("partition", pa.int32()), ("before", pa.int64())])
    offset = F.broadcast(to_spark(pairs.sparkSession, pa.Table.from_pylist(offsets, schema=schema)))
    number = F.col("row").bitwiseAND(F.lit((1 << ROW_BITS) - 1)) + F.col("before") + 1
    codes = placed.join(offset, "partition").select("value", number.alias(code))
    return pairs.join(codes, F.struct(*names) == F.col("value")).drop("value")


def _sets(coded: DataFrame) -> DataFrame:
    """Each person's set, rarest items first."""
    support = coded.groupBy("i").agg(F.count(F.lit(1)).alias("support"))
    item = F.struct("support", "i")
    listed = coded.join(support, "i").groupBy("p").agg(F.sort_array(F.collect_list(item)).alias("items"))
    return listed.select("p", F.transform("items", lambda each: each["i"]).alias("items"))


def _choose(size: Column, points: int) -> Column:
    """Combinations of so many points of a set of this size, 1 where there are fewer."""
    number = size.cast("double")
    chosen = reduce(lambda total, k: total * (number - (k - 1)) / k, range(1, points + 1), F.lit(1.0))
    return F.when(size >= points, chosen).otherwise(1.0)


def _every(sets: DataFrame, points: int) -> DataFrame:
    """Every combination of points of every person, or all that a person has; each person weighs 1."""
    small = sets.filter(F.size("items") <= points).select(
        F.col("items").alias("known"), F.lit(1.0).alias("weight")
    )
    if points == ALL_POINTS:
        return small
    start = {"last": F.lit(0), "known": F.array().cast("array<bigint>")}
    large = sets.filter(F.size("items") > points).withColumns(start)
    for step in range(1, points + 1):
        nexts = F.explode(F.sequence(F.col("last") + 1, F.size("items") - (points - step)))
        chosen = large.select("items", "known", nexts.alias("last"))
        item = F.element_at("items", F.col("last"))
        large = chosen.withColumn("known", F.concat("known", F.array(item)))
    return small.unionByName(large.select("known", (1 / _choose(F.size("items"), points)).alias("weight")))


def _drawn(sets: DataFrame, points: int, samples: int, seed: int, people: int) -> DataFrame:
    """Targets drawn in rounds, each person once a round, and the items that are known of them."""
    rounds = -(-samples // people)
    order = _mixed(_mixed(F.lit(seed).cast("bigint"), F.lit(0).cast("bigint")), F.col("p"))
    turns = F.explode(F.sequence(F.lit(0).cast("bigint"), F.lit(rounds - 1).cast("bigint"))).alias("turn")
    targets = (
        sets.select("p", "items", turns)
        .withColumn("chance", order)
        .sort("turn", "chance", "p")
        .limit(samples)
    )
    drawn = _mixed(F.lit(seed).cast("bigint"), F.col("turn") + 1)

    def chances(item: Column, place: Column) -> Column:
        chance = _mixed(_mixed(drawn, F.col("p")), item)
        return F.struct(chance.alias("chance"), item.alias("i"), place.alias("place"))

    first = F.slice(F.sort_array(F.transform("items", chances)), 1, points)
    placed = F.sort_array(
        F.transform(first, lambda each: F.struct(each["place"].alias("place"), each["i"].alias("i")))
    )
    return targets.select(
        F.transform(placed, lambda each: each["i"]).alias("known"), F.lit(1.0).alias("weight")
    )


def _mixed(x: Column, y: Column) -> Column:
    """A scramble of two whole numbers below 2^31 - 1, the same on every engine: no product leaves 63 bits."""
    return _square(_square((x * 48271 + y * 69621 + 11) % PRIME, 16807, 7), 48271, 3)


def _square(z: Column, a: int, b: int) -> Column:
    """Bind z once: written out where it is used, nested scrambles would grow by four each."""
    return F.transform(F.array(z), lambda once: (once * once + once * a + b) % PRIME)[0]


def _counted(coded: DataFrame, known: DataFrame, points: int) -> DataFrame:
    """Count each known combination once: those who have its rarest item, then of these who have the next."""
    distinct = known.groupBy("known").agg(F.sum("weight").alias("weight"))
    first = distinct.withColumn("i", F.element_at("known", 1))
    matched = first.join(coded, "i").select("known", "weight", "p")
    for step in range(2, min(points, MAX_JOINED) + 1):
        wanted = matched.withColumn("i", F.element_at("known", F.least(F.lit(step), F.size("known"))))
        matched = wanted.join(coded, ["p", "i"], "left_semi").select("known", "weight", "p")
    if points > MAX_JOINED:
        matched = _with_others(coded, matched)
    counted = matched.groupBy("known").agg(
        F.max("weight").alias("weight"), F.count(F.lit(1)).alias("matches")
    )
    return counted.groupBy("matches").agg(F.sum("weight").alias("weight"))


def _with_others(coded: DataFrame, matched: DataFrame) -> DataFrame:
    """Of the people who have the rarest points, those who have all of the others."""
    others = F.slice("known", MAX_JOINED + 1, F.greatest(F.size("known") - MAX_JOINED, F.lit(0)))
    many = matched.filter(F.size("known") > MAX_JOINED).withColumn("i", F.explode(others))
    has = many.join(coded, ["p", "i"], "left_semi").groupBy("known", "p")
    agreeing = has.agg(F.max("weight").alias("weight"), F.count(F.lit(1)).alias("number"))
    whole = agreeing.filter(F.col("number") == F.size("known") - MAX_JOINED).select("known", "weight", "p")
    return matched.filter(F.size("known") <= MAX_JOINED).unionByName(whole)
