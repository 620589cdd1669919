"""Where a few columns tell nearly all records apart, every figure stays that of counting."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reid_sql
from reid_sql.engines.duckdb import apart
from reid_sql.engines.duckdb.packed import PackedClasses

COLUMNS = ["town", "born", "pay", "sex"]
ROW = st.tuples(
    st.one_of(st.none(), st.integers(0, 40).map(str)),
    st.one_of(st.none(), st.dates()),
    st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(-3, 60)),
    st.one_of(st.none(), st.booleans()),
)
ROWS = st.lists(ROW, max_size=60).map(lambda rows: rows + rows[: len(rows) // 8])
REGISTERED = duckdb.connect()
reid_sql.register(REGISTERED)


@pytest.fixture(scope="module", autouse=True)
def _few_are_many() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apart, "MANY", 0)
        yield


def packed(rows: list[tuple[Any, ...]]) -> PackedClasses:
    con = REGISTERED.cursor()
    con.execute("CREATE OR REPLACE TABLE t (town VARCHAR, born DATE, pay BIGINT, sex BOOLEAN)")
    if rows:
        con.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    return PackedClasses(lambda sql: con.execute(sql).fetchall(), "t", COLUMNS)


def sizes(rows: list[tuple[Any, ...]], places: tuple[int, ...]) -> list[tuple[int, int]]:
    return sorted(Counter(Counter(tuple(row[place] for place in places) for row in rows).values()).items())


def pairs(histogram: Any) -> list[tuple[int, int]]:
    return list(zip(histogram.class_size.tolist(), histogram.classes.tolist(), strict=True))


SETS = [places for size in (4, 3, 2, 1) for places in combinations(range(4), size)]


@given(ROWS)
def test_every_set_of_columns_after_another(rows: list[tuple[Any, ...]]) -> None:
    table = packed(rows)
    for places in SETS:
        chosen = [COLUMNS[place] for place in places]
        assert pairs(table.histograms(chosen)[()]) == sizes(rows, places)
        known = [row for row in rows if all(row[place] is not None for place in places)]
        assert pairs(table.histograms(chosen, drop=True)[()]) == sizes(known, places)
    table.forget()


@given(ROWS)
def test_each_group_is_a_table_of_its_own(rows: list[tuple[Any, ...]]) -> None:
    table = packed(rows)
    groups = table.groups(["sex"])
    for places in ((0, 1, 2), (0, 1), (1, 2), (0, 2)):
        found = table.histograms([COLUMNS[place] for place in places], ["sex"])
        for group in groups:
            own = [row for row in rows if row[3] == group.values[0]]
            assert pairs(found[group.digits]) == sizes(own, places)


@given(ROWS)
def test_values_made_coarser_tell_no_record_apart(rows: list[tuple[Any, ...]]) -> None:
    table = packed(rows)
    table.histograms(COLUMNS)
    table.ask(
        f"CREATE OR REPLACE TEMP TABLE years AS SELECT code, year(v) AS coarse FROM {table.values('born')}"
    )
    coarse = [(row[0], row[1] and row[1].year, *row[2:]) for row in rows]
    found = table.histograms(COLUMNS, coarser={"born": "years"})
    assert pairs(found[()]) == sizes(coarse, (0, 1, 2, 3))


def nearly_unique() -> PackedClasses:
    con = REGISTERED.cursor()
    draw = "hash(i * 10 + {0}) % {1}"
    con.execute(
        f"""CREATE OR REPLACE TABLE u AS SELECT {draw.format(1, 30_000)} AS place,
        {draw.format(2, 20_000)} AS day, {draw.format(3, 4_000)} AS job, {draw.format(4, 900)} AS pay,
        i % 2 = 0 AS sex, format('r{{}}', {draw.format(5, 7)}) AS region FROM range(100_000) AS t(i)"""
    )
    con.execute("INSERT INTO u FROM u WHERE hash(place) % 50 = 0")
    return PackedClasses(lambda sql: con.execute(sql).fetchall(), "u", WIDE)


WIDE = ["place", "day", "job", "pay", "sex", "region"]


def test_few_columns_are_counted_for_many_sets() -> None:
    table = nearly_unique()
    for left_out in ("", *WIDE):
        chosen = [column for column in WIDE if column != left_out]
        asked = f"SELECT count(*) AS n FROM u GROUP BY {', '.join(chosen)}"
        expected = table.ask(f"SELECT n, count(*) FROM ({asked}) GROUP BY n ORDER BY n")
        assert pairs(table.histograms(chosen)[()]) == expected
    assert 0 < len(table.apart.found) <= 3
    assert all(left < 20_000 for left, _ in table.apart.found.values())


def test_what_was_made_on_the_way_is_taken_away() -> None:
    table = nearly_unique()
    table.histograms(WIDE)
    table.forget()
    assert not table.ask(f"SELECT table_name FROM duckdb_tables() WHERE table_name LIKE '{table.name}%'")


def test_numbers_that_leave_few_out_are_worked_out_and_others_looked_up() -> None:
    con = REGISTERED.cursor()
    con.execute(
        """CREATE OR REPLACE TABLE v AS SELECT i::TINYINT AS a, (i * 1_000_000)::BIGINT AS b,
        DATE '2000-01-01' + i::INT AS c, if(i % 9 = 0, 'infinity'::DATE, DATE '1990-05-05') AS d,
        i::HUGEINT AS e FROM range(-60, 60) AS t(i)"""
    )
    table = PackedClasses(lambda sql: con.execute(sql).fetchall(), "v", list("abcde"))
    bases = [table.digits[column].base for column in "abcde"]
    assert bases == [121, 121, 121, 3, 121]
    codes = [
        table.ask(f"SELECT list(code ORDER BY v) FROM {table.values(column)}")[0][0] for column in "abcde"
    ]
    assert codes == [list(range(1, 121))] * 3 + [[1, 2], list(range(1, 121))]
    assert pairs(table.histograms(["d"])[()]) == [(13, 1), (107, 1)]
