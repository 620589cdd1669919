"""The catalogue on Spark as SQL functions and columns, and what is missing; matrices ask the tables."""

import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from reid_sql.engines import registry
from reid_sql.engines.spark import is_in_sql
from reid_sql.errors import ReidError
from reid_sql.function import Answer
from reid_sql.parameters import Number
from reid_sql.parameters.outputs import Parameter
from reid_sql_udfs import declared
from tests.engines.asking import argument, given
from tests.matrices.engines import Sql
from tests.tables import by_duckdb

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812

import reid_sql.spark as rs
from tests.cells import each_cell
from tests.sparks import refusal, rows_of, same, to_spark

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

NO_FUNCTION = "risk_sumary"
PLAIN = [
    name
    for name, function in declared().items()
    if function.answer.of_table and not function.reduction
]
ROWS = [name for name, function in declared().items() if function.answer is Answer.SCALAR]


def spelled(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(spelled, value))}]"
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


@each_cell("name", PLAIN)
def test_functions_without_a_table_answer_in_python_and_in_sql(
    spark: "SparkSession", name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_MODELS", {})  # other tests of this process keep models, too
    function = declared()[name]
    options = given(function)
    expected = Sql().ask(function, options)
    if isinstance(expected, str):
        with pytest.raises(ReidError) as refused:
            getattr(rs, name)(**options)
        assert str(refused.value) == expected
        return
    same(rows_of(getattr(rs, name)(**options)), expected)
    assert (name in rs.register(spark)) == is_in_sql(function)
    if not is_in_sql(function):
        return
    named = ", ".join(
        f"{n} => {spelled(v).replace('[', 'array(').replace(']', ')')}" for n, v in options.items()
    )
    same(rows_of(spark.sql(f"FROM {name}({named})")), expected)


@pytest.mark.parametrize("name", ROWS)
def test_row_functions_are_columns_and_sql_functions(spark: "SparkSession", name: str) -> None:
    function = declared()[name]
    cells = {
        p.name: [argument(p) * 0.9, argument(p), None] if _is_float(p) else [argument(p)] * 3
        for p in function.all_outputs[0].parameters
    }
    frame = pl.DataFrame({"row": [0, 1, 2], **cells})
    names = ", ".join(cells)
    expected = by_duckdb(f"SELECT row, {name}({names}) AS answer FROM t ORDER BY row", t=frame)
    table = to_spark(spark, frame)
    bound = getattr(rs, name)
    same(rows_of(table.select("row", bound(*cells).alias("answer"))), expected)
    assert table.select(bound(*(F.col(cell) for cell in cells))).columns == [name]
    rs.register(spark)
    same(
        rows_of(
            spark.sql(f"SELECT row, {name}({names}) AS answer FROM {{t}} ORDER BY row", t=table)
        ),
        expected,
    )


def _is_float(parameter: Parameter) -> bool:
    return isinstance(parameter.domain, Number) and not parameter.domain.whole


def test_bad_values_are_refused_in_our_sentence(spark: "SparkSession") -> None:
    rs.register(spark)
    sentence = "p must be a probability between 0 and 1, got another value; pass a share, such as 0.01 for 1 %"
    with pytest.raises(PySparkException) as by_sql:
        spark.sql("SELECT cell_risk(2, 10)").collect()
    with pytest.raises(PySparkException) as by_column:
        spark.range(3).select(rs.cell_risk("id", 3)).collect()
    assert refusal(by_sql.value) == refusal(by_column.value) == sentence
    with pytest.raises(PySparkException) as of_table:
        spark.sql(
            "FROM pyc_extrapolate(array(100, 1000), array(0.9, 0.5), array(1e6), method => 'pyx')"
        ).collect()
    assert refusal(of_table.value).endswith("got 'pyx'; did you mean 'pyc'?")


def test_what_is_not_a_function_is_said_to_be_missing() -> None:
    with pytest.raises(AttributeError, match="has no function 'risk_sumary'"):
        getattr(rs, NO_FUNCTION)
    assert set(declared()) <= set(dir(rs))


def test_what_is_said_to_be_there_is_there(root: "Path") -> None:
    text = (root / "docs" / "spark.md").read_text(encoding="utf-8")
    for function in declared().values():
        reason = function.absence("spark")
        assert (f"| `{function.name}` | {reason} |" in text) == bool(reason)


def test_python_in_the_documents_runs(
    spark: "SparkSession", root: "Path", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    spark.read.csv("reid_sql/demo/people.csv", header=True).createOrReplaceTempView("people")
    text = (root / "docs" / "spark.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(import reid_sql.spark.*?)```", text, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "docs/spark.md", "exec"), {"spark": spark})  # noqa: S102 - as a reader would
