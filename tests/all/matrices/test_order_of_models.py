"""A fitted model is the same in whatever order the columns and rows came: its forecast, scores and draws."""

from typing import Any

import duckdb
import numpy as np
import pytest

import reid_sql
from tests.matrices.test_order import DIGITS_OF_FITTED, QI, TOWN, comparable

FITS = {
    "people": "fit_people('people', town, {qi})",
    "paper": "fit_copula('paper', town, {qi})",
    "calibrated": "fit_copula('calibrated', town, {qi}, method := 'calibrated')",
    "sharp": "fit_copula('sharp', town, {qi}, method := 'sharp')",
    "ordered": "fit_copula('ordered', town, {qi}, ordered := ['age'])",
}
VALUES = {"age": "33", "job": "4", "region": "a", "sex": "f"}


def ask(name: str, shuffle: int) -> dict[str, Any]:
    """Fit the model in an order, and ask all that a model answers."""
    generator = np.random.default_rng(shuffle)
    qi = generator.permutation(QI).tolist() if shuffle else QI
    rows = TOWN[generator.permutation(TOWN.height)] if shuffle else TOWN
    values = [VALUES[column] for column in qi]
    questions = {
        "scores": f"SELECT * EXCLUDE (income, weight) FROM score_records(town, '{name}', 1e5)",
        "profile": "SELECT * REPLACE (list_sort(attributes) AS attributes)"
        f" FROM uniqueness_profile('{name}', {values}, 1e5)",
    }
    if name != "people":
        questions["forecast"] = f"FROM copula_forecast('{name}', [500, 1e5])"
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.register("town", rows)
        con.execute(f"FROM {FITS[name].format(qi=qi)}").fetchall()
        return {
            question: comparable(con.sql(sql).to_arrow_table().to_pylist(), DIGITS_OF_FITTED)
            for question, sql in questions.items()
        }


@pytest.mark.parametrize("name", FITS)
def test_a_model_of_columns_in_another_order_answers_alike(name: str) -> None:
    expected = ask(name, 0)
    for shuffle in (2, 3):
        found = ask(name, shuffle)
        assert {each for each in expected if found[each] != expected[each]} == set()
