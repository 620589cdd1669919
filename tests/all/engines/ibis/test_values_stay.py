"""Which values leave a database: each statement that it was sent is read in its log, and run again."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pytest

import reid_sql
import reid_sql.ibis as ri
import reid_sql.polars as rp
from reid_sql.errors import ReidError
from reid_sql.reduction import Needs
from reid_sql_udfs import declared
from tests.cells import each_cell

TEXTS = ("place", "job", "sex")
NUMBERS = ("age", "person")
QI = ["age", "place", "sex"]
# for each function that needs less than values: a call
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "population_risk": lambda r, t: r.population_risk(t, QI, [10_000]),
    "population_uniqueness": lambda r, t: r.population_uniqueness(t, QI, 10_000),
    "validate_risk": lambda r, t: r.validate_risk(t, QI, fractions=[0.5], samples=1),
    "attribute_risk": lambda r, t: r.attribute_risk(t, QI),
    "qar_risk": lambda r, t: r.qar_risk(t, QI, p=2),
    "qar_risk_quasi_identifiers": lambda r, t: r.qar_risk(t, QI, p=2, output="quasi_identifiers"),
    "quasi_identifiers": lambda r, t: r.quasi_identifiers(t, QI),
    "unsafe_combinations": lambda r, t: r.unsafe_combinations(t, QI),
    "household_risk": lambda r, t: r.household_risk(t, "place", ["age", "sex"]),
    "unicity": lambda r, t: r.unicity(t, "person", ["place", "job"], points=[1]),
    "unicity_curve": lambda r, t: r.unicity(t, "person", ["job"], points=2, output="curve"),
    "risk_summary": lambda r, t: r.risk_summary(t, QI, nulls="wildcard"),
    "class_size_histogram": lambda r, t: r.class_size_histogram(t, QI, nulls="wildcard"),
    "pyc_fit": lambda r, t: r.pyc_fit(t, QI),
    "pyc_forecast": lambda r, t: r.pyc_forecast(t, QI, [1000]),
    "correctness_curve": lambda r, t: r.correctness_curve(t, QI),
}


@pytest.fixture(scope="module")
def members() -> Iterator[duckdb.DuckDBPyConnection]:
    """600 rows of 200 people; no value is a number that a count or a code could be."""
    random = np.random.default_rng(65)
    kinds = {name: [f"{name}-{n}é" for n in random.integers(10**15, 10**16, 12)] for name in TEXTS}
    ages = random.integers(10**7, 10**8, 30).tolist()
    rows = [
        (10**9 + place % 200, *(str(random.choice(v)) for v in (ages, *kinds.values())))
        for place in range(600)
    ]
    with duckdb.connect() as con:
        con.execute(
            "CREATE TABLE people (person BIGINT, age BIGINT, place VARCHAR, job VARCHAR, sex VARCHAR)"
        )
        con.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
        con.execute("INSERT INTO people VALUES (1000000001, NULL, NULL, NULL, NULL)")
        con.execute("CALL enable_logging('QueryLog')")
        yield con


def leaving(con: duckdb.DuckDBPyConnection, ask: Callable[[Any], Any]) -> set[str]:
    """Ask, and return the columns of which a cell of some statement's answer is a value."""
    con.execute("CALL truncate_duckdb_logs()")
    answer = ask(ibis.duckdb.from_connection(con).table("people"))
    if isinstance(answer, ibis.Table):
        answer.to_pyarrow()
    log = con.execute("SELECT DISTINCT message FROM duckdb_logs WHERE type = 'QueryLog'").fetchall()
    asked = [text for (text,) in log if text.lstrip("( ").upper().startswith(("SELECT", "WITH"))]
    asked = [text for text in asked if '"people"' in text]
    assert asked
    cells = {cell for text in asked for row in con.execute(text).fetchall() for cell in row}
    return {
        name
        for name in (*TEXTS, *NUMBERS)
        for (value,) in con.execute(f"SELECT DISTINCT {name} FROM people").fetchall()
        if value is not None and value in cells
    }


def test_each_function_that_needs_less_than_values_is_called() -> None:
    functions = [each for one in declared().values() for each in one.all_outputs]
    needy = {f.key for f in functions if f.needs is not Needs.VALUES and not f.absence("ibis")}
    assert needy == set(CALLS)


@each_cell("name", CALLS)
def test_no_more_leaves_than_a_function_needs(
    members: duckdb.DuckDBPyConnection, name: str
) -> None:
    function = next(
        each for one in declared().values() for each in one.all_outputs if each.key == name
    )
    allowed = {"age"} if function.needs is Needs.POSITIONS else set()
    assert leaving(members, partial(CALLS[name], ri)) == allowed


