"""What the first tier leaves of tests/charts/test_same_charts.py."""

from pathlib import Path

from tests.charts.test_same_charts import *


def test_every_picture_of_the_report_is_one_of_these(folder: Path) -> None:
    assert len(pictures(folder)) == len(PICTURES)
