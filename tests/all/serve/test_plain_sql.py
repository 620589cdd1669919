"""What the first tier leaves of tests/serve/test_plain_sql.py, and drawn statements."""

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import reid_sql
from reid_sql.errors import ReidError
from reid_sql.serve import conditions, masks
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


ALIKE = """CREATE TABLE people AS SELECT CASE WHEN i % 3 = 0 THEN 'F' ELSE 'M' END AS sex,
    CASE WHEN i % 5 = 0 THEN 'x' ELSE 'y' END AS sex_1, 30 + i % 3 AS age,
    {'age': 20 + i % 4, 'people': {'age': i % 2}} AS s, {'age': i % 4} AS people,
    TIMESTAMPTZ '2026-01-01 02:00:00+00' + to_hours(i % 4 * 6) AS seen, DATE '2026-01-01' + (i % 3)::INT AS day
    FROM range(600) AS t(i)"""


@pytest.fixture(scope="module")
def alike() -> Iterator[duckdb.DuckDBPyConnection]:
    """People with columns of nearly one name, and fields with the name of a column."""
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute(ALIKE)
        yield con


@pytest.mark.parametrize(
    "source",
    [
        "people", "people AS s", "people AS p", "main.people", "(FROM people) AS p", "(FROM people) AS s",
        "(SELECT sex, sex FROM people)", "(SELECT *, * FROM (SELECT sex, age FROM people))",
        "(SELECT s.age FROM people)", "(SELECT people.s.age FROM people) AS p",
        "(SELECT people.people.age FROM people)", "(SELECT s.age FROM people AS s) AS p",
        "(SELECT main.people.age FROM main.people)", "(SELECT main.people.age FROM people AS main)",
        "(SELECT p.s.age, p.sex FROM people AS p) AS p", "(SELECT people FROM people) AS s",
        "(SELECT s FROM people)", "(SELECT * RENAME (sex AS sex_1, sex_1 AS sex) FROM people)",
        '(SELECT "p"."age" AS "age", p.sex AS sex FROM people AS p) AS p',
        "(SELECT sex AS sex_1, sex_1 AS sex FROM people)", "(SELECT age FROM (SELECT s.age FROM people))",
    ],
)  # fmt: skip
def test_a_name_is_of_the_column_that_duckdb_finds(
    alike: duckdb.DuckDBPyConnection, source: str
) -> None:
    """Within SELECTs, beside fields and columns of one name: the counts are those of DuckDB, or refused."""
    door = Door(alike)
    for name in ("age", "sex", "sex_1", "SEX_1", "people.age", "p.age", "s.age"):
        for start in (f"FROM {source}", f"WITH w AS (FROM {source}) FROM w AS people"):
            sql = f"{start} SELECT {name}, count(*) AS n GROUP BY {name} ORDER BY ALL"
            try:
                found = door.ask(sql)
            except (ReidError, duckdb.Error):
                continue
            assert found == alike.execute(sql).fetchall(), sql


@pytest.mark.parametrize(
    ("source", "name"),
    [("people", "age"), ('(SELECT "p"."age" AS "age", p.sex FROM people AS p) AS p', "p.age"),
     ("(SELECT main.people.sex_1 FROM main.people)", "sex_1")],
)  # fmt: skip
def test_columns_within_a_select_may_have_their_table_and_their_own_name(
    alike: duckdb.DuckDBPyConnection, source: str, name: str
) -> None:
    sql = f"SELECT {name}, count(*) AS n FROM {source} GROUP BY {name} ORDER BY ALL"
    assert Door(alike).ask(sql) == alike.execute(sql).fetchall()


def test_hours_are_of_utc_whatever_the_zone_of_the_machine(
    alike: duckdb.DuckDBPyConnection,
) -> None:
    """By a band, and from cells that are known."""
    hours = [(2, 150), (8, 150), (14, 150), (20, 150)]
    alike.execute("SET GLOBAL TimeZone = 'America/New_York'")
    door = Door(alike)
    band = "SELECT hour(seen) AS h, count(*) FROM people GROUP BY h ORDER BY h"
    assert door.ask(band) == hours
    door.ask("SELECT seen, count(*) FROM people GROUP BY seen")
    assert door.ask(f"{band} LIMIT 9") == hours
    text = "SELECT left(seen::VARCHAR, 13), count(*) FROM people GROUP BY 1 ORDER BY 1 LIMIT 1"
    assert door.ask(text) == [("2026-01-01 02", 150)]


