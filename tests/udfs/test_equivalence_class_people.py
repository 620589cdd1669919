"""How many people share each record's values: the same as in a loop, and no constant in place of a column."""

import random
from collections import defaultdict
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reid_sql.polars as rp
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.parameters import MAX_COLUMNS
from reid_sql_udfs.equivalence_class_people import equivalence_class_people
from reid_sql_udfs.equivalence_class_size import equivalence_class_size
from tests.tables import by_duckdb, frames, keys

ANY: Any = rp


def people(keyed: list[tuple[Any, ...]], persons: list[Any]) -> list[int]:
    """The people of each record's class, one after another."""
    classes = defaultdict(set)
    for row, person in zip(keyed, persons, strict=True):
        classes[row].add(person)
    return [len(classes[row]) for row in keyed]


@given(frames(), st.randoms(use_true_random=False))
def test_both_engines_count_what_a_loop_counts(frame: pl.DataFrame, rng: random.Random) -> None:
    persons = [rng.choice([0, 1, 2, 3, 4]) for _ in range(len(frame))]
    table = frame.with_columns(pl.Series("person", persons, dtype=pl.Int64))
    expected = people(keys(frame), persons)
    listed = ", ".join(frame.columns)
    sql = f"SELECT row, equivalence_class_people(person, {listed}) AS k FROM t ORDER BY row"
    assert [row["k"] for row in by_duckdb(sql, t=table.with_row_index("row"))] == expected
    lazy = table.lazy().select(rp.equivalence_class_people("person", *frame.columns))
    assert lazy.collect(engine="streaming")["equivalence_class_people"].to_list() == expected
    by_option = table.select(rp.equivalence_class_size(*frame.columns, entity="person"))
    assert by_option["equivalence_class_size"].to_list() == expected


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from("ab")), min_size=1))
def test_the_body_counts_the_same_on_arrays(rows: list[tuple[int, int, str]]) -> None:
    persons, *columns = (np.array(column) for column in zip(*rows, strict=True))
    expected = people([row[1:] for row in rows], [row[0] for row in rows])
    assert equivalence_class_people(persons, *columns).tolist() == expected


@pytest.mark.parametrize("count", [1, 4, 5, 16, 33, MAX_COLUMNS])
def test_up_to_64_columns(con: duckdb.DuckDBPyConnection, count: int) -> None:
    values = ", ".join(f"i % 2 AS c{place}" for place in range(count))
    listed = ", ".join(f"c{place}" for place in range(count))
    con.execute(f"CREATE TABLE t AS SELECT {values}, i // 4 AS p FROM range(12) r(i)")
    answer = con.execute(f"SELECT DISTINCT equivalence_class_people(p, {listed}) FROM t").fetchall()
    assert answer == [(3,)]


def test_five_visits_of_lone_people_are_one_person_each(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "CREATE TABLE visits AS SELECT i // 5 AS person, i // 5 AS age FROM range(485) r(i)"
    )
    counted = "equivalence_class_people(person, age)"
    asked = f"SELECT person, {counted} AS k FROM visits QUALIFY k = 1 ORDER BY k, person"
    assert len(con.execute(asked).fetchall()) == 485


@pytest.mark.parametrize("values", ["1.5::DOUBLE, 1.5, 0.0, -0.0", "'a', 'A', 'a ', 'a'"])
def test_people_are_distinguished_as_groups_are(
    con: duckdb.DuckDBPyConnection, values: str
) -> None:
    con.execute(f"CREATE TABLE t AS SELECT unnest([{values}]) AS person, 1 AS one")
    (expected,) = con.execute(
        "SELECT count(*) FROM (SELECT person FROM t GROUP BY person)"
    ).fetchall()
    assert con.execute(
        "SELECT DISTINCT equivalence_class_people(person, one) FROM t"
    ).fetchall() == [expected]
    frame = pl.DataFrame(con.sql("FROM t").to_arrow_table())
    assert frame.select(rp.equivalence_class_people("person", "one").unique()).rows() == [expected]


@pytest.mark.parametrize("none", ["'NaN'::DOUBLE, 1.5", "'a', NULL", "NULL::DATE, '2000-01-01'"])
def test_a_row_of_nobody_is_refused(con: duckdb.DuckDBPyConnection, none: str) -> None:
    con.execute(f"CREATE TABLE t AS SELECT unnest([{none}]) AS person, 1 AS one")
    with pytest.raises(
        duckdb.Error, match="entity must have a value in every row, got one without"
    ):
        con.execute(
            "SELECT equivalence_class_people(person, one) AS k FROM t QUALIFY k < 5"
        ).fetchall()
    frame = pl.DataFrame(con.sql("FROM t").to_arrow_table())
    with pytest.raises(OutOfDomainError, match=r"none .NULL or NaN. of 'person' in 1 of 2 rows"):
        frame.select(rp.equivalence_class_people("person", "one"))


@pytest.mark.parametrize("given_", ["'person', age", "person, 'age'", "person, ['age']", "1, age"])
def test_what_is_no_column_is_refused(con: duckdb.DuckDBPyConnection, given_: str) -> None:
    con.execute("CREATE TABLE t AS SELECT 1 AS person, 2 AS age")
    with pytest.raises(
        duckdb.ConversionException,
        match=r"equivalence_class_people must be given columns, got .*\(person_id, age, sex",
    ):
        con.execute(f"SELECT equivalence_class_people({given_}) FROM t").fetchall()


@pytest.mark.parametrize("given_", ["age, sex, age", "age, AGE", "t.age, age"])
def test_an_entity_among_the_quasi_identifiers_is_refused(
    con: duckdb.DuckDBPyConnection, given_: str
) -> None:
    con.execute("CREATE TABLE t AS SELECT 1 AS sex, 2 AS age")
    with pytest.raises(
        duckdb.ConversionException, match="entity must not be a quasi-identifier, got 'age'"
    ):
        con.execute(f"SELECT equivalence_class_people({given_}) FROM t").fetchall()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: rp.equivalence_class_people("age", "sex", "age"),
            "entity must not be a quasi-identifier, got 'age'",
        ),
        (
            lambda: rp.equivalence_class_people(pl.col("age"), pl.col("age")),
            "entity must not be a quasi-identifier",
        ),
        (
            lambda: ANY.equivalence_class_people(None, "sex"),
            "entity must be the column that identifies people, got",
        ),
        (lambda: rp.equivalence_class_people(pl.lit(1), "sex"), "a constant"),
        (lambda: rp.equivalence_class_people("age"), "must name 1 to 64 columns, got 0"),
    ],
)
def test_polars_refuses_what_sql_refuses(call: Any, message: str) -> None:
    with pytest.raises(ReidError, match=message):
        call()


def test_one_row_a_person_is_a_count_of_rows() -> None:
    ages = [30, 30, 41, 41, 41]
    alone = equivalence_class_people([*range(5)], ages).tolist()
    assert alone == equivalence_class_size(ages).tolist() == [2, 2, 3, 3, 3]
