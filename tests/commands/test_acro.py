"""The risk appetite of ACRO as rules of safe, and its results from the cells; the layout is ACRO 1.0.2's."""

import csv
from pathlib import Path

import pytest

from reid_sql.cli import main
from reid_sql.errors import ReidError
from reid_sql.sources.acro import read_risk_appetite
from tests.cells import each_cell

APPETITE = """---
safe_threshold: 3
safe_dof_threshold: 10
safe_nk_n: 2
safe_nk_k: 0.90
safe_pratio_p: 0.10
check_missing_values: False
survival_safe_threshold: 10
zeros_are_disclosive: True
safe_round_base: 5
federated: false
blocked_extensions:
  - .svg
a_later_key: 3
...
"""
PAID = {
    ("N", "F"): (10, 900, 20, 30),
    ("N", "M"): (3, 4),
    ("S", "F"): (5, 6, 7),
    ("S", "M"): (6, 7, 8, 9),
}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    lines = [f"{region},{sex},{pay}" for (region, sex), pays in PAID.items() for pay in pays]
    (tmp_path / "people.csv").write_text(
        "\n".join(["region,sex,pay", *lines]) + "\n", encoding="utf-8"
    )
    (tmp_path / "appetite.yaml").write_text(APPETITE, encoding="utf-8")
    return tmp_path / "people.csv"


def ran(capsys: pytest.CaptureFixture[str], people: Path, *asked: str) -> tuple[str, str]:
    appetite = ("--risk-appetite", str(people.with_name("appetite.yaml")))
    assert (
        main(["safe", str(people), "--by", "region,sex", "--value", "pay", *appetite, *asked]) == 0
    )
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_thresholds_are_the_rules_of_safe_table(people: Path) -> None:
    read = read_risk_appetite(people.with_name("appetite.yaml"))
    assert read.parameters == {"k": 3, "dominance": [2.0, 0.9], "p_percent": 0.1, "base": 5}
    assert set(read.not_used) == {
        "safe_dof_threshold",
        "survival_safe_threshold",
        "check_missing_values",
        "zeros_are_disclosive",
        "federated",
        "blocked_extensions",
        "a_later_key",
    }
    assert "a_later_key (no rule of tables is known by it)" in read.summary()


def test_a_risk_appetite_judges_the_cells_and_what_is_not_used_is_listed(
    people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of 960, the two largest are 930: dominance at 0.9; what is left is 30 of 900: p %; M in N has two."""
    out, err = ran(capsys, people, "--format", "csv")
    broken = {
        (row["region"], row["sex"]): row["unsafe"] for row in csv.DictReader(out.splitlines())
    }
    assert broken["N", "F"] == '["dominance", "p_percent"]'
    assert "few_people" in broken["N", "M"]
    assert "few_people" not in broken["S", "F"]
    assert "k 3, dominance [2.0, 0.9], p_percent 0.1, base 5" in err
    assert "Not used: safe_dof_threshold (of regressions)" in err
    out, _ = ran(capsys, people, "--format", "csv", "--k", "4")
    assert sum("few_people" in row["unsafe"] for row in csv.DictReader(out.splitlines())) == 2


@each_cell(
    "text, words",
    [
        ("safe_treshold: 10", "did you mean 'safe_threshold'"),
        ("safe_threshold: ten", "safe_threshold must be a number, got str"),
        ("safe_threshold: true", "safe_threshold must be a number, got bool"),
        ("safe_threshold: 0", "safe_threshold must be a whole number of people from 1"),
        ("safe_nk_n: 2", "must have both safe_nk_n and safe_nk_k"),
        ("safe_pratio_p: -1", "safe_pratio_p must be a share from 0 to 10"),
        ("- 10", "must be YAML with a key and a value a line"),
        ("a: [", "must be YAML with a key and a value a line"),
        ("", "must be YAML with a key and a value a line"),
    ],
)
def test_what_is_no_risk_appetite_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "appetite.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ReidError) as refused:
        read_risk_appetite(tmp_path / "appetite.yaml")
    assert words in str(refused.value)
