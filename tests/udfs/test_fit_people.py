import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.errors import ReidError
from tests.copulas import people
from tests.tables import by_duckdb, by_polars

COLUMNS = ["age", "sex", "grade"]


@pytest.mark.parametrize(
    "options",
    ["", ", nominal := ['age']", ", ordered := ['grade']", ", nulls := 'drop'", ", weight := 'w'"],
)
def test_engines_fit_the_same_model(options: str) -> None:
    frame = people().with_columns(w=pl.col("age") / 10)
    named = dict(part.split(" := ") for part in options.strip(", ").split(", ") if part)
    given = {
        name: [value.strip("[]'")] if value.startswith("[") else value.strip("'")
        for name, value in named.items()
    }
    by_duckdb(f"FROM fit_people('m', t, {COLUMNS}{options})", t=frame)
    rp.fit_people("m", frame, COLUMNS, **given).collect()  # type: ignore[arg-type]
    for name in ("cell_probability('m'", "uniqueness_xi('m', 1e5", "correctness_kappa('m', 1e5"):
        duck = by_duckdb(f"SELECT {name}, age, sex, grade) AS q FROM t", t=frame)
        body = getattr(rp, name.partition("(")[0])
        own = [1e5] if "1e5" in name else []
        polars = frame.select(body("m", *own, *COLUMNS).alias("q")).to_dicts()
        assert [row["q"] for row in duck] == pytest.approx([row["q"] for row in polars], rel=1e-6)


def test_the_row_says_what_was_fitted() -> None:
    frame = people()
    row = by_duckdb(f"FROM fit_people('m', t, {COLUMNS}, nulls := 'drop')", t=frame)[0]
    dropped = frame["sex"].null_count()
    assert (row["records"], row["records_dropped"], row["nulls"]) == (
        400 - dropped,
        dropped,
        "drop",
    )
    assert (row["model"], row["columns"]) == ("m", COLUMNS)
    risk = by_duckdb(f"FROM population_risk(t, {COLUMNS}, [1e5], nulls := 'drop')", t=frame)[0]
    # a doubt of the model is one of every figure
    assert set(row["status"].split("; ")) - {"ok"} <= set(risk["status"].split("; "))
    assert "age" in row["ordered"]
    assert "sex" not in row["ordered"]
    assert len(row["tree"]) == 3
    polars = by_polars("fit_people", "m", frame, COLUMNS, nulls="drop")[0]
    assert row == {
        name: pytest.approx(v) if isinstance(v, float) else v for name, v in polars.items()
    }


def test_it_is_known_by_its_name_like_a_copula() -> None:
    frame = people()
    by_duckdb(f"FROM fit_people('m', t, {COLUMNS})", t=frame)
    reported = by_duckdb("FROM fitted_models() WHERE model = 'm'")[0]
    assert (reported["method"], reported["records"], reported["strongest"]) == ("people", 400, None)
    forecast = by_duckdb("FROM copula_forecast('m', [400, 1e6])")
    counted = frame.select(rp.equivalence_class_size(*COLUMNS) == 1).to_series().mean()
    assert forecast[0]["uniqueness"] == pytest.approx(counted)
    assert forecast[1]["uniqueness"] < forecast[0]["uniqueness"]
    scored = by_duckdb("SELECT * FROM score_records(t, 'm', 1e5, sample := 'known')", t=frame)
    assert len(scored) == 400
    assert all(row["uniqueness_xi"] == 0 for row in scored if row["class_size"] > 1)


def test_a_kept_model_has_no_record_and_scores_the_same() -> None:
    frame = people()
    rp.fit_people("m", frame, COLUMNS).collect()
    saved = rp.model_json("m").collect()
    before = frame.select(rp.uniqueness_xi("m", 1e5, *COLUMNS)).to_series()
    assert rp.load_model("m", saved).collect()["method"].to_list() == ["people"]
    after = frame.select(rp.uniqueness_xi("m", 1e5, *COLUMNS)).to_series()
    assert after.to_list() == pytest.approx(before.to_list(), abs=1e-5)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("'', t, ['sex']", "name must be a name of 1 to 200 characters, got ''; choose one"),
        (
            "'m', t, ['sxe']",
            "quasi-identifiers must be columns of the table, got 'sxe'; did you mean 'sex'?",
        ),
        (
            "'m', t, ['sex'], ordered := ['agee']",
            "ordered and nominal must name columns of the model, got 'agee'",
        ),
        (
            "'m', t, ['age'], weight := 'sex'",
            "weight must be a number of at least 0 for every record",
        ),
        (
            "'m', t, ['sex'], nulls := 'wildcard'",
            "nulls must be one of 'value', 'drop', got 'wildcard'",
        ),
        ("'m', t, ['sex'], seed := -1", "seed must be a whole number from 0 to 2147483646, got -1"),
    ],
)
def test_refusals(call: str, sentence: str) -> None:
    with pytest.raises(Exception, match=sentence.replace("?", "[?]")):
        by_duckdb(f"FROM fit_people({call})", t=people())


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(ReidError, match="the table must contain at least one record"):
        rp.fit_people("m", people().clear(), COLUMNS).collect()
