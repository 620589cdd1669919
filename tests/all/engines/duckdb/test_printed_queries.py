"""The query that `reid-sql sql CALL` prints answers in any DuckDB what the call answers with Python."""

from collections.abc import Iterator

import duckdb
import pytest

from reid_sql.engines.duckdb.plain_sql import plain_sql
from reid_sql_udfs import declared
from tests.engines.duckdb.test_pack import CALLS, TABLES, answer_or_refusal, python, tables

__all__ = ["python"]


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection without any function of reid-sql."""
    with tables() as con:
        yield con


@pytest.mark.parametrize("table", TABLES)
def test_a_printed_query_answers_what_python_answers(
    python: duckdb.DuckDBPyConnection,
    plain: duckdb.DuckDBPyConnection,
    table: str,
) -> None:
    for call in CALLS:
        if declared()[call.partition("(")[0]].needs_python:
            continue  # the script has macros of its own for these
        for nulls in ("value", "drop"):
            asked = f"{call[:-1].format(table, table)}, nulls := '{nulls}')"
            printed = plain_sql(asked, declared())
            assert answer_or_refusal(plain, printed) == answer_or_refusal(
                python, f"FROM {asked}"
            ), asked
