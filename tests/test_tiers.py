"""The tiers of the tests, and cases of many cells."""

import subprocess
import sys
from pathlib import Path

from reid_sql_udfs import declared
from tests.processes import ROOT, environment
from tests.tiers import representatives

CASES = """
import pytest
from tests.cells import each_cell

@pytest.mark.first(number=[1, 2])
@each_cell("word", ["a", "b"])
@each_cell("number", [1, 2, 3])
def test_numbers(word, number, tmp_path):
    assert not [*tmp_path.iterdir()], "another cell was here"
    (tmp_path / word).touch()
    assert number == 1

@each_cell("number", [1, 2])
def test_refusals(number):
    with pytest.raises(ValueError):
        int("x" * (2 - number) or "1")
"""


def test_each_shape_of_answer_has_a_representative() -> None:
    shapes = {each.answer for each in declared().values()}
    assert {declared()[name].answer for name in representatives()} == shapes


def test_a_case_of_many_cells_asks_each_in_one_tier_and_names_all_that_fail(tmp_path: Path) -> None:
    (tmp_path / "test_cases.py").write_text(CASES)
    hooks = "from tests.conftest import pytest_collection_modifyitems, pytest_generate_tests\n"
    (tmp_path / "conftest.py").write_text(hooks)
    options = ["-q", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml")]
    shown = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-m", "all or not all", "test_cases.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    failed = {
        "test_numbers[first]": ["2 of 4", "word='a', number=2: Ass", "word='b', number=2: Ass"],
        "test_numbers[rest]": ["2 of 2", "word='a', number=3: Ass", "word='b', number=3: Ass"],
        "test_refusals[every]": ["1 of 2 cells failed", "number=2: Failed: DID NOT RAISE"],
    }
    reports = shown.split("\n______")[1:]
    assert len(reports) == len(failed), shown
    for report, (case, lines) in zip(reports, failed.items(), strict=True):
        assert all(each in report for each in (case, *lines)), report
        assert "number=1: " not in report, report  # whose folder no other cell has used
