"""The tables of docs/speed.md from the file of figures: `python -m benchmarks.speed.page FIGURES.json`."""

import json
import re
import sys
import tomllib
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from benchmarks.speed.cases import ROOT
from benchmarks.speed.measure import Figures
from benchmarks.speed.table import peak, spread, target, time

Case = Mapping[str, Any]
PAGE: Final = ROOT / "docs" / "speed.md"
BEGIN: Final = "<!-- figures: written by `python -m benchmarks.speed.page` -->"
END: Final = "<!-- /figures -->"
HEAD: Final = (
    "| | this package | rival | ratio of time (least to most) | of processor time "
    "| target | peak MB of each |\n"
    "| --- | --- | --- | --- | --- | --- | --- |"
)
WORDS: Final = tomllib.loads((Path(__file__).parent / "page.toml").read_text(encoding="utf-8"))


def main(file: str) -> None:
    """Write the figures into the page."""
    figures = json.loads(Path(file).read_text(encoding="utf-8"))
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables(figures)}\n\n{END}{after}", encoding="utf-8")


def tables(figures: Mapping[str, Any]) -> str:
    """A table for each section, after what was measured on which machine."""
    of = f"{figures['title']}; {figures['machine']}"
    parts = [f"{of}. Ratios are medians over pairs of runs; targets are for time."]
    for section, cases in groupby(figures["cases"], key=lambda case: case["section"]):
        words = WORDS[section]
        reason = " ".join(words["reason"].split())
        parts.append(f"### {words['heading']}\n\n{reason}\n\n" + "\n".join([HEAD, *map(_row, cases)]))
    return "\n\n".join(parts)


def _row(case: Case) -> str:
    ours, rivals = ([Figures(**run) for run in case[side]] for side in ("ours", "rival"))
    cells = [
        case["shape"],
        time(ours) or case["verdict"],
        time(rivals),
        spread(case["ratio"]),
        spread(case["cpu_ratio"]),
        _target(case),
        " / ".join(peak(runs) for runs in (ours, rivals) if runs),
    ]
    return "| " + " | ".join(re.sub(r"\|", "∣", cell) for cell in cells) + " |"


def _target(case: Case) -> str:
    words = target(case["target"], case.get("cpu_target"))
    return f"{words}: {case['verdict']}" if words else ""


if __name__ == "__main__":
    main(*sys.argv[1:])
