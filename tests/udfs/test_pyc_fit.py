import polars as pl
import pytest

from tests.tables import by_both, by_duckdb
from tests.urn import population

SAMPLE = pl.DataFrame({"set": population(0.4, 30.0, 3_000, seed=5).labels})


@pytest.mark.parametrize("prior", ["archer", "flat"])
def test_engines_agree(prior: str) -> None:
    duck, polars = by_both("pyc_fit", {"t": SAMPLE}, ["set"], prior=prior)
    assert duck == polars
    found = duck[0]
    assert found["entropy_low"] < found["entropy"] < found["entropy_high"]
    assert (found["records"], found["status"], found["nulls"], found["records_dropped"]) == (
        3_000,
        "ok",
        "value",
        0,
    )


def test_a_wildcard_and_an_unknown_prior_are_refused() -> None:
    frame = pl.DataFrame({"a": [1, None, 2]})
    with pytest.raises(Exception, match="does not count classes that overlap"):
        by_duckdb("FROM pyc_fit(t, ['a'], nulls := 'wildcard')", t=frame)
    with pytest.raises(
        Exception, match="prior must be one of 'archer', 'flat', got 'archr'; did you mean 'archer'"
    ):
        by_duckdb("FROM pyc_fit(t, ['a'], prior := 'archr')", t=frame)
