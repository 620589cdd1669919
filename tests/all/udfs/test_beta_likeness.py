"""What the first tier leaves of tests/udfs/test_beta_likeness.py."""

import polars as pl
import pytest

from tests.sensitive import SIX, both


@pytest.mark.real_data
def test_adult_figures(adult: str) -> None:
    for answer in both("beta_likeness", pl.read_parquet(adult), SIX, "income"):
        assert (answer[0]["value"], answer[0]["classes"], answer[0]["k"]) == (
            pytest.approx(3.1526591, abs=5e-8),
            15_093,
            1,
        )
