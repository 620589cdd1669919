from tests.closed_forms import check_pyc


def test_engines_agree_with_published_figures() -> None:
    check_pyc(
        "pyc_correctness",
        ("entropy", "tail", "n"),
        [(27.725887222397812, 0.0, 7.53e9, 0.9940), (27.725887222397812, 0.999, 7.53e9, 0.4477)],
    )
