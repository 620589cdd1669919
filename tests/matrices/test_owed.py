"""What every function of a table owes, asked of each that is declared: a new one is asked by its place.

An answer is held against another question of the same function: of the table with each row twice, of one
group alone, of rows and columns in another order. No expected answer is written here.
"""

import math
from functools import cache
from typing import Any, Final

import polars as pl
import pytest

from reid_sql.errors import UnknownParameterError
from reid_sql.function import ELSEWHERE, NO_REASON, OWED, Answer, Function
from reid_sql.parameters import Choice, Columns, Groups, Table
from reid_sql.reductions.classes import CLASSES
from reid_sql.reductions.tables import SAFE_CELLS
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.engines.asking import PEOPLE, same
from tests.matrices.engines import Answers, Engine, Frames, Remembered, asks_models, engine_named
from tests.matrices.test_functions import fit
from tests.matrices.test_functions import question as usual_question
from tests.tiers import representatives

pytestmark = pytest.mark.first(asked=["duckdb"], face=["polars"], name=representatives())

ASKED: Final = [
    name
    for name, each in declared().items()
    if any(isinstance(p.domain, Table) for p in each.parameters)
]
# Functions of a table of models, not of records.
OF_MODELS: Final = ("load_model",)
OF_RECORDS: Final = [name for name in ASKED if name not in OF_MODELS]
# of which no row of an empty table is the answer
LISTS: Final = {Answer.REDUCTION, Answer.SCORED_TABLE}
OF_CELLS: Final = [CLASSES, SAFE_CELLS]
QI: Final = ("age", "sex", "region")
remembered = cache(lambda name: Remembered(engine_named(name)))


@pytest.fixture(params=["duckdb", "polars"])
def asked(request: pytest.FixtureRequest) -> Engine:
    return remembered(request.param)


def question(
    engine: Engine, name: str, table: pl.DataFrame = PEOPLE, /, **options: Any
) -> dict[str, Any]:
    """The usual question of every table, with these options; of an option None nothing is said."""
    function = declared()[name]
    if asks_models(function):
        fit(engine)
    usual = usual_question(engine, function)
    tables = {p.name for p in function.parameters if isinstance(p.domain, Table)}
    given = {key: table if key in tables else value for key, value in usual.items()} | options
    return {key: value for key, value in given.items() if value is not None}


def ask(
    engine: Engine, name: str, table: pl.DataFrame = PEOPLE, /, **options: Any
) -> Answers | str:
    return engine.ask(declared()[name], question(engine, name, table, **options))


def rows(answers: Answers | str) -> Answers:
    assert isinstance(answers, list), answers
    return answers


def agree(one: Answers | str, other: Answers | str) -> None:
    """Hold two answers the same, or two refusals."""
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
    else:
        same(one, other)


def is_refusal(answers: Answers | str) -> bool:
    """Whether it is one sentence of a rule, a value and a remedy."""
    return isinstance(answers, str) and all(part in answers for part in (", got ", "; "))


def parameter_named(name: str, parameter: str) -> Any:
    return next((p for p in declared()[name].parameters if p.name == parameter), None)


def words_of_nulls(name: str) -> tuple[str, ...]:
    found = parameter_named(name, "nulls")
    return found.domain.words if found else ()


# Tables without a record, of one, and of nothing but NULL


@each_cell("name", OF_RECORDS)
def test_an_empty_table_has_no_answer(asked: Engine, name: str) -> None:
    answers = ask(asked, name, PEOPLE.head(0))
    if declared()[name].answer in LISTS:
        assert answers == []
        return
    assert is_refusal(answers), answers
    assert "must contain at least one record, got 0" in answers


@each_cell("name", OF_RECORDS)
def test_one_record_is_answered_alike_or_refused(asked: Engine, name: str) -> None:
    answers = ask(asked, name, PEOPLE.head(1))
    agree(answers, ask(remembered("polars"), name, PEOPLE.head(1)))
    if isinstance(answers, str):
        assert is_refusal(answers), answers
        return
    numbers = [value for row in answers for value in row.values() if isinstance(value, float)]
    assert not any(map(math.isnan, numbers))


@each_cell("name", [name for name in OF_RECORDS if "drop" in words_of_nulls(name)])
def test_records_of_nothing_but_null_are_dropped_to_an_empty_table(
    asked: Engine, name: str
) -> None:
    blank = PEOPLE.with_columns(pl.when(False).then(pl.col(*QI)), row=None)  # noqa: FBT003 - a literal
    dropped, nothing = (ask(asked, name, each, nulls="drop") for each in (blank, PEOPLE.head(0)))
    agree(dropped, nothing)


@each_cell("name", [name for name in OF_RECORDS if words_of_nulls(name)])
def test_null_is_a_value_as_any_other(asked: Engine, name: str) -> None:
    """Every figure is that of the table in whose columns one value stands for NULL."""
    blank, same_text = (PEOPLE.with_columns(sex=pl.lit(value, pl.String)) for value in (None, "x"))
    answers, expected = ask(asked, name, blank), ask(asked, name, same_text)
    if isinstance(expected, str):
        assert answers == expected
        return
    same(figures(answers), figures(expected))


def figures(answers: Answers | str) -> Answers:
    of_values = {*QI, "first_value", "second_value"}
    return [
        {key: value for key, value in row.items() if key not in of_values} for row in rows(answers)
    ]


# NULL as any value


