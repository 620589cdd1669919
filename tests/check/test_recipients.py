"""Checks are judged for each recipient by what they may know, beside the controller's own view."""

import csv
import json
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

import reid_sql
from reid_sql.check.gate import Report, check
from reid_sql.check.report import report_schema
from reid_sql.errors import ReidError
from tests.cells import each_cell
from tests.dossier.releases import PEOPLE, POLICY, release


def smallest_class(*columns: str) -> int:
    """The records of the smallest class, counted from the text of the file."""
    with PEOPLE.open(encoding="utf-8", newline="") as lines:
        return min(
            Counter(tuple(row[c] for c in columns) for row in csv.DictReader(lines)).values()
        )


def test_each_recipient_has_a_verdict_by_what_they_know(tmp_path: Path) -> None:
    page = check(release(tmp_path))
    jsonschema.validate(json.loads(json.dumps(page)), report_schema())
    by_name = {each["recipient"]: each for each in page["checks"]}
    known = smallest_class("sex", "postcode")
    assert by_name["University hospital"]["groups"][0]["value"] == known
    assert by_name["University hospital"]["quasi_identifiers"] == ["sex", "postcode"]
    assert smallest_class("age", "sex", "postcode") < known  # else the two views would not differ
    assert known >= 2  # the limit
    verdicts = {each["name"]: each["verdict"] for each in page["recipients"]}
    assert verdicts == {"University hospital": "pass", "Everybody": "fail"}
    assert by_name[None]["verdict"] == "fail"
    assert page["verdict"] == "fail"  # the worst of all
    whom = "For the controller: fail; University hospital: pass; Everybody: fail."
    assert whom in str(Report(page))


def test_no_recipient_lowers_what_another_sees(tmp_path: Path) -> None:
    """A figure of the controller's is the same with recipients and without."""
    with_all = check(release(tmp_path))
    alone = check(release(tmp_path, POLICY.partition("[[recipients]]")[0]))
    own = [each for each in with_all["checks"] if each["recipient"] is None]
    assert [each["groups"] for each in own] == [each["groups"] for each in alone["checks"]]
    assert alone["recipients"] == []


def test_a_baseline_is_that_of_the_same_recipient(tmp_path: Path) -> None:
    """A figure that failed for the controller is not taken from a recipient who may accept it."""
    text = POLICY.replace('knows = ["sex", "postcode"]\n', "").replace(
        'measure = "k"\nat_least = 2', 'measure = "highest_risk"\nat_most = 1.0'
    )
    file = release(tmp_path, text)
    before = tmp_path / "before.json"
    reid_sql.check(file).json(before)
    file.write_text('baseline = "before.json"\n' + text, encoding="utf-8")
    own = next(each for each in check(file)["checks"] if each["recipient"] is None)
    assert own["verdict"] == "fail"
    assert own["groups"][0]["baseline"] is None


@each_cell(
    "old, new, words",
    [
        (
            'name = "Everybody"',
            'name = "University hospital"',
            "distinct names, got 'University hospital' t",
        ),
        (
            'environment = "public"',
            'environment = "internet"',
            "recipients[2].environment must be one of",
        ),
        ('links = ["population"]', 'links = ["register"]', "recipients[1].links must be one of"),
        (
            'controls = ["a',
            'tables = ["peple"]\ncontrols = ["a',
            "got 'peple'; did you mean 'people'?",
        ),
        ('knows = ["sex"', 'know = ["sex"', "got 'know'; did you mean 'knows'?"),
        (
            "date = 2026-11-27",
            'date = "27.11.2026"',
            "assessment.date must be a day, got '27.11.2026'",
        ),
        (
            "date = 2026-11-27",
            "date = 2026-11-27\nvalid_until = 2025-01-01",
            "must not be before the date",
        ),
        (
            'assessor = "Ada Lind"',
            'assessor = " "',
            "assessment.assessor must be a text, got an empty one",
        ),
        ("hours = 16", "hours = -1", "intruder_tests[1].hours must be a number of hours from 0"),
    ],
)
def test_refuses_in_one_sentence(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in POLICY
    with pytest.raises(ReidError) as refused:
        check(release(tmp_path, POLICY.replace(old, new, 1)))
    assert words in str(refused.value)
