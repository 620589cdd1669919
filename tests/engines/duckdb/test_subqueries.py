"""Calls within other statements: scalar subqueries, UPDATE, DELETE. They answer, or DuckDB refuses."""

import duckdb
import pytest

import reid_sql


@pytest.fixture
def con() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute(
        "CREATE TABLE people AS SELECT i AS id, i % 4 AS age, i % 3 AS sex, 0 AS k FROM range(22) t(i)"
    )
    con.execute("CREATE TABLE other AS SELECT 1 AS x FROM range(2)")
    return con


SMALLEST = "SELECT min(n) FROM (SELECT count(*) AS n FROM people GROUP BY age, sex)"
SCALAR = [  # next to the same by hand; a table of the outer query is named by a text
    ("SELECT (SELECT k FROM risk_summary(people, ['age', 'sex']))", f"SELECT ({SMALLEST})"),
    (
        "SELECT x, (SELECT k FROM risk_summary(people, ['age', 'sex'])) FROM other",
        f"SELECT x, ({SMALLEST}) FROM other",
    ),
    (
        "SELECT count(*) FROM people WHERE age >= (SELECT k FROM risk_summary('people', ['age', 'sex']))",
        f"SELECT count(*) FROM people WHERE age >= ({SMALLEST})",
    ),
    (
        "SELECT x, r.k FROM other, LATERAL (FROM risk_summary('people', ['age', 'sex'])) AS r",
        f"SELECT x, ({SMALLEST}) FROM other",
    ),
    (
        "SELECT (SELECT max(k) FROM (SELECT equivalence_class_size(age, sex) AS k FROM people))",
        "SELECT max(n) FROM (SELECT count(*) AS n FROM people GROUP BY age, sex)",
    ),
]


@pytest.mark.parametrize(("asked", "by_hand"), SCALAR)
@pytest.mark.parametrize("nulls", ["", ", nulls := 'drop'"])
def test_a_scalar_subquery_answers(
    con: duckdb.DuckDBPyConnection, asked: str, by_hand: str, nulls: str
) -> None:
    asked = asked.replace("'sex'])", f"'sex']{nulls})")
    assert con.execute(asked).fetchall() == con.execute(by_hand).fetchall()


UPDATES = [
    (
        "UPDATE people SET k = c.k FROM (SELECT id, equivalence_class_size(age, sex) AS k FROM people) AS c "
        "WHERE c.id = people.id"
    ),
    (
        "UPDATE people SET k = c.class_size FROM equivalence_classes('people', ['age', 'sex']) AS c "
        "WHERE c.age = people.age AND c.sex = people.sex"
    ),
    "CREATE OR REPLACE TABLE people AS SELECT * REPLACE (equivalence_class_size(age, sex) AS k) FROM people",
]


@pytest.mark.parametrize("update", UPDATES)
def test_class_sizes_are_put_into_a_table(con: duckdb.DuckDBPyConnection, update: str) -> None:
    con.execute(update)
    due = "SELECT id, count(*) OVER (PARTITION BY age, sex) FROM people ORDER BY id"
    assert (
        con.execute("SELECT id, k FROM people ORDER BY id").fetchall()
        == con.execute(due).fetchall()
    )


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE people SET k = equivalence_class_size(age, sex)",
        "DELETE FROM people WHERE equivalence_class_size(age, sex) < 2",
        "SELECT id FROM people WHERE equivalence_class_size(age, sex) < 2",
        "CREATE INDEX sizes ON people (equivalence_class_size(age))",
        "SELECT max(equivalence_class_size(age, sex)) FROM people",
    ],
)
def test_where_sql_has_no_windows_duckdb_says_so(
    con: duckdb.DuckDBPyConnection, statement: str
) -> None:
    """A class size is counted over the rows of a SELECT. Nothing is changed."""
    before = con.execute("FROM people ORDER BY id").fetchall()
    with pytest.raises(duckdb.BinderException, match="window function"):
        con.execute(statement)
    assert con.execute("FROM people ORDER BY id").fetchall() == before
