"""The report as a page: well formed, whole, and nothing is asked of the network."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reid_sql.check.gate import check
from reid_sql.check.html import render_html
from reid_sql.check.next_steps import next_steps
from tests.check.towns import town


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("html")
    (folder / "r.html").write_text(render_html(check(town(folder))), encoding="utf-8")
    return folder / "r.html"


class Balanced(HTMLParser):
    """Tags that are open, and every attribute seen."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(name, value or "") for name, value in attrs]
        assert tag in ("rect", "line", "polygon", "polyline")


def test_the_page_is_well_formed_and_asks_for_nothing(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    parser = Balanced()
    parser.feed(text)
    assert not parser.open
    assert not {name for name, _ in parser.attributes} & {"src", "href", "srcset", "data", "action"}
    assert not re.search(r"https?:|url\(|@import|<script|<link", text)
    assert "default-src 'none'" in text
    assert "town &lt;release&gt; &amp; more" in text


def test_the_page_tells_what_a_data_officer_asks(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    for words in (
        "What to do next",
        "age drives the risk most",
        "not judged",
        "Who shares their values with how many",
        "Risk by quasi-identifier",
        "Forecast: right matches in larger populations",
        'class="band"',
        "Group by group",
        "How this was made",
    ):
        assert words in text
    assert text.count("<svg") == 3


def test_no_column_is_blamed_for_a_risk_that_stays_without_it(tmp_path: Path) -> None:
    rows = "".join(f"{person},{person},{person}\n" for person in range(40))
    (tmp_path / "t.csv").write_text(f"a,b,c\n{rows}", encoding="utf-8")
    table = {
        "file": "t.csv",
        "quasi_identifiers": ["a", "b", "c"],
        "checks": [{"measure": "k", "at_least": 5}],
    }
    (tmp_path / "p.json").write_text(
        json.dumps({"mask_below": 1, "tables": [table]}), encoding="utf-8"
    )
    steps = next_steps(check(tmp_path / "p.json"))
    assert "t: no single column drives the risk; omit or coarsen several." in steps
