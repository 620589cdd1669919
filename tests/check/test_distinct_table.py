"""The class sizes by any columns of the distinct records are those of counting."""

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reid_sql
from reid_sql.check import distinct_table
from reid_sql.check.distinct_table import DistinctTable, EncodedPeople
from reid_sql.check.duckdb_table import DuckDBTable
from reid_sql.check.gate import open_with_engine
from reid_sql.check.policy import read_policy
from reid_sql.sources.equal_rows import describe_copies
from reid_sql_udfs import declared
from tests.tables import blank, class_sizes, histogram

REGISTERED = duckdb.connect()
reid_sql.register(REGISTERED)
VALUES = st.one_of(st.none(), st.sampled_from(["a", "b", " ", 'say "hi"', "NULL", ""]))
ROWS = st.lists(
    st.tuples(
        VALUES, st.one_of(st.none(), st.integers(-2, 2)), st.one_of(st.none(), st.floats(width=32))
    ),
    max_size=30,
)
COLUMNS = ["a", 'odd "name"', "reid"]
DETAILED = st.tuples(
    st.one_of(st.none(), st.integers(0, 40).map(str)),
    st.one_of(st.none(), st.dates()),
    st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(-3, 60)),
    st.one_of(st.none(), st.booleans()),
)
DETAILED_ROWS = st.lists(DETAILED, max_size=60).map(lambda rows: rows + rows[: len(rows) // 8])
DETAILED_COLUMNS = ["town", "born", "pay", "sex"]
SETS = [places for size in (4, 3, 2, 1) for places in combinations(range(4), size)]


def distinct(create: str, rows: list[tuple[Any, ...]], columns: list[str]) -> DistinctTable:
    con = REGISTERED.cursor()
    con.execute(f"CREATE OR REPLACE TABLE t ({create})")
    if rows:
        con.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(columns))})", rows)
    return DistinctTable(lambda sql: con.execute(sql).fetchall(), "t", columns)


def small_table(rows: list[tuple[Any, ...]]) -> DistinctTable:
    return distinct('a VARCHAR, "odd ""name""" INTEGER, reid FLOAT', rows, COLUMNS)


def same(value: Any) -> Any:
    return "nan" if isinstance(value, float) and np.isnan(value) else value


def sizes(rows: list[tuple[Any, ...]], places: tuple[int, ...]) -> list[tuple[int, int]]:
    classes = Counter(tuple(same(row[place]) for place in places) for row in rows)
    return sorted(Counter(classes.values()).items())


def of_group(rows: list[tuple[Any, ...]], value: Any) -> list[tuple[int, int]]:
    return sorted(row[1:] for row in rows if row[0] == value)


@given(ROWS)
def test_every_set_of_columns_has_the_class_sizes_that_counting_gives(
    rows: list[tuple[Any, ...]],
) -> None:
    table = small_table(rows)
    assert table.records == len(rows)
    for places in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)):
        assert table.class_sizes([COLUMNS[place] for place in places]) == sizes(rows, places)


@given(ROWS)
def test_records_that_lack_a_value_are_left_out_where_asked(rows: list[tuple[Any, ...]]) -> None:
    known = [row for row in rows if row[0] is not None and row[1] is not None]
    assert small_table(rows).class_sizes(COLUMNS[:2], drop=True) == sizes(known, (0, 1))


@given(ROWS)
def test_each_group_is_counted_as_a_table_of_its_own(rows: list[tuple[Any, ...]]) -> None:
    table = small_table(rows)
    counted = table.class_sizes(["a", "reid"], [COLUMNS[1]])
    groups = table.ask(f"SELECT g0, records FROM {table.groups([COLUMNS[1]])} ORDER BY place")
    assert groups == sorted(
        Counter(row[1] for row in rows).items(), key=lambda item: (item[0] is not None, item[0])
    )
    for value, _ in groups:
        assert of_group(counted, value) == sizes([row for row in rows if row[1] == value], (0, 2))


