"""Matching within a tolerance, against the comparison of all pairs of rows."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql.check.gate import check
from reid_sql.check.report import to_json
from reid_sql.cli import main
from reid_sql.engines.duckdb.source import table_source
from reid_sql.errors import OutOfDomainError
from reid_sql.reductions.comparison import paired_records
from tests.cells import each_cell
from tests.engines.asking import empty
from tests.neighbours import Row, random_case, sizes


def known(rows: Sequence[Row], nulls: str) -> list[Row]:
    return [row for row in rows if nulls != "drop" or None not in row[:-1]]


def risks(rows: Sequence[Row], counted: Sequence[int], *, of_people: bool) -> dict[str, float]:
    """Figures of the rows, or of people by their row of the smallest size."""
    if of_people:
        smallest = {row[-1]: 10**9 for row in rows}
        for row, size in zip(rows, counted, strict=True):
            smallest[row[-1]] = min(smallest[row[-1]], size)
        counted = list(smallest.values())
    return {
        "records": len(counted),
        "k": min(counted),
        "unique_records": counted.count(1),
        "average_risk": math.fsum(1 / size for size in counted) / len(counted),
        "records_at_risk": sum(1 / size > 0.2 for size in counted) / len(counted),
    }


@pytest.mark.first(seed=range(20))
@each_cell("seed", range(50), after=empty)
@pytest.mark.first(cells=6)
def test_class_sizes_are_those_of_all_pairs(con: duckdb.DuckDBPyConnection, seed: int) -> None:
    case = random_case(seed)
    case.create(con)
    nulls, of_people = ("value", "drop")[seed % 2], seed % 3 == 0
    rows = known(case.tables[0], nulls)
    others = known(case.tables[1], nulls)
    if not rows:
        return
    entity = "'pid'" if of_people else "NULL"
    options = f"nulls := '{nulls}', entity := {entity}, tolerance := {case.tolerance}"
    own = sizes(case, rows, rows, of_people=of_people)
    answer = con.sql(f"FROM risk_summary(s, {case.columns}, {options})").pl().row(0, named=True)
    expected = risks(rows, own, of_people=of_people)
    assert {name: answer[name] for name in expected} == pytest.approx(expected, rel=1e-12)
    found = con.sql(
        f"SELECT class_size, classes FROM class_size_histogram(s, {case.columns}, {options})"
    )
    distinct = {repr(row[:-1]): size for row, size in zip(rows, own, strict=True)}
    assert sorted(found.fetchall()) == sorted(Counter(distinct.values()).items())
    there = sizes(case, rows, others, of_people=of_people)
    larger = list(map(max, own, there))
    answer = (
        con.sql(f"FROM journalist_risk(s, p, {case.columns}, {options})").pl().row(0, named=True)
    )
    expected = risks(rows, larger, of_people=of_people)
    assert {name: answer[name] for name in expected} == pytest.approx(expected, rel=1e-12)


PEOPLE = pl.DataFrame(
    {"age": [30, 31, 33, 40, None], "sex": ["F", "F", "F", "M", "M"], "pid": [1, 2, 1, 3, 4]}
)
AGE = {"age": 2}
LAST, FIRST = "DATE '5881580-07-10'", "DATE '5877642-06-25 (BC)'"  # of the type


@pytest.mark.parametrize("entity", [None, "pid"])
def test_each_group_is_a_table_of_its_own(
    con: duckdb.DuckDBPyConnection, entity: str | None
) -> None:
    """In the population, people of all groups match."""
    frame = pl.concat([PEOPLE.with_columns(town=pl.lit(town)) for town in "AB"])
    given: dict[str, Any] = {"tolerance": AGE, "entity": entity}
    con.register("people", frame.to_arrow())
    for name, tables in {"risk_summary": (), "journalist_risk": ("people",)}.items():
        function = getattr(reid_sql, name)
        divided = function(con, "people", *tables, ["age", "sex"], by="town", **given).pl()
        for town in "AB":
            con.register("part", frame.filter(town=town).to_arrow())
            alone = function(con, "part", *tables, ["age", "sex"], **given).pl()
            assert divided.filter(town=town).drop("town").equals(alone)


def test_frames_and_the_command_line_have_the_same_figures(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    con.register("people", PEOPLE.to_arrow())
    expected = reid_sql.risk_summary(con, "people", ["age", "sex"], tolerance=AGE).pl()
    assert expected["k"].item() == 1
    assert expected["unique_records"].item() == 2  # the man of 40 and the man of no age
    assert rp.risk_summary(PEOPLE.lazy(), ["age", "sex"], tolerance=AGE).collect().equals(expected)
    path = tmp_path / "people.parquet"
    PEOPLE.write_parquet(path)
    assert main(["risk", str(path), "--qi", "age,sex", "--tolerance", "age=2", "--json"]) == 0
    page = json.loads(capsys.readouterr().out)
    assert page["summary"]["average_risk"] == expected["average_risk"].item()
    assert "Values match within age=2." in page["counted"]


def test_a_check_of_a_policy_matches_within_its_tolerance(tmp_path: Path) -> None:
    PEOPLE.head(3).write_parquet(tmp_path / "people.parquet")
    checks = [
        {"measure": "k", "at_least": 2, "tolerance": AGE},
        {"measure": "k", "at_least": 2, "tolerance": {"age": "1 %"}},
        {"measure": "k", "at_least": 2},
    ]
    table = {
        "name": "people",
        "file": "people.parquet",
        "quasi_identifiers": ["age", "sex"],
        "checks": checks,
    }
    path = tmp_path / "policy.json"
    path.write_text(json.dumps({"tables": [table]}))
    page = json.loads(to_json(check(path)))
    assert [each["verdict"] for each in page["checks"]] == ["pass", "fail", "fail"]


@each_cell(
    "tolerance, sentence",
    [
        ({"zip": 2}, "tolerance must name columns that are compared, got 'zip'"),
        (
            {"sex": 2},
            "tolerance of 'sex' must be used with a column of numbers, .* 1 value that is none;",
        ),
        ({"sex": "5 %"}, "tolerance of 'sex' must be used with a column of numbers"),
        (
            {"age": "1 edit"},
            "tolerance of 'age' must be used with a column of VARCHAR, got .* BIGINT",
        ),
        (
            {"age": "3 days"},
            "tolerance of 'age' must be used with a column of DATE or TIMESTAMP, got",
        ),
        (
            {"day": "2 hours"},
            "tolerance of 'day' must be used with a column of TIMESTAMP, got .* DATE",
        ),
        (
            {"time": "1 month"},
            "tolerance of 'time' must be used with a column of DATE, got .* TIMESTAMP",
        ),
        ({"mood": 1}, "tolerance of 'mood' .* got a text column with 1 value that is none;"),
        ({"yes": 1}, "tolerance of 'yes' .* got one of type BOOLEAN;"),
        *(
            ({"age": each}, f"got {each} for 'age'")
            for each in (0, -1, "0 days", "100 %", "2 edits", "two")
        ),
        ({"age": math.inf}, "got inf for 'age'"),
        ({"age": math.nan}, "got nan for 'age'"),
        ({"age": None}, "got NULL for 'age'"),
        ({}, "tolerance must give for each column"),
        (2, "tolerance must give for each column"),
    ],
    after=empty,
)
def test_what_is_no_tolerance_is_refused(
    con: duckdb.DuckDBPyConnection, tolerance: Any, sentence: str
) -> None:
    con.execute("""CREATE TABLE people AS SELECT 30::BIGINT AS age, 'F' AS sex, DATE '2024-02-29' AS day,
        TIMESTAMP '2024-02-29' AS time, 'Secret'::ENUM('Secret') AS mood, true AS yes""")
    columns = ["age", "sex", "day", "time", "mood", "yes"]
    with pytest.raises((OutOfDomainError, duckdb.Error), match=sentence) as raised:
        reid_sql.risk_summary(con, "people", columns, tolerance=tolerance).pl()
    assert "Secret" not in str(raised.value)


def test_null_as_any_value_is_refused_with_a_tolerance(con: duckdb.DuckDBPyConnection) -> None:
    con.register("people", PEOPLE.to_arrow())
    with pytest.raises(
        (OutOfDomainError, duckdb.Error), match="tolerance must be used with nulls := 'value'"
    ):
        con.sql("FROM risk_summary(people, ['age'], nulls := 'wildcard', tolerance := {'age': 2})")


@each_cell("values, tolerance, sizes", [
        ("0.1::DOUBLE, 0.3, 0.30000000000000004, 0.31", 0.2, [3, 4, 4, 3]),
        ("0.7::DOUBLE, 0.8", 0.1, [2, 2]),  # in doubles, 0.7 + 0.1 is below 0.8
        ("0.7::FLOAT, 0.8::FLOAT", 0.1, [2, 2]),
        ("1e308::DOUBLE, -1e308, 1.7e308, 'inf', 'nan'", 1, [1, 1, 1, 1, 1]),
        ("9223372036854775807, 9223372036854775806, -9223372036854775808", 1, [2, 2, 1]),
        (f"DATE 'infinity', {LAST}, DATE '-infinity', DATE '5881580-07-09'", "1 day", [1, 2, 1, 2]),
        (f"{LAST}, {FIRST}, DATE '2024-01-31', DATE '2024-02-29'", "1 month", [1, 1, 2, 2]),
        ("'Straße', 'Strase', 'Strasse'", "1 edit", [2, 3, 2]),
    ], after=empty)  # fmt: skip
def test_values_on_the_boundary_and_at_the_ends_of_a_type(
    con: duckdb.DuckDBPyConnection, values: str, tolerance: Any, sizes: list[int]
) -> None:
    con.execute(f"CREATE TABLE t AS SELECT unnest([{values}]) AS v")
    found = con.sql(
        f"SELECT class_size FROM (SELECT unnest([{values}]) AS v, unnest(range({len(sizes)})) AS place) "
        f"JOIN equivalence_classes(t, ['v'], tolerance := {{'v': '{tolerance}'}}) USING (v) ORDER BY place"
    )
    assert [size for (size,) in found.fetchall()] == sizes


@pytest.mark.first(seed=range(4))
@each_cell("seed", range(15), after=empty)
def test_unicity_counts_people_with_a_row_within_the_tolerance_of_each_known_row(
    con: duckdb.DuckDBPyConnection, seed: int
) -> None:
    case = random_case(seed)
    case.create(con)
    people: dict[int, list[Row]] = {}
    for row in case.tables[0]:
        if not any(repr(row[:-1]) == repr(each[:-1]) for each in people.setdefault(row[-1], [])):
            people[row[-1]].append(row)
    given = f"'pid', {case.columns}, points := [1, 2], tolerance := {case.tolerance}"
    answer = con.sql(f"SELECT points, uniqueness FROM unicity(s, {given})").fetchall()
    for points, uniqueness in answer:
        shares = []
        for rows in people.values():
            known = list(combinations(rows, min(points, len(rows))))
            alone = [
                sum(
                    all(any(case.is_match(a, b) for b in other) for a in each)
                    for other in people.values()
                )
                == 1
                for each in known
            ]
            shares.append(sum(alone) / len(known))
        assert uniqueness == pytest.approx(math.fsum(shares) / len(shares), rel=1e-12)


@pytest.mark.first(seed=range(3))
@each_cell("seed", range(15), after=empty)
def test_a_release_is_linked_to_the_records_within_the_tolerance(
    con: duckdb.DuckDBPyConnection, seed: int
) -> None:
    case = random_case(seed)
    case.create(con)
    for name, rows in zip("sp", case.tables, strict=True):
        con.execute(
            f"CREATE TABLE {name}_keyed AS SELECT *, row_number() OVER () AS key FROM {name}"
        )
        assert con.execute(f"SELECT count(*) FROM {name}_keyed").fetchall() == [(len(rows),)]
    first, second = (table_source(f"{name}_keyed", is_plain=True) for name in "sp")
    paired = con.sql(
        paired_records(first, second, case.columns, "key", json.dumps(case.tolerance))
    ).pl()
    own, others = case.tables
    matches = sizes(case, own, others, of_people=False)
    expected = Counter(
        (matches[at], int(case.is_match(own[at], others[at])))
        for at in range(min(len(own), len(others)))
    )
    found: Counter[tuple[int, int]] = Counter()
    listed = (paired[name].item() for name in ("within", "is_within", "records"))
    sides = (paired[name].item()[0] for name in ("original_codes", "released_codes"))
    for within, is_within, records, *codes in zip(*listed, *sides, strict=True):
        if min(codes) >= 0:
            found[within, is_within] += records
    assert found == expected


def test_a_tolerance_finds_people_whom_exact_matches_miss(con: duckdb.DuckDBPyConnection) -> None:
    """Each of ten ages a decade apart is released two years later."""
    con.execute("CREATE TABLE a AS SELECT range * 10 AS age, range AS key FROM range(10)")
    con.execute("CREATE TABLE b AS SELECT age + 2 AS age, key FROM a")
    answer = reid_sql.compare(con, "a", "b", ["age"], key="key", tolerance=AGE)
    rows = answer.filter("measure = 'links_by_distance'").project("released").fetchall()
    assert rows[0][0] == 1
    first, second = (con.sql(f"FROM {name}").pl() for name in "ab")
    of_frames = rp.compare(first, second, ["age"], key="key", tolerance={"age": 2}).collect()
    assert of_frames.filter(measure="links_by_distance")["released"].item() == 1


@pytest.mark.first(seed=range(3))
@each_cell("seed", range(15), after=empty)
def test_people_of_two_releases_are_followed_who_are_each_others_only_candidates(
    con: duckdb.DuckDBPyConnection, seed: int
) -> None:
    case = random_case(seed)
    case.create(con)
    for name in "sp":
        con.execute(
            f"CREATE TABLE {name}_keyed AS SELECT *, row_number() OVER () AS key FROM {name}"
        )
    call = f"compare_releases(s_keyed, p_keyed, {case.columns}, key := 'key', tolerance := {case.tolerance})"
    found = dict(
        con.sql(f"SELECT figure, value FROM {call} WHERE contains(figure, '_within')").fetchall()
    )
    own, others = case.tables
    ahead = [[at for at, other in enumerate(others) if case.is_match(row, other)] for row in own]
    back = [[at for at, row in enumerate(own) if case.is_match(row, other)] for other in others]
    followed = [
        (at, to[0]) for at, to in enumerate(ahead) if len(to) == 1 and len(back[to[0]]) == 1
    ]
    stayed = [at for at in range(min(len(own), len(others))) if at in ahead[at]]
    expected = {
        "followed_within": len(followed),
        "followed_within_right": sum(at == to for at, to in followed),
        "expected_links_within": pytest.approx(
            math.fsum(1 / max(len(ahead[at]), len(back[at])) for at in stayed), rel=1e-12
        ),
    }
    # by the key nobody is near their own record: the values of the two releases do not compare
    assert found == (expected if stayed else dict.fromkeys(expected))
    unkeyed = call.replace("key := 'key', ", "")
    without = dict(con.sql(f"SELECT figure, value FROM {unkeyed}").fetchall())
    # without key, where nobody has anybody of the other release within the tolerance
    assert without["followed_within"] == (len(followed) if any(ahead) else None)
    assert without["followed_within_right"] is None


@pytest.mark.first(seed=range(3))
@each_cell("seed", range(15), after=empty)
def test_an_attacker_who_knows_part_has_all_records_within_the_tolerance_as_candidates(
    con: duckdb.DuckDBPyConnection, seed: int
) -> None:
    """The sex is known of half of the people, all other columns of half, independently."""
    case = random_case(seed)
    case.create(con)
    own = known(case.tables[0], ("value", "drop")[seed % 2])
    if not own:
        return
    groups = [
        {"columns": part, "probability": 0.5} for part in (case.columns[:1], case.columns[1:])
    ]
    scenario = json.dumps({"population": 1000, "groups": groups})
    given: dict[str, Any] = {"nulls": ("value", "drop")[seed % 2], "tolerance": case.tolerance}
    if "1 edit" in case.tolerance.values():
        with pytest.raises((OutOfDomainError, duckdb.Error), match="got '1 edit' for"):
            reid_sql.adversary_risk(con, "s", scenario, **given).fetchall()
        return
    con.execute("CREATE TABLE population AS FROM s UNION ALL FROM p")
    answer = reid_sql.adversary_risk(con, "s", scenario, population_tbl="population", **given)
    found = answer.order("record").project("marketer, prosecutor, journalist").fetchall()
    people = [*own, *known(case.tables[1], given["nulls"])]

    def count(row: Row, others: Sequence[Row]) -> list[int]:
        by_sex = {id(other) for other in others if other[0] == row[0]}
        by_rest = {
            id(other) for other in others if case.is_match((None, *row[1:]), (None, *other[1:]))
        }
        return [len(others), len(by_sex), len(by_rest), len(by_sex & by_rest)]

    expected = [
        (sum(0.25 / size for size in here), 0.25 * here.count(1), 0.25 * there.count(1))
        for here, there in ((count(row, own), count(row, people)) for row in own)
    ]
    assert [pytest.approx(figures, rel=1e-12) for figures in expected] == found
