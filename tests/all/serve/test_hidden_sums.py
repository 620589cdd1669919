"""An attacker adds and subtracts sums, some hidden, and learns no sum that would be refused itself.

The sums of all cells of three columns are unknown, and each shown sum is an equation. Whether another group's
sum follows is a question of linear algebra, which shares no code with what judges the answers.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, combinations, product
from typing import Any

import duckdb
import numpy as np
import pytest

import reid_sql
from reid_sql.errors import ReidError
from reid_sql.serve import masks
from tests.serve.door import Door

pytestmark = pytest.mark.filterwarnings("ignore:Arrow output")
TABLES = int(os.environ.get("REID_SQL_SUM_TABLES", "4"))
STATEMENTS = 10
MASK = 10
COLUMNS = ("town", "region", "sex")
TOWNS, REGIONS, SEXES = 7, 3, 2
CELLS = [(town, town % REGIONS, sex) for town in range(TOWNS) for sex in range(SEXES)]
GROUPINGS = [*chain.from_iterable(combinations(COLUMNS, size) for size in range(3))]


def draw_people(con: duckdb.DuckDBPyConnection, draws: np.random.Generator) -> None:
    """Towns lie in regions; some have few people, and sometimes one person has most of the pay."""
    sizes = draws.choice([15, 30, 90], len(CELLS))
    few = int(draws.integers(TOWNS))
    sizes[2 * few : 2 * few + 2] = draws.choice([0, 2, 3, 6, 12], 2)
    town, region, sex = np.repeat(np.array(CELLS), sizes, axis=0).T
    pay = draws.integers(1, 90, len(town)).astype(float)
    pay[draws.integers(len(pay))] *= draws.choice([1, 10, 100])
    con.register("drawn", {"town": town, "region": region, "sex": sex, "pay": pay})
    con.execute("CREATE TABLE people AS FROM drawn")


def draw_statement(draws: np.random.Generator) -> tuple[str, tuple[str, ...], str]:
    """Draw a figure, groups and a condition."""
    figure = str(draws.choice(["sum(pay)", "avg(pay) * count(*)"]))
    groups = GROUPINGS[int(draws.integers(len(GROUPINGS)))]
    conditions = ["", "", f"sex = {draws.integers(SEXES)}", f"town = {draws.integers(TOWNS)}"]
    conditions += [f"region = {draws.integers(REGIONS)}", f"town <> {draws.integers(TOWNS)}"]
    conditions += [f"town IN ({draws.integers(TOWNS)}, {draws.integers(TOWNS)})"]
    return figure, groups, str(draws.choice(conditions))


def list_equations(
    con: duckdb.DuckDBPyConnection, door: Door, statement: tuple[str, tuple[str, ...], str]
) -> Iterator[np.ndarray]:
    """Ask a statement; yield which cells each shown sum adds up. What is shown must be true."""
    figure, groups, condition = statement
    where = f"WHERE {condition}" if condition else ""
    by = f"GROUP BY {', '.join(groups)}" if groups else ""
    sql = f"SELECT {''.join(f'{name}, ' for name in groups)}{figure} FROM people {where} {by}"
    rows: list[tuple[Any, ...]] = []
    with suppress(ReidError):
        rows = door.ask(sql)
    due = {row[:-1]: row[-1] for row in con.execute(sql).fetchall()}
    for *group, value in rows:
        if value is None:
            continue
        assert value == pytest.approx(due[tuple(group)])
        if figure != "count(*)":
            values = dict(zip(groups, group, strict=True))
            yield np.array([_is_in(con, cell, values, condition) for cell in CELLS], dtype=float)


def _is_in(
    con: duckdb.DuckDBPyConnection, cell: tuple[int, ...], group: dict[str, Any], condition: str
) -> bool:
    named = dict(zip(COLUMNS, cell, strict=True))
    if any(named[name] != value for name, value in group.items()):
        return False
    listed = ", ".join(f"{value} AS {name}" for name, value in named.items())
    [(is_met,)] = con.execute(f"SELECT {condition or 'true'} FROM (SELECT {listed})").fetchall()
    return bool(is_met)


def list_unsafe(con: duckdb.DuckDBPyConnection) -> Iterator[np.ndarray]:
    """List the groups by all sets of columns whose sums are of few people, or mostly of one."""
    places = np.array(CELLS)
    for size in range(1, len(COLUMNS) + 1):
        for places_of in combinations(range(len(COLUMNS)), size):
            for values in product(*(sorted({*places[:, place]}) for place in places_of)):
                is_in = (places[:, places_of] == values).all(axis=1)
                where = " AND ".join(
                    f"{COLUMNS[place]} = {value}"
                    for place, value in zip(places_of, values, strict=True)
                )
                [(people, largest, total)] = con.execute(
                    f"SELECT count(*), max(pay), sum(pay) FROM people WHERE {where}"
                ).fetchall()
                if people and (people < MASK or largest > total / 2):
                    yield is_in.astype(float)


def count_learnt(seed: int) -> tuple[int, int]:
    """Count the unsafe groups whose sum follows from a drawn sequence, and the sums that were shown."""
    draws = np.random.default_rng(seed)
    with duckdb.connect(config={"threads": "1"}) as con:
        reid_sql.register(con)
        draw_people(con, draws)
        door, equations = Door(con), [np.ones(len(CELLS))]
        for _ in range(STATEMENTS):
            equations += list_equations(con, door, draw_statement(draws))
        has_people = np.array(
            [
                con.execute(
                    "SELECT count(*) FROM people WHERE (town, region, sex) = ($1, $2, $3)", [*cell]
                ).fetchall()[0][0]
                > 0
                for cell in CELLS
            ]
        )
        sums = np.array(equations)[:, has_people]
        rank = np.linalg.matrix_rank(sums)
        learnt = [
            each
            for each in list_unsafe(con)
            if np.linalg.matrix_rank(np.vstack([sums, each[has_people]])) == rank
        ]
        return len(learnt), len(equations)


@pytest.mark.parametrize("seed", range(TABLES))
def test_no_sum_of_few_people_follows(seed: int) -> None:
    assert count_learnt(seed)[0] == 0


def test_sums_are_shown_and_some_follow_where_hidden_ones_are_not_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The attacker can learn, and has something to learn from."""
    assert sum(count_learnt(seed)[1] for seed in range(TABLES)) > STATEMENTS
    monkeypatch.setattr(masks, "join_hidden_cells", lambda *arguments: arguments[-1])
    assert sum(count_learnt(seed)[0] for seed in range(TABLES))
