import duckdb
import polars as pl
import pytest

import reid_sql.polars as rp
from tests.copulas import fitted, people
from tests.tables import by_duckdb

COLUMNS = ["age", "sex", "grade"]


def test_it_says_what_the_row_functions_say_beside_every_row() -> None:
    frame = people().with_row_index("q1").cast({"q1": pl.Int64})
    fitted("m", frame, COLUMNS)
    table = by_duckdb("FROM score_copula(t, 'm', 1e4) ORDER BY q1", t=frame)
    rows = by_duckdb(
        """SELECT *, equivalence_class_size(age, sex, grade) AS class_size,
        cell_probability('m', age, sex, grade) AS q,
        uniqueness_xi('m', 1e4, age, sex, grade) AS xi, correctness_kappa('m', 1e4, age, sex, grade) AS kappa
        FROM t ORDER BY q1""",
        t=frame,
    )
    for scored, row in zip(table, rows, strict=True):
        assert {name: scored[name] for name in frame.columns} == {name: row[name] for name in frame.columns}
        assert scored["class_size"] == row["class_size"]
        assert (scored["cell_probability"], scored["uniqueness_xi"], scored["correctness_kappa"]) == (
            row["q"],
            row["xi"],
            row["kappa"],
        )
    lazy = rp.score_copula(frame, "m", 1e4).sort("q1").collect(engine="streaming")
    assert lazy.to_dicts() == table


def test_a_known_sample_knows_who_is_not_alone() -> None:
    frame = people()
    fitted("m", frame, COLUMNS)
    for row in by_duckdb("FROM score_copula(t, 'm', 500, sample := 'known')", t=frame):
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
        by_duckdb(f"FROM score_copula({call})", t=people())
    assert sentence in str(refused.value).splitlines()[0]


def test_a_table_that_lacks_a_column_of_the_model_is_refused() -> None:
    fitted("m", people(), COLUMNS)
    with pytest.raises(duckdb.Error, match="columns of the model must be columns of the table, got 'grade'"):
        by_duckdb("FROM score_copula(t, 'm', 10)", t=people().drop("grade"))
    assert by_duckdb("FROM score_copula(t, 'm', 10)", t=people().head(0)) == []
