"""`reid-sql report`: the columns, the gate's verdict on the starter policy, and pages for people."""

import json
import random
import re
from html import unescape
from pathlib import Path

import polars as pl
import pytest

import reid_sql
from reid_sql.cli import main
from tests.processes import command

JOINED = ["--qi", "age,sex", "--other-qi", "pregnant"]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """300 people with a key, two columns that others know, and a code for "missing"."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(49)  # noqa: S311 - a table, no secrets
    rows = [
        (f"K{p:06}", rng.randint(20, 39), rng.choice("FM"), rng.choice([1, 2, 2, 97]))
        for p in range(300)
    ]
    frame = pl.DataFrame(rows, ["key", "age", "sex", "pregnant"], orient="row")
    frame.write_csv("people.csv")
    return tmp_path / "people.csv"


def test_the_verdict_is_that_of_init_and_check_and_no_error(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", file.name, "--json"]) == 0  # nobody wrote the policy that it judges by
    made = json.loads(capsys.readouterr().out)
    main(["init", file.name])
    capsys.readouterr()
    assert main(["check", "people.policy.toml", "--json"]) == made["report"]["exit_code"] == 2
    page = json.loads(capsys.readouterr().out)
    assert made["report"]["checks"] == page["checks"]
    assert made["report"]["tables"] == page["tables"]
    text = Path("people.policy.toml").read_text(encoding="utf-8")
    assert made["policy"].splitlines()[1:] == text.splitlines()[1:]  # but for its own name
    assert {row["column_name"] for row in made["profile"]} == {"key", "age", "sex", "pregnant"}


def test_the_page_says_what_to_leave_out_and_what_to_know(file: Path) -> None:
    report = reid_sql.report(file.name, population=10_000)
    text = unescape(report.html("report.html").read_text(encoding="utf-8"))
    assert text.index("Leave out of the release: key") < text.index("<h2>Columns")
    for words in (
        'missing.pregnant = ["97"]',
        "population_correctness",
        "In a population of 10,000 people",
    ):
        assert words in text
    assert str(file.parent) not in text
    assert "K000001" not in text
    assert str(report) == main_sentence(report)
    with pytest.raises(reid_sql.OutOfDomainError, match="--html must"):
        report.html(file.name)
    assert pl.read_csv(file).height == 300


def main_sentence(report: object) -> str:
    """The verdict, from the checks themselves."""
    checks = report.page["checks"]  # type: ignore[attr-defined]
    figures = [check["groups"][0]["value"] for check in checks]
    assert all(figure is not None for figure in figures)
    return (
        f"NOT JUDGED, which is not a pass: {len(checks)} measured, but not judged because of a caution or "
        f"the baseline. {len(checks)} not judged."
    )


def test_risk_without_columns_names_those_that_report_proposes(file: Path) -> None:
    refused = command("risk", file.name, folder=file.parent)
    assert refused.returncode == 2
    assert refused.stderr.rstrip().endswith(
        "leave out what nobody outside can know of: --qi age,sex,pregnant"
    )
    option = refused.stderr.rstrip().rpartition(" of: ")[2].split()
    assert command("risk", file.name, *option, folder=file.parent).returncode == 0


def test_standard_input_is_refused(file: Path) -> None:
    refused = command("report", "-", folder=file.parent, stdin=file.read_text(encoding="utf-8"))
    assert refused.returncode == 2
    assert "FILE must be a file, got standard input" in refused.stderr


@pytest.mark.parametrize(
    "name", ["risk", "validation", "profile", "compare", "later", "join", "safe"]
)
def test_a_page_has_the_figures_that_the_terminal_has(
    name: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {
        "risk": ["--qi", "age,sex"],
        "validation": ["--qi", "age,sex", "--validate", "0.5", "--methods", "bound"],
        "join": [*("people.csv", "--as", "join", "--key", "key"), *JOINED],
        "profile": [],
        "compare": ["people.csv", "--qi", "age,sex"],
        "later": ["people.csv", "--qi", "age,sex", "--as", "later"],
        "safe": ["--by", "sex,pregnant"],
    }[name]
    name = {"later": "compare", "join": "compare", "validation": "risk"}.get(name, name)
    assert main([name, "people.csv", *given, "--html", "page.html"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    page = unescape(Path("page.html").read_text(encoding="utf-8"))
    assert "default-src 'none'" in page
    assert "not masked" in page
    digits = [word for word in shown.split() if re.sub(r"[,.]", "", word.strip(".,;:%")).isdigit()]
    assert len(digits) > 5
    for word in digits:
        assert word.strip(".,;:") in page
    # which would overwrite the table
    assert main([name, "people.csv", *given, "--html", file.name]) == 2
    assert pl.read_csv(file).height == 300
