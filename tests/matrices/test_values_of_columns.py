"""An argument of a function of records may be a column: no refusal repeats a value of it."""

from collections.abc import Iterator
from datetime import date
from itertools import product
from typing import Any

import duckdb
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql.engines.duckdb.catalogue import pack
from reid_sql.function import Answer
from reid_sql.parameters import Values
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.tiers import representatives

pytestmark = pytest.mark.first(name=representatives())

MARK, NUMBER, DAY = "Zyxmark", "918273645", "1876-05-04"
MARKED = {  # in DuckDB, and in Polars
    "text": (f"'{MARK}'", pl.lit(MARK)),
    "number": (f"-{NUMBER}.5::DOUBLE", pl.lit(-float(NUMBER) - 0.5)),
    "decimal": (f"-{NUMBER}.5::DECIMAL(18, 1)", pl.lit(f"-{NUMBER}.5").cast(pl.Decimal(18, 1))),
    "whole": (f"-{NUMBER}::BIGINT", pl.lit(-int(NUMBER))),
    "huge": (f"{NUMBER}e200::DOUBLE", pl.lit(float(f"{NUMBER}e200"))),
    "date": (f"DATE '{DAY}'", pl.lit(date.fromisoformat(DAY))),
    "list": (f"['{MARK}']", pl.concat_list(pl.lit(MARK))),
    "struct": (f"{{'a': '{MARK}'}}", pl.struct(a=pl.lit(MARK))),
    "enum": (f"'{MARK}'::ENUM('{MARK}')", pl.lit(MARK).cast(pl.Enum([MARK]))),
}
USUAL = {"p": 0.5, "xi": 0.5, "n": 10, "population": 10, "entropy": 3.0, "tail": 0.5, "k": 2}
OUTPUTS = {
    each.key: each
    for function in declared().values()
    for each in function.all_outputs
    if each.answer in {Answer.SCALAR, Answer.MODEL_SCORE}
}
OF_RECORDS = {
    key: [p.name for p in each.parameters if type(p.domain) is not Values]
    for key, each in OUTPUTS.items()
}
CALLS = [(name, place) for name, names in OF_RECORDS.items() for place in names]
IN_PACK = [key for key, each in OUTPUTS.items() if each.name == "cell_risk"]


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute("CREATE TABLE people AS SELECT i % 9 AS age, i % 2 AS sex FROM range(90) t(i)")
        con.execute("FROM fit_people('m', people, ['age', 'sex'])").fetchall()
        yield con


@pytest.fixture(scope="module", autouse=True)
def model() -> None:
    people = pl.DataFrame({"age": [i % 9 for i in range(90)], "sex": [i % 2 for i in range(90)]})
    rp.fit_people("m", people, ["age", "sex"])


def refuse_marks(error: BaseException) -> None:
    assert not [mark for mark in (MARK, NUMBER, NUMBER[:5], DAY) if mark in str(error)], str(error)


def call_of(name: str, marked: str) -> str:
    """Write the call with a column in the place of the marked argument."""
    written = (
        {"model": "'m'"} | {each: repr(value) for each, value in USUAL.items()} | {marked: "x"}
    )
    is_score = OUTPUTS[name].answer is Answer.MODEL_SCORE
    given = [
        f"{each} := {written[each]}" if each == "k" else written[each] for each in OF_RECORDS[name]
    ]
    words = [f"{each} := '{word}'" for each, word in OUTPUTS[name].preset.items()]
    record = ["age", "sex"] if is_score else []
    return f"{OUTPUTS[name].name}({', '.join([*given, *words, *record])})"


@each_cell("name, marked", CALLS)
def test_in_duckdb(con: duckdb.DuckDBPyConnection, name: str, marked: str) -> None:
    # a vector of many values, of some, and of one
    for (value, _), rows in product(MARKED.values(), ("", "WHERE age = 3", "LIMIT 1")):
        query = f"SELECT {call_of(name, marked)} FROM (SELECT *, {value} AS x FROM people {rows})"
        with pytest.raises(duckdb.Error) as raised:
            con.execute(query).fetchall()
        refuse_marks(raised.value)


@pytest.mark.parametrize(("name", "marked"), [each for each in CALLS if each[0] in IN_PACK])
def test_in_plain_sql(name: str, marked: str) -> None:
    with duckdb.connect() as con:
        con.execute(pack())
        for value, _ in MARKED.values():
            with pytest.raises(duckdb.Error) as raised:
                con.execute(f"SELECT {call_of(name, marked)} FROM (SELECT {value} AS x)").fetchall()
            refuse_marks(raised.value)


@each_cell("name, marked", [each for each in CALLS if each[1] != "model"])
def test_in_polars(name: str, marked: str) -> None:
    """In Polars, the model is no column."""
    given: dict[str, Any] = {"model": "m"} | USUAL | {marked: "x"}
    output, names = OUTPUTS[name], OF_RECORDS[name]
    is_score = output.answer is Answer.MODEL_SCORE
    record = ["age", "sex"] if is_score else []
    call = getattr(rp, output.name)
    for _, value in MARKED.values():
        people = pl.DataFrame({"age": [1, 2], "sex": [0, 1]}).with_columns(x=value)
        asked = {each: given[each] for each in names} | output.preset
        with pytest.raises((reid_sql.ReidError, pl.exceptions.PolarsError)) as raised:
            people.select(call(*asked.values(), *record) if is_score else call(**asked))
        refuse_marks(raised.value)