@given(ROWS)
def test_each_group_is_matched_as_a_table_of_its_own(rows: list[tuple[Any, ...]]) -> None:
    table = small_table(rows)
    found = table.match_groups([COLUMNS[1], "reid"], ["a"])
    groups = table.ask(f"SELECT place, g0 FROM {table.groups(['a'])}")
    assert set(found) == {place for place, _ in groups}
    for place, value in groups:
        own = [(row[1], same(row[2])) for row in rows if row[0] == value]
        matched = found[place]
        lines = zip(
            matched.class_size.tolist(),
            matched.classes.tolist(),
            matched.records.tolist(),
            strict=True,
        )
        assert list(lines) == histogram(own, class_sizes(own, own, "wildcard"))
        assert matched.blank_records is not None
        assert matched.blank_records.sum() == blank(own, "wildcard")


@given(ROWS)
def test_codes_are_those_of_the_values_in_their_order(rows: list[tuple[Any, ...]]) -> None:
    table = small_table(rows)
    coded = table.ask(table.select_codes([COLUMNS[1]]))
    ranks = {value: rank for rank, value in enumerate(sorted({r[1] for r in rows} - {None}), 1)}
    assert dict(coded) == dict(Counter(ranks.get(row[1], 0) for row in rows))


@pytest.fixture
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distinct_table, "MIN_RECORDS", 0)


ONCE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def detailed(rows: list[tuple[Any, ...]]) -> DistinctTable:
    return distinct("town VARCHAR, born DATE, pay BIGINT, sex BOOLEAN", rows, DETAILED_COLUMNS)


@pytest.mark.usefixtures("_few_are_many")
@ONCE
@given(DETAILED_ROWS)
def test_every_set_of_columns_after_another(rows: list[tuple[Any, ...]]) -> None:
    table = detailed(rows)
    for places in SETS:
        chosen = [DETAILED_COLUMNS[place] for place in places]
        assert sorted(table.class_sizes(chosen)) == sizes(rows, places)
        known = [row for row in rows if all(row[place] is not None for place in places)]
        assert sorted(table.class_sizes(chosen, drop=True)) == sizes(known, places)
    table.drop()


@pytest.mark.usefixtures("_few_are_many")
@ONCE
@given(DETAILED_ROWS)
def test_each_group_of_nearly_unique_records(rows: list[tuple[Any, ...]]) -> None:
    table = detailed(rows)
    groups = table.ask(f"SELECT g0 FROM {table.groups(['sex'])}")
    for places in ((0, 1, 2), (0, 1), (1, 2), (0, 2)):
        counted = table.class_sizes([DETAILED_COLUMNS[place] for place in places], ["sex"])
        for (value,) in groups:
            assert of_group(counted, value) == sizes(
                [row for row in rows if row[3] == value], places
            )


@pytest.mark.usefixtures("_few_are_many")
@ONCE
@given(DETAILED_ROWS, st.lists(st.integers(0, 20), min_size=70, max_size=70))
def test_people_are_counted_by_each_set_of_columns(
    rows: list[tuple[Any, ...]], people: list[int]
) -> None:
    con = REGISTERED
    for (table,) in con.execute(
        "SELECT table_name FROM duckdb_tables() WHERE temporary"
    ).fetchall():
        con.execute(f"DROP TABLE {table}")
    columns = ["c", "n", "p", "r"]  # as the aliases of a statement may be called
    con.execute("CREATE OR REPLACE TABLE p (c VARCHAR, n DATE, p BIGINT, r BOOLEAN, person INT)")
    visits = [(*row, person) for row, person in zip(rows, people, strict=False)]
    visits += [("one more", None, 0, None, 3)]
    con.executemany("INSERT INTO p VALUES (?, ?, ?, ?, ?)", visits)

    def call(_: Any, qi: Any, __: Any, tbl: str) -> list[dict[str, Any]]:
        answer = con.execute(f"FROM class_size_histogram({tbl}, {list(qi)}, entity := 'person')")
        names = [column[0] for column in answer.description or ()]
        return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]

    encoded = EncodedPeople(
        lambda sql: con.execute(sql).fetchall(), "p", [*columns, "person"], "person"
    )
    function, arguments = declared()["class_size_histogram"], {"nulls": "value"}
    for places in SETS:
        classes: dict[Any, set[int]] = {}
        for *values, person in visits:
            classes.setdefault(tuple(values[place] for place in places), set()).add(person)
        smallest = Counter(
            min(len(each) for each in classes.values() if person in each)
            for person in {visit[-1] for visit in visits}
        )
        chosen = [columns[place] for place in places]
        counted = encoded.call(call, function, chosen, arguments)
        assert {row["class_size"]: (row["classes"], row["records"]) for row in counted if row["classes"]} == {
            size: (number, smallest[size]) for size, number in Counter(map(len, classes.values())).items()
        }  # fmt: skip