def test_values_leave_where_an_option_compares_them(members: duckdb.DuckDBPyConnection) -> None:
    """The log shows them: a function that fits a model of values, and a tolerance."""
    assert leaving(members, lambda t: ri.fit_copula("stays", t, ["age", "sex"])) == {"age", "sex"}
    within = {"age": 1000}
    assert leaving(members, lambda t: ri.risk_summary(t, ["age", "sex"], tolerance=within)) == {
        "age",
        "sex",
    }


def test_where_records_are_drawn_each_engine_draws_the_same() -> None:
    """Of more than 10,000 records, some are drawn by their values: these leave, and no figure differs."""
    drawn = "i * 7919 % 97 AS age, 'p' || (hash(i) % 400) AS place"
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE people AS SELECT {drawn} FROM range(12_000) AS r(i)")
        table = ibis.duckdb.from_connection(con).table("people")
        here = rp.population_risk(con.sql("FROM people").pl(), ["age", "place"], [10**6])
        there = ri.population_risk(table, ["age", "place"], [10**6])
        assert there.to_pyarrow().to_pylist() == here.collect().to_dicts()


@each_cell("name", CALLS)
def test_codes_answer_as_values_do(members: duckdb.DuckDBPyConnection, name: str) -> None:
    """The other answer is from the values, in this process."""
    here = CALLS[name](rp, members.sql("FROM people").pl()).collect().to_dicts()
    table = ibis.duckdb.from_connection(members).table("people")
    there = CALLS[name](ri, table).to_pyarrow().to_pylist()
    assert len(here) == len(there)
    for one, other in zip(here, there, strict=True):
        for column, value in one.items():
            shown = pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
            assert other[column] == shown, column


POLICY = """
keep_values = {keep}
[[tables]]
table = "people"
quasi_identifiers = {columns}
population = 10000
checks = [{checks}]
"""
COUNTED = """
  { measure = "k", at_least = 1 },
  { measure = "l_diversity", sensitive = "job", at_least = 1 },
  { measure = "population_uniqueness", at_most = 1 },
  { measure = "qar", at_most = 1 }"""


def write_policy(
    folder: Path, checks: str, *, keep: bool, columns: str = '["place", "sex"]'
) -> Path:
    path = folder / "p.toml"
    text = POLICY.format(keep=str(keep).lower(), columns=columns, checks=checks)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_policy_keeps_the_values_of_all_columns(
    members: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """Without the key, rows are drawn to find columns of people: of every column."""
    left = {}
    for keep in (True, False):
        path = write_policy(tmp_path, COUNTED, keep=keep)
        check = partial(reid_sql.check.run, path)
        left[keep] = leaving(members, lambda t, check=check: check(tables={"people": t}))  # type: ignore[misc]
    assert left[True] == set()
    assert left[False] >= {"place", "sex"}


def test_a_policy_that_keeps_values_judges_and_says_what_it_did_not_look_at(
    members: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    table = ibis.duckdb.from_connection(members).table("people")
    pages = [
        reid_sql.check.run(
            write_policy(tmp_path, COUNTED, keep=keep), tables={"people": table}
        ).page
        for keep in (True, False)
    ]
    kept, fetched = (
        [(each["verdict"], [group["value"] for group in each["groups"]]) for each in page["checks"]]
        for page in pages
    )
    assert kept == fetched
    texts = [str(page) for page in pages]
    assert ["no one looked for missing-value codes" in text for text in texts] == [True, False]


@pytest.mark.parametrize(
    ("check", "columns"),
    [
        ('{ measure = "xi_share", at_most = 0.5 }', '["place", "sex"]'),
        ('{ measure = "k", at_least = 1, by = ["job"] }', '["place", "sex"]'),
        ('{ measure = "population_uniqueness", at_most = 1 }', '["age", "sex"]'),
    ],
)
def test_a_check_that_needs_values_is_refused_where_they_are_kept(
    members: duckdb.DuckDBPyConnection, tmp_path: Path, check: str, columns: str
) -> None:
    table = ibis.duckdb.from_connection(members).table("people")
    path = write_policy(tmp_path, check, keep=True, columns=columns)
    with pytest.raises(
        ReidError, match=r"keep_values = true, got .* fetches values of .*; leave it"
    ):
        reid_sql.check.run(path, tables={"people": table})
