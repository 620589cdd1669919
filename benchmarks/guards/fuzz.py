"""Ask random plain SQL of a guard: no row may leave, no small count, and no count that is not true.

    python -m benchmarks.guards.fuzz --minutes 30 --seed 1

DuckDB answers each statement from the table itself: a row that the guard shows must be a row of that answer.
A refusal must be one sentence without a value of the table.
"""

import argparse
import random
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Final

import duckdb

from benchmarks.guards.serve import Serve
from reid_sql.terminal.runner import sentence

BELOW: Final = 10
RECORD: Final = 50  # statements that share a record
TABLE: Final = """CREATE TABLE people AS SELECT 'MARK' || (i + 1000) AS name, 900000 + i AS income,
    20 + (i * i) % 7 AS age, CASE WHEN i % 2 = 0 THEN 'F' ELSE 'M' END AS sex,
    ['north', 'south', 'west'][1 + (i % 47 > 20)::INT + (i % 47 > 45)::INT] AS region,
    DATE '2026-01-01' + (i % 3)::INT AS seen, CASE WHEN i % 50 > 0 THEN 'a' END AS note FROM range(900) r(i)"""
MARKS: Final = ("MARK1", "9000", "9001", "9002", "9003", "9004", "9005", "9006", "9007", "9008")
WORD: Final = re.compile(r"\w+")
COLUMNS: Final = ["sex", "region", "age", "seen", "note"]
SECRET: Final = ["name", "income"]
VALUES: Final = {
    "sex": ["'F'", "'M'", "'x'"],
    "region": ["'north'", "'south'", "'west'"],
    "age": ["20", "21", "24", "29", "25.5"],
    "seen": ["DATE '2026-01-01'", "'2026-01-03'"],
    "note": ["'a'", "NULL"],
    "name": ["'MARK1001'", "'MARK1500'"],
    "income": ["900001", "900500"],
}


class Grammar:
    """Writes random plain statements."""

    def __init__(self, seed: int) -> None:
        """Draw by a seed."""
        self.draws = random.Random(seed)  # noqa: S311 - no secret

    def statement(self) -> str:
        """Write one, sometimes nested, joined or broken."""
        sql = self.select()
        kind = self.draws.random()
        if kind < 0.08:
            sql = f"SELECT * FROM ({sql}) AS x {self.one('', 'LIMIT 5', 'WHERE true', ', people')}"
        elif kind < 0.14:
            sql = f"WITH x AS ({sql}) {self.one('FROM x', self.select(), 'SELECT count(*) FROM x')}"
        elif kind < 0.2:
            inner = f"SELECT * FROM {self.source(2)} WHERE {self.condition(0)}"
            sql = f"WITH people2 AS ({inner}) {sql.replace('FROM people', 'FROM people2')}"
        elif kind < 0.24:
            sql = f"{sql} {self.one('UNION ALL', 'EXCEPT', 'INTERSECT')} {self.select()}"
        elif kind < 0.26:
            name, column = self.one("people", "p", "x"), self.column()
            inner = f"SELECT count(*) FROM people AS {self.one('p', 'q')} WHERE {column} = {name}.{column}"
            sql = (
                f"SELECT ({inner}) FROM (SELECT {self.one(*VALUES[column])} AS {column}) AS {name}"
            )
        elif kind < 0.3:
            place = self.draws.randrange(len(sql))
            sql = (
                sql[:place] + self.one("'", '"', ";", "--", "/*", "$$", ")", "(", "?") + sql[place:]
            )
        return sql

    def select(self) -> str:
        """Write SELECT … FROM people WHERE … GROUP BY …."""
        groups = [self.group() for _ in range(self.draws.choice([0, 1, 1, 1, 2]))]
        figures = [self.figure() for _ in range(self.draws.choice([1, 1, 1, 2]))]
        sql = f"SELECT {', '.join([*groups, *figures])} FROM {self.source(3)}"
        if self.draws.random() < 0.6:
            sql += f" WHERE {self.condition(1)}"
        if groups:
            sql += f" GROUP BY {self.one('ALL', ', '.join(groups), ', '.join(groups))}"
        if self.draws.random() < 0.2:
            sql += f" HAVING {self.figure()} {self.one('>', '<', '=')} {self.one('1', '10', '100')}"
        if self.draws.random() < 0.2:
            sql += f" ORDER BY {self.one('1', 'ALL', *COLUMNS, self.figure())}"
        return sql

    def source(self, depth: int) -> str:
        """Write the table, or SELECTs of it within one another, of which some do not read all of it."""
        if depth == 0 or self.draws.random() < 0.6:
            return self.one("people", "people", "main.people", "people AS p")
        columns = self.one("*", "*", "*", "sex, region, age, seen, note", "sex")
        narrowed = self.one(
            "", "", *[f" WHERE {self.condition(0)}"] * 4, " GROUP BY ALL", " LIMIT 5"
        )
        sampled = self.one(*[""] * 9, " TABLESAMPLE 10%")
        return f"(SELECT {columns} FROM {self.source(depth - 1)}{narrowed}) AS v{sampled}"

    def one(self, *choices: str) -> str:
        """Choose one."""
        return self.draws.choice(choices)

    def column(self) -> str:
        """Choose a column, seldom one of single people."""
        return self.one(*COLUMNS * 4, *SECRET)

    def group(self) -> str:
        """Write a group."""
        column = self.column()
        return self.one(column, column, column, column, f"{column} IS NULL", f"upper({column})", "age // 5",
                        f"concat({column}, {self.column()})", f"coalesce({column}, {column})", "month(seen)",
                        f"(SELECT {column})", f"max({column}) OVER ()", f"{column}::INT", f"{column}::DATE",
                        f"100 / (age - {self.one('20', '29')})", "age * 9223372036854775807", "ln(age - 20)")  # fmt: skip

    def figure(self) -> str:
        """Write a figure."""
        column = self.column()
        return self.one(*["count(*)"] * 6, "count(*) * 2", "sum(income)", "avg(income)", f"count({column})",
                        f"count(DISTINCT {column})", f"max({column})", f"first({column})", f"list({column})",
                        f"count(*) FILTER ({self.condition(0)})", f"string_agg({column}, ',')",
                        "sum(income) / count(*)", "count(*)::TINYINT", f"count(CASE WHEN {self.condition(0)} THEN 1 END)",
                        f"count(nullif({column}, {self.one(*VALUES[column])}))", f"count({self.condition(0)})", "count(1)", f"sum({column}::BIGINT)")  # fmt: skip

    def condition(self, depth: int) -> str:
        """Write a condition."""
        if depth and self.draws.random() < 0.5:
            word = self.one("AND", "AND", "OR")
            return f"({self.condition(depth - 1)} {word} {self.condition(depth - 1)})"
        column = self.column()
        value, other = self.one(*VALUES[column]), self.one(*VALUES[column])
        return self.one(f"{column} = {value}", f"{column} <> {value}", f"{column} IN ({value}, {other})",
                        f"{column} BETWEEN {value} AND {other}", f"{column} > {value}", f"NOT {column} = {value}",
                        f"{column} IS NULL", f"{column} = (SELECT min({column}) FROM people)",
                        f"{column} = {value} OR {column} = {other}", f"{column}::TINYINT = 1", "1 / (age - 20) > 0",
                        f"{column} IS NOT DISTINCT FROM {value}", f"EXISTS (FROM people WHERE {column} = {value})")  # fmt: skip


