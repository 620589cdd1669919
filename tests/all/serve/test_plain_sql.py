"""What the first tier leaves of tests/serve/test_plain_sql.py, and an attacker who asks in plain SQL."""

import os
from itertools import combinations
from pathlib import Path

import duckdb
import numpy as np
import pytest

import reid_sql
from reid_sql.errors import ReidError
from tests.all.serve.test_record import POLICY, Attacker, fill
from tests.serve.conftest import *
from tests.serve.door import Door
from tests.serve.test_plain_sql import *

TABLES = int(os.environ.get("REID_SQL_PLAIN_TABLES", "1"))
TOGETHER = int(os.environ.get("REID_SQL_PLAIN_TOGETHER", "2"))  # statements of one record
STATEMENTS = [
    *(f"SELECT {names}, count(*) AS records FROM people GROUP BY {names}" for names in (
        "region", "sex, disease", "region, sex", "region, sex, disease",
    )),
    "SELECT sex, count(*) AS records FROM people WHERE region = 0 GROUP BY sex",
    "SELECT region, count(*) AS records FROM people WHERE disease = 1 AND sex = 0 GROUP BY region",
    "SELECT disease, count(*) AS records FROM people WHERE region IN (1, 2) GROUP BY disease",
    "SELECT sex, count(*) AS records FROM people WHERE disease BETWEEN 0 AND 1 GROUP BY sex",
    "SELECT region, count(*) AS records FROM people WHERE disease > 0 GROUP BY region",
]  # fmt: skip


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


class PlainAttacker(Attacker):
    """Knows how many people there are, and the counts of plain statements."""

    def learn_plain(self, sql: str, rows: list[tuple[object, ...]]) -> None:
        """Add up the cells that a row counts, which the statement itself selects from a table of cells."""
        names = sql.split("SELECT ")[1].split(", count", maxsplit=1)[0].split(", ")
        where = (
            f"WHERE {sql.split('WHERE ')[1].split(' GROUP', maxsplit=1)[0]}"
            if "WHERE" in sql
            else ""
        )
        with duckdb.connect() as con:
            con.execute(
                "CREATE TABLE cells AS SELECT r.range AS region, s.range AS sex, d.range AS disease "
                "FROM range(3) r, range(2) s, range(3) d ORDER BY ALL"
            )
            for *values, count in rows:
                if count is None:
                    continue
                same = " AND ".join(f"{n} = {v}" for n, v in zip(names, values, strict=True))
                counted = con.execute(
                    f"SELECT ({same}) AND rowid IN (SELECT rowid FROM cells {where}) FROM cells"
                ).fetchall()
                self.sums.append(np.array([float(cell) for (cell,) in counted]))
                self.totals.append(float(str(count)))


@pytest.mark.parametrize("seed", range(1, TABLES + 1))
def test_no_small_group_follows_from_plain_statements_together(tmp_path: Path, seed: int) -> None:
    (tmp_path / "people.csv").write_text("region,sex,disease\n0,0,0\n")
    (tmp_path / "policy.toml").write_text(POLICY)
    with duckdb.connect() as con:
        reid_sql.register(con)
        counts = fill(con, seed)
        for asked in combinations(STATEMENTS, TOGETHER):
            door, attacker = Door(con, policy=tmp_path / "policy.toml"), PlainAttacker(counts)
            for sql in asked:
                try:
                    attacker.learn_plain(sql, door.ask(sql))
                except ReidError:
                    continue
            assert not attacker.reveals(), asked
