"""The order of columns and rows changes no figure: every function, by the last digit that DuckDB prints."""

import math
import re
from typing import Any

import numpy as np
import polars as pl
import pytest

from reid_sql.function import Function
from reid_sql.parameters import Columns, Table
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.engines.asking import given
from tests.matrices.engines import engine_named
from tests.tiers import representatives

QI = ["age", "job", "region", "sex"]
OPTIONS = {"entity": "home", "weight": "weight", "household": "home", "by": ["wing"]}
ARGUMENTS: dict[str, Any] = {
    "sensitive": "diagnosis",
    "household": "home",
    "entity": "id",
    "value": "income",
}
PLACE = "record"  # of a record in the table, where no key names it
# columns of an answer that list columns
OF_SETS = ("columns", "ordered", "quasi_identifier", "subset")
# Not asked here: a model that somebody else fitted, and published tables, which have no quasi-identifiers.
OF_FITTED_MODELS = ("score_records",)
# Of a fit, which ends where a sum over records and columns is at its maximum, up to rounding.
FITTED = ("fit_copula", "fit_people", "population_risk", "population_uniqueness", "validate_risk")
DIGITS_OF_FITTED = 9
DIGITS_OF_DOUBLES = 17
SENTENCE = "sentence"  # names the columns as they were asked for


def has_columns(function: Function) -> bool:
    names = {
        parameter.name for parameter in function.parameters if isinstance(parameter.domain, Columns)
    }
    is_table = any(isinstance(parameter.domain, Table) for parameter in function.parameters)
    return is_table and function.answer.of_table and bool(names & {"qi", "columns"})


NAMES = [name for name, function in declared().items() if has_columns(function)]
CASES = [
    (name, option)
    for name in NAMES
    for option in ("", *OPTIONS)
    if not option
    or (
        option in {each.name for each in declared()[name].parameters}
        and option not in given(declared()[name])
    )
]
pytestmark = pytest.mark.first(
    case=[(name, "") for name in representatives() if name in NAMES and name not in FITTED]
)


def town(seed: int) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    count = 500
    return pl.DataFrame(
        {
            "id": range(count),
            "age": generator.integers(20, 70, count),
            "sex": generator.choice(["f", "m"], count),
            "region": generator.choice(list("abcdefgh"), count),
            "job": generator.integers(0, 12, count),
            "home": generator.integers(0, 200, count),
            "weight": generator.gamma(2, 20, count) + 1,
            "diagnosis": generator.choice(["x", "y", "z"], count, p=[0.6, 0.3, 0.1]),
            "income": generator.normal(200, 50, count).round(1),
            "wing": generator.integers(0, 5, count),
        }
    )


TOWN = town(3)
RELEASED = TOWN.with_columns(pl.col("age") // 5 * 5)  # of the same people


def ask(function: Function, option: str, shuffle: int) -> list[dict[str, Any]] | str:
    """Ask with the columns and rows as they are, or else shuffled by a seed."""
    generator = np.random.default_rng(shuffle)
    asked = {name: ARGUMENTS.get(name, value) for name, value in given(function).items()}
    if option:
        asked |= {option: OPTIONS[option]}
    if option == "entity":
        asked.pop("key", None)
    columns = generator.permutation(QI).tolist() if shuffle else QI
    asked |= {
        name: columns for name in ("qi", "columns") if name in asked or _takes(function, name)
    }
    for parameter in function.parameters:
        if isinstance(parameter.domain, Table):
            table = (
                RELEASED if parameter.name in {"released", "second", "synthetic", "right"} else TOWN
            )
            asked[parameter.name] = _shuffle(table, generator) if shuffle else table
    answer = engine_named("duckdb").ask(function, asked)
    if "key" in asked or isinstance(answer, str):
        return answer
    return [{name: value for name, value in row.items() if name != PLACE} for row in answer]


def _takes(function: Function, name: str) -> bool:
    return any(
        each.name == name and isinstance(each.domain, Columns) for each in function.parameters
    )


def _shuffle(table: pl.DataFrame, generator: np.random.Generator) -> pl.DataFrame:
    names = generator.permutation(table.columns).tolist()
    return table[generator.permutation(table.height)].select(names)


def comparable(answer: list[dict[str, Any]] | str, digits: int) -> Any:
    """The rows in one order, and each set of columns, too."""
    if isinstance(answer, str):
        return answer
    rows = [{name: _cell(name, value, digits) for name, value in row.items()} for row in answer]
    return sorted(rows, key=lambda row: repr(sorted(row.items())))


def _cell(name: str, value: Any, digits: int) -> Any:
    if name in OF_SETS and isinstance(value, list):
        return sorted(value)
    if name == SENTENCE:
        return sorted(re.findall(r"\w+", str(value)))
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else float(f"{value:.{digits}g}")
    return value


@each_cell("case", CASES)
@pytest.mark.first(cells=6)
def test_the_order_of_columns_and_rows_changes_no_figure(case: tuple[str, str]) -> None:
    name, option = case
    function = declared()[name]
    digits = DIGITS_OF_FITTED if name in FITTED else DIGITS_OF_DOUBLES
    expected = comparable(ask(function, option, 0), digits)
    for shuffle in (2, 3):
        assert comparable(ask(function, option, shuffle), digits) == expected


def test_every_function_of_quasi_identifiers_is_asked() -> None:
    asked = {name for name, _ in CASES}
    assert asked == {name for name, each in declared().items() if has_columns(each)}
    assert len(asked) > 30
