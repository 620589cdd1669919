"""A starter policy on a table with codes for "missing": what blocks, once, with lines that resolve it."""

import re
import tomllib
from html import unescape
from pathlib import Path

import pytest

import reid_sql.cli
from reid_sql.check.gate import check
from reid_sql.check.sentences import summarize_verdicts

ROWS = [("sex", "age", "children"), *(("F", str(20 + place % 5), "97") for place in range(60))]
ROWS += [("M", str(20 + place % 5), str(1 + place % 2)) for place in range(60)]


@pytest.fixture
def starter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The starter policy of a table whose children = 97 means nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("".join(f"{','.join(row)}\n" for row in ROWS), encoding="utf-8")
    assert reid_sql.cli.main(["init", "t.csv"]) == 0
    return tmp_path / "t.policy.toml"


def test_each_caution_is_shown_once_with_a_line_that_resolves_it(
    starter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert reid_sql.cli.main(["check", str(starter), "--html", "r.html"]) == 2
    shown, page = capsys.readouterr().out, unescape(Path("r.html").read_text(encoding="utf-8"))
    for text in (" ".join(shown.split()), page):
        assert text.count("which looks like a missing-value code") == 1
        assert 'missing.children = ["97"]' in text
        assert 'accept = ["missing_codes"]' in text
        assert "2 measured, but not judged" in text
        assert "could not be measured" not in text


@pytest.mark.parametrize("resolve", ["declare", "accept"])
def test_the_lines_that_are_shown_lead_to_a_judgement(starter: Path, resolve: str) -> None:
    text = starter.read_text(encoding="utf-8")
    assert tomllib.loads(text)["cautions"] == "refuse"
    if resolve == "declare":  # by the line that init wrote as a comment
        text, found = re.subn(r"^# (missing\.)", r"\1", text, flags=re.MULTILINE)
        assert found == 1
    else:
        text = f'accept = ["missing_codes"]\n{text}'
    starter.write_text(text, encoding="utf-8")
    page = check(starter)
    sizes = [
        sum(row[:2] == other[:2] and row[2] == other[2] for other in ROWS[1:]) for row in ROWS[1:]
    ]
    assert {each["verdict"] for each in page["checks"]} <= {"pass", "fail"}
    assert page["checks"][0]["groups"][0]["value"] == min(sizes)


def test_a_check_without_a_figure_is_not_one_with_a_caution(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,1\n1,2\n2,1\n", encoding="utf-8")
    policy = tmp_path / "p.toml"
    policy.write_text(
        '[[tables]]\nfile = "t.csv"\nquasi_identifiers = ["a"]\n'
        'checks = [{measure = "population_uniqueness", population = 2, at_most = 0.1}]\n',
        encoding="utf-8",
    )
    words = summarize_verdicts(check(policy))
    assert "1 could not be measured" in words
    assert "but not judged" not in words


def test_a_sensitive_column_is_judged_once_both_lines_are_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    named = [("sex", "age", "pregnant"), *ROWS[1:]]
    Path("t.csv").write_text("".join(f"{','.join(row)}\n" for row in named), encoding="utf-8")
    assert reid_sql.cli.main(["init", "t.csv"]) == 0
    text = Path("t.policy.toml").read_text(encoding="utf-8")
    text = re.sub(r"^# (missing\.)", r"\1", text, flags=re.MULTILINE)
    Path("t.policy.toml").write_text(text, encoding="utf-8")
    diverse = check(Path("t.policy.toml"))["checks"][-1]
    assert diverse["verdict"] == "not judged"
    assert diverse["caution_codes"] == ["missing_sensitive"]
    accepted = f'accept = ["missing_sensitive"]\n{text}'
    Path("t.policy.toml").write_text(accepted, encoding="utf-8")
    diverse = check(Path("t.policy.toml"))["checks"][-1]
    # all women have no value: one value in their classes
    assert (diverse["verdict"], diverse["groups"][0]["value"]) == ("fail", 1)
