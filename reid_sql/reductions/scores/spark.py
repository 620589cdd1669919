"""Spark: distinct records, scored under a fitted model on the executors."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import null_report
from reid_sql.engines.spark.functions import model_to_send, read_model_columns, score_records
from reid_sql.models.copula.calibration import record_risk
from reid_sql.reductions.scores import SCORED_CLASSES


def scored_classes(tbl: DataFrame, model: str, population: float) -> DataFrame:
    """Numbers of records by their score: a result about all records needs no more of the distinct ones."""
    sent_model = model_to_send(model)
    rows = read_model_columns(sent_model, tbl)
    columns = {name: kind for name, kind in SCORED_CLASSES.columns.items() if name != "place"}
    classes = score_records(
        rows, sent_model, lambda cells, sizes: record_risk(cells, sizes, population, "ignored"), columns
    )
    summed = classes.groupBy("uniqueness_xi").agg(F.sum("class_size").alias("class_size"))
    return null_report(rows, "value", summed.withColumn("place", F.col("class_size")))
