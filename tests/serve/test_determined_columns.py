"""Whoever has the list of towns and their regions learns of no town of few people."""

from collections.abc import Iterable
from itertools import chain, permutations
from pathlib import Path

import duckdb
import numpy as np
import pytest
from scipy.optimize import linprog

import reid_sql
from reid_sql.commands.serve import describe_shared
from reid_sql.errors import ReidError
from reid_sql.parameters import Floats, Integers
from reid_sql.serve.catalogue import read_columns
from reid_sql.serve.determined_columns import DeterminedColumns
from tests.serve.door import Door
from tests.udfs.test_two_hierarchies import KINDS, fill_women

pytestmark = pytest.mark.filterwarnings("ignore:Arrow output")
BELOW = 10
TOWNS = 9
Shown = tuple[list[str], tuple[object, ...], int]  # columns, their values, and the count
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


def ask_pair(con: duckdb.DuckDBPyConnection, pair: Iterable[str]) -> list[list[Shown]]:
    """Ask a server for counts by groups, one after the other: of each answer the groups with their counts."""
    door, answers = Door(con), []
    for groups in pair:
        try:
            rows = door.ask(f"SELECT {groups}, count(*) FROM people GROUP BY {groups}")
        except ReidError:
            continue
        names = groups.split(", ")
        answers.append(
            [(names, tuple(values), count) for *values, count in rows if count is not None]
        )
    return answers


def width_of(cells: Floats, sums: list[Floats], totals: list[float]) -> float:
    """How far apart the ends of a count are that agrees with all sums."""
    ends = [linprog(sign * cells, A_eq=np.stack(sums), b_eq=totals).fun for sign in (1, -1)]
    return float(-ends[1] - ends[0])


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.all)])
def test_pairs_of_groups_reveal_no_small_town(seed: int) -> None:
    """Each shown count is a sum over towns and sexes; no small one of these follows from all of them."""
    con = duckdb.connect()
    reid_sql.register(con)
    sizes = draw_people(con, seed)
    answered = 0
    for pair in permutations(GROUPS, 2):
        sums, totals = [np.ones(2 * TOWNS)], [float(sizes.sum())]
        answers = ask_pair(con, pair)
        answered += len(answers)
        for names, values, count in chain(*answers):
            sums.append(cells_of(names, values).ravel().astype(float))
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
            assert width_of(cells, sums, totals) > 0.5, (pair, cells)
    assert answered > len(GROUPS) * (len(GROUPS) - 1)  # more than one of each pair


@pytest.mark.parametrize("seed", [2, pytest.param(0, marks=pytest.mark.all)])
def test_a_value_that_determines_another_reveals_no_remainder(seed: int) -> None:
    """Women and pregnant women of a town subtract to the few women who are not pregnant."""
    small = 0
    draws = np.random.default_rng(seed)
    sizes = draws.choice([3, 11, 14, 19, 23], (TOWNS, len(KINDS)))
    sizes[:, 1] = draws.choice([0, 1, 3, 12, 15, 30], TOWNS)
    con = duckdb.connect()
    reid_sql.register(con)
    fill_women(con, "people", sizes)
    people = [
        {"town": f"town {town}", "sex": sex, "pregnant": pregnant}
        for town in range(TOWNS)
        for sex, pregnant in KINDS
    ]
    for pair in permutations(("town, sex", "town, pregnant", "sex", "town"), 2):
        sums, totals = [np.ones(sizes.size)], [float(sizes.sum())]
        for names, values, count in chain(*ask_pair(con, pair)):
            group = dict(zip(names, values, strict=True))
            sums.append(np.array([group.items() <= each.items() for each in people], dtype=float))
            totals.append(float(count))
        for place, size in enumerate(sizes.ravel()):
            if 0 < size < BELOW:
                small += 1
                assert width_of(np.eye(sizes.size)[place], sums, totals) > 0.5, (seed, pair, place)
    assert small > 20


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
    found = DeterminedColumns(con, "people")
    names = con.sql("FROM people").columns
    added = {name: found.add_columns(con, [name]) - {name} for name in names}
    assert {name: others for name, others in added.items() if others} == expected


@pytest.mark.parametrize("name", ["people", "my people", "people (of 2026)"])
def test_records_and_people_of_one_table_are_not_mixed(name: str, tmp_path: Path) -> None:
    """Whatever the table is called; a record of a table that is served no more is kept."""
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute(
        f'CREATE TABLE "{name}" AS SELECT i // 2 AS pid, i % 3 AS g, i // 2 % 4 AS h FROM range(300) AS r(i)'
    )
    door = Door(con, tables=(name,), record=tmp_path / "record.duckdb")
    groups = f'SELECT g, count(*) FROM "{name}" GROUP BY g'
    assert door.ask(groups) == [(0, 100), (1, 100), (2, 100)]
    with pytest.raises(ReidError, match="must count the people of the answers before"):
        door.ask(f'SELECT h, count(DISTINCT pid) FROM "{name}" GROUP BY h')
    del door  # which closes the record
    con.execute(f'ALTER TABLE "{name}" RENAME TO other')
    again = Door(con, tables=("other",), record=tmp_path / "record.duckdb")
    assert again.ask(groups.replace(f'"{name}"', "other")) == [(0, 100), (1, 100), (2, 100)]


