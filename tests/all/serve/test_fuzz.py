"""Random statements of a marked table: neither an answer nor a refusal has a value of the table."""

import os
import random
import time
from collections.abc import Iterator

import duckdb
import pytest

import reid_sql
from benchmarks.guards.fuzz import find_wrong_refusal, search
from reid_sql.errors import ReidError
from reid_sql.serve.allowed import ALLOWED
from reid_sql.serve.masks import Mask
from reid_sql.serve.server import Answerer
from reid_sql.serve.statement import Reader
from reid_sql_udfs import declared
from tests.all.serve.marked import MARKED, MARKS

SECONDS = float(os.environ.get("REID_SQL_FUZZ_SECONDS", "20"))
TABLES = [
    "people",
    "main.people",
    "'people'",
    "other",
    '"people"',
    "memory.main.people",
    "x",
    "y",
    "people p",
]
COLUMNS = [
    "name",
    "age",
    "sex",
    "income",
    "person",
    "k",
    "records",
    "class_size",
    "*",
    "p.name",
    "people",
    "#1",
]
VALUES = [
    "1",
    "'MARK1'",
    "NULL",
    "['age']",
    "['name']",
    "['age', 'sex']",
    "'name'",
    "people",
    "true",
    "'F'",
    "{'a': 1}",
]
SCALARS = [
    *ALLOWED["functions"].split(), *ALLOWED["refused"], "getenv", "current_setting", "query", "list", "first",
    "reid_plan", "reid.pyc_share", "unnest", "struct_pack", "row", "columns", "error", "read_text",
    "reid.query",
]  # fmt: skip
PLACES = ["", "reid.", "reid.main.", "main.", "system.main."]
TABLE_FUNCTIONS = [
    *declared(), "query", "query_table", "read_csv", "read_text", "duckdb_tables", "range", "unnest", "glob",
    "pragma_table_info", "json_execute_serialized_sql",
]  # fmt: skip


OPTIONS = [
    ", by := 'sex'", ", by := 'name'", ", entity := 'name'", ", nulls := 'drop'", ", k := 1",
    ", suppress := 'none'", ", totals := 'margins'", ", 'disease'",
]  # fmt: skip
OPERATORS = ["+", "=", "AND", "IN", "||", "IS", "->", "::VARCHAR ||"]
TYPES = ["VARCHAR", "INT", "JSON", "people"]
CLAUSES = ["WHERE", "QUALIFY", "HAVING", "GROUP BY", "ORDER BY", "LIMIT"]
PREFIXES = ["EXPLAIN", "SUMMARIZE", "DESCRIBE", "COPY", "CREATE TABLE x AS", "PREPARE p AS"]


