"""Sixteen threads that register, fit, score, drop and close: each answers what one alone answers."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import reid_sql
from reid_sql.engines import registry

pytestmark = pytest.mark.threads

THREADS = 16
TABLES = 4  # of which each is asked about by four threads
COLUMNS = ["age", "sex", "zip"]
Answers = list[list[tuple[Any, ...]]]


def people(number: int) -> pl.DataFrame:
    """Some people, others for each number, so that one thread's answers are not another's."""
    draw = np.random.default_rng(number)
    age, sex, area = (draw.integers(most, size=400) for most in (40 + number, 2, 9))
    return pl.DataFrame({"age": age, "sex": sex, "zip": area})


def asked(con: duckdb.DuckDBPyConnection, table: str, model: str) -> Answers:
    """Fit, score and drop: all that was answered between."""
    qi = str(COLUMNS)
    questions = [
        f"SELECT model, records FROM fit_copula('{model}', {table}, {qi})",
        f"SELECT uniqueness_xi('{model}', 1000000, age, sex, zip) FROM {table} ORDER BY ALL",
        f"SELECT columns(*) FROM score_records({table}, '{model}', 1000000) ORDER BY ALL",
        f"FROM class_size_histogram({table}, {qi}, nulls := 'wildcard')",
        f"SELECT equivalence_class_size(age, sex, zip) FROM {table} ORDER BY ALL",
    ]
    return [con.execute(question).fetchall() for question in questions]


def of_a_database(thread: int) -> Answers:
    """The answers in a database of its own."""
    with duckdb.connect() as con:
        con.register("drawn", people(thread % TABLES))
        con.execute("CREATE TABLE people AS FROM drawn")
        reid_sql.register(con)
        found = asked(con, "people", "model")
        found.append(con.execute("SELECT model, records FROM fitted_models()").fetchall())
        con.execute("DROP TABLE people")
    return found


def at_once(body: Callable[[int], Answers]) -> list[Answers]:
    """The answers of as many threads, which all begin together."""
    together = Barrier(THREADS)

    def begun(thread: int) -> Answers:
        together.wait(300)
        return body(thread)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begun, range(THREADS)))


Kept = tuple[dict[str, Any], dict[str, Any]]


@pytest.fixture
def databases(monkeypatch: pytest.MonkeyPatch) -> Kept:
    """What is kept of databases: who holds each, and its models; other tests keep some, too."""
    holders, models = dict[str, Any](), dict[str, Any]()
    monkeypatch.setattr(registry, "_HOLDERS", holders)
    monkeypatch.setattr(registry, "_MODELS", models)
    return holders, models


def left(databases: Kept) -> list[int]:
    """How many databases are known when one more registers, and how many models are stored."""
    with duckdb.connect() as con:
        reid_sql.register(con)
        return [len(each) for each in databases]


@pytest.fixture(scope="module")
def alone() -> list[Answers]:
    """What each thread answers when there is no other."""
    return [of_a_database(number) for number in range(TABLES)]


def test_threads_with_databases_of_their_own_answer_what_each_does_alone(
    alone: list[Answers], databases: Kept
) -> None:
    assert len({repr(answers) for answers in alone}) == TABLES  # none could stand in for another
    assert at_once(of_a_database) == alone * (THREADS // TABLES)
    assert left(databases) == [1, 0]


def test_cursors_of_one_database_answer_what_each_thread_does_alone(
    alone: list[Answers], databases: Kept
) -> None:
    with duckdb.connect() as shared:
        cursors = [shared.cursor() for _ in range(THREADS)]

        def of_a_cursor(thread: int) -> Answers:
            con, table, model = cursors[thread], f"people_{thread}", f"model_{thread}"
            con.register(f"drawn_{thread}", people(thread % TABLES))
            con.execute(f"CREATE TABLE {table} AS FROM drawn_{thread}")
            reid_sql.register(con)
            found = asked(con, table, model)
            con.execute(f"DROP TABLE {table}")
            con.close()
            return [
                [("model", *row[1:]) if row[0] == model else row for row in rows] for rows in found
            ]

        found = at_once(of_a_cursor)
        reid_sql.register(shared)
        models = shared.execute("SELECT model FROM fitted_models() ORDER BY ALL").fetchall()
    assert found == [answers[:-1] for answers in alone] * (THREADS // TABLES)
    assert models == sorted((f"model_{thread}",) for thread in range(THREADS))
    assert left(databases) == [1, 0]
