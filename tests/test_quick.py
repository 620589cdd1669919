"""`make quick` begins every file of tests, and leaves what its time does not allow."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import environment
from tests.quick import first_cases, function

LONG = """
import time

def test_one():
    began = time.process_time()
    while time.process_time() < began + 0.5:
        pass

def test_two():
    pass
"""
SHORT = """
import pytest

@pytest.mark.parametrize("case", [1, 2])
def test_one(case):
    assert case == 1

def test_two():
    pass
"""


def test_the_first_case_of_each_test_is_chosen_in_order(request: pytest.FixtureRequest) -> None:
    items = request.session.items
    chosen = first_cases(items)
    assert len({function(item.nodeid) for item in items}) == len(chosen)
    assert chosen == [item for item in items if item in set(chosen)]


def test_every_file_begins_and_a_long_one_is_left(tmp_path: Path) -> None:
    for name, text in {"test_long.py": LONG, "test_short.py": SHORT}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    call = [sys.executable, "-m", "pytest", "-v", "-p", "tests.quick", "--quick", "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [*call, str(tmp_path)], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert "test_long.py::test_one PASSED" in done.stdout
    assert "test_long.py::test_two SKIPPED (the file has had its time)" in done.stdout
    assert "3 passed, 1 skipped, 1 deselected" in done.stdout
