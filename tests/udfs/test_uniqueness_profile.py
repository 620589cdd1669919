from typing import Any

import duckdb
import polars as pl
import pytest

import reid_sql.polars as rp
from tests.copulas import people
from tests.tables import by_duckdb

COLUMNS = ["age", "sex", "grade"]
FIT = {"p": "fit_people", "c": "fit_copula"}


@pytest.mark.parametrize("model", FIT)
@pytest.mark.parametrize("person", ["'24', 'F', '6'", "'29', NULL, '7'", "'99', 'X', '1'"])
def test_all_attributes_score_as_uniqueness_xi_does(model: str, person: str) -> None:
    by_duckdb(f"FROM {FIT[model]}('{model}', t, {COLUMNS})", t=people())
    rows = by_duckdb(f"FROM uniqueness_profile('{model}', [{person}], 5000)")
    known = [row for row in rows if row["kind"] == "known"]
    assert [row["size"] for row in known] == [1, 1, 1, 2, 2, 2, 3]
    want = by_duckdb(
        f"SELECT uniqueness_xi('{model}', 5000, {person}) AS xi, "
        f"correctness_kappa('{model}', 5000, {person}) AS kappa"
    )[0]
    assert known[-1]["uniqueness_xi"] == pytest.approx(want["xi"], abs=1e-3)
    assert known[-1]["correctness_kappa"] == pytest.approx(want["kappa"], abs=1e-3)
    assert all(a["cell_probability"] >= known[-1]["cell_probability"] * (1 - 1e-9) for a in known)


@pytest.mark.parametrize("model", FIT)
def test_polars_answers_alike(model: str) -> None:
    by_duckdb(f"FROM {FIT[model]}('{model}', t, {COLUMNS})", t=people())
    getattr(rp, FIT[model])(model, people(), COLUMNS).collect()
    duck = by_duckdb(f"FROM uniqueness_profile('{model}', ['24', NULL, '6'], 5000, 2, 0.5)")
    person: list[Any] = ["24", None, "6"]
    polars = rp.uniqueness_profile(model, person, 5000, 2, 0.5).collect().rows(named=True)
    assert len(duck) == len(polars)
    for one, other in zip(duck, polars, strict=True):
        for name, value in one.items():
            assert other[name] == (
                pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
            )


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "'c', 'F', 100",
            "values must be a list of texts, got F; write a person's values like ['34', 'F', NULL]",
        ),
        ("'c', NULL, 100", "values must be a list of texts, got NULL; write a person's values"),
        (
            "'c', ['24'], 100",
            "values must be the 3 of the model's columns (age, sex, grade), got 1; pass them",
        ),
        ("'c', ['24', 'F', '6'], 0", "population must be a number of people of at least 1"),
        (
            "'c', ['24', 'F', '6'], 10, level := 2",
            "level must be a probability between 0 and 1, got 2",
        ),
        ("'nobody', ['24'], 10", "model must be a fitted model, got 'nobody'"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    by_duckdb(f"FROM fit_copula('c', t, {COLUMNS})", t=people())
    with pytest.raises(duckdb.Error) as refused:
        by_duckdb(f"FROM uniqueness_profile({call})")
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")


def test_it_is_a_frame() -> None:
    rp.fit_people("p", people(), COLUMNS).collect()
    frame = rp.uniqueness_profile("p", ["24", "F", "6"], 5000).collect()
    assert frame.schema["attributes"] == pl.List(pl.String)
    assert frame["kind"].unique(maintain_order=True).to_list() == ["known", "impact", "smallest"]


@pytest.mark.parametrize("model", FIT)
def test_scores_never_fall_with_one_more_attribute(model: str) -> None:
    """An attacker who knows more can do what one who knows less does."""
    by_duckdb(f"FROM {FIT[model]}('{model}', t, {COLUMNS})", t=people())
    for person in ("'24', 'F', '6'", "'29', NULL, '7'", "'99', 'X', '1'"):
        for population in (500, 1e5, 1e8):
            rows = by_duckdb(f"FROM uniqueness_profile('{model}', [{person}], {population})")
            known = {frozenset(row["attributes"]): row for row in rows if row["kind"] == "known"}
            impacts = [row["impact"] for row in rows if row["kind"] == "impact"]
            assert min(impacts) >= 0
            for fewer, one in known.items():
                for more, other in known.items():
                    if fewer < more:
                        assert one["uniqueness_xi"] <= other["uniqueness_xi"]
                        assert one["correctness_kappa"] <= other["correctness_kappa"]
