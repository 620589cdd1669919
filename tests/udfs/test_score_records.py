import duckdb
import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.models.copula.calibration import SampleUse
from tests.copulas import fitted, people
from tests.tables import by_duckdb

COLUMNS = ["age", "sex", "grade"]
FIT = {"p": "fit_people", "c": "fit_copula"}


@pytest.mark.parametrize("model", FIT)
@pytest.mark.parametrize("sample", ["ignored", "known"])
def test_it_has_the_scores_of_the_row_functions(model: str, sample: SampleUse) -> None:
    frame = people().with_row_index("row").cast({"row": pl.Int64})
    by_duckdb(f"FROM {FIT[model]}('{model}', t, {COLUMNS})", t=frame)
    getattr(rp, FIT[model])(model, frame, COLUMNS).collect()
    call = f"(t, '{model}', 5000, sample := '{sample}') ORDER BY row"
    found = by_duckdb(f"FROM score_records{call}", t=frame)
    lazy = rp.score_records(frame, model, 5000, sample).sort("row").collect().rows(named=True)
    for one, other in zip(found, lazy, strict=True):
        assert one == {
            n: pytest.approx(v, rel=1e-9) if isinstance(v, float) else v for n, v in other.items()
        }
    if sample == "ignored":
        xi = f"SELECT uniqueness_xi('{model}', 5000, age, sex, grade) AS xi FROM t ORDER BY row"
        want = [row["xi"] for row in by_duckdb(xi, t=frame)]
        assert [row["uniqueness_xi"] for row in found] == pytest.approx(want, abs=1e-9)
    else:
        assert all((row["uniqueness_xi"] == 0) == (row["class_size"] > 1) for row in found)


TOWN = pl.DataFrame(
    {
        "age": [20 + i % 40 for i in range(4000)],
        "sex": [("Homme", "Femme")[i // 40 % 2] for i in range(4000)],
    }
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
        assert (
            "unlike" not in row["status"] or row["uniqueness_xi"] == row["correctness_kappa"] == 1
        )
    assert all("unlike" in found[row]["status"] for row in (2, 3))
    scalar = f"uniqueness_xi('{model}', 1e5, age, sex) AS xi, correctness_kappa('{model}', 1e5, age, sex) AS kappa"
    for row, alone in zip(
        found, by_duckdb(f"SELECT {scalar} FROM t ORDER BY row", t=strangers), strict=True
    ):
        assert (alone["xi"], alone["kappa"]) == (row["uniqueness_xi"], row["correctness_kappa"])


@pytest.mark.parametrize("model", FIT)
def test_a_sample_that_is_the_population_is_counted(model: str) -> None:
    frame = people()
    by_duckdb(f"FROM {FIT[model]}('{model}', t, {COLUMNS})", t=frame)
    found = by_duckdb(f"FROM score_records(t, '{model}', {len(frame)}, sample := 'known')", t=frame)
    for row in found:
        assert row["uniqueness_xi"] == pytest.approx(float(row["class_size"] == 1), abs=1e-12)
        assert row["correctness_kappa"] == pytest.approx(1 / row["class_size"], rel=1e-9)


def test_it_keeps_the_columns_of_the_table() -> None:
    frame = people().with_row_index("q1").cast({"q1": pl.Int64})
    fitted("m", frame, COLUMNS)
    table = by_duckdb("FROM score_records(t, 'm', 1e4) ORDER BY q1", t=frame)
    rows = by_duckdb(
        """SELECT *, equivalence_class_size(age, sex, grade) AS class_size,
        cell_probability('m', age, sex, grade) AS q,
        uniqueness_xi('m', 1e4, age, sex, grade) AS xi, correctness_kappa('m', 1e4, age, sex, grade) AS kappa
        FROM t ORDER BY q1""",
        t=frame,
    )
    for scored, row in zip(table, rows, strict=True):
        assert {name: scored[name] for name in frame.columns} == {
            name: row[name] for name in frame.columns
        }
        assert scored["class_size"] == row["class_size"]
        assert (
            scored["cell_probability"],
            scored["uniqueness_xi"],
            scored["correctness_kappa"],
        ) == (
            row["q"],
            row["xi"],
            row["kappa"],
        )
    lazy = rp.score_records(frame, "m", 1e4).sort("q1").collect(engine="streaming")
    assert lazy.to_dicts() == table


def test_a_known_sample_knows_who_is_not_alone() -> None:
    frame = people()
    fitted("m", frame, COLUMNS)
    for row in by_duckdb("FROM score_records(t, 'm', 500, sample := 'known')", t=frame):
        assert (row["uniqueness_xi"] == 0) == (row["class_size"] > 1)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("t, 'mm', 10", "model must be a fitted model, got 'mm'; did you mean 'm'?"),
        ("t, 'm', 0", "population must be a number of people of at least 1"),
        (
            "t, 'm', 10, sample := 'knwn'",
            "sample must be one of 'ignored', 'known', got 'knwn'; did you mean 'known'?",
        ),
        ("(SELECT 1 AS age), 'm', 10", "Table function cannot contain subqueries"),
    ],
)
def test_bad_input_is_refused(call: str, sentence: str) -> None:
    fitted("m", people(), COLUMNS)
    with pytest.raises(duckdb.Error) as refused:
        by_duckdb(f"FROM score_records({call})", t=people())
    assert sentence in str(refused.value).splitlines()[0]


def test_a_table_that_lacks_a_column_of_the_model_is_refused() -> None:
    fitted("m", people(), COLUMNS)
    with pytest.raises(
        duckdb.Error, match="columns of the model must be columns of the table, got 'grade'"
    ):
        by_duckdb("FROM score_records(t, 'm', 10)", t=people().drop("grade"))
    assert by_duckdb("FROM score_records(t, 'm', 10)", t=people().head(0)) == []
