"""No setting of DuckDB changes an answer: each that there is leaves it as it is, or has it refused.

A few that bend what SQL means are tried in each run, all with REID_SQL_SETTINGS=all.
"""

import math
import os
from collections.abc import Iterator
from typing import Any, Final

import duckdb
import pytest

import reid_sql
from tests.cells import each_cell

pytestmark = pytest.mark.first(name=["default_null_order", "default_order", "threads"])

BENDING: Final = (
    "TimeZone",
    "arrow_large_buffer_size",
    "arrow_lossless_conversion",
    "arrow_output_list_view",
    "default_collation",
    "default_null_order",
    "default_order",
    "disabled_optimizers",
    "ieee_floating_point_ops",
    "integer_division",
    "order_by_non_integer_literal",
    "preserve_insertion_order",
    "regex_match_operator_semantics",
    "scalar_subquery_error_on_multiple_rows",
    "threads",
)
LACKED_SINCE: Final = {"regex_match_operator_semantics": (2, 0, 1)}  # by these versions of DuckDB
# What a server is told at its start, what cannot be taken back, and where files are.
APART: Final = {
    "allow_community_extensions",
    "duckdb_api",
    "lock_configuration",
    "enable_external_access",
    "disabled_filesystems",
    "username",
}
WORDS: Final = {
    "TimeZone": ["America/New_York", "Asia/Kolkata"],
    "Calendar": ["buddhist"],
    "allow_extension_repositories": [],  # only ever allowed
    "arrow_output_version": ["1.4", "1.5"],
    "default_collation": ["NOCASE", "NFC"],
    "default_null_order": ["NULLS FIRST", "NULLS_FIRST_ON_ASC_LAST_ON_DESC"],
    "default_order": ["DESC"],
    "disabled_optimizers": [
        "filter_pushdown",
        "join_order,statistics_propagation,unused_columns,cte_inlining",
    ],
    "enable_profiling": [],  # it writes to the terminal
    # of few nothing can be said any more, nor can it be taken back
    "max_expression_depth": ["100"],
    "memory_limit": ["300MB"],
    "null_order": ["NULLS FIRST"],
    "regex_match_operator_semantics": ["full"],
    "search_path": ["main"],
}
QUESTIONS: Final = (
    "SELECT id, equivalence_class_size(age, sex) AS k FROM people ORDER BY id ASC",
    "SELECT id, equivalence_class_size(age, sex, born, l, s, tz, d) AS k FROM people ORDER BY id ASC",
    "SELECT * FROM equivalence_classes(people, ['age', 'sex']) ORDER BY ALL ASC NULLS LAST",
    "FROM class_size_histogram(people, ['age', 'sex', 'born', 'l', 's', 'tz', 'd'])",
    "FROM class_size_histogram(people, ['age', 'sex'], nulls := 'wildcard')",
    "FROM risk_summary(people, ['age', 'sex'], threshold := 0.3)",
    "FROM attribute_risk(people, ['age', 'sex', 'born']) ORDER BY columns ASC",
    "FROM l_diversity(people, ['sex'], 'age', variant := 'recursive')",
    "FROM t_closeness(people, ['sex'], 'age', variant := 'ordered')",
    "SELECT pyc_share(3.0, 0.3, 1000, 'uniqueness'), cell_risk(0.01, 101)",
    "FROM loglinear_risk(people, ['age', 'sex'], 0.01, key := 'id') ORDER BY record ASC",
    "FROM qar_risk(people, ['age', 'born', 'd'], p := 2, key := 'id', output := 'contributions') ORDER BY record ASC",
    "SELECT id, uniqueness_xi FROM score_records(people, 'm', 1000) ORDER BY id ASC",
    "SELECT id, uniqueness_xi('m', 1000, age, sex) FROM people ORDER BY id ASC",
    "FROM risk_summary(people, ['age', 'd'], entity := 'born', by := ['sex']) ORDER BY sex ASC NULLS LAST",
    "FROM journalist_risk(people, people, ['age', 'sex', 's', 'l'])",
    "SELECT id, equivalence_class_people(born, age, sex) AS k FROM people ORDER BY id ASC",
    "FROM suda_scores(people, ['age', 'd', 'born', 'tz'], key := 'id', output := 'subsets') ORDER BY ALL ASC",
    "FROM suda_scores(people, ['age', 'd', 'born', 'tz'], key := 'id') ORDER BY record ASC",
    "FROM population_risk(people, ['age', 'sex', 'd'], [1000])",
    "FROM profile(people, ['age', 'sex', 'd', 'born']) ORDER BY ALL ASC NULLS LAST",
    "FROM compare(people, people, ['age', 'sex', 'd'], key := 'id')",
    "FROM adversary_risk(people, {'population': 99, 'groups': [{'columns': ['age'], 'probability': 0.5}]})",
)
REFUSED: Final = {"default_collation", "max_execution_time", "max_expression_depth"}


