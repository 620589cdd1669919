from tests.copulas import fitted, people
from tests.tables import by_duckdb, by_polars


def test_it_lists_what_was_fitted() -> None:
    fitted("z", people(), ["sex"])
    fitted("a", people(), ["sex", "age"])
    for answer in (by_duckdb("FROM fitted_models()"), by_polars("fitted_models")):
        names = [row["model"] for row in answer]
        assert names == sorted(names)
        assert {"a", "z"} <= set(names)
        assert next(row for row in answer if row["model"] == "a")["columns"] == ["sex", "age"]
