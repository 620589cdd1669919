"""The tests of the dbt package in the words of other databases; run on Spark and MariaDB."""

import os
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from tests.all.dbt.kept import EXPECTED, FOLDER, oracle, queries
from tests.all.dbt.odd import plain_tables
from tests.all.dbt.running import PYTHON
from tests.all.dbt.test_adapters import as_rows, counted, found
from tests.mariadb import town

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMED = {"sqlserver": "tsql"}  # as sqlglot names a dialect
DIALECTS = sorted(path.stem for path in FOLDER.glob("*.sql"))
BY_BYTES = ("athena", "clickhouse", "trino")  # as they are
# MariaDB has no NaN.
WITHOUT_NAN = {name: frame.fill_nan(2.5) for name, frame in plain_tables().items()}


@pytest.fixture(scope="module")
def functions() -> Iterator[duckdb.DuckDBPyConnection]:
    with oracle(plain_tables()) as con:
        yield con


@pytest.fixture(scope="module")
def without_nan() -> Iterator[duckdb.DuckDBPyConnection]:
    with oracle(WITHOUT_NAN) as con:
        yield con


@pytest.fixture(scope="module")
def on_mariadb(mariadb: str) -> Iterator[Any]:
    with town(
        mariadb, WITHOUT_NAN, ["INT", "VARCHAR(9)", "DOUBLE", "DATE", "VARCHAR(9)"]
    ) as cursor:
        yield cursor


@pytest.fixture(scope="module")
def compiled(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all queries of all dialects, by dbt's own Jinja."""
    folder = tmp_path_factory.mktemp("dialects")
    environment = os.environ | {"PYTHONPATH": f"{root}{os.pathsep}{root / 'udfs'}"}
    command = [PYTHON or "", "-m", "tools.dbt_dialects", str(folder)]
    subprocess.run(command, env=environment, cwd=root, check=True)
    return folder


@pytest.mark.dbt
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_query_reads_as_the_dialect_and_changes_nothing(compiled: Path, dialect: str) -> None:
    assert list(queries(dialect, compiled)) == list(EXPECTED)
    for name, query in queries(dialect, compiled).items():
        (tree,) = sqlglot.parse(query, read=NAMED.get(dialect, dialect))
        assert isinstance(tree, exp.Query)
        others = {cte.alias for cte in tree.find_all(exp.CTE)}
        tables = {table.name for table in tree.find_all(exp.Table)} - others
        assert tables == (
            {"people", "country"} if name in {"journalist_risk", "no_worse"} else {"people"}
        )


@pytest.mark.dbt
def test_a_stored_query_is_the_one_that_is_compiled(compiled: Path) -> None:
    assert {path.stem for path in compiled.iterdir()} == set(DIALECTS)
    for dialect in DIALECTS:
        assert queries(dialect).items() <= queries(dialect, compiled).items(), dialect


@pytest.mark.parametrize("dialect", [each for each in DIALECTS if each not in BY_BYTES])
def test_texts_are_never_compared_as_they_are(dialect: str) -> None:
    """Where the database's own comparison may ignore case, the text is compared in other words."""
    tree = sqlglot.parse_one(queries(dialect)["k_anonymity"], read=NAMED.get(dialect, dialect))
    named = [column for column in tree.find_all(exp.Column) if column.name == "name"]
    assert named
    assert all(not isinstance(column.parent, exp.Alias | exp.Group) for column in named)


@pytest.mark.dbt
@pytest.mark.parametrize("name", EXPECTED)
def test_spark_finds_what_the_functions_find(
    spark: "SparkSession", compiled: Path, functions: duckdb.DuckDBPyConnection, name: str
) -> None:
    for table, frame in plain_tables().items():
        spark.createDataFrame(frame.to_arrow()).createOrReplaceTempView(table)
    answer = spark.sql(queries("databricks", compiled)[name])
    rows = [tuple(row) for row in answer.collect()]
    expected = found(functions, EXPECTED[name])
    assert len(expected) > 0
    columns = list(expected[0])
    assert counted(as_rows([(column,) for column in answer.columns], rows), columns) == counted(
        expected, columns
    )


@pytest.mark.dbt
@pytest.mark.parametrize("name", EXPECTED)
def test_mariadb_finds_what_the_functions_find(
    on_mariadb: Any, compiled: Path, without_nan: Any, name: str
) -> None:
    on_mariadb.execute(queries("mysql", compiled)[name])
    rows, expected = (
        as_rows(on_mariadb.description, on_mariadb.fetchall()),
        found(without_nan, EXPECTED[name]),
    )
    columns = list(expected[0])
    numbers = [
        {key: float(each) if isinstance(each, Decimal) else each for key, each in row.items()}
        for row in rows
    ]
    assert counted(numbers, columns) == counted(expected, columns)
