"""Several policies in one run, and one policy whose tables lie in several places."""

import csv
import io
import json
import sqlite3
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

import reid_sql
from reid_sql.check.baseline import broken_report
from reid_sql.check.report import broken_seal, report_schema
from tests.processes import command

PASSES = '[[tables]]\nfile = "t.csv"\nquasi_identifiers = ["a"]\n[[tables.checks]]\nmeasure = "k"\nat_least = 2\n'
FAILS = PASSES.replace("at_least = 2", "at_least = 50")
CANNOT_BE_READ = {  # by what is wrong
    "no TOML": PASSES + "]",
    "a measure that is none": PASSES.replace('"k"', '"kk"'),
    "no file": PASSES.replace("t.csv", "other.csv"),
    "no column": PASSES.replace('"a"', '"z"'),
    "a broken line": PASSES.replace("t.csv", "broken.csv"),
    "no server": PASSES.replace('file = "t.csv"', 'url = "sqlite://none.sqlite"\ntable = "t"'),
    "no baseline": 'baseline = "none.json"\n' + PASSES,
}
FORMATS = {
    "json": ("--json-report", "r.json"),
    "junit": ("--junit", "r.xml"),
    "html": ("--html", "r.html"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text("a,b\n" + "1,x\n2,y\n" * 20, encoding="utf-8")
    (tmp_path / "broken.csv").write_text("a,b\n" + "1,x\n2,y\n" * 20 + '3,"z\n', encoding="utf-8")
    (tmp_path / "passes.toml").write_text(PASSES, encoding="utf-8")
    (tmp_path / "fails.toml").write_text(FAILS, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("wrong", CANNOT_BE_READ)
def test_no_run_passes_with_a_policy_that_is_not_measured(folder: Path, wrong: str) -> None:
    """Whatever is wrong: exit 2, and each form of the answer names the policy."""
    (folder / "wrong.toml").write_text(CANNOT_BE_READ[wrong], encoding="utf-8")
    written = [word for option in FORMATS.values() for word in option]
    done = command("check", "passes.toml", "wrong.toml", "--format", "csv", *written, folder=folder)
    assert done.returncode == 2
    page = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert (page["verdict"], page["exit_code"]) == ("not judged", 2)
    judged = {each["file"]: (each["verdict"], each["report"] is None) for each in page["policies"]}
    assert judged == {"passes.toml": ("pass", False), "wrong.toml": ("not judged", True)}
    refusal = page["policies"][1]["refusal"]
    assert refusal
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["policy"], row["verdict"]) for row in rows] == [
        ("passes.toml", "pass"),
        ("wrong.toml", "not judged"),
    ]
    suites = ET.parse(folder / "r.xml").getroot()  # noqa: S314 - our own file
    assert [each.get("errors") for each in suites] == ["0", "1"]
    assert "NOT JUDGED: 2 policies: 1 not judged, 1 pass." in (folder / "r.html").read_text("utf-8")


def test_one_policy_is_refused_as_before(folder: Path) -> None:
    (folder / "wrong.toml").write_text(CANNOT_BE_READ["no TOML"], encoding="utf-8")
    done = command("check", "wrong.toml", "--json", folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert command("check", "passes.toml", "./passes.toml", folder=folder).returncode == 2
    assert "passes.toml/*.toml" not in command("check", ".", folder=folder).stderr


@pytest.mark.parametrize(
    ("policies", "exit_code"),
    [
        (("passes", "passes_too"), 0),
        (("passes", "fails"), 1),
        (("fails", "wrong"), 1),
        (("passes", "wrong", "passes_too"), 2),
    ],
)
def test_the_worst_verdict_is_that_of_the_run(
    folder: Path, policies: tuple[str, ...], exit_code: int
) -> None:
    (folder / "passes_too.toml").write_text(PASSES, encoding="utf-8")
    (folder / "wrong.toml").write_text(CANNOT_BE_READ["no file"], encoding="utf-8")
    done = command("check", *(f"{name}.toml" for name in policies), folder=folder)
    assert done.returncode == exit_code
    assert f"{len(policies)} policies: " in done.stdout


def test_each_report_in_the_document_is_that_of_the_policy_alone(folder: Path) -> None:
    done = command("check", "passes.toml", "fails.toml", "--json", folder=folder)
    page = json.loads(done.stdout)
    assert not broken_seal(page)
    for each in page["policies"]:
        alone = json.loads(command("check", each["file"], "--json", folder=folder).stdout)
        assert each["report"] == alone
        jsonschema.validate(alone, report_schema())
        assert not broken_report(each["report"])
    page["policies"].pop()
    assert broken_seal(page)


def test_the_document_is_a_baseline_for_each_of_its_policies(folder: Path) -> None:
    both = ("passes.toml", "fails.toml")
    command("check", *both, "--json-report", "before.json", folder=folder)
    done = command("check", *both, "--baseline", "before.json", "--json", folder=folder)
    assert [each["verdict"] for each in json.loads(done.stdout)["policies"]] == ["pass", "no worse"]
    assert command("check", *both, "--json-report", "before.json", folder=folder).returncode == 1
    (folder / "third.toml").write_text(PASSES, encoding="utf-8")
    third = command("check", "third.toml", "--baseline", "before.json", folder=folder)
    assert third.returncode == 2
    assert "one report of the policy 'third', got 0" in third.stderr


def test_no_report_is_written_over_what_any_policy_reads(folder: Path) -> None:
    before = (folder / "fails.toml").read_bytes()
    for taken in ("t.csv", "fails.toml"):
        done = command("check", "passes.toml", "fails.toml", "--json-report", taken, folder=folder)
        assert (done.returncode, done.stdout) == (2, "")
    assert (folder / "fails.toml").read_bytes() == before


def test_one_policy_measures_files_and_a_warehouse_in_its_order(folder: Path) -> None:
    """The figures of each table are those that a policy of it alone has."""
    with sqlite3.connect(folder / "w.sqlite") as con:
        con.execute("CREATE TABLE t (a, b)")
        con.executemany("INSERT INTO t VALUES (?, ?)", [(n % 3, "x") for n in range(30)])
    columns = 'quasi_identifiers = ["a"]\n'
    tables = {
        "warehouse": 'url = "sqlite://w.sqlite"\ntable = "t"\n',
        "file": 'file = "t.csv"\n',
        "again": 'url = "sqlite://w.sqlite"\ntable = "t"\nnulls = "drop"\n',
    }
    text = '[[checks]]\nmeasure = "k"\nat_least = 2\n'
    text += "".join(
        f'[[tables]]\nname = "{name}"\n{where}{columns}' for name, where in tables.items()
    )
    (folder / "mixed.toml").write_text(text, encoding="utf-8")
    page = reid_sql.check(folder / "mixed.toml").page
    assert [(each["name"], each["records"]) for each in page["tables"]] == [
        ("warehouse", 30),
        ("file", 40),
        ("again", 30),
    ]
    assert [each["groups"][0]["value"] for each in page["checks"]] == [10, 20, 10]
    assert page["exit_code"] == 0
    for wrong in ('engine = "ibis"\n', 'engine = "sqlite"\n'):
        (folder / "wrong.toml").write_text(wrong + text, encoding="utf-8")
        with pytest.raises(reid_sql.ReidError, match="engine"):
            reid_sql.check(folder / "wrong.toml")
    plan = command("check", "mixed.toml", "--plan", folder=folder)
    assert "statements" in plan.stdout


def test_a_table_that_cannot_be_counted_has_no_number_of_records(folder: Path) -> None:
    (folder / "people.csv").write_text("a,who\n" + "1,x\n2,\n" * 20, encoding="utf-8")
    policy = PASSES.replace("t.csv", "people.csv").replace("[[tables.", 'entity = "who"\n[[tables.')
    (folder / "p.toml").write_text(policy, encoding="utf-8")
    done = command("check", "p.toml", "--html", "r.html", "--json-report", "r.json", folder=folder)
    assert done.returncode == 2
    (table,) = json.loads((folder / "r.json").read_text(encoding="utf-8"))["tables"]
    assert (table["records"], table["records_dropped"]) == (None, None)
    shown = done.stdout + (folder / "r.html").read_text(encoding="utf-8")
    assert "people not counted" in shown
    assert not any(words in shown for words in ("0 people", "who: 0", "dropped for a NULL"))
