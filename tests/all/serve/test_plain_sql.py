"""What the first tier leaves of tests/serve/test_plain_sql.py, and drawn statements."""

import os

import duckdb
import numpy as np

from reid_sql.errors import ReidError
from tests.serve.conftest import *
from tests.serve.door import Door
from tests.serve.test_plain_sql import *

DRAWN = int(os.environ.get("REID_SQL_PLAIN_STATEMENTS", "30"))
GROUPED = [
    "",
    "sex",
    "region",
    "age",
    "sex, region",
    "age // 5",
    "sex, age % 2 = 0",
    "note",
    "upper(region)",
]
VALUES = {
    "sex": ["'F'", "'M'", "'f'", "NULL", "''"],
    "region": ["'north'", "'west'", "'nowhere'"],
    "age": ["20", "21", "23", "28", "29", "40", "'22'", "22.5", "NULL"],
    "seen": ["DATE '2026-01-01'", "'2026-01-03'", "DATE '2027-01-01'"],
    "note": ["'a'", "'b'", "NULL"],
}


def draw_condition(draws: np.random.Generator, depth: int = 2) -> str:
    """Draw a condition on columns, of comparisons that are joined by AND, OR and NOT."""
    if depth and draws.random() < 0.5:
        word = draws.choice(["AND", "AND", "OR"])
        return f"({draw_condition(draws, depth - 1)} {word} {draw_condition(draws, depth - 1)})"
    if draws.random() < 0.1:
        return f"NOT {draw_condition(draws, 0)}"
    column = str(draws.choice([*VALUES]))
    one, other = (str(each) for each in draws.choice(VALUES[column], 2))
    forms = [
        f"{column} = {one}",
        f"{one} = {column}",
        f"{column} <> {one}",
        f"{column} IN ({one}, {other})",
        f"{column} NOT IN ({one}, {other})",
        f"{column} BETWEEN {one} AND {other}",
        f"{column} > {one}",
        f"{one} >= {column}",
        f"{column} IS NULL",
        f"{column} IS NOT NULL",
        f"{column} IS NOT DISTINCT FROM {one}",
        f"coalesce({column} = {one}, {column} = {other})",
    ]
    return str(draws.choice(forms))


def test_drawn_statements_show_true_counts_or_none(con: duckdb.DuckDBPyConnection) -> None:
    """As DuckDB counts the table itself: a count is true or NULL, and who is not shown has a row of NULL."""
    draws = np.random.default_rng(1)
    shown = 0
    for _ in range(DRAWN):
        groups = str(draws.choice(GROUPED))
        where = f"WHERE {draw_condition(draws)}" if draws.random() < 0.8 else ""
        having = draws.choice(["", "HAVING count(*) > 100", "HAVING count(*) < 60"])
        listed = f"{groups}, " if groups else ""
        by = f"GROUP BY {groups} {having}" if groups else ""
        sql = f"SELECT {listed}count(*) AS n FROM people {where} {by}"
        try:
            due = {row[:-1]: row[-1] for row in con.execute(sql).fetchall()}
            answer = Door(con).ask(sql)
        except (ReidError, duckdb.Error):
            continue
        found = {row[:-1]: row[-1] for row in answer if row[-1] is not None}
        shown += len(found)
        assert found.items() <= due.items(), sql
        assert all(count == 0 or count >= 10 for count in found.values()), sql
        assert due.keys() == found.keys() or any(row[-1] is None for row in answer), sql
    assert shown
