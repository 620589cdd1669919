"""The comparison with other tools: written from data, each row with a source and a date."""

import re
from pathlib import Path

from tools import rivals

KEYS = {"name", "url", "kind", "version", "package", "date", "source", "named", "theirs", "ours"}


def test_each_row_has_a_source_and_a_date() -> None:
    listed = rivals.read_rivals()
    assert len({each["name"] for each in listed}) == len(listed) > 20
    for each in listed:
        assert set(each) <= KEYS
        assert each["source"].startswith("https://"), each["name"]
        assert re.fullmatch(r"20\d\d(-\d\d)?", each["date"]), each["name"]
        assert each["theirs"], each["name"]
        assert each["ours"], each["name"]
        assert re.fullmatch(r"((pypi|cran):[\w-]+)?", each.get("package", "")), each["name"]
        assert "version" in each or not each.get("package", "").startswith(rivals.PYPI), each[
            "name"
        ]


def test_the_page_is_that_of_the_data(root: Path) -> None:
    text = (root / "docs" / "comparison.md").read_text(encoding="utf-8")
    assert text == rivals.page()
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + len(rivals.read_rivals())


def test_an_index_that_has_no_such_package_is_no_newer_version() -> None:
    assert rivals.ask_index("no such package, as a name has no blank") == "not reachable"
