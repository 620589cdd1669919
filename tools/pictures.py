"""The pictures of the front page: figures of the report of `reid-sql check`, each a file of its own."""

import re
from functools import cache
from pathlib import Path
from typing import Final

import reid_sql
from reid_sql.check.html import render_html
from tools.documents import ROOT

POLICY: Final = ROOT / "docs" / "people_release.toml"
FOLDER: Final = ROOT / "docs" / "images"
# Which figure of the report is in which file.
PICTURES: Final = {FOLDER / "class_sizes.svg": 0, FOLDER / "right_matches.svg": -1}
NAMESPACE: Final = 'xmlns="http://www.w3.org/2000/svg"'


def picture(path: Path) -> str:
    """The figure, with the colours of the report's page, light and dark."""
    figures, style = _report()
    opened, rest = figures[PICTURES[path]].split(">", 1)
    return f"{opened} {NAMESPACE}>\n<style>\n{style}</style>{rest}\n"


@cache
def _report() -> tuple[list[str], str]:
    """The report's figures, and its rules of style."""
    page = render_html(reid_sql.check(POLICY).page)
    [style] = re.findall(r"<style>\n(.*?)</style>", page, re.DOTALL)
    return re.findall(r"<svg.*?</svg>", page, re.DOTALL), style
