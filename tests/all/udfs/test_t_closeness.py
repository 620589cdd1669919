"""What the first tier leaves of tests/udfs/test_t_closeness.py."""

import polars as pl
import pytest

from tests.sensitive import SIX, area_between, both, classes, shares
from tests.tables import keys


@pytest.mark.real_data
def test_adult_figures(adult: str) -> None:
    frame = pl.read_parquet(adult)
    for answer in both("t_closeness", frame, SIX, "income"):
        assert (answer[0]["value"], answer[0]["classes"]) == (
            pytest.approx(0.7591904426, abs=5e-11),
            15_093,
        )
    few, table = ["sex", "race"], keys(frame.select("sex", "race", "age"))
    whole = shares([row[-1] for row in table])
    worst = max(area_between(shares(members), whole) for members in classes(table).values())
    for answer in both("t_closeness", frame, few, "age", variant="ordered"):
        assert answer[0]["value"] == pytest.approx(float(worst), rel=1e-12)
