"""validate_risk on Spark: the same samples and figures as on the other engines."""

from typing import TYPE_CHECKING

import pytest

from reid_sql.errors import ReidError
from tests.tables import by_duckdb
from tests.udfs.test_validate_risk import OPTIONS, QI, TOWN

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

import reid_sql.spark as rs
from tests.sparks import by_spark, same, to_spark

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_every_figure_is_the_same(spark: "SparkSession") -> None:
    call = "[0.3], 2, methods := ['people', 'bound', 'loglinear_nb', 'copula']"
    found = by_spark(spark, "validate_risk", [TOWN], QI, **OPTIONS)
    same(found, by_duckdb(f"FROM validate_risk(t, {QI}, {call})", t=TOWN))


def test_no_more_records_come_to_the_driver_than_stated(spark: "SparkSession") -> None:
    setting = "spark.reid_sql.maxCollectedValues"
    spark.conf.set(setting, "50")
    try:
        with pytest.raises(
            ReidError, match=r"that the driver answers from must be at most \d+ rows"
        ):
            rs.validate_risk(to_spark(spark, TOWN), QI)
    finally:
        spark.conf.unset(setting)
