"""What the first tier leaves of tests/models/population/test_individual_risk.py."""

import duckdb
import pytest

from tests.histograms import FEW


@pytest.mark.real_data
def test_the_figure_of_sdcmicro(con: duckdb.DuckDBPyConnection, adult: str) -> None:
    con.execute(f"CREATE TEMP TABLE weighed AS SELECT *, 10 AS w FROM '{adult}'")
    total = f"SELECT sum(risk) FROM individual_risk(weighed, {FEW}, weight := 'w', form := 'approximate')"
    assert con.execute(total).fetchall()[0][0] == pytest.approx(73.07710354, abs=5e-9)
