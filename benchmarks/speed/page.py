"""The table of docs/speed.md, from one run of its rows: `python -m benchmarks.speed --page`.

All rows of the page are of one run, one machine and one commit. Figures that lack a row, or of files
that were changed since the commit, are not written.
"""

import re
import shutil
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.speed.measure import Figures
from benchmarks.speed.table import peak, processor_time, spread

Case = Mapping[str, Any]
ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "speed.md"
BEGIN: Final = "<!-- figures: written by `make bench` -->"
GIT: Final = shutil.which("git") or "git"
END: Final = "<!-- /figures -->"
HEAD: Final = (
    "| reid-sql | beside it | processor time of each | ratio (least to most) | peak MB of each |\n"
    "| --- | --- | --- | --- | --- |"
)
ROWS: Final[list[dict[str, str]]] = tomllib.loads(
    (Path(__file__).parent / "page.toml").read_text(encoding="utf-8")
)["rows"]


def is_shown(section: str, case: str) -> bool:
    """Whether the page has a row of this case."""
    return any((row["section"], row["case"]) == (section, case) for row in ROWS)


def commit() -> str:
    """The commit of all files, or nothing where a file differs from it."""
    changed, head = (
        subprocess.run(
            [GIT, *asked], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()
        for asked in (["status", "--porcelain"], ["rev-parse", "--short=8", "HEAD"])
    )
    return "" if changed else head


def write_page(figures: Mapping[str, Any]) -> None:
    """Write the figures into the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table_of(figures)}\n\n{END}{after}", encoding="utf-8")


def table_of(figures: Mapping[str, Any]) -> str:
    """The table, after what was measured on which machine; ValueError without a row or the commit."""
    if not figures["commit"]:
        raise ValueError(
            "figures must be of files that are committed, got changed ones; commit and measure"
        )
    cases = {(case["section"], case["shape"]): case for case in figures["cases"]}
    if lacking := [row["ours"] for row in ROWS if (row["section"], row["case"]) not in cases]:
        raise ValueError(
            f"the figures of a page must be of one run, got none of {lacking[0]}; measure all"
        )
    of = f"{figures['title']}; {figures['machine']}; commit {figures['commit']}"
    lines = [_row(row, cases[row["section"], row["case"]]) for row in ROWS]
    return f"{of}.\n\n" + "\n".join([HEAD, *lines])


def _row(row: Mapping[str, str], case: Case) -> str:
    ours, rivals = ([Figures(**run) for run in case[side]] for side in ("ours", "rival"))
    cells = [
        row["ours"],
        row["rival"] if rivals else "",
        _each(processor_time, ours, rivals) or case["verdict"],
        spread(case["cpu_ratio"]),
        _each(peak, ours, rivals),
    ]
    return "| " + " | ".join(re.sub(r"\|", "∣", cell) for cell in cells) + " |"


def _each(write: Any, *sides: Sequence[Figures]) -> str:
    return " / ".join(write(runs) for runs in sides if runs)
