"""`reid-sql sql CALL`: the query that a call runs, without the table and without running it."""

import re
import sqlite3
import sys
from contextlib import closing
from typing import Any

import duckdb
import pytest

import reid_sql
from reid_sql.engines.duckdb.plain_sql import plain_sql
from reid_sql.errors import ReidError
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.processes import command

PEOPLE = """SELECT i % 2 AS half, i % 7 AS age, CASE WHEN i % 5 > 0 THEN i % 3 END AS sex, i % 20 AS id
    FROM range(50) t(i)"""
CALLS = [
    "risk_summary(people, ['age', 'sex'])",
    "reid.risk_summary(main.people, ['age', 'sex'], threshold := 0.4, nulls := 'drop')",
    "FROM class_size_histogram('people', ['age', 'sex']);",
    "class_size_histogram(\"my people\", 'age')",
    "equivalence_classes(people, ['age', 'sex'])",
    "journalist_risk(people, people, ['age'])",
    "l_diversity(people, ['age'], 'sex')",
    "l_diversity(people, ['age'], 'sex', 'entropy', nulls := 'drop')",
    "l_diversity(people, ['age'], 'sex', variant := 'recursive', c := 2)",
    "t_closeness(people, ['age'], 'sex')",
    "t_closeness(people, ['age'], 'sex', 'ordered', nulls := 'drop')",
    "attribute_disclosure(people, ['age'], 'sex', measure := 'alpha_k_anonymity')",
    "attribute_disclosure(people, ['age'], 'sex', measure := 'beta_likeness')",
    "attribute_disclosure(people, ['age'], 'half', measure := 'delta_disclosure')",
    "disclosing_classes(people, ['age'], 'sex', threshold := 4)",
    "attribute_risk(people, ['age', 'sex'], 2)",
    "risk_summary(people, ['age'], entity := 'id')",
]
BY_GROUP = [
    "risk_summary(people, ['age'], by := ['sex'])",
    "l_diversity(people, ['age'], 'sex', by := ['half'])",
    "class_size_histogram(people, ['age'], by := ['sex'])",
]
IN_SQLITE = [call for call in CALLS if not re.search("attribute|delta|ordered", call)]


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    made = duckdb.connect(config={"threads": 1})
    made.execute(f"CREATE TABLE people AS {PEOPLE}")
    made.execute('CREATE TABLE "my people" AS FROM people')
    reid_sql.register(made)
    return made


@each_cell("call", [*CALLS, *BY_GROUP])
def test_the_query_answers_what_the_call_answers(con: duckdb.DuckDBPyConnection, call: str) -> None:
    query = plain_sql(call, declared())
    assert "query_table" not in query
    asked = call.removeprefix("FROM ").removesuffix(";")
    with duckdb.connect(config={"threads": 1}) as alone:
        alone.execute(f"CREATE TABLE people AS {PEOPLE}")
        alone.execute('CREATE TABLE "my people" AS FROM people')
        shown = alone.execute(query)
        columns, rows = [column[0] for column in shown.description or ()], shown.fetchall()
    answered = con.execute(f"FROM {asked}")
    assert columns == [column[0] for column in answered.description or ()]
    assert sorted(rows, key=repr) == sorted(answered.fetchall(), key=repr)


@pytest.mark.parametrize("call", CALLS[:3])
def test_a_column_that_the_table_lacks_is_refused(call: str) -> None:
    query = plain_sql(call.replace("'age'", "'aged'"), declared())
    with duckdb.connect() as alone:
        alone.execute(f"CREATE TABLE people AS {PEOPLE}")
        with pytest.raises(duckdb.BinderException, match='does not have a column named "aged"'):
            alone.execute(query)


@pytest.mark.parametrize(
    ("call", "query"),
    [
        ("equivalence_class_size(age, sex)", "count(*) OVER (PARTITION BY age, sex)"),
        (
            "equivalence_class_size(age, coalesce(sex, 'a, b'))",
            "count(*) OVER (PARTITION BY age, coalesce(sex, 'a, b'))",
        ),
    ],
)
def test_the_window_of_class_sizes_is_shown(call: str, query: str) -> None:
    assert plain_sql(call, declared()) == query


def test_the_window_of_people_counts_them_and_refuses_a_row_of_nobody() -> None:
    query = plain_sql("equivalence_class_people(person, age, sex)", declared())
    with duckdb.connect() as alone:
        alone.execute("CREATE TABLE visits (person INT, age INT, sex TEXT)")
        alone.execute(
            "INSERT INTO visits VALUES (1, 30, 'F'), (1, 30, 'F'), (2, 30, 'F'), (3, 40, 'M')"
        )
        assert alone.execute(
            f"SELECT {query} AS people FROM visits ORDER BY people"
        ).fetchall() == [
            (1,),
            (2,),
            (2,),
            (2,),
        ]
        alone.execute("INSERT INTO visits VALUES (NULL, 40, 'M')")
        with pytest.raises(duckdb.Error, match="entity must have a value in every row"):
            alone.execute(f"SELECT {query} FROM visits").fetchall()


