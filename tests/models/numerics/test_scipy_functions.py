import subprocess
import sys

import mpmath
import numpy as np
import pytest

from reid_sql.models.numerics import special_functions


def test_functions_are_those_of_their_names() -> None:
    assert special_functions.betainc(2.0, 3.0, 0.4) == pytest.approx(
        float(mpmath.betainc(2, 3, 0, 0.4, regularized=True))
    )
    assert special_functions.betaincc(2.0, 3.0, 0.4) == pytest.approx(
        float(mpmath.betainc(2, 3, 0.4, 1, regularized=True))
    )
    assert special_functions.betaincinv(2.0, 3.0, special_functions.betainc(2.0, 3.0, 0.4)) == pytest.approx(
        0.4
    )
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
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
