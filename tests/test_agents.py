"""What is written for agents: commands that parse, links that lead somewhere, fields that exist."""

import re
import shlex
from pathlib import Path

import pytest

from reid_sql.check.verdicts import EXIT_CODES
from reid_sql.cli import main
from reid_sql.commands.parser import parser
from reid_sql_udfs import declared
from tests.cells import each_cell

ROOT = Path(__file__).parents[1]
SKILL = (ROOT / "skills" / "reid-sql" / "SKILL.md").read_text(encoding="utf-8")
INDEX = (ROOT / "llms.txt").read_text(encoding="utf-8")


@each_cell("command", re.findall(r"`reid-sql ([^`]+)`", SKILL + INDEX))
def test_each_command_can_be_typed(command: str) -> None:
    words = shlex.split(command.replace("FILE.policy.toml", "p.toml"))
    assert parser().parse_args(words).command


@each_cell("link", re.findall(r"\]\(([^)]+)\)", SKILL + INDEX))
def test_each_link_leads_somewhere(link: str) -> None:
    assert (ROOT / link).is_file()


def test_they_are_one_page_each() -> None:
    assert len(SKILL.splitlines()) <= 70
    assert len(INDEX.splitlines()) <= 40
    assert re.match(r"---\nname: reid-sql\ndescription: .+\n---\n", SKILL)
    assert re.match(r"# reid-sql\n\n> ", INDEX)  # the form of llmstxt.org: a title, then a summary


def test_the_command_prints_the_skill(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["functions", "--skill"]) == 0
    assert capsys.readouterr().out == SKILL


def test_the_fields_that_are_quoted_exist() -> None:
    columns = declared()["population_risk"].answer_columns
    assert {"uniqueness_low", "uniqueness_high", "status", "sentence"} <= set(columns)
    assert "returns 0 pass, 1 fail, 2 not judged" in SKILL
    assert EXIT_CODES == {"pass": 0, "no worse": 0, "fail": 1, "not judged": 2}


def test_options_that_show_values_are_named() -> None:
    assert {"--stand-out", "--risky-records"} <= set(re.findall(r"`(--[a-z-]+)`", SKILL))
