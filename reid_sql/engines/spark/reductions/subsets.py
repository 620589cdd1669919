"""Spark: every subset of some columns, by its classes, from the distinct records, in one pass."""

# The shared text counts one subset after another; here all of them are counted in one pass (docs/spark.md).

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import count_masks, count_records, mask_of
from reid_sql.engines.spark.frames import Rows, read_rows, to_spark
from reid_sql.engines.spark.people import (
    COLUMNS_AND_ENTITY,
    count_people,
    count_people_of_masks,
    read_people,
)
from reid_sql.parameters import COLUMNS


def subsets(
    tbl: DataFrame,
    columns: Sequence[str],
    max_size: int,
    nulls: str,
    memory_mb: int,  # noqa: ARG001 - Spark bounds its own memory
    entity: str | None = None,
) -> DataFrame:
    """Records, classes and alike pairs of every subset of the columns, smallest first.

    Spark counts them, and bounds its own memory.
    """
    people = entity is not None
    rows = (
        read_people(tbl, columns, str(entity), nulls, COLUMNS_AND_ENTITY)
        if people
        else read_rows(tbl, columns, COLUMNS)
    )
    sizes = range(1, min(max_size, len(columns)) + 1)
    chosen = [subset for size in sizes for subset in combinations(range(len(columns)), size)]
    totals = _counted(rows, chosen, drop=nulls == "drop", people=people)
    whole = {
        "records": "bigint",
        "classes": "bigint",
        "reidentifications": "double",
        "pairs_alike": "decimal(38,0)",
        "unique_records": "bigint",
        "records_dropped": "bigint",
    }
    numbers = (
        F.coalesce(F.col(name).cast(kind), F.lit(0)).alias(name) for name, kind in whole.items()
    )
    return totals.orderBy("place").select("subset", *numbers, F.lit(nulls).alias("nulls"))


def _listed(rows: Rows, chosen: Sequence[Sequence[int]]) -> dict[str, Any]:
    names = [[rows.given[place] for place in subset] for subset in chosen]
    return {"place": list(range(len(chosen))), "subset": names}


def _counted(rows: Rows, chosen: Sequence[Sequence[int]], *, drop: bool, people: bool) -> DataFrame:
    marks = pa.array([mask_of(subset) for subset in chosen], pa.int64())
    masks = to_spark(rows.frame.sparkSession, pa.table(_listed(rows, chosen) | {"mask": marks}))
    count, distinct = (
        (count_people_of_masks, count_people) if people else (count_masks, count_records)
    )
    counts = count(distinct(rows, "value"), rows.names, masks.select("mask"), drop=drop)
    return F.broadcast(masks).join(counts, "mask", "left")
