"""`reid-sql sql --plan`: the query that a call runs, without the table and without running it."""

from typing import Any

import duckdb
import pytest

import reid_sql
from reid_sql.engines.duckdb import plan
from reid_sql_udfs import declared
from tests.processes import command


@pytest.mark.parametrize(
    "call",
    [
        "risk_summary(people, ['age', 'sex'])",
        "risk_summary(people, ['age', 'sex'], threshold := 0.4, nulls := 'drop')",
        "FROM class_size_histogram('people', ['age', 'sex'], nulls := 'wildcard');",
        "journalist_risk(people, people, ['age'])",
        "l_diversity(people, ['age'], 'sex', variant := 'recursive', c := 2)",
        "attribute_risk(people, ['age', 'sex'], 2)",
        "pyc_fit(people, ['age', 'sex'])",
    ],
)
def test_the_query_answers_what_the_call_answers(call: str) -> None:
    shown, answered = both(call)
    assert shown == answered


@pytest.mark.parametrize(
    "call",
    [
        "pyc_fit(people, ['age'], by := ['sex'])",
        "risk_summary(people, ['age'], by := ['sex'])",
        "l_diversity(people, ['age'], 'sex', by := ['half'])",
    ],
)
def test_the_query_of_groups_answers_what_the_call_answers(call: str) -> None:
    shown, answered = both(call)
    assert sorted(shown, key=repr) == sorted(answered, key=repr)


def both(call: str) -> tuple[list[Any], list[Any]]:
    """What the shown query answers, and the call."""
    shown = plan(call, declared())
    with duckdb.connect() as con:
        con.execute(
            "CREATE TABLE people AS SELECT i % 2 AS half, i % 7 AS age, CASE WHEN i % 5 > "
            "0 THEN i % 3 END AS sex FROM range(50) t(i)"
        )
        reid_sql.register(con)
        asked = call.removeprefix("FROM ").removesuffix(";")
        return con.execute(shown).fetchall(), con.execute(f"FROM {asked}").fetchall()


def test_the_window_of_class_sizes_is_shown() -> None:
    assert plan("equivalence_class_size(age, sex)", declared()) == "count(*) OVER (PARTITION BY age, sex)"
    people = plan("equivalence_class_people(person, age, sex)", declared())
    assert people == "count(DISTINCT {'person': person}) OVER (PARTITION BY age, sex)"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            "risk_sumary(people, ['age'])",
            "--plan must be a call of a function, got 'risk_sumary'; did you mean 'risk_summary'?",
        ),
        ("people", "--plan must be a call of a function, got 'people'; write it like"),
        ("risk_summary(people, ['age'], treshold := 1)", "got 'treshold'; did you mean 'threshold'?"),
        (
            "risk_summary(people, ['age'], threshold := 3)",
            "threshold must be a risk between 0 and 1, got 3; pass",
        ),
        ("risk_summary(people, 'age')", "quasi-identifiers must be a list of column names, got age; write"),
        (
            "score_copula(people, 'm', 1000)",
            "--plan must be a call of a function that counts in a table, got 'score_copula'",
        ),
        (
            "risk_summary(people)",
            "entity := NULL, by := NULL), got 'risk_summary(people)'; pass all that has no default",
        ),
        ("equivalence_class_people(person)", "equivalence_class_people must be given 1 to 64 columns, got 0"),
        ("equivalence_class_size()", "equivalence_class_size must be given 1 to 64 columns, got 0"),
    ],
)
def test_what_has_no_plan_is_refused_in_one_sentence(call: str, words: str) -> None:
    done = command("sql", "--plan", call)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
