import duckdb
import numpy as np
import polars as pl
import pytest
from scipy import stats

import reid_sql
import reid_sql.polars as rp
from tests.tables import by_both, by_duckdb

TOWN = pl.DataFrame(
    {
        "age": [20, 20, 30, 30, None, 40],
        "sex": ["F", "F", "F", "M", "M", None],
        "weight": [10.0, 30.0, 4.0, 1.0, 2.5, 1e6],
        "id": [3, 1, 4, 2, 5, 9],
    }
)
QI = ["age", "sex"]


def by_hand(records: int, weight: float) -> float:
    others = np.arange(100_000)
    return float((stats.nbinom.pmf(others, records, records / weight) / (records + others)).sum())


def test_the_risk_of_each_record_follows_from_its_class_and_weights() -> None:
    expected = [
        by_hand(2, 40),
        by_hand(2, 40),
        by_hand(1, 4),
        1.0,
        by_hand(1, 2.5),
        1e-6 / (1 - 1e-6) * np.log(1e6),
    ]
    for answer in by_both("individual_risk", {"t": TOWN}, QI, weight="weight"):
        assert [line["record"] for line in answer] == list(range(6))
        assert [line["risk"] for line in answer] == pytest.approx(expected, rel=1e-7)
        assert [line["population_class_size"] for line in answer] == [40, 40, 4, 1, 2.5, 1e6]
        assert [line["benedetti_franconi_sum"] for line in answer] == pytest.approx(
            [sum(expected)] * 6
        )


def test_without_weights_it_is_one_over_the_class() -> None:
    for answer in by_both("individual_risk", {"t": TOWN}, QI, nulls="drop"):
        assert [(line["record"], line["risk"]) for line in answer] == [
            (0, 0.5),
            (1, 0.5),
            (2, 1.0),
            (3, 1.0),
        ]
        assert {line["records_dropped"] for line in answer} == {2}


def test_records_are_named_by_their_key_and_the_forms_are_near() -> None:
    exact, near = (
        by_both("individual_risk", {"t": TOWN}, QI, weight="weight", key="id", form=form)
        for form in ("exact", "approximate")
    )
    for answer in (*exact, *near):
        assert [line["record"] for line in answer] == [1, 2, 3, 4, 5, 9]
    assert exact[0][0]["risk"] == pytest.approx(near[0][0]["risk"], rel=0.04)


@pytest.mark.parametrize("weight", [0.0, -1.0, None, float("nan"), float("inf")])
def test_bad_weights_are_refused(weight: float | None) -> None:
    frame = TOWN.with_columns(
        pl.when(pl.col("id") == 9).then(pl.lit(weight)).otherwise("weight").alias("weight")
    )
    sentence = "weight must be a number above 0 for every record, got a missing"
    with pytest.raises(duckdb.Error, match=sentence):
        by_duckdb("FROM individual_risk(t, ['age'], weight := 'weight')", t=frame)
    with pytest.raises((ValueError, pl.exceptions.ComputeError), match=sentence):
        rp.individual_risk(frame, ["age"], weight="weight").collect()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "['age'], weight := 'wieght'",
            (
                "quasi-identifiers, weight and key must be columns of the table, "
                "got 'wieght'; did you mean 'weight'?"
            ),
        ),
        (
            "['age'], form := 'exakt'",
            "form must be one of 'exact', 'approximate', got 'exakt'; did you mean 'exact'?",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    with pytest.raises(duckdb.Error) as refused:
        by_duckdb(f"FROM individual_risk(t, {call})", t=TOWN)
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(duckdb.Error, match="the table must contain at least one record"):
        by_duckdb("FROM individual_risk(t, ['age'])", t=TOWN.head(0))


SCENARIO = "{'groups': [{'columns': ['a'], 'probability': 1}], 'population': 9}"


@pytest.mark.parametrize(
    ("key", "rule"),
    [
        ("pair", "key must differ between records, got a value that occurs more than once; pass"),
        ("hole", "key must have a value in every row, got none .* of 'hole' in 2 of 6 rows; "),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        "individual_risk(t, ['a', 'b'], key := '$key')",
        "loglinear_risk(t, ['a', 'b'], 0.1, key := '$key')",
        f"adversary_risk(t, {SCENARIO}, 100, 0, '$key')",
    ],
)
def test_a_key_that_names_two_records_is_refused(call: str, key: str, rule: str) -> None:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute("""CREATE TABLE t AS SELECT i % 3 AS a, i % 2 AS b, i // 2 AS pair,
            CASE WHEN i > 1 THEN i END AS hole FROM range(6) AS r(i)""")
        with pytest.raises(duckdb.Error, match=rule):
            con.execute(f"SELECT count(*) FROM {call.replace('$key', key)}").fetchall()


def test_polars_refuses_such_a_key() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2], "id": [7, 7, 8]})
    with pytest.raises(ValueError, match="key must differ between records, got a value"):
        rp.individual_risk(frame, ["a"], key="id").collect()
