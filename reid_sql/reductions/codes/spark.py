"""Spark: the table stays where it is, and tells how many distinct values any choice of its columns has."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.domains import COLUMNS
from reid_sql.engines.spark.counting import classes_of, counted, how_nulls
from reid_sql.engines.spark.frames import collected, rows_of
from reid_sql.engines.spark.reduced import Elsewhere
from reid_sql.models.extreme.quasi_identifiers import CodesElsewhere, Integers

AT_ONCE: Final = 1000  # choices counted in one query: each repeats the distinct records once


def codes(tbl: DataFrame, columns: Sequence[str], nulls: str) -> Elsewhere:
    """The columns, with the count of distinct values of every choice of some of them."""
    rows = rows_of(tbl, columns, COLUMNS)
    distinct = counted(rows, nulls).localCheckpoint()
    whole = distinct.agg(F.coalesce(F.sum("records"), F.lit(0)).alias("records"))
    treated = collected(how_nulls(rows, nulls, whole), "one row")

    def count(chosen: Integers) -> Integers:
        parts = (chosen[start : start + AT_ONCE].tolist() for start in range(0, len(chosen), AT_ONCE))
        found = [classes for part in parts for classes in classes_of(distinct, rows.names, part)]
        return np.array(found, dtype=np.int64)

    held = int(treated["records"][0].as_py())
    return Elsewhere(CodesElsewhere(list(columns), [], [], np.arange(0), held, count), treated)