WIDE = ["place", "day", "job", "pay", "sex", "region"]


@pytest.fixture
def nearly_all_unique(_few_are_many: None) -> DistinctTable:
    con = REGISTERED.cursor()
    draw = "hash(i * 10 + {0}) % {1}"
    con.execute(
        f"""CREATE OR REPLACE TABLE u AS SELECT {draw.format(1, 30_000)} AS place,
        {draw.format(2, 20_000)} AS day, {draw.format(3, 4_000)} AS job, {draw.format(4, 900)} AS pay,
        i % 2 = 0 AS sex, format('r{{}}', {draw.format(5, 7)}) AS region FROM range(100_000) AS t(i)"""
    )
    con.execute("INSERT INTO u FROM u WHERE hash(place) % 50 = 0")
    return DistinctTable(lambda sql: con.execute(sql).fetchall(), "u", WIDE)


def test_few_columns_are_counted_for_many_sets(nearly_all_unique: DistinctTable) -> None:
    table = nearly_all_unique
    for left_out in ("", *WIDE):
        chosen = [column for column in WIDE if column != left_out]
        classes = f"SELECT count(*) AS n FROM u GROUP BY {', '.join(chosen)}"
        expected = table.ask(f"SELECT n, count(*) FROM ({classes}) GROUP BY n ORDER BY n")
        assert sorted(table.class_sizes(chosen)) == expected
    assert table.unique is not None
    assert 0 < len(table.unique.rests) <= 3
    assert all(left < 20_000 for left, _ in table.unique.rests.values())


def test_groups_by_values_without_a_hash(nearly_all_unique: DistinctTable) -> None:
    table = nearly_all_unique
    table.ask("CREATE OR REPLACE TABLE listed AS SELECT * EXCLUDE (sex), [sex] AS sex FROM u")
    listed = DistinctTable(table.ask, "listed", WIDE)
    whole = sorted(table.class_sizes(WIDE[:4], ["sex"]), key=repr)
    assert sorted(([sex], n, m) for sex, n, m in whole) == sorted(
        listed.class_sizes(WIDE[:4], ["sex"])
    )


def test_what_was_created_on_the_way_is_dropped(nearly_all_unique: DistinctTable) -> None:
    table = nearly_all_unique
    table.class_sizes(WIDE)
    table.values("region")
    table.groups(["sex"])
    table.drop()
    assert not table.ask(
        f"SELECT table_name FROM duckdb_tables() WHERE table_name LIKE '{table.name}%'"
    )


def test_of_nearly_unique_records_only_those_that_may_be_equal_are_measured(tmp_path: Path) -> None:
    """l-diversity, and the people whom all columns single out, are those of the whole table."""
    file, rules = tmp_path / "people.parquet", tmp_path / "policy.toml"
    with duckdb.connect() as con:
        con.execute(f"""COPY (SELECT CASE WHEN i % 50 > 0 THEN hash(i) % 50_000 END AS a,
            hash(i * 3) % 9_000 AS b, hash(i * 5) % 3 AS c, i % 1000 AS n,
            ['flu', 'hiv', NULL][1 + (hash(i * 7 + part) % 3)::INT] AS s
            FROM range(3) p(part), range(240_000) r(i) WHERE part = 0 OR i < 5_000) TO '{file}'""")
        reid_sql.register(con)
        asked = f"FROM l_diversity('{file}', ['a', 'b', 'c'], 's')"
        columns = [each[0] for each in con.execute(asked).description or []]
        expected = dict(zip(columns, con.execute(asked).fetchall()[0], strict=True))
        classes = f"SELECT count(*) AS size FROM '{file}' GROUP BY a, b, c, s, n"
        [(alone,)] = con.execute(f"SELECT count(*) FROM ({classes}) WHERE size = 1").fetchall()
    rules.write_text(f"""[[tables]]
        name = "people"
        file = "{file}"
        quasi_identifiers = ["a", "b", "c"]
        sensitive = ["s"]
        [[tables.checks]]
        measure = "k"
        at_least = 2""")
    arguments = {"sensitive": "s", "variant": "distinct", "c": 3, "nulls": "value"}
    with open_with_engine(None, read_policy(rules)) as [counts]:
        engine = counts.engine
        assert isinstance(engine, DuckDBTable)
        [measured] = engine.call(declared()["l_diversity"], ["a", "b", "c"], arguments)
        unique = engine.count_unique([("s",), ("a", "b", "c", "s", "n")], ())
        copies = engine.describe_copies()
        assert copies == describe_copies(engine.ask, engine.view, engine.columns)
        assert engine.distinct.unique is not None
        assert engine.distinct.unique.rests
    assert measured == {name: expected[name] for name in measured}
    assert unique == [0, alone]
    assert 0 < measured["offending_records"] < measured["records"] == 250_000
    assert 0 < alone < 250_000


