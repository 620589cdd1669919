"""An engine that the package does not know, DataFusion, answers as DuckDB does: its place is 120 lines."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl
import pyarrow as pa
import pytest
from datafusion import DataFrame

import tests.engines.datafusion_place as place
from reid_sql.client.calls import answer_by_duckdb
from reid_sql.engines.contract import Adapter
from reid_sql.engines.public_api import public
from reid_sql.errors import ReidError
from reid_sql.function import Function
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.tables import by_duckdb

ADAPTER: Final[Adapter[DataFrame, Any]] = place  # by the type checker


def _by_duckdb(function: Function, arguments: Mapping[str, Any]) -> DataFrame:
    return place.framed(answer_by_duckdb(function, arguments, place))


function_named = public("tests.datafusion", ADAPTER, declared(), _by_duckdb)

PEOPLE: Final = pl.DataFrame(
    {
        "id": range(240),
        "Age": [20 + number * number % 11 for number in range(240)],
        "a.b": [None if number % 13 == 5 else "FM"[number % 2] for number in range(240)],
        "income": [[0.0, -0.0, float("nan"), 1.5, None][number % 5] for number in range(240)],
        "person": [number // 2 for number in range(240)],
        "sick": ["flu", "flu", "gout", None][0:3] * 80,
    }
)
QI: Final = ["Age", "a.b", "income"]
CALLS: Final[dict[str, dict[str, Any]]] = {
    "risk_summary": {"qi": QI},
    "class_size_histogram": {"qi": QI, "nulls": "wildcard"},
    "pyc_fit": {"qi": QI, "by": ["sick"]},
    "l_diversity": {"qi": ["Age"], "sensitive": "sick", "variant": "entropy"},
    "t_closeness": {"qi": ["Age"], "sensitive": "income", "variant": "numeric"},
    "attribute_risk": {"columns": QI, "max_size": 2},
    "population_uniqueness": {"qi": ["Age", "a.b"], "population": 3000, "method": "pitman"},
    "profile": {"columns": ["Age", "a.b"]},
    "unicity": {"entity": "person", "columns": ["Age"]},
    "safe_table": {"by": ["a.b", "sick"], "k": 50, "suppress": "primary"},
}


def people() -> DataFrame:
    return place.framed(PEOPLE.to_arrow())


def written(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return f"'{value}'" if isinstance(value, str) else str(value)


@each_cell("name", CALLS)
def test_each_figure_is_that_of_duckdb(name: str) -> None:
    found = place.collected(function_named(name)(people(), **CALLS[name]), "an answer").to_pylist()
    options = ", ".join(f"{key} := {written(value)}" for key, value in CALLS[name].items())
    expected = by_duckdb(f"FROM {name}(t, {options})", t=PEOPLE)
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


@pytest.mark.parametrize("entity", [None, "person"])
def test_class_sizes_are_counted_by_datafusion_itself(entity: str | None) -> None:
    name = "equivalence_class_size" if entity is None else "equivalence_class_people"
    given = QI if entity is None else [entity, *QI]
    found = function_named(name)(people(), *given, name="k").select("id", "k").to_pydict()
    values = [
        tuple("nan" if repr(cell) == "nan" else cell for cell in row)
        for row in PEOPLE.select(QI).rows()
    ]
    who = PEOPLE["id" if entity is None else entity].to_list()
    for row, size in zip(found["id"], found["k"], strict=True):
        assert size == len(
            {one for one, each in zip(who, values, strict=True) if each == values[row]}
        )


def test_refusals_are_the_same_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ReidError, match="quasi-identifiers must be columns of the table, got 'agee'; did"
    ):
        function_named("risk_summary")(people(), ["agee"])
    monkeypatch.setattr(place, "LIMIT", 8)
    with pytest.raises(
        ReidError, match="the distinct records that DuckDB answers from must be at most 4"
    ):
        function_named("risk_summary")(people(), ["Age"])
    assert isinstance(place.framed(pa.table({"x": [1]})), DataFrame)
