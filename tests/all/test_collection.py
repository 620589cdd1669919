"""Every process finds the same tests, by the same names: else those who share the work refuse it whole."""

import os
import subprocess
import sys
from collections.abc import Iterable

import pytest

from tests.processes import ROOT

QUIET = (
    "tests",
    "-o",
    "norecursedirs=.*",
    "--collect-only",
    "-q",
    "-n",
    "0",
    "-p",
    "no:cacheprovider",
    "-m",
    "all or not all",
)


def test_another_process_at_another_time_finds_the_same_tests(
    request: pytest.FixtureRequest,
) -> None:
    """A name that holds a time, an address, a process or the order of a set is another one there."""
    here = [item.nodeid for item in request.session.items]
    surroundings = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    surroundings |= {"PYTHONHASHSEED": "7", "TZ": "Pacific/Auckland", "HOME": "/nowhere"}
    found = subprocess.run(
        [sys.executable, "-m", "pytest", *QUIET],
        cwd=ROOT,
        env=surroundings,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    chosen = set(here)
    assert by_file(test for test in found if test in chosen) == by_file(here)


def by_file(tests: Iterable[str]) -> list[str]:
    """The tests of a file in their order, the files in alphabetical: a caller may name them in another."""
    return sorted(tests, key=lambda test: test.partition("::")[0])
