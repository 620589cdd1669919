from collections import Counter
from typing import Any

import duckdb
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import reid_sql
from reid_sql.engines.duckdb.packed import WORD, PackedClasses
from tests.tables import blank, class_sizes, histogram

VALUES = st.one_of(st.none(), st.sampled_from(["a", "b", " ", 'say "hi"', "NULL", ""]))
ROWS = st.lists(
    st.tuples(VALUES, st.one_of(st.none(), st.integers(-2, 2)), st.one_of(st.none(), st.floats(width=32))),
    max_size=30,
)
COLUMNS = ["a", 'odd "name"', "reid"]
REGISTERED = duckdb.connect()
reid_sql.register(REGISTERED)


def packed(rows: list[tuple[Any, ...]]) -> PackedClasses:
    con = REGISTERED.cursor()
    con.execute('CREATE OR REPLACE TABLE t (a VARCHAR, "odd ""name""" INTEGER, reid FLOAT)')
    if rows:
        con.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    return PackedClasses(lambda sql: con.execute(sql).fetchall(), "t", COLUMNS)


def same(value: Any) -> Any:
    return "nan" if isinstance(value, float) and np.isnan(value) else value


def sizes(rows: list[tuple[Any, ...]], places: list[int]) -> list[tuple[int, int]]:
    classes = Counter(tuple(same(row[place]) for place in places) for row in rows)
    return sorted(Counter(classes.values()).items())


def pairs(histogram: Any) -> list[tuple[int, int]]:
    return list(zip(histogram.class_size.tolist(), histogram.classes.tolist(), strict=True))


@given(ROWS)
def test_every_set_of_columns_has_the_class_sizes_that_counting_gives(rows: list[tuple[Any, ...]]) -> None:
    table = packed(rows)
    assert table.records == len(rows)
    for places in ([0], [1], [2], [0, 1], [1, 2], [0, 2], [0, 1, 2]):
        found = table.histograms([COLUMNS[place] for place in places])
        assert pairs(found[()]) == sizes(rows, places)


@given(ROWS)
def test_records_that_lack_a_value_are_left_out_where_asked(rows: list[tuple[Any, ...]]) -> None:
    kept = [row for row in rows if row[0] is not None and row[1] is not None]
    assert pairs(packed(rows).histograms(COLUMNS[:2], drop=True)[()]) == sizes(kept, [0, 1])


@given(ROWS)
def test_each_group_is_counted_as_a_table_of_its_own(rows: list[tuple[Any, ...]]) -> None:
    table = packed(rows)
    found = table.histograms(["a", "reid"], [COLUMNS[1]])
    groups = table.groups([COLUMNS[1]])
    assert [(group.values[0], group.records) for group in groups] == sorted(
        Counter(row[1] for row in rows).items(), key=lambda item: (item[0] is not None, item[0])
    )
    for group in groups:
        assert pairs(found[group.digits]) == sizes([row for row in rows if row[1] == group.values[0]], [0, 2])


@given(ROWS)
def test_each_group_is_matched_as_a_table_of_its_own(rows: list[tuple[Any, ...]]) -> None:
    table = packed(rows)
    found = table.matched([COLUMNS[1], "reid"], ["a"])
    assert set(found) == {group.digits for group in table.groups(["a"])}
    for group in table.groups(["a"]):
        own = [(row[1], same(row[2])) for row in rows if row[0] == group.values[0]]
        counted, told = class_sizes(own, own, "wildcard"), found[group.digits]
        lines = zip(told.class_size.tolist(), told.classes.tolist(), told.records.tolist(), strict=True)
        assert list(lines) == histogram(own, counted)
        assert told.blank_records is not None
        assert told.blank_records.sum() == blank(own, "wildcard")


def test_values_made_coarser_are_one_value() -> None:
    rows = [("a", 1, 0.0), ("a", 2, 0.0), ("b", 3, 0.0), ("b", None, 0.0)]
    table = packed(rows)
    table.ask(f"CREATE TABLE odd AS SELECT code, v % 2 AS coarse FROM {table.values(COLUMNS[1])}")
    found = table.histograms(COLUMNS[:2], coarser={COLUMNS[1]: "odd"})
    assert pairs(found[()]) == [(1, 4)]
    found = table.histograms([COLUMNS[1]], coarser={COLUMNS[1]: "odd"})
    assert pairs(found[()]) == [(1, 2), (2, 1)]  # 1 and 3; 2; NULL


def test_many_columns_of_many_values_need_more_than_one_number() -> None:
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute("SELECT setseed(0.1)")
    con.execute(
        f"CREATE TABLE t AS SELECT {', '.join(f'hash(i + {c}) % 5000 AS c{c}' for c in range(9))} "
        "FROM range(4000) r(i)"
    )
    con.execute("INSERT INTO t FROM t LIMIT 700")
    columns = [f"c{c}" for c in range(9)]
    table = PackedClasses(lambda sql: con.execute(sql).fetchall(), "t", columns)
    assert table.digits["c8"].word > 0
    assert all(digit.place * digit.base <= WORD for digit in table.digits.values())
    for chosen in (columns, ["c0", "c8"], ["c8"], columns[3:]):
        listed = ", ".join(chosen)
        sql = f"SELECT n, count(*) FROM (SELECT count(*) AS n FROM t GROUP BY {listed}) GROUP BY n ORDER BY n"
        assert pairs(table.histograms(chosen)[()]) == con.execute(sql).fetchall()
