"""What the first tier leaves of tests/udfs/test_l_diversity.py."""

import polars as pl
import pytest

from tests.sensitive import SIX, both


@pytest.mark.real_data
def test_adult_figures(adult: str) -> None:
    for answer in both("l_diversity", pl.read_parquet(adult), SIX, "income"):
        assert {name: answer[0][name] for name in ("value", "classes", "k")} == {
            "value": 1,
            "classes": 15_093,
            "k": 1,
        }
