"""What `make quick` runs: each test once, with the first of its parameters, but those that take long.

Which take long stands in tests/slow.txt, written from a run's log:

    make test PYTEST_ADDOPTS="--durations=0 --durations-min=0.02" > log
    python -m tests.quick log
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import pytest

OPTION: Final = "--first"
FILE: Final = Path(__file__).with_name("slow.txt")
LONG: Final = 0.5  # seconds, with what is set up for it
LINE: Final = re.compile(r"\s*([\d.]+)s (?:call|setup|teardown)\s+(tests/\S+?\.py::\w+)(\[.*)?$")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, action="store_true", help="of each test run the first of its parameters alone")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption(OPTION):
        slow = set(FILE.read_text(encoding="utf-8").split())
        kept = [item for item in firsts(items) if named(item.nodeid) not in slow]
        config.hook.pytest_deselected(items=list(set(items) - set(kept)))
        items[:] = kept


def firsts(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Of the tests that differ by parameters alone, the first."""
    return list({named(item.nodeid): item for item in reversed(items)}.values())[::-1]


def named(test: str) -> str:
    """The test without its parameters."""
    return test.partition("[")[0]


def slow_ones(log: Iterable[str]) -> list[str]:
    """Tests of which some parameters take long, by the durations in a log."""
    took: dict[tuple[str, str], float] = defaultdict(float)
    for line in log:
        if found := LINE.match(line):
            took[found[2], found[3] or ""] += float(found[1])
    return sorted({test for (test, _), seconds in took.items() if seconds > LONG})


if __name__ == "__main__":
    with Path(sys.argv[1]).open(encoding="utf-8", errors="replace") as log:
        FILE.write_text("\n".join(slow_ones(log)) + "\n", encoding="utf-8")
