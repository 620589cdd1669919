import duckdb
import pytest

from tests.copulas import fitted, people
from tests.tables import by_duckdb, by_polars

SHARES = ("uniqueness", "correctness")


def test_engines_agree_and_larger_populations_hide_better() -> None:
    fitted("m", people(), ["sex", "age", "grade"])
    duck = by_duckdb("FROM copula_forecast('m', [1, 100, 3e8])")
    assert duck == by_polars("copula_forecast", "m", [1, 100, 3e8])
    assert (duck[0]["uniqueness"], duck[0]["correctness"]) == (1, pytest.approx(1))
    assert duck[0]["uniqueness"] > duck[1]["uniqueness"] > duck[2]["uniqueness"]
    # the error of a copula is not known, and that of the computation is no interval of the truth
    ends = [row[f"{share}_{end}"] for row in duck for share in SHARES for end in ("low", "high")]
    assert ends == [None] * 12
    assert all(row["status"].startswith("no_interval: ") for row in duck)


def test_bad_input_is_refused() -> None:
    with pytest.raises(duckdb.Error, match="model must be a fitted model, got 'nowhere'"):
        by_duckdb("FROM copula_forecast('nowhere', [10])")
