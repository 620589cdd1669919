from collections import Counter

import duckdb
import numpy as np
import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.errors import ReidError
from reid_sql.models.population.population_uniqueness import METHODS
from tests.tables import by_both, by_duckdb

RNG = np.random.default_rng(8)
TOWN = pl.DataFrame(
    {
        "age": [None if age > 70 else int(age) for age in RNG.geometric(0.06, 900)],
        "income": np.round(RNG.normal(0, 2, 900)),  # minus nought among them
        "zip": [f"0{zip_code}" for zip_code in RNG.integers(10, 22, 900)],
    }
)
QI = ["age", "income", "zip"]
OPTIONS = {
    "fractions": [0.3],
    "samples": 2,
    "methods": ["people", "bound", "loglinear_nb", "copula"],
}


@pytest.mark.parametrize("nulls", ["value", "drop"])
@pytest.mark.first(cells=1)
def test_engines_answer_alike_whatever_the_order_of_rows(nulls: str) -> None:
    duck, polars = by_both("validate_risk", {"t": TOWN}, QI, nulls=nulls, **OPTIONS)
    turned = by_both("validate_risk", {"t": TOWN.reverse()}, QI, nulls=nulls, **OPTIONS)[0]
    assert len(duck) == len(polars) == len(turned) > 40
    for one, other, third in zip(duck, polars, turned, strict=True):
        for name, value in one.items():
            expected = pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
            assert other[name] == expected
            assert third[name] == expected


def test_all_methods_are_asked_where_none_is_named() -> None:
    for answer in by_both("validate_risk", {"t": TOWN.head(60)}, QI, samples=1):
        assert list(dict.fromkeys(row["method"] for row in answer)) == list(METHODS)
        assert {row["fraction"] for row in answer} == {0.5}


def test_the_truth_is_that_of_a_loop() -> None:
    classes = Counter(TOWN.with_columns(pl.col("income") + 0.0).rows())
    rows = by_duckdb(f"FROM validate_risk(t, {QI}, [0.3], 1, methods := ['pyc'])", t=TOWN)
    reported = {row["figure"]: row["truth"] for row in rows if row["sample"] == 1}
    assert reported["uniqueness"] == pytest.approx(
        sum(size == 1 for size in classes.values()) / 900
    )
    assert reported["correctness"] == pytest.approx(len(classes) / 900)


def test_dropped_records_are_counted() -> None:
    rows = by_duckdb(
        f"FROM validate_risk(t, {QI}, [0.3], 1, methods := ['bound'], nulls := 'drop')", t=TOWN
    )
    dropped = TOWN["age"].null_count()
    assert {row["records_dropped"] for row in rows} == {dropped}
    assert rows[0]["counted"] == round(0.3 * (900 - dropped))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "['age'], [0.01]",
            "fractions must leave samples of at least 50 records, got 0.01 of 900 records; pass",
        ),
        ("['age'], [1.5]", "fractions must be a share of the records above 0 and below 1, got 1.5"),
        (
            "['age'], samples := 0",
            "samples must be a whole number of samples from 1 to 1000, got 0",
        ),
        ("['age'], methods := ['peple']", "methods must be one of 'people', 'bound', 'zayatz'"),
        (
            "['agee']",
            "quasi-identifiers must be columns of the table, got 'agee'; did you mean 'age'",
        ),
        ("['age'], nulls := 'wildcard'", "nulls must be one of 'value', 'drop', got 'wildcard'"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    with pytest.raises(duckdb.Error) as refused:
        by_duckdb(f"FROM validate_risk(t, {call})", t=TOWN)
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(duckdb.Error, match="the table must contain at least one record"):
        by_duckdb("FROM validate_risk(t, ['age'])", t=TOWN.head(0))
    with pytest.raises(
        (ReidError, pl.exceptions.ComputeError), match="the table must contain at least one record"
    ):
        rp.validate_risk(TOWN.head(0), ["age"]).collect()
