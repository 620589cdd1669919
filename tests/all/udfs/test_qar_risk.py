"""What the first tier leaves of tests/udfs/test_qar_risk.py."""

import polars as pl
import pytest

from tests.tables import by_both


@pytest.mark.real_data
def test_engines_agree_on_adult(adult: str) -> None:
    table = pl.read_parquet(adult).drop("fnlwgt", "capital_gain", "capital_loss")
    duck, polars = by_both("qar_risk", {"t": table}, table.columns)
    assert duck == polars
    assert duck[0]["quasi_identifiers"] == 220
    assert duck[0]["status"] == "ok"
