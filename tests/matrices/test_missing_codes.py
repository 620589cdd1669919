"""Missing-value codes, asked of every function of a table that has a column whose values count."""

import warnings
from typing import Any, Final

import duckdb
import polars as pl
import pytest

import reid_sql
from reid_sql.errors import MissingCodesWarning
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.engines.asking import PEOPLE
from tests.matrices.engines import engine_named
from tests.matrices.test_owed import OF_RECORDS, question
from tests.tiers import representatives

pytestmark = pytest.mark.first(face=["polars"], name=representatives())

COUNTED: Final = ("qi", "columns", "sensitive", "by", "weight")
ROLES: Final = [
    (name, p.name)
    for name in OF_RECORDS
    for p in declared()[name].parameters
    if p.name in COUNTED
    and p.domain.role in {"counted", "groups", "column"}
    and not declared()[name].answer.of_rows
    and name != "profile"  # whose answer has them
]
CODED: Final = PEOPLE.with_columns(
    code=pl.Series(["?" if row % 10 == 3 else "ab"[row % 2] for row in range(len(PEOPLE))]),
    number=pl.Series([999.0 if row % 10 == 3 else 1.0 + row % 4 for row in range(len(PEOPLE))]),
)
USUAL: Final = CODED.with_columns(
    code=pl.col("code").replace("?", "c"), number=pl.col("number") % 9
)


def ask(face: str, name: str, role: str, table: pl.DataFrame) -> list[str]:
    """The warnings of a call in which the column with the codes has this role."""
    column = "number" if role == "weight" else "code"
    is_list = isinstance(
        question(engine_named("polars"), name).get(role, [] if role == "by" else ""), list
    )
    given: dict[str, Any] = {"qi": ["age", "sex"], "p": 1, role: [column] if is_list else column}
    own = {p.name for p in declared()[name].parameters}
    engine = engine_named("polars")
    asked = question(
        engine, name, table, **{each: value for each, value in given.items() if each in own}
    )
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        if face == "polars":
            answer = engine.ask(declared()[name], asked)
            assert not isinstance(answer, str), answer
        else:
            with duckdb.connect() as con:
                getattr(reid_sql, name)(con, **asked).fetchall()
    return [str(each.message) for each in warned if each.category is MissingCodesWarning]


@each_cell("face", ["polars", "duckdb"])
@each_cell("name, role", ROLES)
def test_a_code_is_named_in_whatever_role_its_column_has(face: str, name: str, role: str) -> None:
    column, code = ("number", "999") if role == "weight" else ("code", "?")
    (caution,) = {*ask(face, name, role, CODED)}  # of two tables, each has its own
    assert f"4 records have '{code}' in {column}, which looks like a missing-value code" in caution
    assert not ask(face, name, role, USUAL)
