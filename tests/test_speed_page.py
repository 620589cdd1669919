"""The page of speeds says of every section what is compared, and its tables hold the figures of the file."""

from pathlib import Path

from benchmarks.speed.cases import SECTIONS, Setup
from benchmarks.speed.compare import Case, Outcome
from benchmarks.speed.measure import Figures, Job
from benchmarks.speed.page import BEGIN, END, PAGE, WORDS, tables
from benchmarks.speed.table import figures

OURS = [Figures(seconds, 2 * seconds, 100.0, {"records": 3}) for seconds in (1.5, 3.0, 6.0)]
RIVALS = [Figures(3.0, 4.0, 200.0, {"records": 3}) for _ in OURS]


def test_every_section_has_its_words(tmp_path: Path) -> None:
    named = {case.section for cases in SECTIONS.values() for case in cases(Setup(tmp_path, 1))}
    assert named == set(WORDS)


def test_a_row_holds_the_medians_and_their_spread() -> None:
    job = Job("in_duckdb", {})
    case = Case("class_size", "3 integers", job, job, 1.1)
    page = tables({"title": "3 rows", "machine": "2 cores", "cases": [figures(Outcome(case, OURS, RIVALS))]})
    assert WORDS["class_size"]["heading"] in page
    ratios = "1.00 (0.50 to 2.00) | 1.50 (0.75 to 3.00)"
    assert page.splitlines()[-1] == f"| 3 integers | 3.00 s | 3.00 s | {ratios} | ≤ 1.10: met | 100 / 200 |"


def test_a_case_without_a_rival_or_a_run_says_so() -> None:
    case = Case("adult", "adult", Job("in_duckdb", {}), skipped="no data; set REID_SQL_DATA")
    page = tables({"title": "", "machine": "", "cases": [figures(Outcome(case, [], []))]})
    assert page.splitlines()[-1] == "| adult | skipped: no data; set REID_SQL_DATA |  |  |  |  |  |"


def test_the_page_has_one_place_for_them() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert (page.count(BEGIN), page.count(END)) == (1, 1)
