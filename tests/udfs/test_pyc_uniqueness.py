from tests.closed_forms import check_pyc


def test_engines_agree_and_people_alone_are_unique() -> None:
    check_pyc(
        "pyc_uniqueness", ("entropy", "tail", "n"), [(10.0, 0.5, 1.0, 1.0), (0.01, -20.0, 8e9, 0.0)]
    )
