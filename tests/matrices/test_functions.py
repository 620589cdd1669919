"""Every declared function on every engine: another engine's answer, its refusal, or a declared absence."""

from typing import Any

import polars as pl
import pytest

from reid_sql.function import Answer, Function
from reid_sql.parameters import Choice, Table, Tables
from reid_sql.parameters.outputs import REQUIRED
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.engines.asking import PEOPLE, PUBLISHED, TOTALS, argument, given, same
from tests.matrices.engines import Answers, Column, Engine, absent, asks_models, engine_named
from tests.tiers import representatives

pytestmark = pytest.mark.first(engine=["duckdb"], name=representatives())

QI = ["age", "sex", "region"]
MODEL_NAME = argument(declared()["fit_copula"].parameters[0])
PEOPLE_WITH_ROWS = PEOPLE.with_row_index("row").cast({"row": pl.Int64})


def fit(engine: Engine) -> None:
    """Make the model known that the questions name; where an engine fits none, another has."""
    if declared()["fit_copula"].absence(engine.name):
        fit(engine_named("polars"))
        return
    fitted = engine.ask(declared()["fit_copula"], {"name": MODEL_NAME, "tbl": PEOPLE, "qi": QI})
    assert isinstance(fitted, list), fitted


def question(engine: Engine, function: Function) -> dict[str, Any]:
    """Arguments by the domains of the function's parameters."""
    if function.answer is Answer.WINDOW:
        entity = {p.name: Column(QI[0]) for p in function.parameters[:-1]}
        return {**entity, "tbl": PEOPLE_WITH_ROWS, "columns": QI[1:] if entity else QI}
    if function.answer is Answer.MODEL_SCORE:
        return {**given(function), "tbl": PEOPLE_WITH_ROWS, "columns": QI}
    if function.answer is Answer.SCALAR:
        return numbers(function)
    tables: dict[str, Any] = {
        p.name: PEOPLE for p in function.parameters if isinstance(p.domain, Table)
    }
    # safe_table may respect others
    needed = [p for p in function.parameters if p.default is REQUIRED]
    tables |= {p.name: [PUBLISHED, TOTALS] for p in needed if isinstance(p.domain, Tables)}
    if function.name == "load_model":
        saved = engine.ask(declared()["model_json"], {"model": MODEL_NAME})
        tables = {"tbl": pl.DataFrame(saved)}
    return tables | given(function)


def numbers(function: Function) -> dict[str, Any]:
    """A table of arguments, one of them missing in each of the last rows."""
    parameters = function.all_outputs[0].parameters
    names = [p.name for p in parameters]
    usual = {p.name: argument(p) for p in parameters}
    rows = [usual, *(usual | {name: None} for name in names)]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Float64)).with_row_index("row")
    return {name: Column(name) for name in names} | {"tbl": frame.cast({"row": pl.Int64})}


def agree(function: Function, answers: Answers | str, expected: Answers | str) -> None:
    if isinstance(answers, str) or isinstance(expected, str):
        assert answers == expected
        return
    if function.name == "fitted_models":  # which knows those of other tests too
        answers, expected = (
            [r for r in rows if r["model"] == MODEL_NAME] for rows in (answers, expected)
        )
    assert answers
    same(answers, expected)


@each_cell("name", declared())
def test_it_answers_as_another_engine_does(engine: Engine, other: Engine, name: str) -> None:
    function = declared()[name]
    if asks_models(function):
        fit(engine)
        fit(other)
    answers = engine.ask(function, question(engine, function))
    if not absent(function, engine, answers):
        assert isinstance(answers, list), answers
        agree(function, answers, other.ask(function, question(other, function)))


WORDS = [
    (name, parameter.name, word)
    for name, function in declared().items()
    for parameter in function.parameters
    if isinstance(parameter.domain, Choice) and function.reduction
    for word in parameter.domain.words
    if word != parameter.default
]


@each_cell("name, option, word", WORDS)
def test_each_word_of_a_choice_answers_as_another_engine_does(
    engine: Engine, other: Engine, name: str, option: str, word: str
) -> None:
    function = declared()[name]
    chosen = function.outputs[word] if option == function.selector else function
    asked = question(engine, function) | given(chosen) | {option: word}
    answers = engine.ask(function, asked)
    if absent(chosen, engine, answers):
        return
    agree(function, answers, other.ask(function, asked))
