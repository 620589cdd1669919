"""What the first tier leaves of tests/udfs/test_journalist_risk.py."""

import polars as pl
import pytest

from tests.tables import by_both, by_duckdb


@pytest.mark.real_data
def test_a_tenth_of_adult_against_the_whole(adult: str) -> None:
    whole = pl.read_parquet(adult)
    tenth = whole.gather_every(10)
    for answer in by_both("journalist_risk", {"s": tenth, "p": whole}, ["age", "sex", "race"]):
        assert answer[0]["records"] == 3_257
    truth = by_duckdb(
        """SELECT count(*) AS n FROM (SELECT row % 10 = 0 AS sampled,
           count(*) OVER (PARTITION BY age, sex, race) AS k FROM t)
           WHERE sampled AND k = 1""",
        t=whole.with_row_index("row"),
    )
    assert answer[0]["unique_records"] == truth[0]["n"] == 9