def test_a_constant_that_is_no_date_is_an_error_where_all_cells_are_known(
    alike: duckdb.DuckDBPyConnection,
) -> None:
    door = Door(alike)
    door.ask("SELECT day, count(*) FROM people GROUP BY day")
    assert door.ask("SELECT count(*) FROM people WHERE day > '2026-01-01'") == [(400,)]
    for wrong in ("day > '13/05/1990'", "NOT day > 'x'", "CASE WHEN day > 'x' THEN true END"):
        with pytest.raises(duckdb.ConversionException):
            door.ask(f"SELECT count(*) FROM people WHERE {wrong}")


def test_a_refusal_does_not_say_how_many_lack_a_value(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE OR REPLACE VIEW lived AS SELECT *, nullif(pid, 3) AS few FROM people")
    door = Door(con, ["lived"])
    for sql in ("SELECT sex, count(DISTINCT few) FROM lived GROUP BY sex",
                "FROM reid.safe_table(lived, ['sex'], entity := 'few')",
                "FROM reid.risk_summary(lived, ['sex'], entity := 'few')"):  # fmt: skip
        with pytest.raises(ReidError, match=r"got none \(NULL or NaN\) of 'few' in … of … rows; "):
            door.ask(sql)


@pytest.mark.parametrize(
    "order",
    ["", "n", "2 DESC, 1", "count(*), {0}", "ALL DESC", "-n, {0}", "1 DESC NULLS FIRST"],
)  # fmt: skip
def test_a_limit_counts_the_groups_that_are_shown_and_leaves_the_row_of_those_hidden(
    con: duckdb.DuckDBPyConnection, order: str
) -> None:
    """The group of the fewest people is hidden: without that row, the next one would be taken for it."""
    door = Door(con)
    for group in ("age", "sex", "note", "seen"):
        sql = f"SELECT {group}, count(*) AS n FROM people GROUP BY {group}"
        sql += f" ORDER BY {order.format(group)}" if order else ""
        every = [row for row in door.ask(sql) if row != (None, None)]
        hidden = [(None, None)] * (group == "age")
        due = con.execute(f"FROM ({sql}) WHERE n >= 10").fetchall()
        assert sorted(map(repr, every)) == sorted(map(repr, due))
        for first, number in ((0, 1), (0, 2), (1, 2), (3, 1), (9, 5), (0, 1000)):
            found = door.ask(f"{sql} LIMIT {number} OFFSET {first}")
            assert [row for row in found if row == (None, None)] == hidden, sql
            shown = [row for row in found if row != (None, None)]
            if order:
                assert [n for _, n in shown] == [n for _, n in due[first : first + number]], sql
            assert len(shown) == len(due[first : first + number])
            assert {*map(repr, shown)} <= {*map(repr, due)}
        assert len(door.ask(f"{sql} OFFSET 1")) == len(due) - 1 + len(hidden)
    assert door.ask("SELECT count(*) FROM people LIMIT 1") == [(600,)]
    for wrong in ("-1", "1.5", "10 PERCENT", "(SELECT count(*) FROM people)"):
        with pytest.raises(ReidError):
            door.ask(f"SELECT sex, count(*) FROM people GROUP BY sex LIMIT {wrong}")


def test_what_is_computed_from_a_hidden_group_is_null(con: duckdb.DuckDBPyConnection) -> None:
    """A hidden count is no few, no 0 and no least number, and the row of hidden groups is no group."""
    door = Door(con)
    computed = ["greatest(count(*), 5)", "coalesce(count(*), 0)", "CASE WHEN count(*) > 90 THEN 'many' ELSE 'few' END",
                "count(*) IS NULL", "concat('n = ', count(*))", "age > 22 OR count(*) < 50"]  # fmt: skip
    sql = f"SELECT age, {', '.join(computed)} FROM people GROUP BY age"
    found = door.ask(sql)
    due = con.execute(f"{sql} HAVING count(*) >= 10").fetchall()
    assert sorted(found, key=repr) == sorted([*due, (None,) * 7], key=repr)
    groups = ["coalesce(age, -1)", "age IS NULL", "CASE WHEN age > 22 THEN 'old' ELSE 'young' END"]
    rows = door.ask(f"SELECT {', '.join(groups)} FROM people GROUP BY age")
    assert [row for row in rows if None in row] == [(None, None, None)]
    note = "CASE WHEN age > 22 THEN note END"  # its cells are known in part
    rows = door.ask(
        f"SELECT sex, coalesce(count(*), 0) FROM people WHERE {note} = 'a' GROUP BY sex"
    )
    assert all(n is None or n >= 10 for _, n in rows)
    assert len(rows) > 1


NEAR = [  # each list: statements that are answered, then one of which the last comparison has few people or nobody
    ["name > 'm'", "name > 'm' OR name = '{}'"],
    ["name > 'm'", "name > 'm' AND name <> '{}'"],
    ["name > 'm'", "name > 'm' OR name IN ('{}', 'n12')"],
    ["name > 'm'", "(name > 'm' OR name LIKE '{}')"],
    ["name > 'm'", "name > 'm' AND lower(name) <> '{}'"],
    ["name > 'm'", "CASE WHEN name = '{}' THEN true ELSE name > 'm' END"],
    ["pay > 5000", "pay > 5000 AND pay <> {}"],
    ["pay > 5000", "pay < 2000 OR pay > 5000 OR pay BETWEEN {} AND {}"],
    ["pay > {} + 1", "pay >= {}"],
    ["pay <= {}", "NOT pay < {}"],
    ["pay < 2000", "pay > 8000", "pay < {} OR pay > 8000", "pay <= {} OR pay > 8000"],
    ["pay > 5000", "pay * 2 > {} * 2", "pay + 1 > {}"],
    ["seen > DATE '2026-02-01'", "seen > DATE '2026-02-01' OR seen = DATE '2020-01-01' + {}"],
]


@pytest.mark.parametrize("conditions", NEAR, ids=lambda each: each[-1])
def test_whether_somebody_has_a_value_does_not_follow_from_two_conditions(
    tmp_path: Path, conditions: list[str]
) -> None:
    """One table has a person with the value, one has none: all but the counts is alike, after restarts."""
    found = []
    value = "ann" if "name" in conditions[-1] else "4321"
    for there in (True, False):
        with duckdb.connect() as con:
            reid_sql.register(con)
            con.execute(
                f"""CREATE TABLE people AS SELECT chr((97 + i % 26)::INT) || i % 40 AS name, 10 * i AS pay,
                CASE WHEN i % 3 = 0 THEN 'F' ELSE 'M' END AS sex, DATE '2026-01-01' + (i % 60)::INT AS seen
                FROM range(1000) t(i) UNION ALL SELECT 'ann', 4321, 'F', DATE '2020-01-01' + 4321
                FROM range({int(there)})"""
            )
            record = tmp_path / f"{there}.duckdb"
            door, kinds = Door(con, record=record), []
            for condition in conditions:
                del door
                door = Door(con, record=record)
                for sql in (
                    "SELECT count(*) FROM people WHERE {}",
                    "SELECT {}, sex, count(*) FROM people GROUP BY ALL",
                ):
                    try:
                        rows = door.ask(sql.format(condition.replace("{}", value)))
                        kinds.append(str(sorted([None in row, *row[:-1]] for row in rows)))
                    except ReidError as error:
                        kinds.append(str(error))
            found.append(kinds)
    assert found[0] == found[1]


def test_two_clients_cannot_ask_for_two_conditions_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each would be compared before the other is recorded; nobody is between them, which is not told."""
    barrier, compare = threading.Barrier(2), conditions.refuse_near_conditions

    def compare_together(*arguments: Any) -> None:
        compare(*arguments)
        with suppress(threading.BrokenBarrierError):
            barrier.wait(timeout=1)

    monkeypatch.setattr(masks, "refuse_near_conditions", compare_together)
    answered: list[str] = []
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute("CREATE TABLE people AS SELECT 10 * i AS pay FROM range(1000) AS r(i)")
        door = Door(con)

        def ask(client: str, condition: str) -> None:
            with suppress(ReidError):
                door.server.ask(f"SELECT count(*) FROM people WHERE {condition}", client, "session")
                answered.append(condition)

        asked = {"ann": "pay > 5000", "bob": "pay > 5005"}
        threads = [threading.Thread(target=ask, args=each) for each in asked.items()]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert len(answered) == 1


def test_conditions_with_many_people_between_them_are_answered() -> None:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute(
            "CREATE TABLE people AS SELECT i % 100 AS age, DATE '2026-01-01' + (i % 60)::INT AS seen FROM range(2000) t(i)"
        )
        door = Door(con)
        for condition in (
            "age >= 60",
            "age > 59",
            "age < 60",
            "NOT age >= 60",
            "age BETWEEN 20 AND 29",
            "age > 29",
            "age < 18",
            "age BETWEEN 30 AND 39 OR age > 80",
            "age <> 20",
            "age IN (20, 21) OR age > 90",
            "age >= 60.0",
            "age > '59'",
            "seen > '2026-01-31'",
            "seen >= DATE '2026-02-01'",
            "seen < '2026-02-01'",
            "NOT seen >= DATE '2026-02-08' - 7",
        ):
            sql = f"SELECT count(*) FROM people WHERE {condition}"
            assert door.ask(sql) == con.execute(sql).fetchall(), condition
