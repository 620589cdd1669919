"""What the first tier leaves of tests/engines/duckdb/test_plain_sql.py."""

import duckdb
import pytest

from reid_sql.engines.duckdb.plain_sql import plain_sql
from reid_sql.errors import ReidError
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.engines.duckdb.test_plain_sql import *

WINDOWS = ["equivalence_class_size(age, sex)", "cell_risk(age / 7.0, half + 1)"]


@pytest.mark.postgres
@pytest.mark.parametrize("call", [call for call in [*CALLS, *WINDOWS] if "ordered" not in call])
def test_postgresql_answers_the_same(
    con: duckdb.DuckDBPyConnection, postgres: str, call: str
) -> None:
    psycopg = pytest.importorskip("psycopg")
    query = plain_sql(call.replace("main.", ""), declared(), "postgres")
    with psycopg.connect(f"host={postgres} user=reid dbname=postgres") as server:
        for table in ("people", '"my people"'):
            server.execute(
                f"CREATE TEMP TABLE {table} (half INTEGER, age INTEGER, sex INTEGER, id INTEGER)"
            )
            with server.cursor() as cursor:
                filled = f"INSERT INTO {table} VALUES (%s, %s, %s, %s)"
                cursor.executemany(filled, con.execute(PEOPLE).fetchall())
        found = server.execute(
            f"SELECT {query} FROM people" if call in WINDOWS else query
        ).fetchall()
    asked = (
        f"SELECT {call} FROM people"
        if call in WINDOWS
        else f"FROM {call.removeprefix('FROM ').removesuffix(';')}"
    )
    expected = con.execute(asked).fetchall()
    for row, other in zip(sorted(found, key=repr), sorted(expected, key=repr), strict=True):
        for cell, own in zip(row, other, strict=True):
            assert cell == (pytest.approx(own, rel=1e-12) if isinstance(own, float) else own)


@each_cell(
    "dialect", ["snowflake", "bigquery", "postgres", "databricks", "trino", "tsql", "oracle"]
)
def test_what_duckdb_alone_has_is_written_otherwise(dialect: str) -> None:
    for call in CALLS:
        if "'ordered'" in call:
            with pytest.raises(ReidError, match=r"sqlglot cannot write|has ASOF JOIN"):
                plain_sql(call, declared(), dialect)
            continue
        query = plain_sql(call, declared(), dialect)
        for word in (
            "query_table",
            "HUGEINT",
            "GROUP BY ALL",
            "error(",
            "INT128",
            "reid_source_rows(",
        ):
            assert word not in query, (word, call)
    assert "FROM people AS reid_source" in plain_sql(CALLS[0], declared(), "snowflake")
    assert 'reid_source."Sex"' in plain_sql(
        "risk_summary(people, ['Sex'])", declared(), "snowflake"
    )