@each_cell("name", ASKED)
def test_overlapping_classes_are_counted_or_refused(asked: Engine, name: str) -> None:
    answers = ask(asked, name, nulls="wildcard")
    if "wildcard" not in words_of_nulls(name):
        assert isinstance(answers, str), answers
        if words_of_nulls(name):
            assert answers.startswith(
                "nulls must be one of 'value', 'drop', got 'wildcard': a NULL that matches"
            )
        return
    whole = PEOPLE.drop_nulls()
    every, plain = rows(ask(asked, name, whole, nulls="wildcard")), rows(ask(asked, name, whole))
    unlike = {"nulls", "blank_records", "distinction", "status"}
    same(
        *(
            [{k: v for k, v in row.items() if k not in unlike} for row in found]
            for found in (every, plain)
        )
    )
    assert rows(answers) != rows(ask(asked, name)), "the table has NULLs that match others"


# People in place of rows, and groups


@each_cell("name", OF_RECORDS)
def test_people_are_counted_or_the_reason_is_given(asked: Engine, name: str) -> None:
    """Each person's row twice, counted by person, is the table of one row a person."""
    twice = pl.concat([PEOPLE, PEOPLE])
    # The person is no sensitive value, which a class of one person would reveal.
    usual = (
        {"sensitive": "region", "qi": list(QI[:2])} if parameter_named(name, "sensitive") else {}
    )
    columns = parameter_named(name, "columns")
    if columns and isinstance(columns.domain, Columns) and columns.domain.optional:
        usual["columns"] = list(QI)  # of all columns, the person would be one
    answers = ask(asked, name, twice, key=None, entity="id", **usual)
    if is_lacking(declared()[name], "entity", answers):
        return
    expected = rows(ask(asked, name, **usual))
    # which lists the records of a class beside its people
    if declared()[name].reduction in OF_CELLS:
        answers, expected = (
            [{**row, "records": 0} for row in rows(each)] for each in (answers, expected)
        )
    same(rows(answers), expected)


@each_cell("name", OF_RECORDS)
def test_groups_are_answered_or_the_reason_is_given(asked: Engine, name: str) -> None:
    """The rows of a group are those of its records in a table of their own."""
    parts = {
        group: PEOPLE.filter(pl.col("id") % 5 < 3 if group else pl.col("id") % 5 >= 3)
        for group in (0, 1)
    }
    whole = pl.concat([part.with_columns(half=pl.lit(group)) for group, part in parts.items()])
    if (found := parameter_named(name, "by")) and not isinstance(found.domain, Groups):
        assert isinstance(found.domain, Choice | Columns)  # another question by the same name
        return
    others = {"population_tbl": whole} if parameter_named(name, "population_tbl") else {}
    answers = ask(asked, name, whole, by=["half"], **others)
    if is_lacking(declared()[name], "by", answers):
        return
    alone = {group: ask(asked, name, part, **others) for group, part in parts.items()}
    if refused := [each for each in alone.values() if isinstance(each, str)]:
        assert [row for row in rows(answers) if refused[0] in str(row.get("status"))]
        return
    same(
        rows(answers),
        [{"half": group} | row for group, found in alone.items() for row in rows(found)],
    )


def is_lacking(function: Function, parameter: str, answers: Answers | str) -> bool:
    """Whether the function declares that it lacks the parameter; the refusal then gives the reason."""
    if parameter_named(function.name, parameter):
        return False
    reason = function.lacked[parameter]
    assert reason != NO_REASON, (
        f"{function.name} must list {parameter}, or give the reason in its declaration"
    )
    assert isinstance(answers, str), answers
    assert answers.startswith(f"{function.name} must be called without {parameter}, got ")
    assert answers.endswith(f": {reason}; {(OWED | ELSEWHERE)[parameter]}")
    return True


@each_cell("name", ASKED)
def test_every_dataframe_engine_gives_the_reason(face: Frames, name: str) -> None:
    function = declared()[name]
    if function.absence(face.name):
        return
    for parameter in function.lacked:
        with pytest.raises(UnknownParameterError) as refused:
            getattr(face.face, name)(**{parameter: "id"})
        assert is_lacking(function, parameter, str(refused.value))


# Orders and names


@each_cell("name", OF_RECORDS)
def test_the_order_of_rows_and_columns_is_of_no_effect(asked: Engine, name: str) -> None:
    turned = PEOPLE.reverse().select(reversed(PEOPLE.columns))
    found, expected = ask(asked, name, turned), ask(asked, name)
    same(in_order(found), in_order(expected))


def in_order(answers: Answers | str) -> list[dict[str, Any]]:
    """Sort the cells of each row by name; a set of columns is listed in the order of the table's columns."""
    return [
        {name: sorted(cell) if name == "columns" else cell for name, cell in sorted(row.items())}
        for row in rows(answers)
    ]


NAMED: Final = [
    (name, parameter.name)
    for name in OF_RECORDS
    for parameter in declared()[name].parameters
    if isinstance(parameter.domain, Columns | Groups)
]


@each_cell("name, parameter", NAMED)
def test_a_column_named_twice_is_refused(asked: Engine, name: str, parameter: str) -> None:
    answers = ask(asked, name, **{parameter: ["age", "region", "age"]})
    assert is_refusal(answers), answers
    assert "must be distinct, got 'age' twice; name each column once" in answers


def test_every_reason_is_of_a_parameter_that_is_lacking() -> None:
    for name in ASKED:
        function = declared()[name]
        assert function.reasons.keys() <= function.lacked.keys() & (OWED | ELSEWHERE).keys(), name
