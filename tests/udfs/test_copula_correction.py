import duckdb
import numpy as np
import pytest

from tests.copulas import fitted, people
from tests.tables import by_duckdb, by_polars

COLUMNS = ["age", "sex", "grade"]


def test_corrected_scores_have_the_uniqueness_of_the_population_as_their_mean() -> None:
    frame = people()
    fitted("m", frame, COLUMNS)
    row = by_duckdb("FROM copula_correction(t, 'm', 500)", t=frame)[0]
    other = by_polars("copula_correction", frame, "m", 500)[0]
    assert list(row) == list(other)
    assert row.pop("status") == other.pop("status") == "ok"
    assert row.pop("nulls") == other.pop("nulls") == "value"
    assert row == pytest.approx(other, rel=1e-9)
    assert (
        row["uniqueness"]
        == by_duckdb("SELECT uniqueness FROM copula_forecast('m', [500])")[0]["uniqueness"]
    )
    scores = by_duckdb("SELECT uniqueness_xi AS xi FROM score_records(t, 'm', 500)", t=frame)
    xi = np.array([score["xi"] for score in scores])
    assert (row["mean_xi"], (xi ** row["exponent"]).mean()) == (
        pytest.approx(xi.mean()),
        pytest.approx(row["uniqueness"]),
    )


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("t, 'mm', 5", "model must be a fitted model, got 'mm'; did you mean 'm'?"),
        ("t, 'm', 0", "population must be a number of people of at least 1"),
        ("t, 'm', NULL", "population must be a number of people of at least 1"),
        ("none, 'm', 5", "the table must contain at least one record, got 0"),
        ("bare, 'm', 5", "columns of the model must be columns of the table, got 'grade'"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    frame = people()
    fitted("m", frame, COLUMNS)
    with pytest.raises(duckdb.Error) as refused:
        by_duckdb(
            f"FROM copula_correction({call})", t=frame, none=frame.head(0), bare=frame.drop("grade")
        )
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")
