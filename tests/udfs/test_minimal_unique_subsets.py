from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.errors import OutOfDomainError
from tests.singled import minimal, score
from tests.tables import by_both, by_duckdb, by_polars, frames, keys


@given(frames(min_rows=1, max_columns=5), st.sampled_from(["value", "drop"]), st.integers(1, 4))
def test_sets_of_columns_of_any_type(frame: pl.DataFrame, nulls: str, max_size: int) -> None:
    every = keys(frame)
    remaining = [place for place, row in enumerate(every) if nulls == "value" or None not in row]
    if not remaining:
        return
    sets = minimal([every[place] for place in remaining], max_size)
    expected = [
        (remaining[record], [f"c{place + 1}" for place in places], len(places))
        for record, places in sets
    ]
    for answer in by_both(
        "suda_scores",
        {"t": frame},
        frame.columns,
        nulls=nulls,
        max_size=max_size,
        output="subsets",
    ):
        assert [(row["record"], row["columns"], row["size"]) for row in answer] == expected
        for row in answer:
            assert row["score"] == pytest.approx(
                score(row["size"], frame.width, max_size), rel=1e-12
            )
            assert (row["records_dropped"], row["nulls"]) == (frame.height - len(remaining), nulls)


TOWN = pl.DataFrame(
    {
        "name": ["Ann", "Bo", "Cy", "Di"],
        "age": [30, 30, 30, 40],
        "sex": ["F", "M", None, "F"],
        "zip": ["1", "1", "1", "1"],
    }
)


def test_a_key_names_the_records_and_null_is_a_value_of_its_own() -> None:
    for answer in by_both(
        "suda_scores", {"t": TOWN}, ["age", "sex", "zip"], key="name", output="subsets"
    ):
        assert [(row["record"], row["columns"]) for row in answer] == [
            ("Ann", ["age", "sex"]),
            ("Bo", ["sex"]),
            ("Cy", ["sex"]),
            ("Di", ["age"]),
        ]


@pytest.mark.parametrize("output", ["scores", "subsets", "columns"])
def test_engines_agree_on_more_records_than_a_morsel(output: str) -> None:
    frame = pl.DataFrame({"a": [n % 997 for n in range(5000)], "b": [n % 13 for n in range(5000)]})
    frame = frame.with_columns(
        pl.Series("c", [None if n % 499 == 0 else n % 7 for n in range(5000)])
    )
    duck, polars = by_both("suda_scores", {"t": frame}, ["a", "b", "c"], output=output)
    assert duck
    assert duck == polars


def test_a_table_in_which_nobody_stands_out_has_no_rows() -> None:
    same = pl.DataFrame({"a": [1, 1], "b": ["x", "x"]})
    for output in ("scores", "subsets", "columns"):
        assert by_both("suda_scores", {"t": same}, ["a", "b"], output=output) == [[], []]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("['age', 'zap']", "columns must be columns of the table, got 'zap'; did you mean 'zip'?"),
        (
            "['age'], max_size := 0",
            "max_size must be a whole number of columns from 1 to 64, got 0",
        ),
        ("['age'], nulls := 'wildcard'", "nulls must be one of 'value', 'drop', got 'wildcard'"),
        (
            "['age'], key := 'age'",
            "key must differ between records, got a value that occurs more than once; pass",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    with pytest.raises(Exception, match="Invalid Input Error: ") as refused:
        by_duckdb(f"FROM suda_scores(t, {call}, output := 'subsets')", t=TOWN)
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")


@pytest.mark.parametrize(
    ("options", "sentence"), [({"max_size": 65}, "max_size must be"), ({"key": "age"}, "key must")]
)
def test_polars_refuses_alike(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises((OutOfDomainError, pl.exceptions.PolarsError), match=sentence):
        by_polars("suda_scores", TOWN, ["age"], **options, output="subsets")
