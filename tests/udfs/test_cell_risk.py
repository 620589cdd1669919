import pytest

from tests.closed_forms import Case, check_engines, check_limits, check_mpmath, output_of

UNIQUENESS, CORRECTNESS = "cell_risk", "cell_risk_correctness"
OF_UNIQUENESS = "cell_risk_correctness_of_uniqueness"


def test_to_1e_12_of_mpmath() -> None:
    check_mpmath(UNIQUENESS, lambda p, n: (1 - p) ** (n - 1))
    check_mpmath(CORRECTNESS, lambda p, n: (1 - (1 - p) ** n) / (n * p))
    check_mpmath(
        OF_UNIQUENESS,
        lambda xi, n: (1 - xi ** (n / (n - 1))) / (1 - xi ** (1 / (n - 1))) / n,
        least_n=2,
    )


@pytest.mark.parametrize("measure", [UNIQUENESS, CORRECTNESS, OF_UNIQUENESS])
def test_engines_agree_with_the_body(measure: str) -> None:
    check_engines(measure, ("p", "n"))


def test_exact_limits_of_uniqueness() -> None:
    check_limits(
        UNIQUENESS,
        [
            Case((0.0, 8e9), 1.0),
            Case((1.0, 1.0), 1.0),
            Case((1.0, 2.0), 0.0),
            Case((0.5, 1.0), 1.0),
            Case((None, 5.0), None),
            Case((0.5, None), None),
        ],
    )


def test_exact_limits_of_correctness() -> None:
    check_limits(
        CORRECTNESS,
        [
            Case((0.0, 8e9), 1.0),
            Case((1.0, 1.0), 1.0),
            Case((1.0, 4.0), 0.25),
            Case((0.3, 1.0), 1.0),
            Case((5e-324, 1.0), 1.0),
            Case((None, 5.0), None),
        ],
    )


def test_exact_limits_of_the_correctness_of_a_uniqueness() -> None:
    check_limits(
        OF_UNIQUENESS,
        [
            Case((1.0, 8e9), 1.0),
            Case((0.0, 4.0), 0.25),
            Case((0.5, 1.0), 1.0),
            Case((0.0, 1.0), 1.0),
            Case((None, 5.0), None),
        ],
    )


def test_governor_weld() -> None:
    assert output_of(OF_UNIQUENESS).body(0.58, 54_805) == pytest.approx(0.77, abs=0.005)
