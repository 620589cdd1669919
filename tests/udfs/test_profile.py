"""The profile of a table's columns: every figure as in a loop over its values, on every way to ask."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reid_sql
import reid_sql.polars as rp
from reid_sql.errors import ReidError
from reid_sql.models.columns.missing_value_codes import NUMBER_AMONG_TEXTS
from tests.tables import by_both, by_duckdb, by_polars, frames, key

MARKS = [
    "?",
    "N/A",
    "unknown",
    "",
    " ",
    "-1",
    "9",
    "99",
    "9999-99-99",
    "1900-01-01",
    "a",
    "A",
    "07",
    "3",
    "4",
    None,
]
FIGURES = ("records", "distinct_values", "uniqueness", "separation", "entropy_bits", "missing")


def figures(values: list[Any]) -> tuple[Any, ...]:
    """What a person counts who goes through the values and through all pairs of them."""
    keys, records = [key(value) for value in values], len(values)
    counts = Counter(keys)
    pairs = [left != right for left, right in combinations(keys, 2)]
    return (
        records,
        len({each for each, value in zip(keys, values, strict=True) if value is not None}),
        sum(count == 1 for count in counts.values()) / records,
        sum(pairs) / len(pairs) if pairs else None,
        math.fsum(float(Fraction(n, records)) * math.log2(records / n) for n in counts.values()),
        values.count(None) / records,
    )


def of(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(
        None if row[name] is None else pytest.approx(row[name], rel=1e-9, abs=1e-12)
        for name in FIGURES
    )


@settings(max_examples=15)
@given(frames(min_rows=1))
def test_every_figure_is_that_of_a_loop(frame: pl.DataFrame) -> None:
    expected = {name: figures(frame[name].to_list()) for name in frame.columns}
    named = by_both("profile", {"t": frame}, frame.columns)
    for answer in (
        *named,
        by_duckdb("FROM profile(t)", t=frame),
        rp.profile(frame).collect().to_dicts(),
    ):
        assert [row["column_name"] for row in answer] == frame.columns
        assert {row["column_name"]: of(row) for row in answer} == expected
        assert {(row["records_dropped"], row["nulls"]) for row in answer} == {(0, "value")}


@given(st.lists(st.sampled_from(MARKS), min_size=1, max_size=30))
def test_marks_come_with_the_records_that_hold_them(values: list[str | None]) -> None:
    frame = pl.DataFrame({"c": pl.Series(values, dtype=pl.String)})
    first, second = (answer[0] for answer in by_both("profile", {"t": frame}, ["c"]))
    assert first == second
    reported = dict(zip(first["sentinels"], first["sentinel_records"], strict=True))
    numbers = [value for value in values if value in {"07", "3", "4"}]
    are_few = 0 < len(set(numbers)) < len(set(values) & {"a", "A"})  # among texts
    assert reported.pop(NUMBER_AMONG_TEXTS, 0) == (len(numbers) if are_few else 0)
    assert reported == {mark: values.count(mark) for mark in reported}
    always = {"?", "N/A", "unknown", "", " ", "9999-99-99", "1900-01-01"}
    assert {mark for mark in values if mark in always} == set(reported) & always
    assert not set(reported) & {"a", "A", "07", "3", "4", None}


@pytest.mark.parametrize("count", [1, 70])
def test_all_columns_are_profiled_however_many_there_are(count: int) -> None:
    frame = pl.DataFrame({f"c{place}": [1, 1, 2] for place in range(count)})
    for answer in (by_duckdb("FROM profile(t)", t=frame), rp.profile(frame).collect().to_dicts()):
        assert [row["column_name"] for row in answer] == frame.columns
        assert {row["uniqueness"] for row in answer} == {1 / 3}


def test_odd_names_and_values_meet_nothing_of_ours() -> None:
    names = [
        "place",
        "t",
        "n",
        "reid_name",
        "reid_value",
        'say "a"',
        "column_name",
        "it's",
        "select",
        "q1",
    ]
    frame = pl.DataFrame({name: ["12:?", "?", "?"] for name in names})
    asked = [by_duckdb("FROM profile(t)", t=frame), *by_both("profile", {"t": frame}, names)]
    for answer in asked:
        assert [row["column_name"] for row in answer] == names
        assert {
            (*row["sentinels"], *row["sentinel_records"], row["distinct_values"]) for row in answer
        } == {("?", 2, 2)}


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ("['agee']", "columns must be columns of the table, got 'agee'; did you mean 'age'?"),
        ("[]", "columns must name 1 to 64 columns, got 0"),
        ("['age', 'age']", "columns must be distinct, got 'age' twice"),
    ],
)
def test_columns_that_are_none_are_refused(
    con: duckdb.DuckDBPyConnection, columns: str, sentence: str
) -> None:
    con.execute("CREATE TABLE t AS SELECT 1 AS age")
    with pytest.raises(duckdb.Error) as refused:
        con.execute(f"FROM profile(t, {columns})").fetchall()
    assert sentence in str(refused.value)
    with pytest.raises(ReidError) as refused_in_polars:
        rp.profile(pl.DataFrame({"age": [1]}), eval(columns)).collect()  # noqa: S307 - the list above
    assert sentence in str(refused_in_polars.value)


@pytest.mark.parametrize("columns", ["", ", ['age']"])
def test_an_empty_table_has_no_profile(con: duckdb.DuckDBPyConnection, columns: str) -> None:
    con.execute("CREATE TABLE t AS SELECT 1 AS age WHERE false")
    with pytest.raises(duckdb.Error, match="the table must contain at least one record, got 0"):
        con.execute(f"SELECT column_name FROM profile(t{columns})").fetchall()


@pytest.mark.parametrize("collation", ["NOCASE", "NFC"])
def test_a_collation_is_refused_here_too(con: duckdb.DuckDBPyConnection, collation: str) -> None:
    con.execute("CREATE TABLE t AS SELECT unnest(['a', 'A']) AS c")
    con.execute(f"SET default_collation = '{collation}'")
    for columns in ("", ", ['c']"):
        with pytest.raises(duckdb.Error, match="default_collation must be unset"):
            con.execute(f"FROM profile(t{columns})").fetchall()


def test_bytes_may_look_like_marks() -> None:
    frame = pl.DataFrame({"b": [b"", b"unknown", b"-1", b"a"]})
    for rows in (by_duckdb("FROM profile(t)", t=frame), by_polars("profile", frame)):
        assert [
            (row["column_type"], row["distinct_values"], row["uniqueness"]) for row in rows
        ] == [("other", 4, 1.0)]


@pytest.mark.all
def test_each_of_3000_columns_has_its_own_values() -> None:
    con = duckdb.connect(config={"threads": 4})
    reid_sql.register(con)
    kinds = [("integer", "INT"), ("text", "VARCHAR"), ("float", "DOUBLE")]
    of_column = [(f"c{i}", kinds[i % 3][0], 2 + i % 5) for i in range(3_000)]
    cells = [
        f"(i % {n})::{kinds[at % 3][1]} AS {name}" for at, (name, _, n) in enumerate(of_column)
    ]
    con.execute(f"CREATE TABLE wide AS SELECT {', '.join(cells)} FROM range(40) AS r(i)")
    figures = "column_name, column_type, distinct_values"
    for _ in range(12):  # DuckDB lists so many names in their order in most runs alone
        assert con.execute(f"SELECT {figures} FROM profile(wide)").fetchall() == of_column
