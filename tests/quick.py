"""What `make quick` runs: each test once, with the first of its parameters, as far as its file's time goes.

Every file begins its first test, and begins no other after SECONDS of processor time.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings

OPTION: Final = "--quick"
SECONDS: Final = 0.15
EXAMPLES: Final = 10  # of a property, where its test names no number
SPENT: Final[dict[Path, float]] = defaultdict(float)  # processor seconds of each file


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, action="store_true", help="of each file run as many tests as its time allows")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption(OPTION):
        settings.register_profile("quick", settings(), max_examples=EXAMPLES)
        settings.load_profile("quick")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption(OPTION):
        chosen = first_cases(items)
        config.hook.pytest_deselected(items=list(set(items) - set(chosen)))
        items[:] = chosen


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = processor_seconds()
    result = yield
    SPENT[item.path] += processor_seconds() - before
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if SPENT[item.path] > SECONDS:
        pytest.skip("the file has had its time")


def processor_seconds() -> float:
    """What this process and those that it started have taken."""
    return sum(os.times()[:4])


def first_cases(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Of the tests that differ by parameters alone, the first."""
    return list({function(item.nodeid): item for item in reversed(items)}.values())[::-1]


def function(test: str) -> str:
    """The test without its parameters."""
    return test.partition("[")[0]
