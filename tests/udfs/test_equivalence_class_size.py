import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reid_sql.polars as rp
from reid_sql.errors import ReidError
from reid_sql.parameters import MAX_COLUMNS
from reid_sql_udfs.equivalence_class_size import equivalence_class_size
from tests.tables import by_duckdb, class_sizes, frames, keys


@given(frames())
def test_both_engines_count_what_a_person_would_count(frame: pl.DataFrame) -> None:
    rows = keys(frame)
    expected = class_sizes(rows, rows, "value")
    listed = ", ".join(frame.columns)
    sql = f"SELECT row, equivalence_class_size({listed}) AS k FROM t ORDER BY row"
    assert [row["k"] for row in by_duckdb(sql, t=frame.with_row_index("row"))] == expected
    lazy = frame.lazy().select(rp.equivalence_class_size(*frame.columns))
    assert lazy.collect(engine="streaming")["equivalence_class_size"].to_list() == expected


@given(frames())
def test_one_struct_of_the_columns_counts_the_same(frame: pl.DataFrame) -> None:
    rows = keys(frame)
    expected = class_sizes(rows, rows, "value")
    sql = f"SELECT row, equivalence_class_size(row({', '.join(frame.columns)})) AS k FROM t ORDER BY row"
    assert [row["k"] for row in by_duckdb(sql, t=frame.with_row_index("row"))] == expected
    assert (
        frame.select(rp.equivalence_class_size(pl.struct(frame.columns)))[
            "equivalence_class_size"
        ].to_list()
        == expected
    )


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from("ab")), min_size=1))
def test_the_body_counts_the_same_on_arrays(rows: list[tuple[int, str]]) -> None:
    answer = equivalence_class_size(*(np.array(column) for column in zip(*rows, strict=True)))
    assert answer.tolist() == [rows.count(row) for row in rows]


@pytest.mark.parametrize("count", [1, 4, 5, 33, MAX_COLUMNS])
def test_up_to_64_columns(con: duckdb.DuckDBPyConnection, count: int) -> None:
    values = ", ".join(f"i % 2 AS c{place}" for place in range(count))
    listed = ", ".join(f"c{place}" for place in range(count))
    con.execute(f"CREATE TABLE t AS SELECT {values} FROM range(10) r(i)")
    answer = con.execute(f"SELECT DISTINCT equivalence_class_size({listed}) FROM t").fetchall()
    assert answer == [(5,)]
    frame = pl.DataFrame({f"c{place}": [i % 2 for i in range(10)] for place in range(count)})
    assert frame.select(rp.equivalence_class_size(*frame.columns).unique()).rows() == [(5,)]


def test_no_column_and_too_many_are_refused() -> None:
    for count in (0, MAX_COLUMNS + 1):
        with pytest.raises(ReidError, match=f"must name 1 to 64 columns, got {count}"):
            rp.equivalence_class_size(*(f"c{place}" for place in range(count)))


def test_columns_that_differ_in_one_place_or_are_swapped_stay_apart() -> None:
    n = 300
    sql = """SELECT max(k) AS k FROM (SELECT equivalence_class_size(a, b, c, d, e, b::VARCHAR) AS k
             FROM range(300) x(a), range(300) y(b), (SELECT 'x' AS c, 1.5 AS d, NULL AS e))"""
    assert by_duckdb(sql) == [{"k": 1}]
    grid = pl.DataFrame({"a": range(n)}).join(pl.DataFrame({"b": range(n)}), how="cross")
    grid = grid.with_columns(c=pl.lit("x"), d=pl.lit(1.5), e=pl.lit(None))
    key: list[str | pl.Expr] = ["a", "b", "c", "d", "e", pl.col("b").cast(pl.String)]
    assert grid.select(rp.equivalence_class_size(*key).max()).item() == 1


def test_sums_of_sizes_do_not_overflow() -> None:
    frame = pl.DataFrame({"a": [1] * 70_000})
    assert frame.select(rp.equivalence_class_size("a").sum()).item() == 70_000**2
