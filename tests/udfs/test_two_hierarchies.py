"""Towns with regions and clinics: whoever knows the map adds up the published counts of all three."""

import duckdb
import numpy as np
import pytest
from scipy.optimize import linprog

import reid_sql
from reid_sql.parameters import Integers

TOWNS = 10
K = 5
WITH_MARGINS = "totals := 'margins'"
APART = "tables := ['town', 'region', 'clinic']"


def draw_towns(con: duckdb.DuckDBPyConnection, seed: int) -> tuple[Integers, Integers]:
    """Fill a table of people; return the people of each town, and its place in both hierarchies."""
    draws = np.random.default_rng(seed)
    places = draws.integers(0, 3, (TOWNS, 2))
    people = draws.choice([1, 2, 3, 4, 6, 9, 14, 22], TOWNS)
    rows = [
        (f"town {town}", f"region {places[town, 0]}", f"clinic {places[town, 1]}")
        for town in range(TOWNS)
        for _ in range(people[town])
    ]
    con.execute("CREATE TABLE p (town VARCHAR, region VARCHAR, clinic VARCHAR)")
    con.executemany("INSERT INTO p VALUES (?, ?, ?)", rows)
    return people, places


@pytest.mark.parametrize("tables", [WITH_MARGINS, APART])
@pytest.mark.parametrize("seed", range(6))
def test_a_column_of_two_hierarchies_is_protected_in_both(seed: int, tables: str) -> None:
    con = duckdb.connect()
    reid_sql.register(con)
    people, places = draw_towns(con, seed)
    cells = con.sql(
        f"""SELECT town, region, clinic, total_over, records FROM safe_table(p, ['region', 'clinic', 'town'],
        k := {K}, suppress := 'secondary', levels := ['region > town', 'clinic > town'], {tables},
        output := 'publishable')"""
    ).fetchall()
    is_in = [
        [
            (town is None or town == f"town {at}")
            and (region is None or region == f"region {places[at, 0]}")
            and (clinic is None or clinic == f"clinic {places[at, 1]}")
            for at in range(TOWNS)
        ]
        for town, region, clinic, _, _ in cells
    ]
    sums = np.array(is_in, dtype=float)
    shown = np.array([row[-1] is not None for row in cells])
    totals = np.array([row[-1] for row in cells if row[-1] is not None], dtype=float)
    assert (sums[shown] @ people == totals).all()
    few = [each for each in sums if 0 < each @ people < K]
    assert few
    for each in few:
        ends = [
            linprog(sign * each, A_eq=sums[shown], b_eq=totals, bounds=(1, None))
            for sign in (1, -1)
        ]
        high = np.inf if ends[1].status == 3 else -ends[1].fun  # no bound
        assert high - ends[0].fun >= K - 0.5


def test_tables_that_hang_together_in_silence_are_refused() -> None:
    """Counts of towns and of regions subtract; sexes and regions do not determine each other."""
    con = duckdb.connect()
    reid_sql.register(con)
    draw_towns(con, 1)
    call = (
        "FROM safe_table(p, ['town', 'region'], suppress := '{}', tables := ['town', 'region'] {})"
    )
    with pytest.raises(
        duckdb.InvalidInputException, match=r"'town', which determines 'region'.*'region > town'"
    ):
        con.sql(call.format("secondary", "")).fetchall()
    con.sql(call.format("secondary", ", levels := ['region > town']")).fetchall()
    con.sql(call.format("primary", "")).fetchall()  # which protects nothing together
    con.execute(
        "CREATE OR REPLACE TABLE p AS SELECT *, random() < 0.5 AS town FROM p AS r(a, region)"
    )
    con.sql(call.format("secondary", "")).fetchall()


KINDS = (("f", "y"), ("f", "n"), ("m", "n"))  # nobody is ("m", "y"), as all know


