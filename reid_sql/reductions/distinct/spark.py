"""Spark: distinct records, which the executors count, as small numbers on the driver."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from pyspark.sql import DataFrame

from reid_sql.engines.codes import dense_codes
from reid_sql.engines.spark.counting import count_records, null_report
from reid_sql.engines.spark.frames import fetch, read_rows
from reid_sql.engines.spark.people import COLUMNS_AND_ENTITY, count_people, read_people
from reid_sql.engines.spark.results import RemoteColumns
from reid_sql.models.classes.class_keys import require_memory
from reid_sql.models.classes.identifying_sets import NO_PEOPLE, DistinctCodes
from reid_sql.reductions.distinct import CODE, COUNTS, SOME_COLUMNS


def distinct_codes(
    tbl: DataFrame, columns: Sequence[str] | None, memory_mb: int, nulls: str, entity: str | None = None
) -> RemoteColumns:
    """The distinct records as codes, 0 for NULL, and those of people if any."""
    folded = None if entity is None else entity.lower()
    asked = columns or [name for name in tbl.columns if name.lower() != folded]
    if entity is None:
        rows = read_rows(tbl, asked, SOME_COLUMNS)
        counted = count_records(rows, nulls)
    else:
        rows = read_people(tbl, asked, entity, "value", COLUMNS_AND_ENTITY)
        counted = count_people(rows, nulls)
    fetched = fetch(counted, "the distinct records")
    need = fetched.num_rows * (CODE * len(asked) + COUNTS)
    require_memory(need, memory_mb, f"{fetched.num_rows} distinct records of {len(asked)} columns")
    frame = pl.DataFrame(pl.from_arrow(fetched))
    codes = [dense_codes(frame, name) for name in rows.names]
    people = NO_PEOPLE if entity is None else dense_codes(frame, "entity").astype(np.int64)
    table = DistinctCodes(list(rows.given), codes, fetched["records"].to_numpy(), people)
    nothing = tbl.sparkSession.range(1).select()
    return RemoteColumns(table, fetch(null_report(rows, nulls, nothing), "one row"))
