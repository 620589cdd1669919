from itertools import combinations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import by_both, by_duckdb, drop_nulls, frames, keys


@given(frames(min_rows=1, max_columns=4), st.sampled_from(["value", "drop"]), st.integers(1, 3))
def test_distinct_values_of_every_choice_of_columns_of_any_type(
    frame: pl.DataFrame, nulls: str, p: int
) -> None:
    rows = drop_nulls(keys(frame), nulls)
    if not rows or p > frame.width:
        return
    expected = {
        tuple(f"c{place + 1}" for place in places): len(
            {tuple(row[place] for place in places) for row in rows}
        )
        for places in combinations(range(frame.width), p)
    }
    for answer in by_both(
        "qar_risk", {"t": frame}, frame.columns, p=p, nulls=nulls, output="quasi_identifiers"
    ):
        assert {
            tuple(row["quasi_identifier"]): row["distinct_values"] for row in answer
        } == expected
        for row in answer:
            assert row["risk"] == row["distinct_values"] / len(rows)
            assert (row["records"], row["records_dropped"], row["nulls"]) == (
                len(rows),
                frame.height - len(rows),
                nulls,
            )


def test_engines_list_them_in_the_same_order() -> None:
    frame = pl.DataFrame(
        {
            "a": [1, 2, 3, None],
            "b": ["x", "x", "y", "y"],
            "c": [True, None, True, None],
            "d": [0.5, 0.5, 1, 2],
        }
    )
    duck, polars = by_both(
        "qar_risk", {"t": frame}, ["d", "c", "a", "b"], p=2, output="quasi_identifiers"
    )
    assert duck == polars
    assert duck[0] == {
        "quasi_identifier": ["d", "c"],
        "distinct_values": 4,
        "risk": 1.0,
        "records": 4,
        "status": "ok",
        "records_dropped": 0,
        "nulls": "value",
    }


def test_a_sample_is_the_same_in_either_engine() -> None:
    frame = pl.DataFrame({f"c{place}": [place % 3, 1, 2, place] for place in range(9)})
    duck, polars = by_both(
        "qar_risk", {"t": frame}, frame.columns, p=4, sample=20, seed=5, output="quasi_identifiers"
    )
    assert duck == polars
    assert {row["status"] for row in duck} == {
        "quasi_identifiers_drawn: measured on a sample of 20 of the 126 quasi-identifiers, seed 5"
    }


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "['a', 'b']",
            "p must be at most the 2 columns given, got 3; pass more columns or a smaller p",
        ),
        (
            "['a', 'zip'], p := 1",
            "columns must be columns of the table, got 'zip'; the columns are a, b",
        ),
        ("['a'], p := 0", "p must be a whole number of columns from 1 to 64, got 0"),
        (
            "['a'], p := 1, nulls := 'wildcard'",
            "nulls must be one of 'value', 'drop', got 'wildcard'",
        ),
        ("['a'], p := 1, nulls := 'drop'", "the table must contain at least one record, got 0"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    with pytest.raises(Exception, match="Invalid Input Error: ") as refused:
        by_duckdb(
            f"FROM qar_risk(t, {call}, output := 'quasi_identifiers')",
            t=pl.DataFrame({"a": [None, None], "b": [1, 2]}),
        )
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")
