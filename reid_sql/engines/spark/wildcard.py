"""Spark: matching in which NULL may be any value.

Spark counts the distinct records, the driver matches these.
"""

from collections.abc import Sequence

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame

from reid_sql.engines.codes import value_codes
from reid_sql.engines.spark.frames import collected
from reid_sql.models.classes.wildcard import wildcard_class_sizes
from reid_sql.parameters import Integers


def distinct(counted: DataFrame) -> pa.Table:
    """Bring the distinct records with their counts to the driver."""
    return collected(counted, "the distinct records under nulls='wildcard'")


def coded(table: pa.Table, *others: pa.Table, names: Sequence[str]) -> Integers:
    """A code for each value of the columns, 0 for NULL, the same in all of the tables; one row a record."""
    frames = [pl.DataFrame(pl.from_arrow(each.select(list(names)))) for each in (table, *others)]
    return value_codes(pl.concat(frames), names)


def class_sizes(own: pa.Table, other: pa.Table, names: Sequence[str]) -> Integers:
    """How many of the other's records each distinct record matches, in its order."""
    codes = coded(own, other, names=names)
    counts = other["records"].to_numpy()
    return wildcard_class_sizes(codes[: own.num_rows], codes[own.num_rows :], counts)
