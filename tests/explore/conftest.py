"""A page of a made-up table, as a browser reads it."""

from collections.abc import Iterator

import pytest

from tests.explorations import people
from tests.explore.test_server import Client, served


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    file = tmp_path_factory.mktemp("served") / "people.parquet"
    people().write_parquet(file)
    with served(file) as made:
        yield made
