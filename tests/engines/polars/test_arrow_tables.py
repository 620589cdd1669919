"""What Arrow reads as a table is a table to the Polars functions: with the values that it has, or refused."""

import datetime as dt
import uuid
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql.errors import ReidError
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.engines.asking import PEOPLE, same
from tests.matrices.engines import Frames
from tests.matrices.test_functions import fit, question
from tests.tiers import representatives

ANY: Any = rp  # to be called as its types forbid
POLARS = Frames("polars")
MARK = "Alice Smith born 1980"
WAYS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "pyarrow": lambda frame: frame.to_arrow(),
    "batches": lambda frame: frame.to_arrow().to_reader(max_chunksize=7),
    "pandas": lambda frame: frame.to_pandas(),
    "DuckDB": lambda frame: duckdb.sql("FROM given", connection=_connected(frame)),
}


def _connected(frame: pl.DataFrame) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.register("given", frame.to_arrow())
    return con


TABLES = [name for name, each in declared().items() if not each.answer.of_rows]
CALLS = [("pandas", name) for name in TABLES] + [
    (way, "individual_risk") for way in WAYS if way != "pandas"
]


@pytest.mark.first(name=representatives())
@each_cell("way, name", CALLS)
@pytest.mark.first(cells=8)
def test_every_function_answers_as_from_a_frame(way: str, name: str) -> None:
    function = declared()[name]
    fit(POLARS)
    asked = question(POLARS, function)
    if not any(isinstance(value, pl.DataFrame) for value in asked.values()):
        return
    given = {
        n: WAYS[way](value) if isinstance(value, pl.DataFrame) else value
        for n, value in asked.items()
    }
    expected = getattr(rp, name)(**asked).collect()
    same(getattr(rp, name)(**given).collect().to_dicts(), expected.to_dicts())


def test_a_relation_that_draws_anew_is_read_once() -> None:
    con = duckdb.connect()
    con.execute("CREATE SEQUENCE seen")
    drawn = con.sql("SELECT i % 7 AS a, i % 2 AS b FROM range(1000) t(i) WHERE nextval('seen') > 0")
    answer = rp.risk_summary(drawn, ["a", "b"], nulls="drop")
    assert answer.collect()["records"].to_list() == answer.collect()["records"].to_list() == [1000]
    assert con.execute("SELECT nextval('seen')").fetchall() == [(1001,)]


VALUES = {  # two values of each type of DuckDB that differ
    "HUGEINT": (
        "170141183460469231731687303715884105726",
        "170141183460469231731687303715884105727",
    ),
    "UHUGEINT": (
        "340282366920938463463374607431768211454",
        "340282366920938463463374607431768211455",
    ),
    "BIGNUM": ("'1' || repeat('0', 60) || '1'", "'1' || repeat('0', 60) || '2'"),
    "DECIMAL(38, 10)": ("1.0000000001", "1.0000000002"),
    "BLOB": (r"'\x00'", r"'\x00\x00'"),
    "BIT": ("'01'", "'001'"),
    "DATE": ("'2020-01-01'", "'infinity'"),
    "TIME_NS": ("'10:00:00.000000001'", "'10:00:00'"),
    "TIMESTAMP_S": ("'290000-01-01 00:00:01'", "'290000-01-01'"),
    "TIMESTAMP_NS": ("'2020-01-01 00:00:00.000000001'", "'2020-01-01'"),
    "TIMESTAMPTZ": ("'2020-01-01 00:00:00+01'", "'2020-01-01 00:00:00+02'"),
    "TIMETZ": ("'10:00:00+01'", "'10:00:00+02'"),
    "TIMETZ[]": ("['10:00:00+01']", "['10:00:00+02']"),
    "STRUCT(t TIMETZ)": ("{'t': '10:00:00+01'}", "{'t': '10:00:00+02'}"),
    "INTERVAL": ("'1 month'", "'30 days 1 second'"),
    "UUID": ("'00000000-0000-0000-0000-000000000001'", "'00000000-0000-0000-0000-000000000002'"),
    "ENUM('a', 'b')": ("'a'", "'b'"),
    "INTEGER[2]": ("[1, 2]", "[1, 3]"),
    "MAP(INTEGER, INTEGER)": ("MAP {1: 2}", "MAP {1: 3}"),
    "UNION(a INTEGER, b VARCHAR)": ("1", "'1'"),
    "VARIANT": ("1", "'1'"),
    "JSON": ("'1'", "'\"1\"'"),
}


# Before version 2, DuckDB gives no VARIANT as Arrow, and Polars compares no lists of structs.
UNREAD = [
    "types that Polars can represent",
    "a table that Arrow can represent",
    "not be lists of structs before Polars 2",
]


@each_cell("kind", VALUES)
def test_two_values_of_a_relation_stay_two_or_are_refused(kind: str) -> None:
    one, other = VALUES[kind]
    con = duckdb.connect()
    relation = con.sql(f"SELECT unnest([({one})::{kind}, ({other})::{kind}, ({one})::{kind}]) AS x")
    assert con.sql("SELECT count(DISTINCT x) FROM relation").fetchall() == [(2,)]
    try:
        found = rp.class_size_histogram(relation, ["x"]).collect()
    except ReidError as error:
        assert any(rule in str(error) for rule in UNREAD)  # noqa: PT017 - or it answers
        return
    assert found["class_size"].to_list() == [1, 2]