@pytest.mark.parametrize(
    ("visits", "is_said"),
    [
        ("SELECT i // 2 AS PID, i % 4 AS ward FROM range(200) AS r(i)", True),
        ("SELECT (i // 2)::VARCHAR AS pid FROM range(200) AS r(i)", True),
        ("SELECT i // 2 + 1000 AS pid FROM range(200) AS r(i)", False),
        ("SELECT i % 3 AS town FROM range(200) AS r(i)", False),
    ],
)
def test_tables_of_the_same_people_are_named_at_the_start(visits: str, is_said: bool) -> None:  # noqa: FBT001
    """Counts of a table are not linked with those of another, by other columns of the same people."""
    con = duckdb.connect()
    con.execute("CREATE TABLE people AS SELECT i AS pid, i % 3 AS town FROM range(100) AS r(i)")
    con.execute(f"CREATE TABLE visits AS {visits}")
    said = list(describe_shared(con, read_columns(con, ["people", "visits"])))
    assert [each.startswith("people and visits have values of pid in common") for each in said] == [
        True
    ] * is_said


def test_columns_are_named_as_the_table_writes_them() -> None:
    """DuckDB has capitals beyond ASCII: a name in small letters is that of another column."""
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute(
        """CREATE TABLE people AS SELECT i AS pid, i // 20 AS "Straße", i // 100 AS "ÖRTLICH" FROM range(400) AS r(i)"""
    )
    con.execute('CREATE TABLE visits AS SELECT i AS "ÖRTLICH" FROM range(4) AS r(i)')
    door = Door(con)
    assert len(door.ask('SELECT "Straße", count(*) FROM people GROUP BY ALL')) == 20
    assert len(door.ask('SELECT "ÖRTLICH", count(*) FROM people GROUP BY ALL')) == 4
    said = list(describe_shared(con, read_columns(con, ["people", "visits"])))
    assert [each.split(" in common")[0] for each in said] == [
        "people and visits have values of ÖRTLICH"
    ]


def test_zero_has_no_sign() -> None:
    """Rounded numbers are 0.0 or -0.0, which are one group with either text."""
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute(
        """CREATE TABLE people AS SELECT i AS pid, CASE WHEN i < 300 THEN round((i % 5 - 2) / 5.0::DOUBLE)
        ELSE 1 END AS x, x AS y FROM range(600) AS r(i)"""
    )
    door = Door(con)
    for groups in ("x", "y", "x, y"):
        rows = door.ask(f"SELECT {groups}, count(*) FROM people GROUP BY ALL")
        assert [row[-1] for row in rows] == [300, 300]


@pytest.mark.parametrize("seed", [11, pytest.param(0, marks=pytest.mark.all)])
def test_columns_that_determine_another_together_reveal_nobody(seed: int) -> None:
    """Adults and children are the size of a household: two groupings and their totals subtract."""
    draws = np.random.default_rng(seed)
    adults = draws.choice([1, 2, 3, 4], 600, p=[0.3, 0.5, 0.15, 0.05])
    children = draws.choice([0, 1, 2, 3, 4], 600, p=[0.6, 0.15, 0.15, 0.07, 0.03])
    con = duckdb.connect()
    reid_sql.register(con)
    con.register("drawn", {"adults": adults, "children": children, "size": adults + children})
    con.execute("CREATE TABLE people AS FROM drawn")
    households = [
        {"adults": many, "children": few, "size": many + few}
        for many in range(1, 5)
        for few in range(5)
    ]
    together, apart = "adults, children", ("size", "adults", "children")
    for groups in ((together, *apart), (*apart, together)):
        sums, totals = [np.ones(len(households))], [600.0]
        for names, values, count in chain(*ask_pair(con, groups)):
            group = dict(zip(names, values, strict=True))
            sums.append(
                np.array([group.items() <= each.items() for each in households], dtype=float)
            )
            totals.append(float(count))
        assert len(totals) > 4
        for place, household in enumerate(households):
            count = np.sum((adults == household["adults"]) & (children == household["children"]))
            if 0 < count < BELOW:
                assert width_of(np.eye(len(households))[place], sums, totals) > 0.5, household


def test_means_of_columns_that_determine_another_reveal_nobody() -> None:
    """Nobody asks for adults and children together, but all adults and all children are all people.

    Of the sizes, 6 and 7 are hidden: their numbers add up to 17, and their people to 12 x 6 + 5 x 7.
    """
    households = [(1, 0), (2, 0), (2, 1), (3, 1), (1, 3), (3, 2), (4, 2), (4, 3)]
    many = [60, 60, 30, 20, 15, 15, 12, 5]
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute("CREATE TABLE people (adults INT, children INT, size INT)")
    rows = [(a, c, a + c) for (a, c), n in zip(households, many, strict=True) for _ in range(n)]
    con.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    groups = [{"adults": a, "children": c, "size": a + c} for a in range(1, 5) for c in range(4)]
    for order in permutations(("adults", "children", "size")):
        sums, totals = [np.ones(len(groups))], [float(sum(many))]
        for names, values, count in chain(*ask_pair(con, order)):
            shown = dict(zip(names, values, strict=True))
            sums.append(np.array([shown.items() <= each.items() for each in groups], dtype=float))
            totals.append(float(count))
        assert len(totals) > 8
        largest = np.array([each["size"] == 7 for each in groups], dtype=float)
        assert width_of(largest, sums, totals) > 0.5, order
