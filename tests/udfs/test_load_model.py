import re
from pathlib import Path

import duckdb
import polars as pl
import pytest

import reid_sql
from reid_sql.errors import ReidError
from tests.copulas import fitted, people
from tests.tables import by_duckdb, by_polars, connection


@pytest.mark.parametrize("ending", ["json", "parquet", "csv"])
def test_a_model_outlives_its_session_in_a_file(tmp_path: Path, ending: str) -> None:
    fitted("m", people(), ["sex", "age"])
    file = tmp_path / f"models.{ending}"
    connection().execute(f"COPY (FROM model_json('m')) TO '{file}'")
    later = duckdb.connect()
    reid_sql.register(later)
    assert later.execute(f"SELECT model, records FROM load_model('m', '{file}')").fetchall() == [
        ("m", 400)
    ]
    asked = "SELECT uniqueness_xi('m', 1000, 'F', 25) AS xi"
    assert later.execute(asked).fetchall()[0][0] == by_duckdb(asked)[0]["xi"]


def test_a_table_of_models_gives_the_one_asked_for() -> None:
    fitted("m", people(), ["sex", "age"])
    saved = pl.DataFrame(by_duckdb("FROM model_json('m')"))
    assert by_duckdb("FROM load_model('m', t)", t=saved) == by_polars("load_model", "m", saved)
    for words, frame in (
        (
            "name must be a model of the table, got 'm'; the models are x",
            saved.with_columns(model=pl.lit("x")),
        ),
        (
            "a saved model must carry its own checksum",
            saved.with_columns(pl.col("json").str.replace("400", "401")),
        ),
        (
            "columns of the saved models must be columns of the table, got 'json'",
            saved.drop("json"),
        ),
    ):
        with pytest.raises(duckdb.Error) as refused:
            by_duckdb("FROM load_model('m', t)", t=frame)
        assert str(refused.value).startswith(f"Invalid Input Error: {words}")
        with pytest.raises(ReidError, match=f"^{re.escape(words)}"):
            by_polars("load_model", "m", frame)
