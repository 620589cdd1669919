import json

import duckdb
import pytest

from tests.copulas import fitted, people
from tests.tables import by_duckdb, by_polars


def test_engines_write_the_same_model() -> None:
    fitted("m", people(), ["sex", "age"])
    duck, polars = by_duckdb("FROM model_json('m')"), by_polars("model_json", "m")
    assert duck == polars
    content = json.loads(duck[0]["json"])
    assert (
        content["version"],
        content["records"],
        [column["name"] for column in content["columns"]],
    ) == (
        1,
        400,
        ["sex", "age"],
    )


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(duckdb.Error, match="model must be a fitted model, got 'nowhere'"):
        by_duckdb("FROM model_json('nowhere')")
