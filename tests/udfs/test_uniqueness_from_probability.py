from tests.closed_forms import Case, check_engines, check_limits, check_mpmath


def test_to_1e_12_of_mpmath() -> None:
    check_mpmath("uniqueness_from_probability", lambda p, n: (1 - p) ** (n - 1))


def test_engines_agree_with_the_body() -> None:
    check_engines("uniqueness_from_probability", ("p", "n"))


def test_exact_limits() -> None:
    check_limits(
        "uniqueness_from_probability",
        [
            Case((0.0, 8e9), 1.0),
            Case((1.0, 1.0), 1.0),
            Case((1.0, 2.0), 0.0),
            Case((0.5, 1.0), 1.0),
            Case((None, 5.0), None),
            Case((0.5, None), None),
        ],
    )
