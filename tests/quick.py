"""The choice that `make quick` runs: each test once, with the first of its parameters."""

from collections.abc import Sequence

import pytest

OPTION = "--first"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, action="store_true", help="of each test run the first of its parameters alone")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption(OPTION):
        kept = firsts(items)
        config.hook.pytest_deselected(items=list(set(items) - set(kept)))
        items[:] = kept


def firsts(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Of the tests that differ by parameters alone, the first."""
    return list({item.nodeid.partition("[")[0]: item for item in reversed(items)}.values())[::-1]
