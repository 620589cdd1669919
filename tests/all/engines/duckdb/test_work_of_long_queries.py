"""The queries of tests/engines/duckdb/test_work_of_a_query.py that take seconds."""

import duckdb
import pytest

from tests.cells import each_cell
from tests.engines.asking import empty
from tests.engines.duckdb.test_work_of_a_query import (
    LONG,
    assert_calls_do_not_grow,
    con,
    one_of_each_reduction,
)

__all__ = ["con"]


@pytest.mark.newest
@each_cell("name", LONG, after=empty)
def test_calls_and_parses_do_not_grow_with_the_rows(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    assert_calls_do_not_grow(con, one_of_each_reduction()[name])
