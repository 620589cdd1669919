"""What the first tier leaves of tests/udfs/test_adversary_risk.py."""

import polars as pl
import pytest

from tests.tables import by_duckdb, by_polars


@pytest.mark.real_data
def test_engines_agree_on_adult(adult: str) -> None:
    duck = by_duckdb(f"FROM adversary_risk('{adult}', 'adult_voter_register')")
    assert duck == by_polars("adversary_risk", pl.scan_parquet(adult), "adult_voter_register")
    assert len(duck) == 32_561
