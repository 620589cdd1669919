"""The Spark session of tests and documents: local, small, quiet."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from pyspark.sql import SparkSession

from tests.processes import ROOT

# Compiling a plan and planning it anew at run time take longer than they save on small tables.
PLANNING: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
}
DEFAULT_PLANNING: Final = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.leafNodeDefaultParallelism": "2",
}
SETTINGS: Final[dict[str, bool | float | int | str | None]] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # else each column asks the JVM six times more
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    **PLANNING,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    # Compiling well takes longer than it saves; what all tests compile needs more than the 48 MB that a JVM
    # which compiles so reserves.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=99m -XX:+UseSerialGC",
}


def local() -> SparkSession:
    """The one session of this process; the environment is set for its start alone."""
    before = dict(os.environ)
    os.environ |= {
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "udfs")]),
    }
    builder = SparkSession.builder.master("local[2]").appName("reid-sql tests")
    session = builder.config(map=SETTINGS).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    for name in ("PYSPARK_PYTHON", "PYTHONPATH"):
        if name in before:
            os.environ[name] = before[name]
        else:
            del os.environ[name]
    return session


@contextmanager
def settings_of(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Set the settings for a while; afterwards the session has those that it had."""
    before = {name: session.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, earlier in before.items():
            if earlier is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, earlier)