def settings() -> list[tuple[str, str]]:
    with duckdb.connect() as con:
        found = con.execute(
            "SELECT name, input_type FROM duckdb_settings() ORDER BY name"
        ).fetchall()
    every = os.environ.get("REID_SQL_SETTINGS") == "all"
    return [
        (name, kind) for name, kind in found if name not in APART and (every or name in BENDING)
    ]


def values(name: str, kind: str) -> list[str]:
    """Values to try; a text without any is no word that bends an answer."""
    if name in WORDS:
        return [f"'{word}'" for word in WORDS[name]]
    if kind == "BOOLEAN":
        return ["true", "false"]
    if kind in {"BIGINT", "UBIGINT", "DOUBLE"}:
        return ["1"] if "threads" in name else ["0", "1", "100"]
    return []


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("""CREATE TABLE people AS SELECT i AS id, (i * i) % 7 AS age,
            0.5::DECIMAL(4, 2) + (i % 2) AS d,
            CASE WHEN i % 5 > 0 THEN 'ab' || (i % 3) END AS sex, DATE '2020-01-01' + (i % 3)::INT AS born,
            [i % 2, NULL] AS l, {'x': i % 2, 'y': NULL} AS s,
            TIMESTAMPTZ '2020-01-01 00:00:00+00' + INTERVAL (i % 3) DAY AS tz FROM range(61) AS t(i)""")
        reid_sql.register(connection)
        connection.execute("FROM fit_copula('m', people, ['age', 'sex'])").fetchall()
        yield connection


@pytest.fixture(scope="module")
def usual(con: duckdb.DuckDBPyConnection) -> list[Any]:
    return [con.execute(question).fetchall() for question in QUESTIONS]


def near(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (
            math.isnan(one) and math.isnan(other)
        )
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(near, one, other))
    return bool(one == other)


def answered(con: duckdb.DuckDBPyConnection, question: str) -> Any:
    """The rows, or what the refusal says."""
    try:
        return con.execute(question).fetchall()
    except duckdb.Error as refusal:
        return str(refusal)


@pytest.mark.newest
def test_what_bends_is_among_the_settings() -> None:
    version = tuple(int(part) for part in duckdb.__version__.split(".")[:3])
    lacked = {name for name, since in LACKED_SINCE.items() if version >= since}
    assert set(BENDING) - lacked <= {name for name, _ in settings()}


@each_cell("name, kind", settings())
def test_no_setting_changes_an_answer(
    con: duckdb.DuckDBPyConnection, usual: list[Any], name: str, kind: str
) -> None:
    for value in values(name, kind):
        try:
            con.execute(f"SET {name} = {value}")
        except duckdb.Error:
            continue  # it cannot be set while the database runs, or not to this
        try:
            found = [answered(con, question) for question in QUESTIONS]
        finally:
            con.execute(f"RESET {name}")
        bent = [
            (value, question, answer)
            for question, answer, expected in zip(QUESTIONS, found, usual, strict=True)
            if not (isinstance(answer, str) and name in REFUSED) and not near(answer, expected)
        ]
        assert bent == []
