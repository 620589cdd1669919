"""What the first tier leaves of tests/check/test_unicity.py."""

from pathlib import Path

import pytest

from reid_sql.check.gate import check
from tests.check.test_unicity import *


@pytest.mark.parametrize("measure", ["unicity", "unicity_correctness"])
def test_a_draw_is_judged_by_the_upper_end_of_its_interval(folder: Path, measure: str) -> None:
    drawn = "2\nexact_up_to = 0\nsamples = 50"
    entity = 'entity = "patient_id"'
    [counted] = check(written(folder, measure, 2, 1, entity))["checks"]
    assert (
        counted["groups"][0]["low"] == counted["groups"][0]["high"] == counted["groups"][0]["value"]
    )
    [found] = check(written(folder, measure, drawn, 1, entity))["checks"]
    value, high = (found["groups"][0][name] for name in ("value", "high"))
    assert value < counted["groups"][0]["value"] + 0.2
    assert value + 0.02 < high < 1
    between = (value + high) / 2
    for more, verdict in (("", "fail"), ('judge_by = "estimate"', "pass")):
        page = check(written(folder, measure, f"{drawn}\n{more}", between, entity))
        assert page["checks"][0]["verdict"] == verdict
    assert check(written(folder, measure, drawn, high + 0.01, entity))["verdict"] == "pass"
