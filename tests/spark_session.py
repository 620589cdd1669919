"""The Spark session of tests and documents: local, small, quiet."""

import os
import sys
from typing import Final

from pyspark.sql import SparkSession

from tests.processes import ROOT

SETTINGS: Final[dict[str, bool | float | int | str | None]] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    # Compiling well takes longer than it saves.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def local() -> SparkSession:
    """The one session of this process."""
    os.environ |= {
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "udfs")]),
    }
    builder = SparkSession.builder.master("local[2]").appName("reid-sql tests")
    session = builder.config(map=SETTINGS).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session
