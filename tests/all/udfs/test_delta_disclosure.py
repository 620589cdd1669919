"""What the first tier leaves of tests/udfs/test_delta_disclosure.py."""

import polars as pl
import pytest

from tests.sensitive import SIX, both


@pytest.mark.real_data
def test_adult_figures(adult: str) -> None:
    for answer in both("delta_disclosure", pl.read_parquet(adult), SIX, "income"):
        assert (answer[0]["value"], answer[0]["classes"], answer[0]["k"]) == (
            pytest.approx(2.982593917, abs=5e-10),
            15_093,
            1,
        )
