"""One query in Spark on a Parquet file, once to warm up and once to measure.

The processor time is that of the JVM.
"""

import os
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

import reid_sql.spark as rs
from benchmarks.speed.stopwatch import Stopwatch

GATEWAY = "_gateway"


def run(
    file: str, columns: list[str], question: str, threads: int, *, ours: bool
) -> tuple[Stopwatch, dict[str, int]]:
    """Sum up the classes, or the class sizes of the records, by our function or by Spark's own words."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings: dict[str, Any] = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "3g",
    }
    settings |= {"spark.sql.shuffle.partitions": "8", "spark.driver.host": "127.0.0.1"}
    spark = SparkSession.builder.master(f"local[{threads}]").config(map=settings).getOrCreate()
    _query(spark.read.parquet(file), columns, question, ours=ours).collect()
    query = _query(
        spark.read.parquet(file), columns, question, ours=ours
    )  # anew: Spark keeps what a frame has shuffled
    before = _cpu(spark)
    with Stopwatch() as took:
        found = query.collect()[0].asDict()
    took.cpu_seconds = _cpu(spark) - before
    spark.stop()
    return took, found


def _query(table: DataFrame, columns: list[str], question: str, *, ours: bool) -> DataFrame:
    one, n = F.lit(1), F.col("n")
    if question == "class size":
        window = table.withColumn("n", F.count(one).over(Window.partitionBy(*columns)))
        sized = rs.equivalence_class_size(table, *columns, name="n") if ours else window
        return sized.agg(
            F.count(one).alias("records"),
            F.sum(n).alias("total"),
            F.count_if(n == 1).alias("unique_records"),
        )
    if ours:
        sums = F.sum("records").alias("records"), F.sum("classes").alias("classes")
        unique = F.sum(F.when(F.col("class_size") == 1, F.col("records")).otherwise(0)).alias(
            "unique_records"
        )
        return rs.class_size_histogram(table, columns).agg(*sums, unique)
    classes = table.groupBy(*columns).agg(F.count(one).alias("n"))
    return classes.agg(
        F.sum(n).alias("records"),
        F.count(one).alias("classes"),
        F.count_if(n == 1).alias("unique_records"),
    )


def _cpu(spark: SparkSession) -> float:
    """Seconds of processor time that the JVM has taken; 0 where there is no /proc."""
    gateway: Any = getattr(spark.sparkContext, GATEWAY)
    stat = Path(f"/proc/{gateway.proc.pid}/stat")
    ticks = (
        sum(int(field) for field in stat.read_text().rpartition(")")[2].split()[11:13])
        if stat.exists()
        else 0
    )
    return float(ticks) / os.sysconf("SC_CLK_TCK")
