"""Spark: the classes, the size of each record's, and how many have each size."""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.domains import QUASI_IDENTIFIERS
from reid_sql.engines.spark import wildcard
from reid_sql.engines.spark.counting import counted, how_nulls, own_names
from reid_sql.engines.spark.frames import Rows, beside, keyed, rows_of, to_spark
from reid_sql.reduction import refuse_own_names


def class_size(tbl: DataFrame, columns: Sequence[str], name: str) -> DataFrame:
    """Append to the frame how many records share each record's values.

    The classes are counted by a GROUP BY, which is partial before it shuffles, and joined back NULL-safe: a
    window would shuffle and sort every record, and hold a class of a billion records in one task.
    """
    rows = rows_of(tbl, columns, QUASI_IDENTIFIERS)
    sizes = keyed(counted(rows, "value"), rows.names).withColumnRenamed("records", name)
    return beside(tbl, rows.found, sizes)


def classes(tbl: DataFrame, qi: Sequence[str], nulls: str) -> DataFrame:
    """Distinct combinations of values, with how many records share each."""
    rows = rows_of(tbl, qi, QUASI_IDENTIFIERS)
    refuse_own_names(qi)
    listed = _sized(rows, nulls).select(*own_names(rows), "class_size", "records")
    return how_nulls(rows, nulls, listed)


def histogram(tbl: DataFrame, qi: Sequence[str], nulls: str) -> DataFrame:
    """How many classes, and how many records, have each class size."""
    rows = rows_of(tbl, qi, QUASI_IDENTIFIERS)
    counts = F.count(F.lit(1)).alias("classes"), F.sum("records").alias("records")
    return how_nulls(rows, nulls, _sized(rows, nulls).groupBy("class_size").agg(*counts))


def _sized(rows: Rows, nulls: str) -> DataFrame:
    """The distinct records, with how many hold each and how many each matches."""
    found = counted(rows, nulls)
    if nulls != "wildcard":
        return found.withColumn("class_size", F.col("records"))
    table = wildcard.distinct(found)
    sizes = wildcard.class_sizes(table, table, rows.names)
    return to_spark(rows.frame.sparkSession, table.append_column("class_size", [sizes]))
