"""The choice of `make quick` leaves out what a log shows to take long, and names no test that is gone."""

from pathlib import Path

import pytest

from tests.quick import FILE, firsts, named, slow_ones

ROOT = Path(__file__).parents[1]
LOG = """
0.30s setup    tests/test_a.py::test_one[x y]
0.30s call     tests/test_a.py::test_one[x y]
0.40s call     tests/test_a.py::test_one[z]
0.40s call     tests/udfs/test_b.py::test_two
FAILED tests/test_a.py::test_three - 9.00s call
3.00s call     tests/udfs/test_b.py::test_four
"""


def test_a_test_is_slow_with_all_that_one_of_its_parameters_takes() -> None:
    assert slow_ones(LOG.splitlines()) == ["tests/test_a.py::test_one", "tests/udfs/test_b.py::test_four"]


def test_the_first_of_each_is_kept_in_order(request: pytest.FixtureRequest) -> None:
    items = request.session.items
    kept = firsts(items)
    assert len({named(item.nodeid) for item in items}) == len(kept)
    assert kept == [item for item in items if item in set(kept)]


@pytest.mark.parametrize("test", FILE.read_text(encoding="utf-8").split())
def test_what_is_slow_is_there(test: str) -> None:
    file, _, function = test.partition("::")
    assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8")
