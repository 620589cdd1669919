"""Spark: every subset of some columns, by its classes, from the distinct records, in one pass."""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.domains import COLUMNS, Integers
from reid_sql.engines.spark import wildcard
from reid_sql.engines.spark.counting import counted, counts_of, mark
from reid_sql.engines.spark.frames import Rows, rows_of, to_spark
from reid_sql.engines.spark.people import BESIDE, counts_of_people, people_of, rows_of_people
from reid_sql.models.classes.wildcard import wildcard_class_sizes
from reid_sql.reductions.subsets import refuse_subsets


def subsets(
    tbl: DataFrame, columns: Sequence[str], max_size: int, nulls: str, entity: str | None = None
) -> DataFrame:
    """Records, classes and alike pairs of every subset of the columns, smallest first."""
    people = entity is not None
    rows = (
        rows_of_people(tbl, columns, str(entity), nulls, BESIDE) if people else rows_of(tbl, columns, COLUMNS)
    )
    sizes = range(1, min(max_size, len(columns)) + 1)
    refuse_subsets(sum(comb(len(columns), size) for size in sizes))
    chosen = [subset for size in sizes for subset in combinations(range(len(columns)), size)]
    matched, drop = nulls == "wildcard", nulls == "drop"
    found = _matched(rows, chosen) if matched else _counted(rows, chosen, drop=drop, people=people)
    whole = {
        "records": "bigint",
        "classes": "bigint",
        "reidentifications": "double",
        "pairs_alike": "decimal(38,0)",
        "records_dropped": "bigint",
    }
    numbers = (F.coalesce(F.col(name).cast(kind), F.lit(0)).alias(name) for name, kind in whole.items())
    return found.orderBy("place").select("subset", *numbers, F.lit(nulls).alias("nulls"))


def _listed(rows: Rows, chosen: Sequence[Sequence[int]]) -> dict[str, Any]:
    names = [[rows.given[place] for place in subset] for subset in chosen]
    return {"place": list(range(len(chosen))), "subset": names}


def _counted(rows: Rows, chosen: Sequence[Sequence[int]], *, drop: bool, people: bool) -> DataFrame:
    marks = pa.array([mark(subset) for subset in chosen], pa.int64())
    masks = to_spark(rows.frame.sparkSession, pa.table(_listed(rows, chosen) | {"mask": marks}))
    count, held = (counts_of_people, people_of) if people else (counts_of, counted)
    counts = count(held(rows, "value"), rows.names, masks.select("mask"), drop=drop)
    return F.broadcast(masks).join(counts, "mask", "left")


def _matched(rows: Rows, chosen: Sequence[Sequence[int]]) -> DataFrame:
    """The same where NULL may be any value."""
    table = wildcard.distinct(counted(rows, "value"))
    codes, records = wildcard.coded(table, names=rows.names), table["records"].to_numpy()
    counts = [_subset(codes[:, list(subset)], records) for subset in chosen]
    named = dict(
        zip(("records", "classes", "pairs_alike"), map(list, zip(*counts, strict=True)), strict=True)
    )
    found = to_spark(rows.frame.sparkSession, pa.table(_listed(rows, chosen) | named))
    told = F.col("classes").cast("double").alias("reidentifications")
    return found.select("*", told).withColumn("records_dropped", F.lit(0))


def _subset(codes: Integers, records: Integers) -> tuple[int, int, str]:
    """Records, classes and alike pairs; the pairs as text, as they may be more than 64 bits hold."""
    classes, place = np.unique(codes, axis=0, return_inverse=True)
    held = np.zeros(len(classes), dtype=np.int64)
    np.add.at(held, place.ravel(), records)
    sizes = wildcard_class_sizes(classes, classes, held).tolist()
    pairs = sum(one * (size - 1) for one, size in zip(held.tolist(), sizes, strict=True))
    return int(records.sum()), len(classes), str(pairs)
