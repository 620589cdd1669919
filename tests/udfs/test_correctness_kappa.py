import mpmath
import pytest

import reid_sql.polars as rp
from tests.copulas import fitted, people
from tests.tables import by_duckdb


def test_it_is_the_chance_of_the_right_one_among_all_who_match() -> None:
    frame = people()
    fitted("m", frame, ["age", "sex"])
    sql = "SELECT cell_probability('m', age, sex) AS q, correctness_kappa('m', 50, age, sex) AS kappa FROM t"
    found = by_duckdb(sql, t=frame)
    for row in found[:20]:
        q = mpmath.mpf(row["q"])
        exact = sum(
            mpmath.binomial(49, k) * q**k * (1 - q) ** (49 - k) / (k + 1) for k in range(50)
        )
        assert row["kappa"] == pytest.approx(float(exact), rel=1e-9)
    assert frame.select(rp.correctness_kappa("m", 50, "age", "sex")).to_series().to_list() == [
        row["kappa"] for row in found
    ]