def has_mark(text: str, sql: str) -> bool:
    """Whether a text has a value of a person that the statement does not have."""
    return any(mark in text and text not in sql for mark in MARKS)


def find_wrong_refusal(error: Exception, sql: str) -> str | None:
    """Say what is wrong with a refusal, of which a client reads the sentence."""
    text = sentence(error)
    words = {word for word in WORD.findall(text) if word not in sql}
    if any(has_mark(word, sql) for word in words):
        return "a value of a person in a refusal"
    is_sentence = (
        "\n" not in text and "Traceback" not in text and "there is no answer, got" not in text
    )
    return None if is_sentence else f"no sentence ({text})"


def find_wrong(
    data: duckdb.DuckDBPyConnection, sql: str, rows: list[tuple[object, ...]]
) -> str | None:
    """Say what is wrong with the rows of an answer."""
    cells = {str(cell) for row in rows for cell in row if not isinstance(cell, float | int)}
    if any(has_mark(cell, sql) for cell in cells):
        return "a value of a person"
    try:
        due = data.execute(sql.removesuffix("LIMIT 5")).fetchall()  # of all rows, any five are true
    except duckdb.Error:  # of a row that the guard does not read, such as a cast that fails
        return None
    with data.cursor() as nobody:
        nobody.execute("USE nobody")
        constant = nobody.execute(sql.replace("main.people", "people")).fetchall()
    for row in rows:
        if None in row or row in constant:  # hidden or missing; or it counts no table
            continue
        if not any(
            all(_is_same(one, two) for one, two in zip(row, other, strict=True)) for other in due
        ):
            return "a row that is not true"
        if "count(*)" in sql and any(type(cell) is int and 0 < cell < BELOW for cell in row[-1:]):
            return "a count of few people"
    return None


def _is_same(one: object, two: object) -> bool:
    if isinstance(one, float) or isinstance(two, float):
        return one == two or abs(float(str(one)) - float(str(two))) <= 1e-9 * abs(float(str(two)))
    return one == two


@dataclass
class Search:
    """How many statements were asked and answered, and what was wrong."""

    asked: int = 0
    answered: int = 0
    wrong: list[str] = field(default_factory=list)


def search(seed: int, seconds: float) -> Search:
    """Ask for some seconds of processor time."""
    grammar, ended, found = Grammar(seed), time.process_time() + seconds, Search()
    with duckdb.connect(config={"threads": "1"}) as data:
        data.execute(TABLE)
        data.execute("CREATE SCHEMA nobody; CREATE TABLE nobody.people AS FROM people LIMIT 0")
        guard = Serve(data, BELOW)
        while time.process_time() < ended:
            found.asked += 1
            if found.asked % RECORD == 0:
                guard = Serve(data, BELOW)
            sql = grammar.statement()
            try:
                rows = guard(sql)
            except Exception as error:  # noqa: BLE001 - of whatever kind
                wrong = find_wrong_refusal(error, sql)
            else:
                found.answered += 1
                wrong = find_wrong(data, sql, rows)
            if wrong:
                found.wrong.append(f"{wrong}: {sql}")
    return found


def main() -> int:
    """Ask for some minutes of processor time; exits 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = search(options.seed, 60 * options.minutes)
    for line in found.wrong:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(
        f"{found.asked:,} statements, {found.answered:,} answered, {len(found.wrong)} wrong\n"
    )
    return int(bool(found.wrong))


if __name__ == "__main__":
    sys.exit(main())
