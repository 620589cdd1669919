"""In a call, `entity = 'pid'` is a comparison; no function takes its BOOLEAN for a value, in no position."""

from collections.abc import Iterator

import duckdb
import pytest

import reid_sql
from reid_sql.function import Answer
from reid_sql.parameters import sql_literal
from reid_sql.parameters.domain import REFUSAL_BOOLEAN
from reid_sql.parameters.outputs import REQUIRED
from reid_sql_udfs import declared

REMEDY = "write entity := 'pid'"


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute(
            "CREATE TABLE people AS SELECT i % 20 AS pid, i % 4 AS sex, i % 7 AS race FROM range(200) t(i)"
        )
        yield con


def positions() -> list[tuple[str, int]]:
    """Every table function with every position that SQL takes, also of parameters that it refuses."""
    return [
        (name, place)
        for name, each in declared().items()
        if not each.answer.of_rows
        for place in range(len(each.parameters) + len(each.lacked))
    ]


def call_with(name: str, place: int, argument: str) -> str:
    """Write the call with the argument at the position, and NULL for all others that must be given."""
    required = sum(parameter.default is REQUIRED for parameter in declared()[name].parameters)
    arguments = ["NULL"] * max(required, place + 1)
    arguments[place] = argument
    return f"{name}({', '.join(arguments)})"


def refusal(con: duckdb.DuckDBPyConnection, call: str) -> str:
    with pytest.raises(duckdb.Error) as refused:
        con.execute(f"FROM {call}")
    return str(refused.value)


@pytest.mark.parametrize(
    "comparison", ["entity = 'pid'", "l = 3", "false", "entity = NULL", "1 = 1"]
)
def test_a_comparison_is_refused_in_all_functions_and_positions(
    con: duckdb.DuckDBPyConnection, comparison: str
) -> None:
    assert len(positions()) > 350
    answered = [
        (name, place)
        for name, place in positions()
        if REMEDY not in refusal(con, call_with(name, place, comparison))
    ]
    assert not answered


def test_a_prepared_truth_value_is_refused(con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(duckdb.Error, match="must not be true or false"):
        con.execute("FROM risk_summary(people, ?, ?)", [["sex"], False])


def test_every_parameter_refuses_a_truth_value_by_itself() -> None:
    for name, each in declared().items():
        for parameter in each.parameters:
            with pytest.raises(ValueError, match="must not be true or false") as refused:
                parameter.domain.from_sql(parameter.name, False)  # noqa: FBT003 - as SQL gives it
            assert str(refused.value) == REFUSAL_BOOLEAN.format(parameter.name), name


def test_a_record_s_number_that_is_a_comparison_is_refused(con: duckdb.DuckDBPyConnection) -> None:
    """Of a column that has the parameter's name, `n = 100` would be 1 or 0."""
    values = [each for each in declared().values() if each.answer is Answer.SCALAR]
    assert values
    for function in values:
        cells = [
            str(each.domain.schema["minimum"])
            if each.default is REQUIRED
            else sql_literal(each.default)
            for each in function.parameters
        ]
        required = [each.default for each in function.parameters].count(REQUIRED)
        for place in range(required):
            arguments = [*cells[:place], "n = 100", *cells[place + 1 :]]
            with pytest.raises(duckdb.Error, match="must not be true or false"):
                con.execute(f"SELECT {function.name}({', '.join(arguments)}) FROM range(3) t(n)")


def test_the_name_of_an_option_is_refused_where_a_number_or_a_word_is_due(
    con: duckdb.DuckDBPyConnection,
) -> None:
    places = [
        (each.name, place, option)
        for each in declared().values()
        if not each.answer.of_rows
        for place, parameter in enumerate(each.parameters)
        for option in ("entity", "nulls")
        if option in {p.name for p in each.parameters} and not parameter.domain.may_be_text(option)
    ]
    assert len(places) > 100
    for name, place, option in places:
        assert REMEDY in refusal(con, call_with(name, place, option)), (name, place)


def test_columns_one_by_one_are_refused_with_the_list_to_write(
    con: duckdb.DuckDBPyConnection,
) -> None:
    assert "write ['sex', 'race']" in refusal(con, "risk_summary(people, sex, race)")
    assert "write ['sex', 'race']" in refusal(con, "journalist_risk(people, people, sex, race)")
    assert "write ['sex', 'race']" in refusal(con, "equivalence_classes(people, sex, race)")


def test_options_written_as_options_are_answered(con: duckdb.DuckDBPyConnection) -> None:
    """20 people, 5 to each sex: each of 4 classes has 5 people, and 50 rows."""
    for call in (
        "risk_summary(people, ['sex'], entity := 'pid')",
        "risk_summary(people, ['sex'], entity => 'pid')",
    ):
        assert con.execute(f"SELECT records, k FROM {call}").fetchall() == [(20, 5)]
    assert con.execute("SELECT k FROM risk_summary(people, ['sex'], 0.5)").fetchall() == [(50,)]
