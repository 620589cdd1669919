"""The documentation site is built strictly, of every page, and needs no network to be read."""

import re
import shutil
from pathlib import Path

import pytest

from tests.processes import ROOT
from tools.site import build, lay_out, main

SETTINGS = '[project]\nsite_name = "t"\ndocs_dir = "pages"\nsite_dir = "site"\n'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    assert build(ROOT, folder) == 0
    return folder / "site"


@pytest.mark.parametrize("option", ["--help", "--wrong"])
def test_an_option_is_no_folder(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    (small / "docs" / "index.md").write_text(
        "# Front\n\n[more](more.md#nowhere)\n", encoding="utf-8"
    )
    assert build(small, tmp_path / "built") != 0


@pytest.mark.parametrize("link", ["gone.md", "../sql_examples/02_b.sql", "images/gone.svg"])
def test_a_link_to_nowhere_fails(link: str, small: Path, tmp_path: Path) -> None:
    (small / "docs" / "more.md").write_text(f"# More\n\n![x]({link})\n", encoding="utf-8")
    with pytest.raises(
        LookupError, match=f"must lead somewhere, got '{re.escape(link)}' in docs/more.md"
    ):
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
