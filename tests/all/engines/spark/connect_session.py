"""Functions through Spark Connect, held to DuckDB: a program, as a process has one kind of session.

Asked are the functions that Spark counts itself, and of those that it leaves to DuckDB one of each reduction
and of each shape: the others go the same way, and tests of a local session ask each of them.

Prints one line of JSON: for each function `ok`, or what was wrong with it.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from pyspark.sql import SparkSession

import reid_sql.spark as rs
from reid_sql.check.gate import check
from reid_sql.function import Function
from reid_sql.parameters import Table, Tables
from reid_sql.parameters.outputs import REQUIRED
from reid_sql_udfs import declared
from tests.check.towns import town
from tests.engines.asking import PEOPLE, PUBLISHED, TOTALS, given, same
from tests.matrices.engines import Frames, Sql
from tests.spark_session import SETTINGS
from tests.tables import by_duckdb
from tests.tiers import counts_itself, left_to_duckdb

QI = ["age", "sex", "region"]
TOWN = PEOPLE.with_columns(p=pl.int_range(1, 41) / 100)
CLOSED = {
    "cell_risk": "p, 100, 'correctness'",
    "pyc_share": "3, p, 1000, 'k_violation', 5",
}
MODELS = {
    "uniqueness_xi": "'m', 1e6, age, sex, region",
    "correctness_kappa": "'m', 1e6, age, sex, region",
    "cell_probability": "'m', age, sex, region",
}
FIRST = {each.reduction.name: each.name for each in declared().values() if each.reduction}.values()
CHECKS = """
checks = [
  { measure = "k", at_least = 5 },
  { measure = "population_uniqueness", at_most = 0.5 },
  { measure = "uniqueness", at_most = 0.4, by = ["sex"], quasi_identifiers = ["age"] },
]
"""


def table(declared_: Function) -> None:
    """A table function must answer or refuse as DuckDB does, one of each reduction without records too."""
    asked = dict(given(declared_))
    tables = [p.name for p in declared_.parameters if isinstance(p.domain, Table)]
    needed = [p for p in declared_.parameters if p.default is REQUIRED]
    lists = [p.name for p in needed if isinstance(p.domain, Tables)]
    published = [PUBLISHED, TOTALS]
    empty = [(PEOPLE.clear(), [each.clear() for each in published])]
    for frame, listed in [(PEOPLE, published), *(empty if declared_.name in FIRST else [])]:
        reported = asked | dict.fromkeys(tables, frame) | dict.fromkeys(lists, listed)
        found, expected = Frames("spark").ask(declared_, reported), Sql().ask(declared_, reported)
        if isinstance(found, str) or isinstance(expected, str):
            assert str(found).split(", got")[0] == str(expected).split(", got")[0], (
                found,
                expected,
            )
        else:
            same(found, expected)


def scores(spark: SparkSession, name: str, cells: str) -> None:
    frame = spark.createDataFrame(TOWN.to_arrow())
    parts = [part.strip().strip("'") for part in cells.split(",")]
    values = [part if part.isidentifier() else float(part) for part in parts]
    found = frame.select("id", getattr(rs, name)(*values).alias("x")).toArrow().to_pylist()
    expected = by_duckdb(f"SELECT id, {name}({cells}) AS x FROM t", t=TOWN)
    same(found, expected)


def models(spark: SparkSession) -> dict[str, Callable[[], object]]:
    """The functions of fitted models, one after another."""
    frame = spark.createDataFrame(PEOPLE.to_arrow())

    def rows(name: str, *given_: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = getattr(rs, name)(*given_).toArrow().to_pylist()
        return found

    def json_again() -> None:
        (remaining,) = rows("model_json", "m")
        text = spark.createDataFrame([(remaining["model"], remaining["json"])], ["model", "json"])
        assert [row["model"] for row in rows("load_model", "m", text)] == ["m"]

    def answered(name: str, records: int, *given_: Any) -> Callable[[], object]:
        def ask() -> None:
            assert len(rows(name, *given_)) == records

        return ask

    return {
        "fitted_models": answered("fitted_models", 0),
        "fit_copula": answered("fit_copula", 1, "m", frame, QI),
        "fit_people": answered("fit_people", 1, "n", frame, QI),
        "copula_forecast": answered("copula_forecast", 1, "m", [1e6]),
        "score_records": answered("score_records", 40, frame, "m", 1e6),
        "model_json": json_again,
    }


def gate(spark: SparkSession) -> None:
    """The gate in a session of Spark Connect: the verdicts and figures of DuckDB."""
    assert spark.range(1).count() == 1
    with tempfile.TemporaryDirectory() as folder:
        policy = town(Path(folder), CHECKS)
        found, expected = (check(policy, engine=engine) for engine in ("spark", "duckdb"))
    for one, other in zip(found["checks"], expected["checks"], strict=True):
        assert one["verdict"] == other["verdict"]
        same(
            [_figures(group) for group in one["groups"]],
            [_figures(group) for group in other["groups"]],
        )


def _figures(group: dict[str, Any]) -> dict[str, Any]:
    return {name: group[name] for name in ("records", "value", "low", "high", "below")}


def main() -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.remote("local[2]").config(map=SETTINGS).getOrCreate()
    asked: dict[str, Callable[[], object]] = models(spark)
    by_duckdb(f"FROM fit_copula('m', t, {QI})", t=PEOPLE)
    for name, cells in MODELS.items():
        asked[name] = lambda n=name, c=cells: scores(spark, n, c)  # type: ignore[misc]
    for name, cells in CLOSED.items():
        asked[name] = lambda n=name, c=cells: scores(spark, n, c)  # type: ignore[misc]
    for name, each in declared().items():
        is_asked = counts_itself(each, "spark") or name in {*left_to_duckdb("spark"), *FIRST}
        if (
            name not in asked
            and is_asked
            and each.absence("spark") is None
            and not each.answer.of_rows
        ):
            asked[name] = lambda e=each: table(e)  # type: ignore[misc]
    asked["the gate"] = lambda: gate(spark)
    found = {}
    for name in sys.argv[1:] or asked:
        try:
            asked[name]()
            found[name] = "ok"
        except Exception as error:  # noqa: BLE001 - every function is told of
            found[name] = f"{type(error).__name__}: {str(error)[:300]}"
    print(json.dumps(found))  # noqa: T201 - what the test reads


if __name__ == "__main__":
    main()
