"""What the first tier leaves of tests/udfs/test_alpha_k_anonymity.py."""

import polars as pl
import pytest

from tests.sensitive import SIX, both


@pytest.mark.real_data
def test_adult_figures(adult: str) -> None:
    for answer in both("alpha_k_anonymity", pl.read_parquet(adult), SIX, "income"):
        assert (answer[0]["value"], answer[0]["classes"], answer[0]["k"]) == (1.0, 15_093, 1)
