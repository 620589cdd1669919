"""Measure how long `serve` takes for plain SQL, in seconds of processor time.

    python -m benchmarks.guards.pace

A question whose table of cells exists is compared with the bare GROUP BY, and 100 questions are asked over
cells that hide nothing, and over cells of which most are small: there, each refusal takes an audit.
"""

import random
import sys
import time
from collections.abc import Callable
from typing import Any, Final

import duckdb

from benchmarks.guards.serve import Serve
from reid_sql.errors import ReidError

BELOW: Final = 10
LARGE: Final = """CREATE TABLE people AS SELECT (random() * 10)::INT AS a, (random() * 4)::INT AS b,
    (random() * 5)::INT AS c FROM range(1000000)"""
SMALL: Final = """CREATE TABLE people AS SELECT (10 * random() * random() * random())::INT AS a,
    (5 * random() * random())::INT AS b, (5 * random() * random() * random())::INT AS c FROM range(4000)"""
FIRST: Final = "SELECT a, b, c, count(*) FROM people GROUP BY a, b, c"
NEXT: Final = "SELECT a, b, count(*) FROM people WHERE c BETWEEN 1 AND 2 GROUP BY a, b"


def open_table(sql: str) -> duckdb.DuckDBPyConnection:
    """Fill a table by a seed."""
    con = duckdb.connect(config={"threads": "1"})
    con.execute("SELECT setseed(0.5)")
    con.execute(sql)
    return con


def measure(ask: Callable[[str], Any], *questions: str) -> float:
    """Return the processor time of some questions; one may be refused."""
    began = time.process_time()
    for sql in questions:
        try:
            ask(sql)
        except ReidError:
            continue
    return time.process_time() - began


def draw_questions(seed: int) -> list[str]:
    """Draw 100 questions of three columns."""
    draws, questions = random.Random(seed), []  # noqa: S311 - no secret
    for _ in range(100):
        groups, column = draws.sample("abc", draws.randint(1, 3)), draws.choice("abc")
        value = draws.randrange(6)
        forms = [f"= {value}", "IN (1, 2)", f">= {value}", "BETWEEN 0 AND 2", "IS NOT NULL"]
        listed = ", ".join(groups)
        questions.append(
            f"SELECT {listed}, count(*) FROM people WHERE {column} {draws.choice(forms)} GROUP BY {listed}"
        )
    return questions


def main() -> int:
    """Print a line for each figure."""
    data = open_table(LARGE)
    guard = Serve(data, BELOW)
    bare = measure(lambda sql: data.execute(sql).fetchall(), NEXT)
    figures = {
        "the first question, 1,000,000 rows": measure(guard, FIRST),
        "the same question again": measure(guard, FIRST),
        "another question of its cells": measure(guard, NEXT),
        "the bare GROUP BY of that": bare,
        "100 questions, no small cell": measure(Serve(data, BELOW), *draw_questions(1)),
        "100 questions, 92 of 156 cells small": measure(
            Serve(open_table(SMALL), BELOW), *draw_questions(1)
        ),
    }
    for label, seconds in figures.items():
        sys.stdout.write(f"{label}: {seconds:.3f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
