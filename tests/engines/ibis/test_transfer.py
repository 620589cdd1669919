"""Values of every type come from a database as many as it counts, or are refused.

The oracle is the database's own GROUP BY, written by hand, and the definition of a match by brute force.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import duckdb
import ibis
import polars as pl
import pymysql
import pytest

import reid_sql.check
import reid_sql.ibis as ri
from reid_sql.engines.ibis.frames import collected
from reid_sql.engines.ibis.transfer import fetch_values
from reid_sql.errors import ReidError
from tests.warehouses import connected

pytestmark = pytest.mark.first(database=["sqlite"])

SQLITE = {
    "decimal(10,2)": ["170", "170.001", "170.002", "170.003", "NULL"],
    "timestamp": ["'2020-01-01'", "'2020-01-01 00:00:00'", "'2020-01-01T00:00:00'", "'no time'"],
    "date": ["'2020-01-01'", "'2020-1-1'", "0", "NULL"],
    "time": ["'25:00:00'", "'01:00:00'", "'01:00'"],
    "boolean": ["0", "1", "2", "'true'"],
    "integer": ["9007199254740993", "9007199254740992", "1.5", "'Alice'", "NULL"],
    "text": ["'a'", "'A'", "'1'", "x'00ff'", "''", "NULL"],
    "real": ["0.1", "0.1 + 0.2", "0.3", "-0.0", "0.0", "9e999", "NULL"],
    "blob": ["x'00'", "x'01'", "NULL"],
}
POSTGRES = {
    "numeric": ["1.12345678901", "1.12345678902", "'NaN'", "'infinity'", "1.5", "1.50", "NULL"],
    "numeric(50,20)": ["1e29", "1e29 + 1e-20", "1", "NULL"],
    "numeric(10,2)": ["1.5", "1.50", "'NaN'"],
    "timestamp": [
        "'infinity'",
        "'-infinity'",
        "'0044-03-15 BC'",
        "'2020-01-01 00:00:00.000001'",
        "'2020-01-01'",
    ],
    "timestamptz": ["'2020-01-01 00:00+02'", "'2019-12-31 22:00+00'", "'2020-10-25 00:30+00'"],
    "date": ["'infinity'", "'294276-12-31'", "'2020-01-01'", "NULL"],
    "time": ["'24:00:00'", "'00:00:00'", "'12:00:00.000001'"],
    "timetz": ["'12:00+01'", "'12:00+02'", "'11:00+01'", "NULL"],
    "uuid": ["'00000000-0000-0000-0000-00000000000a'", "'00000000-0000-0000-0000-00000000000b'"],
    "inet": ["'1.2.3.4'", "'1.2.3.4/24'", "'::1'"],
    "cidr": ["'1.2.3.0/24'", "'1.2.3.0/25'"],
    "macaddr": ["'08:00:2b:01:02:03'", "'08:00:2b:01:02:04'"],
    "int[]": ["'{1,2}'", "'[0:1]={1,2}'", "'{NULL}'", "'{}'", "'{{1},{2}}'", "NULL"],
    "text[]": ["ARRAY['a,b']", "ARRAY['a','b']", "ARRAY['NULL']", "ARRAY[NULL]::text[]"],
    "numeric[]": ["'{1.5}'", "'{1.50}'", "'{2}'"],
    "float8": ["'NaN'", "'-0'", "'0'", "'infinity'", "0.1", "0.1::float8 + 0.2::float8", "0.3"],
    "bigint": ["9007199254740993", "9007199254740992", "NULL"],
    "boolean": ["true", "false", "NULL"],
    "bytea": [r"'\x00ff'", r"'\x00fe'"],
    "mood": ["'sad'", "'ok'", "'Sad'", "NULL"],
    "mood[]": ["'{sad}'", "'{ok}'"],
    "email": ["'a@b'", "'A@b'"],
    "pair": ["'(a,1)'", "'(A,1)'", "'(a,2)'"],
    "bit(3)": ["B'101'", "B'001'"],
    "money": ["1", "2"],
    "int4range": ["'[1,3)'", "'[1,4)'"],
}
MARIADB = {
    "time": ["'01:00:00'", "'25:00:00'", "'49:00:00'", "'-23:00:00'"],
    "time(6)": ["'01:00:00'", "'25:00:00'", "'800:00:00.5'"],
    "date": ["'0000-00-00'", "'2020-01-01'", "'2020-00-00'", "NULL"],
    "datetime(6)": ["'0000-00-00'", "'2020-01-01'", "'2020-01-01 00:00:00.000001'"],
    "timestamp": ["'2020-01-01'", "'2020-01-02'"],
    "decimal(65,30)": ["1.000000000000000000000000000001", "1", "12345678901234567890", "NULL"],
    "bigint unsigned": ["18446744073709551615", "18446744073709551614", "9007199254740993", "NULL"],
    "tinyint(1)": ["0", "1", "2", "3"],
    "float": ["16777216", "16777218", "16777220"],
    "double": ["0.1", "0.1 + 0.2e0", "0.3e0", "-0e0", "0e0"],
    "enum('x','y')": ["'x'", "'y'", "NULL"],
    "enum('y','')": ["''", "'y'", "NULL"],
    "enum('x')": ["'no member'", "'x'", "NULL"],
    # of which the first comes as the empty text, too
    "enum('x','')": ["'no member'", "''", "'x'", "NULL"],
    "varchar(9)": ["''", "'0'", "'x'", "NULL"],
    "set('x','y')": ["'x'", "'y'", "'x,y'", "''"],
    "set('x','')": ["2", "0", "'x'", "NULL"],
    "bit(3)": ["b'101'", "b'001'"],
    "year": ["2020", "0"],
}
DUCKDB = {
    "ENUM('x','y')": ["'x'", "'y'", "NULL"],
    "ENUM('x','y')[]": ["['x']", "['y']"],
    "HUGEINT": ["170141183460469231731687303715884105727", "1"],
    "DECIMAL(38,10)": ["1.5", "1.50", "2"],
    "DATE": ["'infinity'", "'2020-01-01'"],
    "TIME": ["'24:00:00'", "'00:00:00'"],
    "TIMESTAMP": ["'infinity'", "'2020-01-01'", "'2020-01-01 00:00:00.000001'"],
    "TIMESTAMP_NS": ["'2020-01-01 00:00:00.000000001'", "'2020-01-01'"],
    "TIMESTAMPTZ": ["'2020-01-01 00:00+02'", "'2019-12-31 22:00+00'", "'2020-01-01'"],
    "VARCHAR[]": ["['a, b']", "['a', 'b']"],
    "STRUCT(a INT, b VARCHAR)": ["{'a': 1, 'b': 'x'}", "{'a': 1, 'b': 'X'}"],
    "UUID": ["'00000000-0000-0000-0000-00000000000a'", "'00000000-0000-0000-0000-00000000000b'"],
}
# a text column with bytes and numbers: the driver gives other values
REFUSED = {("sqlite", "text")}
# values that are written alike
ALIKE = {("of_mariadb", "enum('x','')"), ("of_mariadb", "set('x','')")}


class Held:
    """A database, and how its SQL is run."""

    def __init__(
        self, backend: Any, run: Callable[[str], list[tuple[Any, ...]]], database: str | None = None
    ) -> None:
        self.backend, self.run, self.database, self.made = backend, run, database, 0

    def table(self, kind: str, values: Sequence[str]) -> tuple[Any, Counter[str]]:
        """A table of the values in column x, one twice, and how often the database itself counts each."""
        self.made += 1
        name = f"transfer_{self.made}"
        self.run(f"CREATE TABLE {name} (x {kind}, s INTEGER)")
        for value in [*values, values[0]]:
            self.run(f"INSERT INTO {name} VALUES ({value}, 1)")
        counted = self.run(f"SELECT x IS NULL, count(*) FROM {name} GROUP BY x")
        counts = Counter(
            {f"{'NULL' if null else place}": n for place, (null, n) in enumerate(counted)}
        )
        table = self.backend.table(name, **({"database": self.database} if self.database else {}))
        return table, counts


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Held]:
    with closing(sqlite3.connect(tmp_path_factory.mktemp("lite") / "t.db")) as con:
        yield Held(ibis.sqlite.from_connection(con), lambda sql: con.execute(sql).fetchall())


@pytest.fixture(scope="module")
def of_duckdb() -> Held:
    con = duckdb.connect()
    return Held(ibis.duckdb.from_connection(con), lambda sql: con.execute(sql).fetchall())


@pytest.fixture(scope="module")
def of_postgres(postgres: str) -> Iterator[Held]:
    con = connected("postgres", postgres)

    def run(sql: str) -> list[tuple[Any, ...]]:
        with con.raw_sql(sql) as cursor:
            found = cursor.fetchall() if cursor.description else []
        con.con.commit()
        return list(found)

    run("CREATE SCHEMA transfer; SET search_path = transfer, public")
    run("CREATE TYPE mood AS ENUM ('sad', 'ok', 'Sad'); CREATE DOMAIN email AS text")
    run("CREATE TYPE pair AS (one text, two int)")
    yield Held(con, run, "transfer")
    run("RESET search_path; DROP SCHEMA transfer CASCADE")


@pytest.fixture(scope="module")
def of_mariadb(mariadb: str) -> Iterator[Held]:
    pymysql.install_as_MySQLdb()
    with pytest.warns(UserWarning, match="time zone"):  # a server without names of zones
        con = ibis.mysql.connect(
            user="root", unix_socket=mariadb, host="localhost", database="mysql"
        )

    def run(sql: str) -> list[tuple[Any, ...]]:
        with con.con.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    run("SET sql_mode = ''")
    run("CREATE OR REPLACE DATABASE transfer")
    run("USE transfer")
    yield Held(con, run, "transfer")
    run("DROP DATABASE transfer")
    con.disconnect()


DATABASES = [
    ("sqlite", SQLITE),
    ("of_duckdb", DUCKDB),
    pytest.param("of_postgres", POSTGRES, marks=pytest.mark.postgres),
    pytest.param("of_mariadb", MARIADB, marks=pytest.mark.mariadb),
]
CASES = [
    *(pytest.param("sqlite", kind, values, id=f"sqlite {kind}") for kind, values in SQLITE.items()),
    *(
        pytest.param("of_duckdb", kind, values, id=f"duckdb {kind}")
        for kind, values in DUCKDB.items()
    ),
    *(
        pytest.param("of_postgres", kind, values, id=f"postgres {kind}", marks=pytest.mark.postgres)
        for kind, values in POSTGRES.items()
    ),
    *(
        pytest.param("of_mariadb", kind, values, id=f"mariadb {kind}", marks=pytest.mark.mariadb)
        for kind, values in MARIADB.items()
    ),
]


def answer(table: Any) -> list[dict[str, Any]]:
    return collected(table, "an answer").to_pylist()  # type: ignore[no-any-return]


def matched(counts: Counter[str]) -> Counter[int]:
    """How many records match so many, where NULL is any value."""
    sizes: Counter[int] = Counter()
    for value, n in counts.items():
        sizes[counts.total() if value == "NULL" else n + counts["NULL"]] += n
    return sizes


@pytest.mark.parametrize(("database", "kind", "values"), CASES)
def test_values_that_are_counted_again_are_those_of_the_database(
    database: str, kind: str, values: list[str], request: pytest.FixtureRequest
) -> None:
    table, counts = request.getfixturevalue(database).table(kind, values)
    asked: list[Callable[[], list[dict[str, Any]]]] = [
        lambda: answer(ri.risk_summary(table, ["x", "s"], nulls="wildcard")),
        lambda: answer(ri.journalist_risk(table, table, ["x", "s"], nulls="wildcard")),
        lambda: answer(ri.equivalence_classes(table, ["x"], nulls="wildcard")),
        lambda: answer(ri.risk_summary(table, ["s"], by=["x"])),
        lambda: answer(ri.profile(table, ["x"])),
    ]
    if (database, kind) in REFUSED:
        for question in asked[1:]:
            with pytest.raises(ReidError) as refused:
                question()
            assert "Alice" not in str(refused.value)
        with suppress(ReidError):  # of codes, which come where no value can
            [row] = asked[0]()
            sizes = matched(counts)
            assert (row["k"], row["unique_records"]) == (min(sizes), sizes[1])
        return
    # each is a class of its own, or they are refused; groups go by their names
    if (database, kind) in ALIKE:
        with suppress(ReidError):
            assert len(asked[2]()) == len(counts)
        return
    summary, journalist, classes, groups, profile = (question() for question in asked)
    sizes = matched(counts)
    assert (summary[0]["k"], summary[0]["unique_records"]) == (min(sizes), sizes[1])
    [found] = journalist
    assert (found["k"], found["unique_records"], found["uncovered_records"]) == (
        min(sizes),
        sizes[1],
        0,
    )
    assert len({repr(row["x"]) for row in classes}) == len(classes) == len(counts)
    assert sorted(row["records"] for row in classes) == sorted(counts.values())
    assert len({repr(row["x"]) for row in groups}) == len(groups) == len(counts)
    assert sorted(row["k"] for row in groups) == sorted(counts.values())
    assert profile[0]["distinct_values"] == len([value for value in counts if value != "NULL"])


TABLE = """
[[tables]]
name = "{name}"
quasi_identifiers = ["x", "s"]
nulls = "wildcard"
population = 1000
checks = [
  {{ measure = "k", at_least = 1 }},
  {{ measure = "records_at_risk", at_most = 1, by = ["x"], quasi_identifiers = ["s"] }},
]
"""


@pytest.mark.parametrize(("database", "kinds"), DATABASES)
def test_the_gate_judges_each_value_as_a_group_of_its_own_or_refuses(
    database: str, kinds: dict[str, list[str]], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    held = request.getfixturevalue(database)
    tables = {kind: held.table(kind, values) for kind, values in kinds.items()}
    names = {kind: f"t{place}" for place, kind in enumerate(tables)}
    policy = tmp_path / "p.toml"
    policy.write_text(
        "mask_below = 1\n" + "".join(TABLE.format(name=name) for name in names.values()),
        encoding="utf-8",
    )
    passed = {names[kind]: table for kind, (table, _) in tables.items()}
    checks = reid_sql.check.run(policy, tables=passed).page["checks"]
    for (kind, (_, counts)), k, groups in zip(
        tables.items(), checks[::2], checks[1::2], strict=True
    ):
        assert k["table"] == groups["table"] == names[kind]
        if k["groups"][0]["verdict"] != "not judged":
            assert k["groups"][0]["value"] == min(matched(counts)), kind
        else:
            assert {(database, kind)} & {*REFUSED, *ALIKE}, kind
        judged = [group for group in groups["groups"] if group["verdict"] != "not judged"]
        if judged:
            assert sorted(group["records"] for group in groups["groups"]) == sorted(
                counts.values()
            ), kind
            assert len({repr(group["group"]) for group in groups["groups"]}) == len(counts), kind
        else:
            why = groups["groups"][0]["why"]
            refused = (
                "differ as reports write them" in why
                or "values that differ as in the database" in why
            )
            assert refused or (database, kind) in REFUSED, kind


def test_numbers_are_in_the_order_of_the_database_and_null_is_0() -> None:
    table = ibis.memtable(pl.DataFrame({"x": ["b", None, "a", "b"], "n": [1, 2, 3, 4]}).to_arrow())
    found = fetch_values(table, {"x": "x"}, "values")
    assert dict(
        zip(found.unnumbered["n"].to_pylist(), found.codes[:, 0].tolist(), strict=True)
    ) == {
        1: 2,
        2: 0,
        3: 1,
        4: 2,
    }


def test_a_value_that_its_driver_reads_as_null_is_named_by_type_alone() -> None:
    with closing(sqlite3.connect(":memory:")) as con:
        con.execute("CREATE TABLE people (x REAL)")
        con.executemany("INSERT INTO people VALUES (?)", [("Alice Smith",), (1.0,)])
        table = ibis.sqlite.from_connection(con).table("people")
        with pytest.raises(ReidError) as refused:
            answer(ri.equivalence_classes(table, ["x"], nulls="wildcard"))
    assert "'x' of type float64" in str(refused.value)
    assert "Alice" not in str(refused.value)
