"""Hostile plain statements: a payload in each place of an answered statement, and those of hostile.sql.

Each is refused, or its answer has no value of few people and no count of few.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import reid_sql
from reid_sql.errors import ReidError
from tests.all.serve.marked import MARKED, MARKS
from tests.serve.door import Door

pytestmark = pytest.mark.filterwarnings("ignore:Arrow output")
MASK = 10
DRAWN = int(os.environ.get("REID_SQL_HOSTILE_STATEMENTS", "200"))  # of 1,080
START = int(os.environ.get("REID_SQL_HOSTILE_START", "0"))
LISTED = (Path(__file__).parents[2] / "serve" / "hostile.sql").read_text(encoding="utf-8")
PLACES = [  # of an expression in a plain statement
    "SELECT sex, {0}, count(*) FROM people GROUP BY sex",
    "SELECT {0}, count(*) FROM people GROUP BY ALL",
    "SELECT count(*) FROM people WHERE {0} IS NOT NULL",
    "SELECT sex, count(*) FROM people WHERE sex = {0} GROUP BY sex",
    "SELECT count(*) FROM people WHERE name IN ({0})",
    "SELECT sex, count(*) FROM people GROUP BY sex, {0}",
    "SELECT sex, count(*) FROM people GROUP BY sex HAVING count(*) > 0 OR {0} IS NULL",
    "SELECT sex, count(*) FROM people GROUP BY sex ORDER BY {0}",
    "SELECT sex, count(*) FROM people GROUP BY sex LIMIT {0}",
    "SELECT sex, count(*) FILTER ({0} IS NOT NULL) FROM people GROUP BY sex",
    "SELECT sex, sum({0}) FROM people GROUP BY sex",
    "SELECT sex, count(DISTINCT {0}) FROM people GROUP BY sex",
    "SELECT sex, count(*), max({0}) OVER (PARTITION BY sex) FROM people GROUP BY sex",
    "SELECT sex, (SELECT {0} LIMIT 1), count(*) FROM people GROUP BY sex",
    "WITH x AS (SELECT {0} AS v) SELECT v FROM x, (SELECT sex, count(*) FROM people GROUP BY sex)",
    "SELECT sex FROM (SELECT sex, count(*) AS n FROM people GROUP BY sex) UNION ALL SELECT {0} FROM people",
    "SELECT sex, count(*) FROM people GROUP BY sex EXCEPT SELECT {0}, 1 FROM people",
    "SELECT count(*) FROM people, LATERAL (SELECT {0} AS v) AS w WHERE v = 'MARK1001'",
]
PAYLOADS = [
    "name", "people.name", '"people"."name"', "main.people.name", "people", "income", "-income", "name || ''",
    "min(name)", "max(income)", "first(name)", "arg_max(name, age)", "string_agg(name, ',')", "list(name)",
    "histogram(name)", "mode(name)", "approx_quantile(income, 0.5)", "quantile_cont(income, 0.5)", "any_value(name)",
    "bit_xor(income)", "product(income)", "entropy(name)", "(SELECT name FROM people LIMIT 1)",
    "(SELECT max(income) FROM people)", "(SELECT count(*) FROM people WHERE name = 'MARK1001')",
    "row_number() OVER ()", "lag(name) OVER (ORDER BY name)", "max(name) OVER ()", "rank() OVER (ORDER BY income)",
    "COLUMNS(*)", "*", "people.*", "unnest(['MARK1', name])", "struct_pack(n := name)", "{{'n': name}}",
    "[name]", "list_transform([1], x -> name)", "rowid", "hash(name)", "md5(name)", "getenv('HOME')",
    "current_setting('home_directory')", "read_text('/etc/passwd')", "query('FROM people')", "nextval('s')",
    "pg_typeof(name)", "error(name)", "CASE WHEN name = 'MARK1001' THEN error('x') ELSE sex END",
    "CASE WHEN income = 900001 THEN 1 / 0 ELSE 1 END", "CAST(name AS INT)", "TRY_CAST(name AS INT)", "ascii(name)",
    "ｎａｍｅ", "nаme", "$1", "?", "reid.pyc_share(income, 1.0, 10, 'uniqueness')",
    "reid_answer_1.records", "reid_records", "reid_value_0", "reid_whole",
]  # fmt: skip
WHOLE = r"""
SELECT sex, count(*) FROM people GROUP BY sex; SELECT name FROM people
SELECT sex, count(*) FROM people GROUP BY sex -- ; SELECT name FROM people
SELECT/**/name/**/FROM/**/people
SELECT name AS "count(*)" FROM people
SELECT name AS sex, count(*) FROM people GROUP BY name
SELECT 1 AS name, count(*) FROM people GROUP BY people.name
SELECT count(*) AS name FROM people GROUP BY name HAVING count(*) = 1
SELECT count(*) FROM people GROUP BY income HAVING count(*) < 10
SELECT income // 1, count(*) FROM people GROUP BY 1
SELECT sex, age, disease, name, count(*) FROM people GROUP BY ALL
SELECT name, income, count(*) FROM people GROUP BY CUBE (name, income)
SELECT name, count(*) FROM people GROUP BY ROLLUP (name)
SELECT name, count(*) FROM people GROUP BY GROUPING SETS ((name), ())
SELECT count(*) FROM people WHERE name = 'MARK1001'
SELECT count(*) FROM people WHERE name <> 'MARK1001'
SELECT count(*) FROM people WHERE income = 900001 OR sex = 'F'
SELECT sum(income) FROM people WHERE name = 'MARK1001'
SELECT name, sum(income) FROM people GROUP BY name
SELECT person, sum(income), avg(income) FROM people GROUP BY person
SELECT sex, sum(income) FROM people WHERE name = 'MARK1001' GROUP BY sex
SELECT sex, avg(income) FROM people WHERE person < 5 GROUP BY sex
SELECT sum(weight) FROM people GROUP BY name
SELECT count(*) FROM people p WHERE EXISTS (SELECT 1 FROM people q WHERE q.name = 'MARK1001')
SELECT count(*) FROM people WHERE name = (SELECT min(name) FROM people)
SELECT count(*) FROM people WHERE name LIKE 'MARK1001'
SELECT count(*) FROM people WHERE name SIMILAR TO 'MARK1001'
SELECT count(*) FROM people WHERE regexp_matches(name, 'MARK1001')
SELECT count(*) FROM people WHERE income BETWEEN 900001 AND 900001
SELECT count(*) FROM people WHERE (name, income) = ('MARK1001', 900001)
SELECT count(*) FROM people USING SAMPLE 1 ROWS
SELECT count(*) FROM people TABLESAMPLE reservoir(1)
SELECT sex, count(*) FROM (SELECT * FROM people LIMIT 1) GROUP BY sex
SELECT sex, count(*) FROM (SELECT * FROM people ORDER BY income LIMIT 11) GROUP BY sex
SELECT sex, count(*) FROM (SELECT * FROM people OFFSET 399) GROUP BY sex
SELECT sex, count(*) FROM (SELECT DISTINCT ON (name) * FROM people) GROUP BY sex
SELECT sex, count(*) FROM (SELECT * EXCLUDE (sex), name AS sex FROM people) GROUP BY sex
SELECT sex, count(*) FROM (SELECT * REPLACE (name AS sex) FROM people) GROUP BY sex
SELECT sex, count(*) FROM (FROM people SELECT * QUALIFY row_number() OVER () = 1) GROUP BY sex
SELECT sex, count(*) FROM people AS p(sex) GROUP BY sex
SELECT sex, count(*) FROM people QUALIFY row_number() OVER () = 1 GROUP BY sex
SELECT sex, count(*) FROM people, people AS q GROUP BY sex
SELECT sex, count(*) FROM people NATURAL JOIN people AS q GROUP BY sex
SELECT sex, count(*) FROM people ASOF JOIN people AS q USING (income) GROUP BY sex
SELECT sex, count(*) FROM people SEMI JOIN people AS q ON q.name = 'MARK1001' GROUP BY sex
SELECT sex, count(*) FROM people ANTI JOIN (SELECT 'MARK1001' AS name) USING (name) GROUP BY sex
SELECT sex, count(*) FROM people JOIN (VALUES ('MARK1001')) v(name) USING (name) GROUP BY sex
WITH people AS (SELECT 'F' AS sex) SELECT sex, count(*) FROM people GROUP BY sex
WITH x AS (SELECT name, count(*) AS n FROM people GROUP BY name) SELECT name FROM x
WITH RECURSIVE x AS (SELECT name FROM people UNION SELECT name FROM x) SELECT count(*) FROM x
PIVOT people ON name USING count(*)
UNPIVOT people ON name, disease
PIVOT (SELECT name, sex FROM people) ON sex USING first(name)
SUMMARIZE SELECT sex, count(*) FROM people GROUP BY sex
SUMMARIZE people
DESCRIBE SELECT name, 'x' FROM people WHERE name = (SELECT max(name) FROM people)
EXPLAIN ANALYZE SELECT name FROM people
EXECUTE p
PREPARE p AS SELECT name FROM people
COPY (SELECT sex, count(*) FROM people GROUP BY sex) TO '/tmp/reid_hostile.csv'
CREATE TABLE x AS SELECT sex, count(*) FROM people GROUP BY sex
PRAGMA table_info('people')
PRAGMA storage_info('people')
CALL duckdb_tables()
SELECT min(name), max(name) FROM pragma_storage_info('people')
SELECT estimated_size FROM duckdb_tables() WHERE table_name = 'people'
SELECT sex, count(*) AS n FROM people GROUP BY sex ORDER BY (SELECT name FROM people LIMIT 1)
SELECT * FROM (SELECT sex, count(*) FROM people GROUP BY sex) x, people
FROM people SELECT name GROUP BY name
FROM people SELECT count(*), name GROUP BY ALL
SELECT U&'\0041', name FROM people
SELECT "Name", count(*) FROM PEOPLE GROUP BY 1
SELECT E'\x41', count(*) FROM people GROUP BY name
SELECT $$a$$, count(*) FROM people GROUP BY name
SELECT count(*) FROM people WHERE name = $$MARK1001$$
SELECT TRY(error(name)), count(*) FROM people GROUP BY 1
SELECT count(*) FROM people GROUP BY hash(name)
SELECT substring(name, 5, 4), count(*) FROM people GROUP BY 1
SELECT left(name, 7), right(name, 1), count(*) FROM people GROUP BY 1, 2
SELECT concat(name, sex), count(*) FROM people GROUP BY 1
SELECT sex || name, count(*) FROM people GROUP BY 1
SELECT sex, count(*) FROM people GROUP BY sex, name
""".strip().splitlines()


def list_statements() -> list[str]:
    """List all that are written, and a share of the payloads in each of their places."""
    payloads = [each.replace("{{", "{").replace("}}", "}") for each in PAYLOADS]
    drawn = [place.format(each) for place in PLACES for each in payloads]
    return [*LISTED.splitlines(), *WHOLE, *drawn[START :: len(drawn) // DRAWN]]


@pytest.fixture(scope="module")
def data() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute(f"CREATE TABLE people AS {MARKED}")
        yield con


def test_no_row_leaves_by_a_hostile_plain_statement(data: duckdb.DuckDBPyConnection) -> None:
    statements, answered, wrong = list_statements(), 0, []
    assert len(set(statements)) > 500
    door = Door(data)
    for sql in statements:
        try:
            rows = door.ask(sql)
        except (ReidError, duckdb.Error) as error:
            told = str(error)
            if any(mark in told.replace(sql, "") and mark not in sql for mark in MARKS):
                wrong.append((sql, told))
            continue
        answered += 1
        cells = [str(cell) for row in rows for cell in row]
        shown = [cell for cell in cells if any(mark in cell for mark in MARKS) and cell not in sql]
        few = [
            row
            for row in rows
            if "count(" in sql and isinstance(row[-1], int) and 0 < row[-1] < MASK
        ]
        if set(shown) - {"MARK0", "MARK1", "MARK2"} or few:
            wrong.append((sql, str(rows[:3])))
    assert not wrong
    assert answered > 1
