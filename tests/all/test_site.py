"""What the first tier leaves of tests/test_site.py."""

import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

from reid_sql_udfs import declared
from tests.all.check.test_html import CHROMIUM, QUIET, browser
from tests.processes import ROOT
from tests.test_site import *
from tools.site import places


def test_every_page_is_on_the_site(site: Path) -> None:
    for page in places(ROOT).values():
        assert (site / page).with_suffix(".html").is_file(), page
    for name in declared():
        text = (site / "functions" / f"{name}.html").read_text(encoding="utf-8")
        assert re.search(rf"<h1[^>]*>{name}<", text), name


def test_its_code_can_be_pasted_and_each_answer_stands_once(site: Path) -> None:
    pages = [path.read_text(encoding="utf-8") for path in site.rglob("*.html")]
    assert not [
        page for page in pages if ">&gt;&gt;&gt;" in page or re.search(r">\$ ?<|>\$ reid-sql", page)
    ]
    page = (site / "functions" / "risk_summary.html").read_text(encoding="utf-8")
    assert page.count("average_class_risk") < 8  # the answer stands once, not once for each engine
    assert 'class="md-footer__link md-footer__link--next"' in page


# Opens the search, types, and writes the links of its results into the page.
TYPED = """<script>
const shadow = () => [...document.querySelectorAll("*")].map((each) => each.shadowRoot).find(Boolean);
setTimeout(() => document.querySelector(".md-search__button").click(), 1500);
setTimeout(() => {
  const field = shadow().querySelector("input");
  field.value = "k-anonymity";
  field.dispatchEvent(new Event("input", { bubbles: true }));
}, 2500);
setTimeout(() => {
  const links = [...shadow().querySelectorAll("a")].map((each) => each.getAttribute("href"));
  document.body.append(Object.assign(document.createElement("pre"), { id: "found", textContent: links }));
}, 5000);
</script></body>"""


@browser
def test_it_is_searched_in_a_browser_that_reads_a_folder(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    (site / "typed.html").write_text(page.replace("</body>", TYPED), encoding="utf-8")
    call = [
        str(CHROMIUM),
        *QUIET,
        "--virtual-time-budget=9000",
        "--dump-dom",
        (site / "typed.html").as_uri(),
    ]
    shown = subprocess.run(call, capture_output=True, text=True, check=True, timeout=120).stdout
    (site / "typed.html").unlink()
    [links] = re.findall(r'<pre id="found">([^<]*)</pre>', shown)
    assert Path(links.split(",")[0]).name.startswith("counting.html")


class Asked(HTMLParser):
    """What a browser fetches to show a page; what it follows when asked to is no part of it."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        reported = dict(attrs)
        if tag == "link" and reported.get("rel") in {"canonical", "next", "prev"}:
            return
        remaining = "href" if tag == "link" else "src"
        self.places += [place for place in [reported.get(remaining)] if place and tag != "a"]


def test_every_chart_that_is_drawn_on_white_turns_dark_with_the_page(site: Path) -> None:
    [part] = re.findall(
        r'img\[src\*="([^"]+)"\]', (site / "charts.css").read_text(encoding="utf-8")
    )
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        images = re.findall(r'<img[^>]*src="([^"]+\.svg)"', text)
        assert not images or re.search(r'href="(?:[./]*)charts.css"', text), page.name
        for image in images:
            on_white = "fill: #ffffff" in (page.parent / image).read_text(encoding="utf-8")
            assert on_white == (part in image), image


def test_no_page_fetches_anything_from_elsewhere_and_everything_is_there(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(declared())
    for page in pages:
        asked = Asked()
        asked.feed(page.read_text(encoding="utf-8"))
        assert asked.places
        for place in asked.places:
            assert not re.match(r"(?:\w+:)?//", place), (page.name, place)
            local = place.partition("?")[0]
            there = site / local.lstrip("/") if local.startswith("/") else page.parent / local
            assert place.startswith("data:") or there.exists(), (page.name, place)
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:\w+:)?//", style.read_text(encoding="utf-8")), (
            style.name
        )