class Grammar:
    """Writes random statements; parts that are answered are as likely as those that are refused."""

    def __init__(self, seed: int) -> None:
        self.draws = random.Random(seed)  # noqa: S311 - no secret

    def one(self, *choices: str) -> str:
        return self.draws.choice(choices)

    def call(self) -> str:
        if self.draws.random() < 0.6:
            name = self.one(
                "risk_summary",
                "class_size_histogram",
                "safe_table",
                "pyc_fit",
                "profile",
                "l_diversity",
            )
            columns = self.one(
                "['age']", "['name']", "'sex'", "['age', 'sex']", "['income', 'person']"
            )
            more = self.one("", "", *OPTIONS)
            return f"{self.one('', 'reid.')}{name}({self.one('people', 'other', *TABLES)}, {columns}{more})"
        given = [self.one(*VALUES, *TABLES) for _ in range(self.draws.randrange(5))]
        return f"{self.one(*PLACES)}{self.one(*TABLE_FUNCTIONS)}({', '.join(given)})"

    def source(self, depth: int) -> str:
        kind = self.draws.random()
        if kind < 0.6 or depth == 0:
            return self.call() if self.draws.random() < 0.8 else self.one(*TABLES)
        if kind < 0.8:
            return f"({self.select(depth - 1)}) {self.one('x', 'y', 'people')}"
        join = self.one(
            ", ",
            " JOIN ",
            " LEFT JOIN ",
            " NATURAL JOIN ",
            " POSITIONAL JOIN ",
            " CROSS JOIN ",
            " SEMI JOIN ",
        )
        on = self.one("", " ON true", " USING (age)", " USING (k)", " ON x.k = y.k")
        return f"{self.source(depth - 1)}{join}{self.source(depth - 1)}{on}"

    def expression(self, depth: int) -> str:
        kind = self.draws.random()
        if kind < 0.4 or depth == 0:
            return self.one(*COLUMNS, *VALUES)
        if kind < 0.6:
            return f"{self.one(*PLACES)}{self.one(*SCALARS)}({self.expression(depth - 1)})"
        if kind < 0.7:
            return f"(SELECT {self.expression(depth - 1)} FROM {self.source(depth - 1)} LIMIT 1)"
        if kind < 0.8:
            return (
                f"{self.expression(depth - 1)} {self.one(*OPERATORS)} {self.expression(depth - 1)}"
            )
        if kind < 0.9:
            return f"CASE WHEN {self.expression(depth - 1)} THEN {self.expression(depth - 1)} END"
        cast = self.one("CAST", "TRY_CAST")
        return f"{cast}({self.expression(depth - 1)} AS {self.one(*TYPES)})"

    def select(self, depth: int) -> str:
        given = self.one("*", "*", "*", "count(*)", "k", "DISTINCT *", self.expression(depth))
        sql = f"SELECT {given} FROM {self.source(depth)}"
        if self.draws.random() < 0.2:
            sql += f" {self.one(*CLAUSES)} {self.expression(depth)}"
        if self.draws.random() < 0.1:
            sql += f" {self.one('UNION ALL', 'EXCEPT', 'INTERSECT', 'UNION ALL BY NAME')} {self.select(0)}"
        if self.draws.random() < 0.1:
            sql = f"WITH {self.one('x', 'y', 'people')} AS ({self.select(0)}) {sql}"
        return sql

    def statement(self) -> str:
        sql = self.select(self.draws.randrange(3))
        if self.draws.random() < 0.1:
            sql = f"{self.one(*PREFIXES)} {sql}"
        if self.draws.random() < 0.05:
            place = self.draws.randrange(len(sql))
            sql = (
                sql[:place]
                + self.one("'", '"', ";", "--", "/*", "\0", "$$", ")", "(", "\u200b", "?")
                + sql[place:]
            )
        return sql


@pytest.fixture
def answerer() -> Iterator[Answerer]:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute(f"CREATE TABLE people AS {MARKED}")
        con.execute("CREATE TABLE other AS SELECT * REPLACE ((age + 1) AS age) FROM people")
        answerer = Answerer(con, Mask(), 5)
        reid_sql.register(answerer.public)
        answerer.public.execute("SET enable_external_access = false")
        yield answerer


@pytest.mark.filterwarnings("ignore:Arrow output")
def test_no_row_leaves(answerer: Answerer) -> None:
    """Values of few people are marked; those of `disease` and `sex` may name groups."""
    reader, ended = Reader(["people", "other"]), time.monotonic() + SECONDS
    asked = answered = 0
    while time.monotonic() < ended:
        sql = Grammar(asked).statement()
        asked += 1
        try:
            rows = answerer.public.execute(answerer.answer(reader.read(sql))).fetchall()
        except (ReidError, duckdb.Error) as error:
            assert not find_wrong_refusal(error, sql), (asked, sql)  # noqa: PT017 - of any kind
            continue
        answered += 1
        cells = {str(cell) for row in rows for cell in row} - {"MARK0", "MARK1", "MARK2"}
        own = [cell for cell in cells if any(mark in cell for mark in MARKS) and cell not in sql]
        assert not own, (asked, sql, own[:3])
    assert answered > asked / 50, (asked, answered)


@pytest.mark.filterwarnings("ignore")
def test_plain_sql_shows_no_row_no_small_count_and_no_count_that_is_not_true() -> None:
    found = search(int(os.environ.get("REID_SQL_FUZZ_SEED", "1")), SECONDS)
    assert not found.wrong
    assert found.answered > found.asked / 50
