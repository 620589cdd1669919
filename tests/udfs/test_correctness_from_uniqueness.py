import pytest

from reid_sql_udfs.correctness_from_uniqueness import correctness_from_uniqueness
from tests.closed_forms import Case, check_engines, check_limits, check_mpmath


def test_to_1e_12_of_mpmath() -> None:
    check_mpmath(
        "correctness_from_uniqueness",
        lambda xi, n: (1 - xi ** (n / (n - 1))) / (1 - xi ** (1 / (n - 1))) / n,
        least_n=2,
    )


def test_engines_agree_with_the_body() -> None:
    check_engines("correctness_from_uniqueness", ("xi", "n"))


def test_exact_limits() -> None:
    check_limits(
        "correctness_from_uniqueness",
        [
            Case((1.0, 8e9), 1.0),
            Case((0.0, 4.0), 0.25),
            Case((0.5, 1.0), 1.0),
            Case((0.0, 1.0), 1.0),
            Case((None, 5.0), None),
        ],
    )


def test_governor_weld() -> None:
    assert correctness_from_uniqueness(0.58, 54_805) == pytest.approx(0.77, abs=0.005)
