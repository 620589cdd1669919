import math

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import reid_sql.polars as rp
from reid_sql.errors import ReidError
from reid_sql.models.population.population_uniqueness import METHODS
from tests.tables import by_both, by_duckdb, by_polars, drop_nulls, frames, keys

TOWN = pl.DataFrame(
    {
        "age": [k % 37 for k in range(400)],
        "sex": [k * k % 7 % 2 for k in range(400)],
        "job": [k * k % 23 for k in range(400)],
    }
)
QI = ["age", "sex", "job"]


@pytest.mark.parametrize("method", ["all", "people", "pitman", "loglinear", "loglinear_nb", "snb"])
def test_engines_agree(method: str) -> None:
    duck, polars = by_both(
        "population_uniqueness", {"t": TOWN}, QI, population=10_000, method=method
    )
    assert [row["method"] for row in duck] == (list(METHODS) if method == "all" else [method])
    for one, other in zip(duck, polars, strict=True):
        for name, value in one.items():
            assert other[name] == (
                pytest.approx(value, rel=1e-4) if isinstance(value, float) else value
            )


@settings(max_examples=6)
@given(frames(min_rows=1))
def test_a_table_that_is_its_population_is_counted(frame: pl.DataFrame) -> None:
    for nulls in ("value", "drop"):
        rows = drop_nulls(keys(frame), nulls)
        if not rows:
            continue
        unique = sum(rows.count(row) == 1 for row in rows)
        for answer in by_both(
            "population_uniqueness", {"t": frame}, frame.columns, population=len(rows), nulls=nulls
        ):
            assert [row["unique_records"] for row in answer] == pytest.approx(
                [unique] * len(METHODS)
            )
            assert {row["records_dropped"] for row in answer} == {len(frame) - len(rows)}


def test_the_log_linear_row_is_the_sum_of_what_records_score() -> None:
    shares = {
        row["method"]: row["unique_records"]
        for row in by_duckdb(f"FROM population_uniqueness(t, {QI}, 4000)", t=TOWN)
    }
    found = by_polars("loglinear_risk", TOWN, QI, 0.1)[0]
    assert shares["loglinear"] == pytest.approx(10 * found["tau1"], rel=1e-3)
    assert shares["loglinear_nb"] == pytest.approx(10 * found["nb_tau1"], rel=1e-2)


def test_the_row_of_the_copula_is_the_forecast_of_the_fitted_model() -> None:
    by_duckdb(f"FROM fit_copula('town', t, {QI})", t=TOWN)
    expected = by_duckdb("FROM copula_forecast('town', [4000])")[0]
    for answer in by_both(
        "population_uniqueness", {"t": TOWN}, QI, population=4_000, method="copula"
    ):
        assert answer[0]["uniqueness"] == pytest.approx(expected["uniqueness"], rel=1e-6)
        for end in ("uniqueness_low", "uniqueness_high"):  # a copula has no interval
            assert answer[0][end] is None
            assert expected[end] is None


RNG = np.random.default_rng(5)
# more pairs of values than an engine hands over, and more records than are drawn
WIDE = pl.DataFrame(
    {
        "born": RNG.integers(0, 4_000, 30_000),
        "zip": RNG.integers(0, 3_000, 30_000).astype(str),
        "sex": RNG.integers(0, 2, 30_000),
    }
)


@pytest.mark.parametrize("method", ["all", "people"])
@pytest.mark.parametrize(
    ("frame", "qi"), [(TOWN, QI), (TOWN.head(60), QI), (WIDE, ["born", "zip", "sex"])]
)
@pytest.mark.first(cells=2)
def test_the_first_row_is_the_answer_of_population_risk(
    frame: pl.DataFrame, qi: list[str], method: str
) -> None:
    expected = by_both("population_risk", {"t": frame}, qi, populations=[200_000])
    found = by_both("population_uniqueness", {"t": frame}, qi, population=200_000, method=method)
    for rows, risk in zip(found, expected, strict=True):
        first = rows[0]
        assert first["method"] == "people"
        for name in ("uniqueness", "uniqueness_low", "uniqueness_high", "status"):
            assert first[name] == risk[0][name]
        assert first["unique_records"] == pytest.approx(200_000 * risk[0]["uniqueness"])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "['age'], 10",
            "population must be at least the 400 records of the sample, got 10; pass the size",
        ),
        (
            "['age'], 0.5",
            "population must be a number of people of at least 1 and at most 1e+15, got 0.5",
        ),
        ("['age'], 1e6, method := 'pitmann'", "method must be one of 'all', 'people', 'bound'"),
        (
            "['age'], 1e6, method := 'benedetti_franconi'",
            "method must be one of 'all', 'people', 'bound'",
        ),
        (
            "['age'], 1e6, nulls := 'wildcard'",
            "nulls must be one of 'value', 'drop', got 'wildcard'",
        ),
        (
            "['aeg'], 1e6",
            "quasi-identifiers must be columns of the table, got 'aeg'; did you mean 'age'?",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    with pytest.raises(duckdb.Error) as refused:
        by_duckdb(f"FROM population_uniqueness(t, {call})", t=TOWN)
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(duckdb.Error, match="the table must contain at least one record"):
        by_duckdb("FROM population_uniqueness(t, ['age'], 100)", t=TOWN.head(0))
    with pytest.raises(
        (ReidError, pl.exceptions.ComputeError), match="the table must contain at least one record"
    ):
        rp.population_uniqueness(TOWN.head(0), ["age"], 100).collect()


def test_one_record_and_odd_names() -> None:
    odd = pl.DataFrame({'a "quoted" name': ["x"], "method": [None]})
    for answer in by_both("population_uniqueness", {"t": odd}, odd.columns, population=50):
        assert len(answer) == len(METHODS)
        assert not any(
            math.isnan(row["uniqueness"]) for row in answer if row["uniqueness"] is not None
        )