FOREIGN = {
    "decimal256": pa.array([Decimal(10) ** 60, Decimal(10) ** 60 + 1], pa.decimal256(70, 0)),
    "interval": pa.array([(1, 0, 0), (0, 30, 0)], pa.month_day_nano_interval()),
    "nested": pa.array([[(1, 0, 0)], [(0, 30, 0)]], pa.list_(pa.month_day_nano_interval())),
    "union": pa.UnionArray.from_sparse(
        pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array([MARK, MARK])]
    ),
    "runs": pa.RunEndEncodedArray.from_arrays([1, 2], [MARK, "b"]),
    "view": pa.array([[1], [2]], pa.list_view(pa.int64())),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_type_that_polars_does_not_read_is_refused(name: str) -> None:
    with pytest.raises(
        ReidError, match=r"tbl must have columns of types that Polars .* for 'x'; cast"
    ):
        rp.risk_summary(pa.table({"x": FOREIGN[name]}), ["x"])


@pytest.mark.parametrize(
    "given",
    [
        pd.DataFrame({"x": [1, MARK]}),
        pd.DataFrame({"x": [dt.date(2020, 1, 1), MARK]}),
        pd.DataFrame([[1, MARK]], columns=["x", "x"]),
        pd.DataFrame({"x": [2**70, MARK]}),
        duckdb.sql(
            f"SELECT CASE WHEN i > 3 THEN '{MARK}' ELSE '1' END::INTEGER AS x FROM range(9) t(i)"
        ),
    ],
    ids=["mixed", "dates and texts", "names that repeat", "wide", "failing query"],
)
def test_what_arrow_cannot_hold_is_refused_without_its_values(given: Any) -> None:
    with pytest.raises(
        ReidError, match="tbl must be a table that Arrow can represent, got a "
    ) as refused:
        rp.risk_summary(given, ["x"])
    assert MARK not in str(refused.value)
    assert refused.value.__suppress_context__


@pytest.mark.parametrize(
    "given",
    [pl.Series([1]), pd.Series([1]), pa.chunked_array([[1]]), [1], "people", None],
    ids=lambda given: type(given).__module__,
)
def test_what_is_no_table_is_refused(given: Any) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: ANY.risk_summary(given, ["x"]),
        lambda: ANY.score_records(given, "m", 9),
    ]
    for call in calls:
        with pytest.raises(
            ReidError, match=r"tbl must be a Polars LazyFrame or DataFrame, or a table with"
        ):
            call()


def test_people_of_two_kinds_of_table_are_compared() -> None:
    sizes = rp.journalist_risk(
        PEOPLE.head(20).to_pandas(), PEOPLE.to_arrow(), ["age", "sex"]
    ).collect()
    expected = rp.journalist_risk(PEOPLE.head(20), PEOPLE, ["age", "sex"]).collect()
    assert sizes.equals(expected)


OBJECTS = [
    *(b"a", "a", bytearray(b"a"), "1", 1, 1.5, True, Decimal("1.1"), (1, 2), [1, 2]),
    *(dt.date(2020, 1, 1), dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 5)),  # noqa: DTZ001 - without a zone
    *(
        dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
        dt.time(1),
        dt.timedelta(1),
        uuid.UUID(int=1),
        "2020-01-01",
    ),
    *(pd.Timestamp("2020-01-01 00:00:00.000000001"), pd.Timedelta(1), 0.1, 2**53, 2**53 + 1, 2**64),
    *({"a": 1}, {"a": 1, "b": None}, float("inf"), np.float32(0.1), memoryview(b"a"), 10**400),
]


def asked_of_polars(frame: pd.DataFrame) -> list[tuple[int, int]]:
    return rp.risk_summary(frame, ["x", "s"]).select("k", "unique_records").collect().rows()


@cache
def connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def asked_of_duckdb(frame: pd.DataFrame) -> list[tuple[int, int]]:
    return (
        reid_sql.risk_summary(connection(), frame, ["x", "s"])
        .select("k", "unique_records")
        .fetchall()
    )


@each_cell("asked", [asked_of_polars, asked_of_duckdb])
@each_cell("place", range(len(OBJECTS)))
@pytest.mark.first(cells=15)
def test_no_two_python_objects_of_pandas_become_one_value(
    place: int, asked: Callable[[pd.DataFrame], list[tuple[int, int]]]
) -> None:
    """Of two people with these values each is alone, or the column is refused."""
    for other in OBJECTS[place + 1 :]:
        objects = np.empty(2, dtype=object)
        objects[0], objects[1] = OBJECTS[place], other
        frame = pd.DataFrame({"s": [1, 1]}).assign(x=objects)
        with suppress(ReidError):
            assert asked(frame) == [(1, 2)], other


def test_objects_of_one_type_are_read() -> None:
    days = pd.Series(
        [dt.date(2020, 1, 1), None, dt.date(2020, 1, 2), dt.date(2020, 1, 2)], dtype=object
    )
    moments = pd.Series(
        [dt.datetime(2020, 1, 1, i % 2, tzinfo=dt.UTC) for i in range(4)], dtype=object
    )
    numbers = pd.Series([1, 1.0, 2.5, None], dtype=object)
    frame = pd.DataFrame(
        {"days": days, "moments": moments, "numbers": numbers, "texts": ["a", "b", "a", "b"]}
    )
    for name, classes in {"days": 3, "moments": 2, "numbers": 3, "texts": 2}.items():
        assert rp.risk_summary(frame, [name]).collect()["classes"][0] == classes
