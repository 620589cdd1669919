import polars as pl
import pytest

from tests.tables import by_both, by_duckdb, by_polars
from tests.urn import population

SAMPLE = pl.DataFrame({"set": population(0.4, 30.0, 3_000, seed=5).labels})


def test_engines_agree_for_every_population_in_the_order_asked() -> None:
    duck = by_duckdb("FROM pyc_forecast(t, ['set'], [1e6, 3000, 67e6], k := 3)", t=SAMPLE)
    assert duck == by_polars("pyc_forecast", SAMPLE, ["set"], [1e6, 3000, 67e6], k=3)
    for one in by_both("pyc_forecast", {"t": SAMPLE}, ["set"], populations=1e6, k=3):
        assert one == duck[:1]  # a population needs no list
    assert [row["population"] for row in duck] == [1e6, 3e3, 67e6]
    assert duck[1]["correctness"] == pytest.approx(SAMPLE["set"].n_unique() / 3_000)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "[1000]",
            (
                "population must be at least the 3,000 records of the sample, "
                "got 1,000; pass the size of the population"
            ),
        ),
        ("[]", "populations must be a number or a list of one or more numbers, got"),
        ("[1e6], k := 0", "k must be a class size of 1 to 1000, got 0"),
        ("[0.5]", "populations must be a number of people of at least 1"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    with pytest.raises(Exception, match="Invalid Input Error: ") as refused:
        by_duckdb(f"FROM pyc_forecast(t, ['set'], {call})", t=SAMPLE)
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")
