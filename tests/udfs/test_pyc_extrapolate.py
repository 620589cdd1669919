import pytest

from tests.tables import by_duckdb, by_polars


def test_engines_agree_on_the_published_figure() -> None:
    duck = by_duckdb("FROM pyc_extrapolate([1000, 100], [0.80, 0.99], [10000, 1e6])")
    assert duck == by_polars("pyc_extrapolate", [1000, 100], [0.80, 0.99], [10_000, 1e6])
    assert duck[0]["correctness"] == pytest.approx(0.214, abs=0.001)
    assert duck[1]["correctness"] < duck[0]["correctness"]


@pytest.mark.parametrize("method", ["tilted", "pyc", "ent", "exp", "pol", "rnd"])
def test_every_method_answers_with_a_share_and_a_status(method: str) -> None:
    row = by_duckdb(
        f"FROM pyc_extrapolate([10, 100, 1000], [0.99, 0.9, 0.6], [1e5], method := '{method}')"
    )[0]
    assert 0 < row["correctness"] <= 0.6
    assert row["status"]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("[100], [0.9], [1e6]", "sizes must contain at least two distinct sizes above 1, got 100"),
        (
            "[100, 200], [0.9, 1.1], [1e6]",
            "correctness must be a probability between 0 and 1, got 1.1",
        ),
        (
            "[100, 200], [0.9, 0.8], [1e6], method := 'pic'",
            (
                "method must be one of 'tilted', 'pyc', 'ent', 'exp', 'pol', "
                "'rnd', got 'pic'; did you mean 'pyc'?"
            ),
        ),
    ],
)
def test_bad_points_are_refused(call: str, sentence: str) -> None:
    with pytest.raises(Exception, match="Error") as refused:
        by_duckdb(f"FROM pyc_extrapolate({call})")
    assert sentence in str(refused.value)
