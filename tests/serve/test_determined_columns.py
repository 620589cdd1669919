"""Whoever has the list of towns and their regions learns of no town of few people."""

from itertools import permutations

import duckdb
import numpy as np
import pytest
from scipy.optimize import linprog

import reid_sql
from reid_sql.errors import ReidError
from reid_sql.parameters import Integers
from reid_sql.serve.determined_columns import find_determined
from tests.serve.door import Door

pytestmark = pytest.mark.filterwarnings("ignore:Arrow output")
BELOW = 10
TOWNS = 9
GROUPS = ("town", "code", "region", "code, sex", "region, sex")


def draw_people(con: duckdb.DuckDBPyConnection, seed: int) -> Integers:
    """Fill a table of people by town, its code and region, and sex; return how many there are of each."""
    draws = np.random.default_rng(seed)
    sizes = draws.choice([0, 3, 4, 11, 14, 19, 23], (TOWNS, 2))
    # The only small town of its region, and two others that hide the same.
    sizes[0], sizes[3], sizes[4] = (3, 0), (4, 0), (0, 3)
    sizes[1:3] += 11
    con.execute("CREATE TABLE people (town VARCHAR, code INT, region VARCHAR, sex VARCHAR)")
    rows = [
        (f"town {town}", 100 + 7 * town, f"region {town // 3}", sex)
        for town, of_town in enumerate(sizes)
        for sex, size in zip("fm", of_town, strict=True)
        for _ in range(size)
    ]
    con.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    return sizes


def cells_of(names: list[str], values: tuple[object, ...]) -> Integers:
    """Mark the towns and sexes that have these values."""
    is_in = np.ones((TOWNS, 2), dtype=np.int64)
    for town in range(TOWNS):
        place = {"town": f"town {town}", "code": 100 + 7 * town, "region": f"region {town // 3}"}
        for at, sex in enumerate("fm"):
            of_cell = place | {"sex": sex}
            is_in[town, at] = all(
                of_cell[name] == value for name, value in zip(names, values, strict=True)
            )
    return is_in


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.all) for seed in range(1, 5))]
)
def test_pairs_of_groups_reveal_no_small_town(seed: int) -> None:
    """Each shown count is a sum over towns and sexes; no small one of these follows from all of them."""
    con = duckdb.connect()
    reid_sql.register(con)
    sizes = draw_people(con, seed)
    answered = 0
    for pair in permutations(GROUPS, 2):
        door = Door(con)
        sums, totals = [np.ones(2 * TOWNS)], [float(sizes.sum())]
        for groups in pair:
            names = groups.split(", ")
            try:
                rows = door.ask(f"SELECT {groups}, count(*) FROM people GROUP BY {groups}")
            except ReidError:
                continue
            answered += 1
            for *values, count in rows:
                if count is not None:
                    sums.append(cells_of(names, tuple(values)).ravel().astype(float))
                    totals.append(float(count))
        groups_of_few = [
            np.eye(2 * TOWNS)[place] for place, size in enumerate(sizes.ravel()) if 0 < size < BELOW
        ]
        groups_of_few += [
            cells_of(["town"], (f"town {town}",)).ravel().astype(float)
            for town in range(TOWNS)
            if 0 < sizes[town].sum() < BELOW
        ]
        for cells in groups_of_few:
            ends = [linprog(sign * cells, A_eq=np.stack(sums), b_eq=totals).fun for sign in (1, -1)]
            assert -ends[1] - ends[0] > 0.5, (pair, cells)
    assert answered > len(GROUPS) * (len(GROUPS) - 1)  # more than one of each pair


@pytest.mark.parametrize("table", ["town", "several rows", "by chance"])
def test_what_is_determined_is_told_from_chance(table: str) -> None:
    """A town has one region; an id has one of everything, as each id is there once; few pairs are chance."""
    con = duckdb.connect()
    reid_sql.register(con)
    if table == "town":
        draw_people(con, 1)
        expected = {"town": {"code", "region"}, "code": {"town", "region"}}
    elif table == "several rows":
        con.execute(
            "CREATE TABLE people AS SELECT i // 4 AS id, (i // 4 * 7) % 5 AS age, i % 4 AS visit, i AS n FROM range(80) AS r(i)"
        )
        expected = {"id": {"age"}}
    else:
        con.execute(
            "CREATE TABLE people AS SELECT i AS id, i % 3 AS age, NULL AS empty FROM range(50) AS r(i)"
        )
        expected = {}
    found = find_determined(con, "people")
    assert {name: {*others} for name, others in found.columns.items()} == expected
