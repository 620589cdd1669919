"""The planted sequences of benchmarks/guards: each is true, and serve reveals none of a share of them."""

import json

import pytest

from benchmarks.guards.__main__ import FILE, GUARDS, judge

pytestmark = pytest.mark.filterwarnings("ignore:Arrow output")
PLANTED = json.loads(FILE.read_text(encoding="utf-8"))


def test_each_group_follows_from_true_answers_that_a_minimum_lets_through() -> None:
    found = judge(PLANTED, GUARDS["minimum per row"])
    assert found["sequences"] == found["revealed"] >= 30
    assert found["questions"] == found["shown"]


def test_serve_reveals_no_planted_group_and_answers_what_is_harmless() -> None:
    sequences = [each for each in PLANTED["sequences"] if not each["hidden"]]
    hidden = [each for each in PLANTED["sequences"] if each["hidden"]]
    found = judge({**PLANTED, "sequences": [*hidden[::13], sequences[0]]}, GUARDS["reid-sql serve"])
    assert found["revealed"] == 0
    assert found["harmless_shown"] == found["harmless"] > 0
