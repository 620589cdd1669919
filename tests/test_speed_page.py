"""The page of speeds has every row that it names, of one run and one commit."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.speed.cases import SECTIONS, Setup
from benchmarks.speed.compare import Case, Outcome
from benchmarks.speed.measure import Figures, Job
from benchmarks.speed.page import BEGIN, END, PAGE, ROWS, table_of
from benchmarks.speed.table import figures

OURS = [Figures(seconds, 2 * seconds, 100.0, {"records": 3}) for seconds in (1.5, 3.0, 6.0)]
RIVALS = [Figures(3.0, 4.0, 200.0, {"records": 3}) for _ in OURS]


def run(**changed: Any) -> dict[str, Any]:
    job = Job("in_duckdb", {})
    cases = [
        figures(Outcome(Case(row["section"], row["case"], job, job), OURS, RIVALS)) for row in ROWS
    ]
    return {"title": "3 rows", "machine": "2 cores", "commit": "1a2b3c4d", "cases": cases} | changed


def test_every_row_is_a_case(tmp_path: Path) -> None:
    setup = Setup(tmp_path, 1)
    known = {(case.section, case.words) for name in SECTIONS for case in SECTIONS[name](setup)}
    assert {(row["section"], row["case"]) for row in ROWS} <= known


def test_a_row_has_the_medians_and_their_spread() -> None:
    first, second = table_of(run()).splitlines()[4:6]
    assert "1a2b3c4d" in table_of(run())
    assert first.endswith("| 6.00 s / 4.00 s | 1.50 (0.75 to 3.00) | 100 / 200 |")
    assert second.startswith("| `equivalence_class_size` of 3 integers | ")


def test_a_case_without_a_run_says_why() -> None:
    [name] = [row for row in ROWS if row["section"] == "adult"]
    case = Case("adult", name["case"], Job("in_duckdb", {}), skipped="no data; set REID_SQL_DATA")
    other = [each for each in run()["cases"] if each["section"] != "adult"]
    page = table_of(run(cases=[*other, figures(Outcome(case, [], []))]))
    assert "| skipped: no data; set REID_SQL_DATA |  |  |" in page


def test_figures_of_two_runs_or_of_changed_files_are_not_written() -> None:
    with pytest.raises(ValueError, match="must be of files that are committed, got changed ones"):
        table_of(run(commit=""))
    with pytest.raises(ValueError, match="must be of one run, got none of"):
        table_of(run(cases=run()["cases"][1:]))


def test_the_page_has_one_place_for_them() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert (page.count(BEGIN), page.count(END)) == (1, 1)
    assert "commit " in page.partition(BEGIN)[2].partition(END)[0]
