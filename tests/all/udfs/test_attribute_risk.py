"""What the first tier leaves of tests/udfs/test_attribute_risk.py."""

import polars as pl
import pytest

from tests.tables import by_both


@pytest.mark.real_data
def test_engines_agree_on_adult(adult: str) -> None:
    columns = ["age", "sex", "race", "native_country", "occupation"]
    duck, polars = by_both("attribute_risk", {"t": pl.read_parquet(adult)}, columns)
    assert len(duck) == 25
    assert [row["classes"] for row in duck] == [row["classes"] for row in polars]
    assert [row["separation"] for row in duck] == pytest.approx(
        [row["separation"] for row in polars], rel=1e-14
    )
