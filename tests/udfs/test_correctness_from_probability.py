from tests.closed_forms import Case, check_engines, check_limits, check_mpmath


def test_to_1e_12_of_mpmath() -> None:
    check_mpmath("correctness_from_probability", lambda p, n: (1 - (1 - p) ** n) / (n * p))


def test_engines_agree_with_the_body() -> None:
    check_engines("correctness_from_probability", ("p", "n"))


def test_exact_limits() -> None:
    check_limits(
        "correctness_from_probability",
        [
            Case((0.0, 8e9), 1.0),
            Case((1.0, 1.0), 1.0),
            Case((1.0, 4.0), 0.25),
            Case((0.3, 1.0), 1.0),
            Case((5e-324, 1.0), 1.0),
            Case((None, 5.0), None),
        ],
    )
