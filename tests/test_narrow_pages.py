"""However narrow the page, no figure of a command is cut."""

import re
from pathlib import Path

import pytest

from tests.cells import each_cell
from tests.processes import ROOT, command

PEOPLE = "reid_sql/demo/people.csv"
SCENARIO = """name = "s"
population = 60000

[[groups]]
columns = ["age", "sex", "postcode"]
probability = 0.001
"""
QI = ["--qi", "age,sex,postcode"]
CALLS: dict[str, list[str]] = {
    "risk": ["risk", PEOPLE, *QI, "--stand-out", "2"],
    "forecast": ["risk", "few.csv", *QI, "--population", "67e6"],
    "validate": ["risk", "few.csv", *QI, "--validate"],
    "adversary": ["risk", PEOPLE, "--scenario", "s.toml"],
    "profile": ["profile", PEOPLE],
    "compare": ["compare", PEOPLE, PEOPLE, "--qi", "age,sex"],
    "audit": ["audit", PEOPLE, PEOPLE, "--qi", "age,sex", "--holdout", PEOPLE, "--targets", "200"],
    "check": ["check", "docs/people_release.toml"],
    "prepare": ["prepare", "docs/people_prepared.toml"],
    "safe": ["safe", PEOPLE, "--by", "age,diagnosis", "--totals", "margins"],
    "releases": [
        "compare",
        PEOPLE,
        PEOPLE,
        "--as",
        "later",
        "--qi",
        "age,sex",
        "--sensitive",
        "diagnosis",
    ],
    "tables": ["audit", "published.csv"],
    "query": ["query", "-", "--format", "table"],
}
PUBLISHED = """region,sex,records
north,F,1204
north,M,<5
north,,1206
south,F,<5
south,M,2311
south,,2314
,F,1207
,M,2313
,,3520
"""
SQL = f"FROM risk_summary('{PEOPLE}', ['age', 'sex', 'postcode'])"


def figures(page: str) -> set[str]:
    return set(re.findall(r"(?<![\w.])\d(?:[\d.,]*\d)?(?:e[-+]?\d+)?", page))


@each_cell("name", CALLS)
@pytest.mark.first(cells=3)
def test_every_figure_of_a_wide_page_is_on_a_narrow_one(name: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO, encoding="utf-8")
    few = (ROOT / PEOPLE).read_text(encoding="utf-8").splitlines(keepends=True)[:400]
    (tmp_path / "few.csv").write_text("".join(few), encoding="utf-8")
    (tmp_path / "published.csv").write_text(PUBLISHED, encoding="utf-8")
    files = {path.name for path in tmp_path.iterdir()}
    call = [str(tmp_path / word) if word in files else word for word in CALLS[name]]
    wide, narrow = (
        command(*call, columns=width, stdin=SQL if name == "query" else "") for width in (250, 40)
    )
    assert wide.returncode == narrow.returncode == (name == "check"), wide.stderr  # which fails
    assert "…" not in narrow.stdout
    assert figures(wide.stdout) - figures(narrow.stdout) == set()
