import duckdb
import mpmath
import polars as pl
import pytest

import reid_sql.polars as rp
from tests.copulas import fitted, people
from tests.tables import by_duckdb

COLUMNS = ["age", "sex", "grade"]


def test_it_is_the_chance_that_nobody_else_has_these_values() -> None:
    frame = people()
    fitted("m", frame, COLUMNS)
    sql = (
        "SELECT cell_probability('m', age, sex, grade) AS q, uniqueness_xi('m', "
        "5000, age, sex, grade) AS xi FROM t"
    )
    for row in by_duckdb(sql, t=frame):
        assert row["xi"] == pytest.approx(float((1 - mpmath.mpf(row["q"])) ** 4999), rel=1e-9)


def test_engines_agree_and_null_is_a_value() -> None:
    frame = people().with_columns(n=pl.when(pl.col("age") > 25).then(pl.lit(1000.0)))
    model = fitted("m", frame, COLUMNS)
    duck = [
        row["xi"] for row in by_duckdb("SELECT uniqueness_xi('m', n, age, sex, grade) AS xi FROM t", t=frame)
    ]
    lazy = frame.lazy().select(rp.uniqueness_xi(model, "n", *COLUMNS)).collect(engine="streaming")
    assert duck == lazy["uniqueness_xi"].to_list()
    assert [xi is None for xi in duck] == (frame["age"] <= 25).to_list()


def test_a_sure_stranger_is_unique() -> None:
    fitted("m", people(), COLUMNS)
    assert by_duckdb("SELECT uniqueness_xi('m', 1e6, 25, 'new', 6) AS xi")[0]["xi"] == 1.0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("'mm', 10, 25, 'F', 6", "model must be a fitted model, got 'mm'; did you mean 'm'?"),
        ("'m', 0.5, 25, 'F', 6", "population must be a number of people of at least 1"),
        (
            "'m', 10, 25, 'F'",
            "the columns must be the 3 of the model (age, sex, grade), got 2; pass them in this order",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    fitted("m", people(), COLUMNS)
    with pytest.raises(duckdb.Error, match="Invalid Input Error: ") as refused:
        by_duckdb(f"SELECT uniqueness_xi({call})")
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")
