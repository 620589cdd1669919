"""What the first tier leaves of tests/check/test_reports.py."""

import json
from pathlib import Path

from reid_sql.check.gate import check
from reid_sql.check.report import digest_of
from tests.check.test_reports import *
from tests.check.towns import town


def test_the_terminal_shows_a_line_a_check_and_the_verdict(made: Path) -> None:
    shown = (made / "shown.txt").read_text(encoding="utf-8")
    for words in (
        "town <release> & more",
        "NOT JUDGED",
        "3,000 records",
        "FAIL: the policy is not met.",
        "at most 5 %",
    ):
        assert words in shown


def test_a_baseline_fails_only_what_got_worse(made: Path, tmp_path: Path) -> None:
    baseline = made / "r.json"
    file = town(tmp_path)
    again = check(file, baseline)
    assert {each["verdict"] for each in again["checks"]} == {"pass", "no worse", "not judged"}
    better = json.loads(baseline.read_text(encoding="utf-8").replace("0.082125", "0.08"))
    better["digest"] = digest_of(better)
    (tmp_path / "better.json").write_text(json.dumps(better), encoding="utf-8")
    worse = check(file, tmp_path / "better.json")["checks"][7]
    assert (worse["verdict"], worse["groups"][0]["baseline"]) == ("fail", 0.08)
    assert worse["groups"][0]["why"] == "beyond the limit and worse than the baseline"


def test_no_worse_needs_a_baseline(made: Path, tmp_path: Path) -> None:
    file = town(tmp_path, 'checks = [{ measure = "uniqueness", no_worse = true }]')
    assert check(file)["verdict"] == "not judged"
    file = town(
        tmp_path,
        'checks = [{ measure = "uniqueness", no_worse = true }]',
        f'baseline = "{made / "r.json"}"',
    )
    assert check(file)["verdict"] == "pass"
