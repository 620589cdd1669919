import json
import shutil
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import duckdb
import jsonschema
import pytest

import reid_sql
from reid_sql.check.gate import check
from reid_sql.check.html import render_html
from reid_sql.errors import ReidError
from tests.check.towns import PEOPLE, town
from tests.processes import command, process
from tools import schemas
from tools.schemas import policy_schema

SCHEMAS = Path(reid_sql.__file__).parent / "check"
REPORT = json.loads((SCHEMAS / "report.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All reports of one run of the command."""
    folder = tmp_path_factory.mktemp("reports")
    files = ["--json-report", "r.json", "--junit", "r.xml", "--html", "r.html"]
    call = [str(folder / word) if word.startswith("r.") else word for word in files]
    done = process("check", str(town(folder)), *call)
    assert done.returncode == 1, done.stderr
    (folder / "shown.txt").write_text(done.stdout, encoding="utf-8")
    return folder


def page(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    return found


def test_the_same_table_policy_and_version_give_the_same_bytes(made: Path, tmp_path: Path) -> None:
    again = tmp_path / "elsewhere"
    shutil.copytree(made, again)
    done = command(
        "check", str(again / "policy.toml"), "--json", "--json-report", str(again / "r2.json")
    )
    assert (again / "r2.json").read_bytes() == (made / "r.json").read_bytes()
    assert done.stdout == (made / "r.json").read_text(encoding="utf-8")


def test_the_report_follows_its_schema_and_says_what_it_rests_on(made: Path) -> None:
    found = page(made)
    jsonschema.validate(found, REPORT, cls=jsonschema.Draft202012Validator)
    assert found["versions"]["reid-sql"] == reid_sql.__version__
    assert found["versions"]["duckdb"] == duckdb.__version__
    assert found["tables"][0]["records"] == 3000
    assert len(found["policy"]["sha256"]) == len(found["tables"][0]["sha256"]) == 64
    assert found["checks"][7]["parameters"]["seed"] == 0
    assert str(made) not in json.dumps(found)


def test_the_shipped_schema_of_a_policy_is_up_to_date_and_accepts_what_is_accepted(
    made: Path,
) -> None:
    assert (SCHEMAS / "policy.schema.json").read_text(encoding="utf-8") == schemas.policy()
    validator = jsonschema.Draft202012Validator(policy_schema())
    validator.check_schema(policy_schema())
    written = tomllib.loads((made / "policy.toml").read_text(encoding="utf-8"))
    validator.validate(written)
    for broken in ({"at_lest": 5}, {"at_most": 5}, {"measure": "uniquenes"}, {"threshold": 0.1}):
        checks = [{"measure": "k", "at_least": 5} | broken]
        assert not validator.is_valid(
            {"tables": [{"file": "a.csv", "quasi_identifiers": ["a"], "checks": checks}]}
        )


def test_junit_says_what_failed_and_what_could_not_be_judged(made: Path) -> None:
    suite = ET.parse(made / "r.xml").getroot().find("testsuite")  # noqa: S314 - our own file
    assert suite is not None
    groups = [group for each in page(made)["checks"] for group in each["groups"]]
    verdicts = [group["verdict"] for group in groups]
    assert suite.get("name") == "people"
    assert [int(suite.get(name, "")) for name in ("tests", "failures", "errors")] == [
        len(groups),
        verdicts.count("fail"),
        verdicts.count("not judged"),
    ]
    kinds = [
        "failure"
        if c.find("failure") is not None
        else "error"
        if c.find("error") is not None
        else ""
        for c in suite.iter("testcase")
    ]
    assert kinds == [
        {"fail": "failure", "not judged": "error"}.get(verdict, "") for verdict in verdicts
    ]


FEW = """SELECT 'rare' AS place, i AS a FROM range(3) t(i) UNION ALL SELECT 'few', 0 FROM range(40)
         UNION ALL SELECT 'many', i // 2 FROM range(400) t(i)"""


def few(folder: Path, head: str = "") -> Path:
    with duckdb.connect() as con:
        con.execute(f"COPY ({FEW}) TO '{folder}/few.parquet'")
    checks = """{measure = "uniqueness", at_most = 0}, {measure = "unique_records", at_most = 0},
                {measure = "k", at_least = 2, by = ["place"]}"""
    text = f'{head}\n[[tables]]\nfile = "few.parquet"\nquasi_identifiers = ["place", "a"]\nchecks = [{checks}]'
    (folder / "few.toml").write_text(text, encoding="utf-8")
    return folder / "few.toml"


def test_small_counts_are_masked(tmp_path: Path) -> None:
    found = check(few(tmp_path))
    share, count, by = (each["groups"] for each in found["checks"])
    assert (share[0]["value"], share[0]["below"], share[0]["verdict"]) == (
        None,
        pytest.approx(10 / 443),
        "fail",
    )
    assert (count[0]["value"], count[0]["judged"], count[0]["below"]) == (None, None, 10)
    assert [group["records"] for group in by] == [
        None,
        400,
        None,
    ]  # few; many; rare, with few beside it as the total would tell
    assert [group["group"] for group in by] == [{"place": "few"}, {"place": "many"}, None]
    sizes = [each["records"] for each in found["tables"][0]["class_sizes"] if each["records"] != 0]
    assert sizes == [None, 400, None]  # 3 unique, 400 in pairs, 40 alike
    shown = json.dumps(found) + render_html(found)
    assert "rare" not in shown
    assert check(few(tmp_path, "mask_below = 1"))["checks"][0]["groups"][0][
        "value"
    ] == pytest.approx(3 / 443)


def test_raw_values_stand_in_a_report_only_where_they_are_asked_for(tmp_path: Path) -> None:
    file = few(tmp_path)
    assert "risky_records" not in check(file)["tables"][0]
    found = check(file, risky=2)
    assert found["tables"][0]["risky_records"] == [
        {"class_size": 1, "values": {"place": "rare", "a": "0"}},
        {"class_size": 1, "values": {"place": "rare", "a": "1"}},
    ]
    jsonschema.validate(found, REPORT)
    assert "values of real people" in render_html(found)
    assert command("check", str(file), "--risky-records", "-1").stderr.count("\n") == 1


@pytest.mark.parametrize("content", ["{}", "[]", "nonsense", '{"format": "other", "checks": []}'])
def test_what_is_no_report_is_no_baseline(tmp_path: Path, content: str) -> None:
    (tmp_path / "b.json").write_text(content, encoding="utf-8")
    with pytest.raises(ReidError, match="baseline must be a JSON report of reid-sql check"):
        check(town(tmp_path), tmp_path / "b.json")
    with pytest.raises(
        ReidError, match=r"baseline must be an existing report, got .*; did you mean 'b.json'"
    ):
        check(town(tmp_path), tmp_path / "c.json")


def test_nothing_is_changed_beside_the_reports(made: Path) -> None:
    assert {path.name for path in made.iterdir()} == {
        "policy.toml",
        "neighbours.toml",
        "r.json",
        "r.xml",
        "r.html",
        "shown.txt",
    }
    assert PEOPLE.is_file()


@pytest.mark.parametrize("option", ["--json-report", "--junit", "--html"])
def test_a_report_that_cannot_be_written_is_refused_before_counting(
    tmp_path: Path, option: str
) -> None:
    file = town(tmp_path)
    for target in (tmp_path / "nowhere" / "r", tmp_path):
        done = command("check", str(file), option, str(target))
        assert done.returncode == 2
        assert f"{option} must " in done.stderr
        assert done.stderr.count("\n") == 1
