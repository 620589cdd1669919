"""The report in a browser: nothing is asked of the network, nothing is missing, light, dark and on paper.

The browser is a real one.
"""

import json
import re
import shutil
import struct
import subprocess
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reid_sql.check.gate import check
from reid_sql.check.html import render_html
from reid_sql.check.sentences import next_steps
from tests.check.towns import town

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]
SIZE = (900, 2400)
browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here (.ci/run installs it)")


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
        "could not be judged",
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
    (tmp_path / "p.json").write_text(json.dumps({"mask_below": 1, "tables": [table]}), encoding="utf-8")
    steps = next_steps(check(tmp_path / "p.json"))
    assert "t: no single column drives the risk; omit or coarsen several." in steps


def corner(png: bytes) -> bytes:
    """The first pixel: whatever the filter of the first row, it stands there as it is."""
    width, _, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert (width, depth, kind) == (SIZE[0], 8, 2)
    place, packed = 8, b""
    while place < len(png):
        length, name = struct.unpack(">I4s", png[place : place + 8])
        packed += png[place + 8 : place + 8 + length] if name == b"IDAT" else b""
        place += 12 + length
    return zlib.decompress(packed)[1:4]


def browse(report: Path, folder: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    assert CHROMIUM is not None
    call = [CHROMIUM, *QUIET, f"--user-data-dir={folder / 'profile'}", *options, report.as_uri()]
    return subprocess.run(call, capture_output=True, check=True, timeout=120)


@browser
def test_a_browser_shows_the_whole_page_and_nothing_is_blocked(report: Path, tmp_path: Path) -> None:
    done = browse(report, tmp_path, "--enable-logging=stderr", "--dump-dom")
    assert done.stdout.count(b"<svg") == 3
    assert done.stdout.split()[-1] == b"</body></html>"
    assert b"Content Security Policy" not in done.stderr


@browser
@pytest.mark.parametrize(
    ("scheme", "paper"), [("1", b"\xff\xff\xff"), ("0", b"\x14\x17\x1b")], ids=["light", "dark"]
)
def test_a_browser_paints_it_light_and_dark(report: Path, tmp_path: Path, scheme: str, paper: bytes) -> None:
    picture = tmp_path / "shot.png"
    size = f"--window-size={SIZE[0]},{SIZE[1]}"
    browse(
        report, tmp_path, size, f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={picture}"
    )
    assert corner(picture.read_bytes()) == paper
    assert picture.stat().st_size > 100_000  # an empty page packs to a few kilobytes


@browser
def test_a_browser_prints_it(report: Path, tmp_path: Path) -> None:
    browse(report, tmp_path, f"--print-to-pdf={tmp_path / 'r.pdf'}")
    pdf = (tmp_path / "r.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 8
