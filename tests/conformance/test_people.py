"""Who is a person, asked of every function that takes a column of people or of records."""

import datetime as dt
from functools import cache
from typing import Any, Final

import polars as pl
import pytest

from reid_sql.reduction import IDENTIFYING
from reid_sql_udfs import declared
from tests.conformance.engines import Answers, Engine, Remembered, engine_named
from tests.conformance.test_owed import OF_RECORDS, question
from tests.engines.asking import PEOPLE, same
from tests.tiers import representatives

pytestmark = pytest.mark.first(asked=["duckdb"], face=["polars"], name=representatives(), kind=["text"])

ROLES: Final = [
    (name, p.name) for name in OF_RECORDS for p in declared()[name].parameters if p.name in IDENTIFYING
]
# Ids of three types: each number of a person as one, and what stands for nobody.
KINDS: Final[dict[str, tuple[Any, Any]]] = {
    "text": ("p{}".format, None),
    "number": (float, float("nan")),
    "date": (lambda number: dt.date(2000, 1, 1) + dt.timedelta(days=number), None),
}
remembered = cache(lambda name: Remembered(engine_named(name)))


@pytest.fixture(params=["duckdb", "polars", "spark", "ibis on duckdb"])
def asked(request: pytest.FixtureRequest) -> Engine:
    if request.param == "spark":
        request.getfixturevalue("spark")
    return remembered(request.param)


def people(kind: str, nobody: int = 0) -> pl.DataFrame:
    """The usual people, their ids of this kind; the last rows have none."""
    write, none = KINDS[kind]
    ids = [none if number >= len(PEOPLE) - nobody else write(number) for number in range(len(PEOPLE))]
    return PEOPLE.with_columns(id=pl.Series(ids, strict=False))


def ask(engine: Engine, name: str, role: str, table: pl.DataFrame) -> Answers | str:
    others = dict.fromkeys(each for each in ("key", "household") if each != role)
    qi = {"qi": ["age", "region"], "columns": ["age", "region"], "sensitive": "sex", "by": None}
    own = {p.name for p in declared()[name].parameters}
    given = {each: value for each, value in ({role: "id"} | others | qi).items() if each in own}
    if name == "safe_table":
        given["by"] = ["age"]
    return engine.ask(declared()[name], question(engine, name, table, **given))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "role"), ROLES)
def test_rows_of_nobody_are_refused_with_their_number(asked: Engine, name: str, role: str, kind: str) -> None:
    if declared()[name].absence(asked.name.split()[0]):
        pytest.skip("the engine lacks the function")
    refused = ask(asked, name, role, people(kind, nobody=3))
    assert isinstance(refused, str), refused
    assert f"{role} must have a value in every row, got none (NULL or NaN) of 'id' in 3 of 40 rows" in refused
    assert "coalesce(id, 'row ' || …)" in refused


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "role"), ROLES)
def test_the_type_of_an_identifier_changes_no_figure(asked: Engine, name: str, role: str, kind: str) -> None:
    """The identifiers themselves, where an answer has them as `record`, are of that type."""
    usual, written = (ask(asked, name, role, table) for table in (PEOPLE, people(kind)))
    if isinstance(usual, str) or isinstance(written, str):
        assert usual == written
    else:
        same(
            *([{k: v for k, v in row.items() if k != "record"} for row in each] for each in (usual, written))
        )
