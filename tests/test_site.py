"""The documentation site is built strictly, of every page, and needs no network to be read."""

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reid_sql_udfs import declared
from tests.check.test_html import CHROMIUM, QUIET, browser
from tests.processes import ROOT
from tools.site import build, lay_out, main, places

SETTINGS = '[project]\nsite_name = "t"\ndocs_dir = "pages"\nsite_dir = "site"\n'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    assert build(ROOT, folder) == 0
    return folder / "site"


@pytest.mark.slow
def test_every_page_is_on_the_site(site: Path) -> None:
    for page in places(ROOT).values():
        assert (site / page).with_suffix(".html").is_file(), page
    for name in declared():
        text = (site / "functions" / f"{name}.html").read_text(encoding="utf-8")
        assert re.search(rf"<h1[^>]*>{name}<", text), name


@pytest.mark.slow
def test_its_code_can_be_pasted_and_each_answer_stands_once(site: Path) -> None:
    pages = [path.read_text(encoding="utf-8") for path in site.rglob("*.html")]
    assert not [page for page in pages if ">&gt;&gt;&gt;" in page or re.search(r">\$ ?<|>\$ reid-sql", page)]
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


@pytest.mark.slow
@browser
def test_it_is_searched_in_a_browser_that_reads_a_folder(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    (site / "typed.html").write_text(page.replace("</body>", TYPED), encoding="utf-8")
    call = [str(CHROMIUM), *QUIET, "--virtual-time-budget=9000", "--dump-dom", (site / "typed.html").as_uri()]
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


@pytest.mark.slow
def test_every_chart_that_is_drawn_on_white_turns_dark_with_the_page(site: Path) -> None:
    [part] = re.findall(r'img\[src\*="([^"]+)"\]', (site / "charts.css").read_text(encoding="utf-8"))
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        images = re.findall(r'<img[^>]*src="([^"]+\.svg)"', text)
        assert not images or re.search(r'href="(?:[./]*)charts.css"', text), page.name
        for image in images:
            on_white = "fill: #ffffff" in (page.parent / image).read_text(encoding="utf-8")
            assert on_white == (part in image), image


@pytest.mark.slow
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
        assert not re.search(r"url\(['\"]?(?:\w+:)?//", style.read_text(encoding="utf-8")), style.name


@pytest.mark.parametrize("option", ["--help", "--wrong"])
def test_an_option_is_no_folder(option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main([option])
    assert not list(tmp_path.iterdir())


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A repository of a few pages."""
    root = tmp_path / "root"
    for folder in ("docs", "sql_examples", "tools"):
        (root / folder).mkdir(parents=True)
    for name in ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "SECURITY"):
        (root / f"{name}.md").write_text(f"# {name}\n", encoding="utf-8")
    (root / "docs" / "index.md").write_text("# Front\n\n[more](more.md#here)\n", encoding="utf-8")
    (root / "docs" / "more.md").write_text(
        "# More\n\n## Here\n\n[SQL](../sql_examples/01_a.sql)\n", encoding="utf-8"
    )
    (root / "sql_examples" / "01_a.sql").write_text("SELECT 1;\n", encoding="utf-8")
    named(root, "index.md", "more.md")
    return root


def named(root: Path, *pages: str) -> None:
    beside = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "sql_examples/"]
    reported = ", ".join(f'"{page}"' for page in [*pages, *beside])
    (root / "tools" / "site.toml").write_text(
        f'{SETTINGS}nav = [{{ "All" = [{reported}] }}]\n', encoding="utf-8"
    )


def test_a_site_of_few_pages_is_built(small: Path, tmp_path: Path) -> None:
    assert build(small, tmp_path / "built") == 0
    page = (tmp_path / "built" / "site" / "more" / "index.html").read_text(encoding="utf-8")
    assert 'href="../sql_examples/01_a/"' in page


def test_a_link_to_no_heading_fails(small: Path, tmp_path: Path) -> None:
    (small / "docs" / "index.md").write_text("# Front\n\n[more](more.md#nowhere)\n", encoding="utf-8")
    assert build(small, tmp_path / "built") != 0


@pytest.mark.parametrize("link", ["gone.md", "../sql_examples/02_b.sql", "images/gone.svg"])
def test_a_link_to_nowhere_fails(link: str, small: Path, tmp_path: Path) -> None:
    (small / "docs" / "more.md").write_text(f"# More\n\n![x]({link})\n", encoding="utf-8")
    with pytest.raises(LookupError, match=f"must lead somewhere, got '{re.escape(link)}' in docs/more.md"):
        lay_out(small, tmp_path / "built")


def test_a_page_without_a_place_fails(small: Path, tmp_path: Path) -> None:
    shutil.copyfile(small / "docs" / "more.md", small / "docs" / "orphan.md")
    with pytest.raises(LookupError, match=r"must stand once .*, got 0 of 'orphan.md'"):
        lay_out(small, tmp_path / "built")


def test_a_page_with_two_places_fails(small: Path, tmp_path: Path) -> None:
    named(small, "index.md", "more.md", "more.md")
    with pytest.raises(LookupError, match=r"must stand once .*, got 2 of 'more.md'"):
        lay_out(small, tmp_path / "built")


def test_a_place_without_a_page_fails(small: Path, tmp_path: Path) -> None:
    named(small, "index.md", "more.md", "gone.md")
    with pytest.raises(LookupError, match=r"got the name of none of 'gone.md'"):
        lay_out(small, tmp_path / "built")
