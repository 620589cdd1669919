import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import settings

import reid_sql

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("REID_SQL_DATA", ROOT.parent / "shared" / "data"))

settings.register_profile("house", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("house")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not DATA.is_dir():
        skip = pytest.mark.skip(reason="no folder of real microdata (REID_SQL_DATA, else ../shared/data)")
        for item in items:
            if "real_data" in item.keywords:
                item.add_marker(skip)


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    reid_sql.register(connection)
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def adult() -> str:
    return str(DATA / "adult.parquet")


@pytest.fixture(scope="session")
def data() -> str:
    return str(DATA)
