"""A database of people, with the functions, for all tests of a file."""

from collections.abc import Iterator

import duckdb
import pytest

import reid_sql
from tests.serve.door import fill_people


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        reid_sql.register(con)
        fill_people(con, 1)
        yield con