def fill_women(con: duckdb.DuckDBPyConnection, table: str, sizes: Integers) -> None:
    """Fill a table of people with so many of each town and kind."""
    con.execute(f"CREATE TABLE {table} (town VARCHAR, sex VARCHAR, pregnant VARCHAR)")
    people = [
        (f"town {town}", *KINDS[kind])
        for (town, kind), size in np.ndenumerate(sizes)
        for _ in range(size)
    ]
    con.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", people)


def test_tables_that_subtract_to_few_people_are_refused() -> None:
    """Women less pregnant women of a town are the others; each answer is held against all equations."""
    answered = refused = 0
    for seed in range(40):
        draws = np.random.default_rng(seed)
        sizes = draws.choice([8, 11, 14, 19], (3, len(KINDS)))
        sizes[:, 1] = draws.choice([0, 1, 3, 12, 15], 3)
        con = duckdb.connect()
        reid_sql.register(con)
        fill_women(con, "p", sizes)
        try:
            cells = con.sql(
                f"""SELECT town, sex, pregnant, records FROM safe_table(p, ['town', 'sex', 'pregnant'], k := {K},
                suppress := 'secondary', tables := ['town, sex', 'town, pregnant'], output := 'publishable')
                WHERE records IS NOT NULL"""
            ).fetchall()
        except duckdb.InvalidInputException:
            refused += 1
            continue
        answered += 1
        is_in = [
            [
                town in {None, f"town {at}"}
                and sex in {None, kind[0]}
                and pregnant in {None, kind[1]}
                for at in range(3)
                for kind in KINDS
            ]
            for town, sex, pregnant, _ in cells
        ]
        for place, size in enumerate(sizes.ravel()):
            if 0 < size < K:
                ends = [
                    linprog(
                        sign * np.eye(sizes.size)[place],
                        A_eq=np.array(is_in, dtype=float),
                        b_eq=[row[-1] for row in cells],
                    )
                    for sign in (1, -1)
                ]
                high = np.inf if ends[1].status == 3 else -ends[1].fun
                assert high - ends[0].fun > 0.5, (seed, place)
    assert answered > 3
    assert refused > 3


def test_those_who_never_worked_do_not_follow_from_two_columns(adult: str) -> None:
    """Workclass '?' and 'Never-worked' are occupation '?': 1,836 of 1,843 people."""
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute(f"CREATE VIEW people AS FROM '{adult}'")
    call = """FROM safe_table(people, ['workclass', 'occupation'], suppress := 'secondary',
        k := 10, tables := ['{}'])"""
    with pytest.raises(
        duckdb.InvalidInputException, match=r"'workclass'.*one value of 'occupation'"
    ):
        con.sql(call.format("workclass', 'occupation")).fetchall()
    assert con.sql(call.format("workclass, occupation")).fetchall()


@pytest.mark.parametrize(("never", "is_refused"), [(3, True), (20, False)])
def test_people_with_several_rows_are_subtracted_as_people(never: int, is_refused: bool) -> None:  # noqa: FBT001
    """Of women with two rows each, so many are not pregnant; each table of cells counts people."""
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute(
        f"""CREATE TABLE p AS SELECT pid, town, sex, pregnant FROM range(2), (
        SELECT i AS pid, i % 2 AS town, CASE WHEN i < 200 THEN 'f' ELSE 'm' END AS sex,
        i < 200 - 2 * {never} AS pregnant FROM range(400) AS r(i))"""
    )
    call = """SELECT people FROM safe_table(p, ['town', 'sex', 'pregnant'], entity := 'pid', k := 5,
        suppress := 'secondary', tables := ['town, sex', 'town, pregnant'])"""
    if is_refused:
        with pytest.raises(duckdb.InvalidInputException, match="must not subtract to few people"):
            con.sql(call).fetchall()
    else:
        assert con.sql(call).fetchall()


