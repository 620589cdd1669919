from tests.closed_forms import check_pyc


def test_engines_agree_and_the_ends_are_exact() -> None:
    cases = [(10.0, 0.5, 1e6, 1.0, 0.0), (10.0, 0.5, 4.0, 5.0, 1.0), (10.0, 0.5, 1e6, 2.0, 0.1685)]
    check_pyc("pyc_k_violation", ("entropy", "tail", "n", "k"), cases)
