import duckdb
import polars as pl
import pytest

import reid_sql.polars as rp
from tests.copulas import fitted, people
from tests.tables import by_duckdb, connection

COLUMNS = ["age", "sex", "grade"]


def test_engines_draw_the_same_records_whatever_is_asked_of_them() -> None:
    fitted("m", people(), COLUMNS, ordered=["age"])
    duck = by_duckdb("FROM sample_copula('m', 5000, seed := 7)")
    lazy = rp.sample_copula("m", 5000, seed=7)
    assert lazy.collect().to_dicts() == duck
    assert (
        lazy.filter(pl.col("age") == "23")
        .select("grade")
        .tail(2)
        .collect(engine="streaming")
        .to_dicts()
        == [{"grade": row["grade"]} for row in duck if row["age"] == "23"][-2:]
    )
    assert (
        lazy.head(3).collect().to_dicts()
        == by_duckdb("FROM sample_copula('m', 3, seed := 7)")
        == duck[:3]
    )
    assert by_duckdb("FROM sample_copula('m', 5000)") != duck


def test_shares_of_pairs_are_those_of_the_model() -> None:
    frame = people()
    fitted("m", frame, ["age", "grade"], ordered=["age", "grade"])
    sql = """SELECT age, grade, count(*) / 2e5 AS share, cell_probability('m', age, grade) AS q
        FROM sample_copula('m', 2e5) GROUP BY ALL"""
    for row in by_duckdb(sql):
        assert row["share"] == pytest.approx(row["q"], abs=5 * (row["q"] / 2e5) ** 0.5 + 1e-5)


def test_a_view_over_it_is_a_population_that_is_counted() -> None:
    fitted("m", people(), COLUMNS, ordered=COLUMNS)
    connection().execute("CREATE OR REPLACE TEMP VIEW town AS FROM sample_copula('m', 2000)")
    counted = by_duckdb(
        "SELECT records, uniqueness FROM risk_summary(town, ['age', 'sex', 'grade'])"
    )[0]
    forecast = by_duckdb("SELECT uniqueness FROM copula_forecast('m', [2000])")[0]["uniqueness"]
    assert (counted["records"], counted["uniqueness"]) == (2000, pytest.approx(forecast, abs=0.02))


def test_nothing_can_be_drawn() -> None:
    fitted("m", people(), COLUMNS)
    assert by_duckdb("FROM sample_copula('m', 0)") == []
    assert rp.sample_copula("m", 0).collect().shape == (0, 3)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("'mm', 5", "model must be a fitted model, got 'mm'; did you mean 'm'?"),
        (
            "'m', -1",
            "n must be a whole number of records from 0 to 1e+12, got -1; pass how many to draw",
        ),
        ("'m', NULL", "n must be a whole number of records from 0 to 1e+12, got NULL"),
        ("'m', 5, seed := -2", "seed must be a whole number from 0 to 2147483646, got -2"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    fitted("m", people(), COLUMNS)
    with pytest.raises(duckdb.Error) as refused:
        by_duckdb(f"FROM sample_copula({call})")
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")