VISITS = """
    SELECT 'person ' || p AS person, CASE WHEN p % 7 > 0 THEN 'town ' || p % 5 END AS town, p % 9 AS age,
      i * i % 4 AS season, chr((97 + p % 3)::INT) AS disease
    FROM (SELECT i, i * i % 60 AS p FROM range(300) AS r(i))"""
PEOPLE = """
    [[tables]]
    file = "visits.parquet"
    entity = "person"
    quasi_identifiers = ["town", "age", "season"]
    sensitive = ["disease"]
    checks = [
      {measure = "k", at_least = 5}, {measure = "average_risk", at_most = 0.1}, {measure = "l_diversity", at_least = 2},
      {measure = "k", at_least = 5, by = ["town"], quasi_identifiers = ["age"]},
    ]"""


@pytest.mark.parametrize("smallest", [0, 10**9])
def test_people_are_counted_by_numbers_in_place_of_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, smallest: int
) -> None:
    con = duckdb.connect()
    # v and code, as the encoding calls what it selects
    con.execute(
        f"COPY (SELECT *, NULL::INT AS v, NULL::INT AS code FROM ({VISITS})) TO '{tmp_path / 'visits.parquet'}'"
    )
    (tmp_path / "policy.toml").write_text(PEOPLE, encoding="utf-8")
    monkeypatch.setattr(distinct_table, "MIN_RECORDS", smallest)
    policy = read_policy(tmp_path / "policy.toml")
    visits = {row[:4]: row[4] for row in con.execute(VISITS).fetchall()}
    classes: dict[Any, set[str]] = {}
    for person, *known in visits:
        classes.setdefault(tuple(known), set()).add(person)
    smallest_class = {
        person: min(len(people) for people in classes.values() if person in people)
        for person, *_ in visits
    }
    diseases = {known: {visits[person, *known] for person in people} for known, people in classes.items()}  # fmt: skip
    with open_with_engine(None, policy) as [counts]:
        histogram = counts.histogram(policy.tables[0].quasi_identifiers)
        [diversity] = counts.answer(policy.tables[0].checks[2])
        engine = counts.engine
        assert isinstance(engine, DuckDBTable)
        encoded = engine._encoded.table  # noqa: SLF001 - what is counted shows in no answer
        is_encoded, types = (
            encoded != engine.view,
            {row[1] for row in engine.ask(f"DESCRIBE {encoded}")},
        )
        [alone] = engine.count_unique([("town", "age", "season")], ())
    assert is_encoded == (smallest == 0)
    assert ("VARCHAR" in types) != is_encoded
    assert dict(zip(histogram.class_size.tolist(), histogram.classes.tolist(), strict=True)) == Counter(map(len, classes.values()))  # fmt: skip
    assert dict(
        zip(histogram.class_size.tolist(), histogram.records.tolist(), strict=True)
    ) == dict.fromkeys(map(len, classes.values()), 0) | Counter(smallest_class.values())
    assert alone == sum(size == 1 for size in smallest_class.values())
    assert diversity["value"] == min(map(len, diseases.values()))
    assert diversity["records"] == len(smallest_class)
    assert diversity["classes"] == len(classes)