def test_people_of_several_categories_are_subtracted_as_people() -> None:
    """Each woman but 3 was pregnant once and is not any more: 103 women less 100 are the 3."""
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute(
        """CREATE TABLE p AS SELECT i AS pid, CASE WHEN i < 103 THEN 'f' ELSE 'm' END AS sex, now AS pregnant
        FROM range(200) AS r(i), (VALUES (true), (false)) AS v(now) WHERE i < 100 OR NOT now"""
    )
    with pytest.raises(duckdb.InvalidInputException, match="must not subtract to few people"):
        con.sql(
            """FROM safe_table(p, ['sex', 'pregnant'], entity := 'pid', k := 5, suppress := 'secondary',
            tables := ['sex', 'pregnant'])"""
        ).fetchall()


def test_a_hierarchy_names_a_column_once() -> None:
    con = duckdb.connect()
    reid_sql.register(con)
    draw_towns(con, 1)
    with pytest.raises(duckdb.InvalidInputException, match="each named once in a hierarchy"):
        con.sql("FROM safe_table(p, ['town', 'region'], levels := ['region > region'])").fetchall()


def test_a_value_that_is_one_cell_of_another_table_is_subtracted_from_it() -> None:
    """All 14 of a = 0 are of c = 0 and d = 0, where 20 people are: of neither column alone."""
    con = duckdb.connect()
    reid_sql.register(con)
    cells = (
        "(0,0,0,14), (1,0,0,3), (1,0,1,14), (1,1,0,3), (2,0,0,3), (2,1,0,14), (2,1,1,14), (2,0,1,3)"
    )
    con.execute(
        f"CREATE TABLE p AS SELECT a, c, d FROM (VALUES {cells}) AS v(a, c, d, n), range(n) AS r(i)"
    )
    call = "FROM safe_table(p, ['a', 'c', 'd'], k := 10, suppress := 'secondary', tables := [{}])"
    with pytest.raises(duckdb.InvalidInputException, match=r"'a', of which .* of 'c' and 'd'"):
        con.sql(call.format("'c, d', 'a'")).fetchall()
    for tables in ("'c, d', 'a, c, d'", "'c', 'a, c, d', 'a'"):  # linked by the one that shows all
        assert con.sql(call.format(tables)).fetchall()


@pytest.mark.first(cells=4)
@pytest.mark.parametrize("counted", ["", ", entity := 'pid'"])
@pytest.mark.parametrize(
    ("size", "tables", "rule"),
    [
        ("adults + children", "'adults, children', 'size'", "'adults' and 'children', which"),
        ("adults + children", "'adults, size', 'adults, children'", "'adults' and 'children', w"),
        ("(adults + children) % 2", "'adults, children', 'size'", "'adults' and 'children', w"),
        ("adults + children", "'adults, children, size', 'size'", None),
        ("random_size", "'adults, children', 'size'", None),
        (
            "CASE WHEN children = 0 THEN adults WHEN pid % 40 = 0 THEN 1 ELSE 9 END",
            "'adults, children', 'size'",
            "'children', of which some values have one value of 'size'",
        ),
    ],
)
def test_columns_that_determine_another_together_are_shown_with_it(
    size: str, tables: str, rule: str | None, counted: str
) -> None:
    """Adults and children are the size of a household: groups by both subtract from those by the size."""
    draws = np.random.default_rng(1)
    con = duckdb.connect()
    reid_sql.register(con)
    drawn = {
        "pid": np.arange(600),
        "adults": draws.choice([1, 2, 3, 4], 600, p=[0.3, 0.5, 0.15, 0.05]),
        "children": draws.choice([0, 1, 2, 3], 600, p=[0.6, 0.2, 0.15, 0.05]),
        "random_size": draws.choice([1, 2, 3, 4], 600),
    }
    con.register("drawn", drawn)
    con.execute(f"CREATE TABLE p AS SELECT *, {size} AS size FROM drawn")
    call = f"""FROM safe_table(p, ['adults', 'children', 'size'], k := 10, suppress := 'secondary',
        tables := [{tables}]{counted})"""
    if rule is None:
        assert con.sql(call).fetchall()
    else:
        with pytest.raises(duckdb.InvalidInputException, match=rule):
            con.sql(call).fetchall()
