"""What the first tier leaves of tests/models/population/test_loglinear.py."""

import duckdb
import pytest

from tests.histograms import FEW, MORE, TENTH
from tests.tables import by_polars


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("columns", "tau1", "counted_unique"),
    [(FEW, 6.2, (65, 9)), (MORE, 381, (3_382, 343))],
    ids=["few", "more"],
)
def test_a_tenth_of_adult(
    con: duckdb.DuckDBPyConnection,
    adult: str,
    columns: list[str],
    tau1: float,
    counted_unique: tuple[int, int],
) -> None:
    con.execute(f"CREATE TEMP TABLE tenth AS {TENTH.format(adult)}")
    found = con.execute(
        f"SELECT any_value(tau1), any_value(nb_tau1) FROM loglinear_risk(tenth, {columns}, 0.1)"
    ).fetchall()[0]
    assert found[0] == pytest.approx(tau1, abs=0.5 if tau1 > 100 else 0.05)
    listed = ", ".join(columns)
    counted = f"SELECT *, count(*) OVER (PARTITION BY {listed}) AS people FROM '{adult}'"
    alone = con.execute(f"SELECT count(*) FROM ({counted}) WHERE people = 1").fetchall()[0][0]
    both = (
        f"SELECT {listed} FROM tenth GROUP BY ALL HAVING count(*) = 1 INTERSECT "
        f"SELECT {listed} FROM ({counted}) WHERE people = 1"
    )
    sampled = con.execute(f"SELECT count(*) FROM ({both})").fetchall()[0][0]
    assert (alone, sampled) == counted_unique
    tenth = con.sql("FROM tenth").pl()
    other = by_polars("loglinear_risk", tenth, columns, 0.1, interactions=2)[0]
    assert other["tau1"] < found[0]
    assert "understate the risk" in other["status"]
