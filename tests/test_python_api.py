"""The functions asked of a DuckDB connection from Python, held against the same questions in SQL."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import reid_sql
from reid_sql.errors import (
    OutOfDomainError,
    UnavailableError,
    UnknownParameterError,
    WrongTypeError,
)
from reid_sql.function import Function
from reid_sql_udfs import declared
from tests.matrices.engines import Answers, Given, Sql, engine_named
from tests.matrices.test_functions import agree, fit, question
from tests.tiers import representatives

PEOPLE = "reid_sql/demo/people.csv"
FACE: Any = reid_sql  # to be called wrongly
OF_TABLES = [name for name, function in declared().items() if not function.answer.of_rows]


class AtOnce:
    """DuckDB, asked from Python."""

    name = "duckdb"

    def __init__(self) -> None:
        self.con = duckdb.connect()

    def ask(self, declared: Function, given: Given) -> Answers | str:
        found = getattr(reid_sql, declared.name)(self.con, **given)
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


@pytest.fixture
def con(root: Path, monkeypatch: pytest.MonkeyPatch) -> duckdb.DuckDBPyConnection:
    monkeypatch.chdir(root)
    return duckdb.connect()


@pytest.mark.first(name=representatives())
@pytest.mark.parametrize("name", OF_TABLES)
@pytest.mark.first(cells=8)
def test_it_answers_as_in_sql(name: str) -> None:
    function, engine, other = declared()[name], AtOnce(), engine_named("duckdb")
    assert isinstance(other, Sql)
    fit(engine)
    fit(other)
    agree(
        function,
        engine.ask(function, question(engine, function)),
        other.ask(function, question(other, function)),
    )


def test_a_model_is_fitted_though_nobody_reads_the_answer(con: duckdb.DuckDBPyConnection) -> None:
    reid_sql.register(con)
    con.sql(f"FROM fit_copula('lazy', '{PEOPLE}', ['age', 'sex'])")
    reid_sql.fit_copula(con, "eager", PEOPLE, ["age", "sex"])
    assert con.execute("SELECT model FROM fitted_models()").fetchall() == [("eager",)]


def test_the_module_duckdb_stands_for_the_default_connection(
    con: duckdb.DuckDBPyConnection,
) -> None:
    expected = reid_sql.risk_summary(con, PEOPLE, ["age"]).fetchall()
    assert FACE.risk_summary(duckdb, PEOPLE, ["age"]).fetchall() == expected


def test_an_answer_is_counted_once(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(f"CREATE TABLE people AS FROM '{PEOPLE}'")
    found = reid_sql.risk_summary(con, "people", ["age", "sex"])
    con.execute("DROP TABLE people")
    assert found.fetchall() == found.fetchall()
    assert con.sql("SELECT k FROM found").fetchall() == [(1,)]


def test_a_table_is_a_name_a_file_or_any_frame(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(f"CREATE TABLE people AS FROM '{PEOPLE}'")
    relation = con.sql("FROM people")
    frames: list[Any] = [
        relation,
        relation.pl(),
        relation.pl().lazy(),
        relation.df(),
        relation.to_arrow_table(),
    ]
    answers = [
        reid_sql.journalist_risk(con, table, "people", ("age", "sex")).fetchall()
        for table in ["people", *frames]
    ]
    assert answers == answers[:1] * len(answers)
    summaries = [
        reid_sql.risk_summary(con, table, ("age", "sex")).fetchall() for table in ("people", PEOPLE)
    ]
    assert summaries[0] == summaries[1]
    assert not con.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()


def test_it_sees_what_the_open_transaction_has_made(con: duckdb.DuckDBPyConnection) -> None:
    con.begin()
    con.execute("CREATE TABLE people AS SELECT 1 AS age")
    assert reid_sql.risk_summary(con, "people", ["age"]).fetchall()[0][0] == 1
    assert reid_sql.risk_summary(con, pl.DataFrame({"age": [1, 2]}), ["age"]).fetchall()[0][0] == 2
    con.rollback()
    assert con.sql("SHOW TABLES").fetchall() == []


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda con: FACE.risk_summary(con, PEOPLE, ["agee"]),
            OutOfDomainError,
            "did you mean 'age'?",
        ),
        (lambda con: FACE.risk_summary(con, PEOPLE, 5), OutOfDomainError, "write ['age', 'sex']"),
        (
            lambda con: FACE.risk_summary(con, 3, ["age"]),
            WrongTypeError,
            "tbl must be a table, a file or",
        ),
        (
            lambda _: FACE.risk_summary("con", PEOPLE, ["age"]),
            WrongTypeError,
            "pass what duckdb.connect(",
        ),
        (lambda con: FACE.risk_summary(con, PEOPLE), WrongTypeError, None),
        (
            lambda con: FACE.risk_summary(con, PEOPLE, ["age"], thresold=1),
            UnknownParameterError,
            "did you mean 'threshold'?",
        ),
        (
            lambda con: FACE.equivalence_class_size(con, "age"),
            UnavailableError,
            "must be called in a SELECT list, got a call of its own",
        ),
    ],
)
def test_what_is_wrong_is_explained_in_a_sentence(
    con: duckdb.DuckDBPyConnection, call: Any, kind: type[Exception], message: str | None
) -> None:
    with pytest.raises(kind if message else TypeError) as refused:
        call(con)
    assert (message or "a required argument: 'qi'; pass qi") in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_stream_that_can_be_read_once_is_refused(con: duckdb.DuckDBPyConnection) -> None:
    stream = con.sql(f"FROM '{PEOPLE}'").to_arrow_table().to_reader()
    with pytest.raises(
        WrongTypeError, match="tbl must be a table, a file or a frame, got RecordBatchReader"
    ):
        FACE.risk_summary(con, stream, ["age"])


def test_a_function_has_its_signature_and_its_words() -> None:
    words = reid_sql.fit_copula.__doc__ or ""
    assert words.startswith(declared()["fit_copula"].words[:40])
    assert "Source: " in words
    assert set(OF_TABLES) <= set(dir(reid_sql))
    with pytest.raises(AttributeError, match="has no attribute 'risk_sumary'"):
        FACE.risk_sumary  # noqa: B018 - a name that is none


def test_no_function_is_hidden_by_a_module(root: Path) -> None:
    inside = {path.stem for path in (root / "reid_sql").iterdir()}
    assert not inside & set(declared())


def test_what_is_not_asked_for_is_not_loaded() -> None:
    asked = "import sys, reid_sql; assert not hasattr(reid_sql, 'nothing')"
    reported = (
        f"{asked}; print(sorted({{'duckdb', 'numpy', 'polars', 'rich'}} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", reported], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
