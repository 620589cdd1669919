"""What the first tier leaves of tests/udfs/test_profile.py."""

import polars as pl
import pytest

from tests.tables import by_duckdb, by_polars


@pytest.mark.real_data
def test_adult_has_the_marks_that_its_makers_tell_of(adult: str) -> None:
    found = {row["column_name"]: row for row in by_duckdb(f"FROM profile('{adult}')")}
    marks = {
        name: (row["sentinels"], row["sentinel_records"])
        for name, row in found.items()
        if row["sentinels"]
    }
    assert marks == {
        "workclass": (["?"], [1836]),
        "occupation": (["?"], [1843]),
        "native_country": (["?"], [583]),
        "capital_gain": (["99999"], [159]),
    }
    assert found["fnlwgt"]["distinct_values"] == 21_648


@pytest.mark.real_data
def test_patients_of_mexico_whose_answers_are_97_98_and_99(adult: str) -> None:
    path = adult.replace("adult", "covid19_mx")
    columns = ["date_died", "pregnant", "diabetes", "age", "icu"]
    asked = by_duckdb(f"FROM profile('{path}', {columns})")
    assert [row["sentinels"] for row in asked] == [
        ["9999-99-99"],
        ["97", "98"],
        ["98"],
        [],
        ["97", "99"],
    ]
    truth = by_duckdb(
        f"SELECT count(*) FILTER (pregnant = 97) AS a, count(*) FILTER (pregnant = 98) AS b FROM '{path}'"
    )
    assert asked[1]["sentinel_records"] == list(truth[0].values())
    lazy = by_polars("profile", pl.scan_parquet(path), columns)
    assert [row["looks_like"] for row in lazy] == [
        "date",
        "category",
        "category",
        "number",
        "category",
    ]
