"""Spark: the models in a table that copula_json wrote."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import null_report
from reid_sql.engines.spark.frames import read_rows
from reid_sql.parameters import Columns


def saved(tbl: DataFrame) -> DataFrame:
    """Each model by its name and its text."""
    rows = read_rows(tbl, ["model", "json"], Columns("columns of the saved models"))
    texts = (F.col(name).cast("string").alias(own) for name, own in zip(rows.names, rows.given, strict=True))
    lines = rows.frame.select(*texts).withColumn("line", F.monotonically_increasing_id())
    return null_report(rows, "value", lines)
