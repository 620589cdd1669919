"""What the first tier leaves of tests/check/test_one_answer.py."""

import json
from html import unescape
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

import reid_sql
from reid_sql.check.gate import check
from reid_sql.check.html import render_html
from reid_sql.check.report import render_junit
from tests.check.test_one_answer import people_row, written
from tests.processes import command

SCHEMA = Path(reid_sql.__file__).parent / "check" / "report.schema.json"


def test_k_and_the_kinds_of_columns_are_those_of_the_policy(tmp_path: Path) -> None:
    asked = (
        '{measure = "population_below_k", population = 50000, k = 9, nominal = ["age"], seed = 3, '
    )
    asked += "at_most = 1}"
    found = check(written(tmp_path, asked))["checks"][0]["groups"][0]
    row = people_row(", k := 9, nominal := ['age'], seed := 3")
    assert found["value"] == pytest.approx(row["below_k"])
    assert found["value"] != pytest.approx(people_row()["below_k"])


def test_every_report_has_the_sentence_to_quote(tmp_path: Path) -> None:
    policy = written(
        tmp_path, '{measure = "population_uniqueness", population = 50_000, at_most = 0.9}'
    )
    page = check(policy)
    jsonschema.validate(page, json.loads(SCHEMA.read_text(encoding="utf-8")))
    message = people_row()["sentence"]
    assert message.startswith("Of 50,000 people, about ")
    shown = command("check", str(policy)).stdout
    assert message in " ".join(shown.split())
    assert message in unescape(render_html(page))
    cases = ET.fromstring(render_junit(page)).iter("testcase")  # noqa: S314 - of our own making
    assert any(message in (case.findtext("system-out") or "") for case in cases)
    finding = reid_sql.check(policy).findings[0]
    assert (finding.sentence, finding.method, finding.status) == (message, "people", "ok")
    assert finding.high == page["checks"][0]["groups"][0]["high"]


def test_groups_carry_a_caution_as_the_population_is_not_theirs(tmp_path: Path) -> None:
    asked = '{measure = "population_uniqueness", population = 50000, at_most = 1, by = ["sex"]}'
    page = check(written(tmp_path, asked))
    assert any(
        "50000 people are taken for the population of each group" in each
        for each in page["checks"][0]["cautions"]
    )
    assert check(written(tmp_path, asked, 'cautions = "refuse"'))["verdict"] == "not judged"
    assert (
        "sex = "
        in command("check", str(written(tmp_path, asked))).stdout.split("Of 50,000")[0][-40:]
    )
