"""Values that a database may take for others, and what it must be left as."""

import math
from collections.abc import Sequence
from typing import Any

import duckdb
import ibis
import polars as pl
import pytest

import reid_sql.ibis as ri
import reid_sql.polars as rp
from reid_sql.engines.ibis.frames import SETTING, collected
from reid_sql.errors import OutOfDomainError
from tests.cells import each_cell
from tests.engines.asking import same
from tests.processes import python
from tests.sensitive import call_of
from tests.warehouses import connected, put

pytestmark = pytest.mark.first(database=["duckdb"])

TEXTS = ["a", "A", "a ", "é", "e\u0301", "a"]  # five of them, one twice
SIZES = [2, 1, 1, 1, 1, 2]
ODD = [
    "^a.*$",
    "*",
    "a.b",
    "select",
    'say "a"',
    "it's",
    "`t`",
    "q1",
    "é",
    "two words",
    "class size",
]
IN_PROCESS = ("duckdb", "sqlite", "datafusion")
EVERY = pytest.mark.parametrize(
    "database", [*IN_PROCESS, pytest.param("postgres", marks=pytest.mark.postgres)]
)


def reached(database: str, request: pytest.FixtureRequest) -> Any:
    return connected(
        database, request.getfixturevalue("postgres") if database == "postgres" else ""
    )


def answer(table: Any) -> list[dict[str, Any]]:
    return collected(table, "an answer").to_pylist()  # type: ignore[no-any-return]


def sizes(table: Any, columns: Sequence[str]) -> list[int]:
    sized = answer(ri.equivalence_class_size(table, *columns, name="k").select("row", "k"))
    counted = answer(ri.class_size_histogram(table, list(columns)))
    reported = sorted(sized, key=lambda line: int(line["row"]))
    found = [line["k"] for line in reported]
    assert sum(line["records"] for line in counted) == len(found)
    assert {line["class_size"]: line["records"] for line in counted} == {
        k: found.count(k) for k in found
    }
    return found


def weighed(table: Any, sensitive: str, values: Sequence[Any]) -> None:
    """Three classes give away what they do where every value is told apart."""
    numbered = table.mutate(third=table["row"] % 3)
    frame = pl.DataFrame({"third": [row % 3 for row in range(len(values))], sensitive: values})
    for name in ("t_closeness", "beta_likeness", "delta_disclosure", "l_diversity"):
        function, options = call_of(name)
        options |= {"variant": "recursive"} if name == "l_diversity" else {}
        found = answer(getattr(ri, function)(numbered, ["third"], sensitive, **options))
        expected = getattr(rp, function)(frame.lazy(), ["third"], sensitive, **options)
        same(found, expected.collect().to_dicts())


@pytest.mark.parametrize("setting", ["SET default_collation = 'nocase'", "SELECT 1"])
def test_a_collation_of_duckdb_merges_no_classes(setting: str) -> None:
    with duckdb.connect() as inner:
        inner.execute('CREATE TABLE collated ("row" INT, word VARCHAR COLLATE NOCASE.NOACCENT)')
        inner.executemany("INSERT INTO collated VALUES (?, ?)", list(enumerate(TEXTS)))
        inner.execute(setting)
        table = ibis.duckdb.from_connection(inner).table("collated")
        assert len(answer(table.group_by("word").agg(n=table.count()))) < 5
        assert sizes(table, ["word"]) == SIZES
        weighed(table, "word", TEXTS)


@pytest.mark.newest
@each_cell(
    "shape", ["[{}]", "{{'v': {}, 'n': NULL}}", "array_value({}, NULL)", "[{{'v': [{}, NULL]}}]"]
)
@each_cell("setting", ["SET default_collation = 'nocase'", "SELECT 1"])
def test_a_collation_of_duckdb_within_a_value_merges_no_classes(setting: str, shape: str) -> None:
    texts = [*TEXTS, "NULL", None, "'a'", '"a"', "[a]", ""]
    with duckdb.connect() as inner:
        inner.execute('CREATE TABLE written ("row" INT, word VARCHAR COLLATE NOCASE.NOACCENT)')
        inner.executemany("INSERT INTO written VALUES (?, ?)", list(enumerate(texts)))
        inner.execute(
            f'CREATE TABLE held AS SELECT "row", {shape.format("word")} AS word FROM written'
        )
        inner.execute(setting)
        table = ibis.duckdb.from_connection(inner).table("held")
        assert len(answer(table.group_by("word").agg(n=table.count()))) < len(texts) - 1
        assert sizes(table, ["word"]) == [2, 1, 1, 1, 1, 2, *[1] * 6]
        met = answer(ri.journalist_risk(table, table, ["word"]))[0]
        assert (met["k"], met["unique_records"], met["uncovered_records"]) == (1, 10, 0)
        classes = [line["word"] for line in answer(ri.equivalence_classes(table, ["word"]))]
        assert sorted(map(repr, classes)) == sorted(
            {repr(word) for word in answer_of(table, "word")}
        )


def answer_of(table: Any, name: str) -> list[Any]:
    return [line[name] for line in answer(table.select(name))]


def test_a_collation_of_sqlite_merges_no_classes() -> None:
    connection = ibis.sqlite.connect()
    connection.con.execute('CREATE TABLE collated ("row" INTEGER, word TEXT COLLATE NOCASE)')
    connection.con.executemany("INSERT INTO collated VALUES (?, ?)", list(enumerate(TEXTS)))
    table = connection.table("collated")
    assert len(answer(table.group_by("word").agg(n=table.count()))) < 5
    assert sizes(table, ["word"]) == SIZES
    weighed(table, "word", TEXTS)
    connection.disconnect()


