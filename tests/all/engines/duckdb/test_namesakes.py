"""A user's macros named like DuckDB's functions, all of them at once: no answer changes, none fails.

DuckDB itself calls some functions by bare names: for a subscript, a field, a list, a row, a struct of a
table's row, UNPIVOT, a lambda of COLUMNS, and within macros of its own such as list_sum.
"""

from collections.abc import Iterator

import duckdb
import pytest

import reid_sql

PEOPLE = """CREATE TABLE people AS SELECT i % 7 AS age, CASE WHEN i % 5 > 0 THEN i % 3 END AS sex,
    (i % 4)::VARCHAR AS town, i // 2 AS home FROM range(61) t(i)"""
CALLS = [
    "FROM risk_summary(people, ['age', 'sex'])",
    "FROM risk_summary(people, ['age', 'sex'], by := ['town'])",
    "FROM risk_summary(people, ['age', 'sex'], entity := 'home')",
    "FROM risk_summary(people, ['age', 'sex'], nulls := 'wildcard')",
    "FROM l_diversity(people, ['sex'], 'age', variant := 'recursive')",
    "FROM attribute_disclosure(people, ['sex'], 'age', measure := 'beta_likeness')",
    "FROM attribute_risk(people, ['age', 'sex'])",
    "FROM equivalence_classes(people, ['age', 'sex']) ORDER BY ALL",
    "SELECT equivalence_class_size(age, sex) AS k FROM people ORDER BY k",
    "SELECT equivalence_class_people(home, age, sex) AS k FROM people ORDER BY k",
    "SELECT cell_risk(0.01, 101)",
    "FROM population_risk(people, ['age', 'sex'], [1000])",
    "FROM individual_risk(people, ['age', 'sex']) ORDER BY ALL",
    "FROM suda_scores(people, ['age', 'sex', 'town']) ORDER BY ALL",
    "FROM profile(people) ORDER BY ALL",
    "FROM journalist_risk(people, people, ['age'])",
    "FROM qar_risk(people, ['age', 'sex'], p := 1)",
    "FROM unicity(people, 'home', ['age', 'sex'])",
    "SELECT uniqueness_xi('m', 1000, age, sex) AS x FROM people ORDER BY x",
    "FROM score_records(people, 'm', 1000) ORDER BY ALL",
    "FROM quasi_identifiers(people) ORDER BY ALL",
    "FROM quasi_identifiers(people, entity := 'home') ORDER BY ALL",
]
FIT = "FROM fit_copula('m', people, ['age', 'sex'])"
# What a user calls without a name: a macro in its place changes the user's own words, before a call has them.
BY_SYNTAX = ("+", "-", "*", "/", "//", "%", "||", "~~", "!~~", "list_value", "row")
OF_ANY_NUMBER = "() AS {0}, (a) AS {0}, (a, b) AS {0}, (a, b, c) AS {0}, (a, b, c, d) AS {0}"


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(PEOPLE)
        yield connection


def namesakes(con: duckdb.DuckDBPyConnection, body: str) -> None:
    """Make a macro named like each function of DuckDB but its operators, lists, rows, and `query`."""
    named = con.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE internal"
    ).fetchall()
    names = {name for (name,) in named} - {*BY_SYNTAX, "query"}
    assert {"array_extract", "struct_extract", "struct_pack", "unpivot_list", "list_concat"} < names
    each = (f'CREATE MACRO "{name}"{OF_ANY_NUMBER.format(body)}' for name in sorted(names))
    con.execute(";".join(each))


def same(answers: list[tuple[object, ...]], expected: list[tuple[object, ...]]) -> bool:
    """Whether they are equal but for the rounding of sums, whose order is not fixed."""
    return len(answers) == len(expected) and all(
        one == (pytest.approx(other, rel=1e-9) if isinstance(other, float) else other)
        for row, known in zip(answers, expected, strict=True)
        for one, other in zip(row, known, strict=True)
    )


@pytest.mark.parametrize("body", ["1", "NULL", "'x'"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_no_macro_answers_for_a_function_of_duckdb(
    con: duckdb.DuckDBPyConnection, body: str, when: str
) -> None:
    with duckdb.connect() as plain:
        plain.execute(PEOPLE)
        reid_sql.register(plain)
        plain.execute(FIT).fetchall()
        expected = [plain.execute(call).fetchall() for call in CALLS]
    if when == "before":
        namesakes(con, body)
    reid_sql.register(con)
    if when == "after":
        namesakes(con, body)
    con.execute(FIT).fetchall()
    for call, known in zip(CALLS, expected, strict=True):
        assert same(con.execute(call).fetchall(), known), call