@pytest.mark.parametrize(
    "call",
    [
        "cell_risk(0.01, 101)",
        "cell_risk(p, n, 'correctness')",
        "cell_risk(p, n + 1, 'correctness_of_uniqueness')",
    ],
)
def test_closed_forms_are_written_out(con: duckdb.DuckDBPyConnection, call: str) -> None:
    values = "(SELECT unnest([0, 1e-12, 0.3, 0.9, 1, NULL]) AS p), (SELECT unnest([1, 2, 54805, NULL]) AS n)"
    expected = con.execute(f"SELECT {call} FROM {values}").fetchall()
    with duckdb.connect() as alone:
        query = plain_sql(call, declared())
        assert alone.execute(f"SELECT {query} FROM {values}").fetchall() == expected
        assert alone.execute(f"SELECT {query} FROM (SELECT 2 AS p, 0 AS n)").fetchall()[0][0] in {
            None,
            expected[0][0],
        }


@each_cell("call", IN_SQLITE)
def test_another_database_answers_the_same(con: duckdb.DuckDBPyConnection, call: str) -> None:
    """SQLite, in its own dialect, which has no types of its own."""
    with closing(sqlite3.connect(":memory:")) as lite:
        for table in ("people", '"my people"'):
            lite.execute(
                f"CREATE TABLE {table} (half INTEGER, age INTEGER, sex INTEGER, id INTEGER)"
            )
            lite.executemany(
                f"INSERT INTO {table} VALUES (?, ?, ?, ?)", con.execute(PEOPLE).fetchall()
            )
        found = lite.execute(plain_sql(call, declared(), "sqlite")).fetchall()
    expected = con.execute(f"FROM {call.removeprefix('FROM ').removesuffix(';')}").fetchall()
    assert [len(row) for row in found] == [len(row) for row in expected]
    for row, other in zip(sorted(found, key=repr), sorted(expected, key=repr), strict=True):
        for cell, own in zip(row, other, strict=True):
            assert cell == (pytest.approx(own, rel=1e-12) if isinstance(own, float) else own)


@each_cell("call", [*CALLS, "safe_table(people, ['age', 'sex'], k := 11)"])
@each_cell("dialect", ["postgres", "snowflake"])
def test_a_call_is_written_or_refused_for_what_it_is(call: str, dialect: str) -> None:
    """No refusal names an option that the call has not; it names the function that DuckDB alone has."""
    causes = {
        "safe_table": "got safe_table, which is for DuckDB alone",
        "'ordered'": "ASOF JOIN; run",
    }
    cause = next((words for part, words in causes.items() if part in call), None)
    if cause is None:
        assert plain_sql(call, declared(), dialect).startswith(("SELECT", "WITH"))
        return
    with pytest.raises(ReidError, match=cause):
        plain_sql(call, declared(), dialect)


def test_without_sqlglot_another_dialect_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(
        ReidError, match=r"must have sqlglot, got none; pip install 'reid-sql\[ibis\]'"
    ):
        plain_sql(CALLS[0], declared(), "snowflake")


LIKE = "the call must be like risk_summary(tbl, qi, threshold := 0.2"
PYTHON = "which needs Python; `reid-sql query file.sql` runs it"


@each_cell(
    "words, sentence",
    [
        (["risk_sumary(people, ['age'])"], "got 'risk_sumary'; did you mean 'risk_summary'?"),
        (["people"], "the call must be one call of a function, got 'people'; write it like"),
        (
            ["risk_summary(a, ['x']) UNION FROM risk_summary(b, ['y'])"],
            "must be one call of a function, got",
        ),
        (
            ["risk_summary(people, ['age'], treshold := 1)"],
            "got 'treshold'; did you mean 'threshold'?",
        ),
        (
            ["risk_summary(people, ['a'], threshold := 3)"],
            "must be a risk between 0 and 1, got 3; pass",
        ),
        (
            ["risk_summary(people, 42)"],
            "quasi-identifiers must be a list of column names, got 42; write",
        ),
        (["risk_summary(people)"], LIKE),
        (["risk_summary((SELECT 1), ['age'])"], LIKE),
        (["risk_summary(read_csv('/etc/passwd'), ['age'])"], LIKE),
        (["score_records(people, 'm', 1000)"], f"got score_records, {PYTHON}"),
        (["pyc_fit(people, ['age'])"], f"got pyc_fit, {PYTHON}"),
        (["risk_summary(t, ['age'], nulls := 'wildcard')"], PYTHON),
        (["attribute_risk(t, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'])"], PYTHON),
        (
            ["equivalence_class_people(person)"],
            "equivalence_class_people must be given 1 to 64 columns, got 0",
        ),
        (
            ["equivalence_class_size()"],
            "equivalence_class_size must be given 1 to 64 columns, got 0",
        ),
        (
            ["cell_risk(0.1)"],
            "the call must be like cell_risk(p, n), got",
        ),
        (
            ["risk_summary(t, ['a'], by := ['b'])", "--dialect", "postgres"],
            "SQL of postgres must be written without",
        ),
        (
            ["risk_summary(t, ['a'])", "--dialect", "snowflak"],
            "got 'snowflak'; did you mean 'snowflake'?",
        ),
        (
            ["--dialect", "snowflake"],
            "--dialect must be given with a call, got snowflake without one; write",
        ),
        (
            ["risk_summary(t, ['a'])", "--permanent", "x"],
            "a call must be given alone, got --permanent too",
        ),
    ],
)
def test_what_has_no_plain_sql_is_refused_in_one_sentence(words: list[str], sentence: str) -> None:
    done = command("sql", *words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_command_prints_the_query() -> None:
    done = command("sql", "risk_summary(people, ['age'])", "--dialect", "snowflake")
    assert done.stdout.startswith("SELECT\n  *\nFROM (")
    shown: Any = command("sql", "equivalence_class_size(age, sex)").stdout
    assert shown == "count(*) OVER (PARTITION BY age, sex)\n"
