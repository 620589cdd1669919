import subprocess
import sys

import mpmath
import numpy as np
import pytest

from reid_sql.models.numerics import special_functions
from tests.cells import each_cell


def test_functions_are_those_of_their_names() -> None:
    assert special_functions.betainc(2.0, 3.0, 0.4) == pytest.approx(
        float(mpmath.betainc(2, 3, 0, 0.4, regularized=True))
    )
    assert special_functions.betaincc(2.0, 3.0, 0.4) == pytest.approx(
        float(mpmath.betainc(2, 3, 0.4, 1, regularized=True))
    )
    assert special_functions.betaincinv(
        2.0, 3.0, special_functions.betainc(2.0, 3.0, 0.4)
    ) == pytest.approx(0.4)
    assert (
        special_functions.digamma(2.5)
        == special_functions.psi(2.5)
        == pytest.approx(float(mpmath.digamma(2.5)))
    )
    assert special_functions.gammainc(2.0, 1.5) == pytest.approx(
        float(mpmath.gammainc(2, 0, 1.5, regularized=True))
    )
    assert special_functions.gammaln(7.5) == pytest.approx(float(mpmath.loggamma(7.5)))
    assert special_functions.ndtr(1.2) == pytest.approx(float(mpmath.ncdf(1.2)))
    assert special_functions.ndtri(float(mpmath.ncdf(1.2))) == pytest.approx(1.2)
    assert special_functions.zeta(2.5, 3.0) == pytest.approx(float(mpmath.zeta(2.5, 3)))
    assert special_functions.xlogy(0.0, 0.0) == 0
    assert special_functions.xlogy(2.0, 3.0) == pytest.approx(2 * float(mpmath.log(3)))
    assert special_functions.logit(special_functions.expit(0.3)) == pytest.approx(0.3)
    assert special_functions.log_expit(-2.0) == pytest.approx(-float(mpmath.log(1 + mpmath.e**2)))
    assert special_functions.expit(np.zeros((2, 3))).shape == (2, 3)


@pytest.mark.parametrize("face", ["reid_sql", "reid_sql.polars"])
def test_a_face_is_imported_without_scipy(face: str) -> None:
    late = "{'scipy.special', 'scipy.optimize', 'scipy.sparse', 'scipy.stats', 'pyarrow.compute'}"
    asked = f"import sys, {face}; print(sorted({late} & sys.modules.keys()))"
    found = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_the_first_population_risk_of_a_process_imports_no_search_and_no_model_of_tables() -> None:
    late = "{'scipy.optimize', 'scipy.stats', 'reid_sql.models.tables', 'pandas'}"
    asked = f"""
import sys, duckdb, reid_sql
con = duckdb.connect()
reid_sql.register(con)
con.sql("CREATE TABLE people AS SELECT i % 90 AS age, i % 7 AS job FROM range(1000) AS numbers(i)")
answered = con.sql("FROM population_risk(people, ['age', 'job'], [50000])").fetchall()
print(len(answered), sorted({late} & sys.modules.keys()))
"""
    found = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip().splitlines()[-1] == "1 []"  # a progress bar may come before it


@each_cell("least", [-2.0, -0.7, 0.0, 1.3, 2.5])
@each_cell("power", [1.5, 2])
def test_the_least_value_is_found_within_the_tolerance(least: float, power: float) -> None:
    """Also at either end, and in no more steps than by golden sections alone."""
    places = []

    def loss(place: float) -> float:
        places.append(place)
        return float(abs(place - least) ** power + 0.1 * (place > least) * (place - least))

    assert special_functions.minimize(loss, -2.0, 2.5, xatol=1e-3) == pytest.approx(least, abs=1e-3)
    assert all(-2 <= place <= 2.5 for place in places)
    assert len(places) <= 21
