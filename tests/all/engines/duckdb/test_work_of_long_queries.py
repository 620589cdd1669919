"""The queries of tests/engines/duckdb/test_work_of_a_query.py that take seconds."""

import duckdb
import pytest

from tests.engines.duckdb.test_work_of_a_query import (
    LONG,
    assert_calls_do_not_grow,
    con,
    one_of_each_reduction,
)

__all__ = ["con"]


@pytest.mark.newest
@pytest.mark.parametrize("name", LONG)
def test_calls_and_parses_do_not_grow_with_the_rows(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    assert_calls_do_not_grow(con, one_of_each_reduction()[name])