@EVERY
def test_a_sensitive_value_is_weighed_beside_those_like_it(
    database: str, request: pytest.FixtureRequest
) -> None:
    words: list[Any] = ["", None, " ", None, "", "a", None, "A", "a "]
    numbers: list[Any] = [0.0, -0.0, 1.5, None, 2.5, 1.5, None, 0.0, 2.5]
    odd = [*numbers[:4], math.nan, math.inf, math.nan, -math.inf, math.nan]
    for values in (words, numbers, [None] * 8 + ["a"], *([] if database == "sqlite" else [odd])):
        table = put(reached(database, request), pl.DataFrame({"row": range(9), "held": values}))
        weighed(table, "held", values)


@EVERY
def test_null_is_like_null_and_unlike_all_else(
    database: str, request: pytest.FixtureRequest
) -> None:
    frame = pl.DataFrame(
        {"row": range(5), "one": ["", None, None, " ", ""], "two": [0, None, None, None, 0]}
    )
    table = put(reached(database, request), frame)
    assert sizes(table, ["one", "two"]) == [2, 2, 2, 1, 2]
    met = answer(ri.journalist_risk(table, table, ["one", "two"]))[0]
    assert (met["k"], met["unique_records"], met["uncovered_records"]) == (1, 1, 0)


@pytest.mark.parametrize("database", ["duckdb", "datafusion"])
def test_floats_are_alike_by_value(database: str) -> None:
    members = [0.0, -0.0, math.nan, -math.nan, math.inf, -math.inf, None]
    table = put(connected(database), pl.DataFrame({"row": range(7), "x": members}))
    assert sizes(table, ["x"]) == [2, 2, 2, 2, 1, 1, 1]
    met = answer(ri.journalist_risk(table, table, ["x"]))[0]
    assert (met["unique_records"], met["uncovered_records"]) == (3, 0)


@EVERY
def test_names_of_any_kind_are_quoted(database: str, request: pytest.FixtureRequest) -> None:
    columns = {name: [place % 2, 0, 1, place % 2] for place, name in enumerate(ODD)}
    table = put(reached(database, request), pl.DataFrame({"row": range(4), **columns}))
    assert sizes(table, ODD) == [2, 1, 1, 2]
    classes = answer(ri.equivalence_classes(table, ODD))
    assert list(classes[0]) == [*ODD, "class_size", "records", "records_dropped", "nulls"]


@EVERY
def test_sixty_four_columns_are_counted(database: str, request: pytest.FixtureRequest) -> None:
    columns = {f"c{place}": [place, None, place] for place in range(64)}
    table = put(reached(database, request), pl.DataFrame({"row": range(3), **columns}))
    assert sizes(table, list(columns)) == [2, 1, 2]


def objects(database: str, connection: Any) -> list[Any]:
    """What the database holds, temporary or not."""
    asked = {
        "duckdb": "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views()",
        "sqlite": "SELECT name FROM sqlite_master UNION ALL SELECT name FROM sqlite_temp_master",
        "postgres": "SELECT relname FROM pg_class",
    }
    members = connection.raw_sql(asked[database])
    return sorted(members.fetchall())


@pytest.mark.parametrize(
    "database", ["duckdb", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
)
def test_nothing_is_created_in_the_database(database: str, request: pytest.FixtureRequest) -> None:
    connection = reached(database, request)
    frame = pl.DataFrame({"row": range(6), "a": [1, 1, 2, None, 2, 1], "b": list("xyxyxy")})
    table = put(connection, frame)
    before = objects(database, connection)
    for nulls in ("value", "drop", "wildcard"):
        answer(ri.risk_summary(table, ["a", "b"], nulls=nulls))
        answer(ri.equivalence_classes(table, ["a", "b"], nulls=nulls))
        answer(ri.journalist_risk(table, table, ["a"], nulls=nulls))
        answer(ri.attribute_risk(table, ["a", "b"], nulls=nulls))
    answer(ri.t_closeness(table, ["a"], "b"))
    answer(ri.risk_summary(table, ["a"], by=["b"]))
    answer(ri.pyc_fit(table, ["a"], entity="row"))
    answer(ri.equivalence_class_size(table, "a"))
    assert objects(database, connection) == before


def test_no_more_comes_to_the_client_than_it_may_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    table = put(connected("sqlite"), pl.DataFrame({"a": [1, 2, 2, 3, 3, 3]}))
    monkeypatch.setenv(SETTING, "12")
    with pytest.raises(OutOfDomainError) as refused:
        ri.risk_summary(table, ["a"])
    assert str(refused.value) == (
        "what risk_summary is answered from must be at most 2 rows, as they come to the client, got more; "
        f"take fewer or coarser columns, or raise {SETTING} with the client's memory"
    )
    monkeypatch.setenv(SETTING, "18")
    assert answer(ri.risk_summary(table, ["a"]))[0]["classes"] == 3
    monkeypatch.setenv(SETTING, "many")
    with pytest.raises(OutOfDomainError, match="must be a whole number of at least 1, got 'many'"):
        ri.risk_summary(table, ["a"])


def test_what_has_no_equality_is_refused() -> None:
    table = ibis.table({"a": "map<string, int64>", "b": "array<json>", "c": "int64"}, name="t")
    for column in "ab":
        with pytest.raises(OutOfDomainError, match=f"that can be compared, got '{column}' of type"):
            ri.class_size_histogram(table, ["c", column])


def test_ibis_is_loaded_by_its_own_functions_alone() -> None:
    code = "import sys, reid_sql, reid_sql.polars, reid_sql.cli; reid_sql.polars.risk_summary; "
    assert python(f"{code}print('ibis' in sys.modules)").strip() == "False"
