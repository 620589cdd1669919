import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.models.copula.calibration import SampleUse
from tests.copulas import people
from tests.tables import by_duckdb

COLUMNS = ["age", "sex", "grade"]
FIT = {"p": "fit_people", "c": "fit_copula"}


@pytest.mark.parametrize("model", FIT)
@pytest.mark.parametrize("sample", ["ignored", "known"])
def test_it_says_what_the_row_functions_and_the_old_name_say(model: str, sample: SampleUse) -> None:
    frame = people().with_row_index("row").cast({"row": pl.Int64})
    by_duckdb(f"FROM {FIT[model]}('{model}', t, {COLUMNS})", t=frame)
    getattr(rp, FIT[model])(model, frame, COLUMNS).collect()
    call = f"(t, '{model}', 5000, sample := '{sample}') ORDER BY row"
    found = by_duckdb(f"FROM score_records{call}", t=frame)
    assert found == by_duckdb(f"FROM score_copula{call}", t=frame)
    lazy = rp.score_records(frame, model, 5000, sample).sort("row").collect().rows(named=True)
    for one, other in zip(found, lazy, strict=True):
        assert one == {n: pytest.approx(v, rel=1e-9) if isinstance(v, float) else v for n, v in other.items()}
    if sample == "ignored":
        xi = f"SELECT uniqueness_xi('{model}', 5000, age, sex, grade) AS xi FROM t ORDER BY row"
        want = [row["xi"] for row in by_duckdb(xi, t=frame)]
        assert [row["uniqueness_xi"] for row in found] == pytest.approx(want, abs=1e-9)
    else:
        assert all((row["uniqueness_xi"] == 0) == (row["class_size"] > 1) for row in found)


TOWN = pl.DataFrame(
    {"age": [20 + i % 40 for i in range(4000)], "sex": [("Homme", "Femme")[i // 40 % 2] for i in range(4000)]}
)
# What the sample does not contain: an age next to the greatest and one far off, a misspelt sex, both.
STRANGERS = pl.DataFrame(
    {"age": ["30", "60", "100000", "thirty", "30", "60"], "sex": ["Homme"] * 4 + ["Hommme"] * 2}
)
NAMED = ["", "age", "age", "age", "sex", "age sex"]


@pytest.mark.parametrize("model", FIT)
def test_a_value_that_the_sample_lacks_is_reported_on_every_engine(model: str) -> None:
    getattr(rp, FIT[model])(model, TOWN, ["age", "sex"]).collect()
    by_duckdb(f"FROM {FIT[model]}('{model}', t, ['age', 'sex'])", t=TOWN)
    strangers = STRANGERS.with_row_index("row").cast({"row": pl.Int64})
    found = by_duckdb(f"FROM score_records(t, '{model}', 1e5) ORDER BY row", t=strangers)
    assert found == rp.score_records(strangers, model, 1e5).sort("row").collect().to_dicts()
    assert [row["status"] == "ok" for row in found] == [True] + [False] * 5
    for row, names in zip(found, NAMED, strict=True):
        assert all(name in row["status"] for name in names.split())
        assert "unlike" not in row["status"] or row["uniqueness_xi"] == row["correctness_kappa"] == 1
    assert all("unlike" in found[row]["status"] for row in (2, 3))
    scalar = (
        f"uniqueness_xi('{model}', 1e5, age, sex) AS xi, correctness_kappa('{model}', 1e5, age, sex) AS kappa"
    )
    for row, alone in zip(found, by_duckdb(f"SELECT {scalar} FROM t ORDER BY row", t=strangers), strict=True):
        assert (alone["xi"], alone["kappa"]) == (row["uniqueness_xi"], row["correctness_kappa"])


@pytest.mark.parametrize("model", FIT)
def test_a_sample_that_is_the_population_is_counted(model: str) -> None:
    frame = people()
    by_duckdb(f"FROM {FIT[model]}('{model}', t, {COLUMNS})", t=frame)
    found = by_duckdb(f"FROM score_records(t, '{model}', {len(frame)}, sample := 'known')", t=frame)
    for row in found:
        assert row["uniqueness_xi"] == pytest.approx(float(row["class_size"] == 1), abs=1e-12)
        assert row["correctness_kappa"] == pytest.approx(1 / row["class_size"], rel=1e-9)
