"""The answer of a command as one HTML page, in the style of the gate's report."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rich.console import RenderableType

from reid_sql import __version__
from reid_sql.charts.svg import escape
from reid_sql.check.html_parts import render_document
from reid_sql.check.report import refuse_to_overwrite, write_report
from reid_sql.errors import OutOfDomainError
from reid_sql.terminal.markup import page_body

INPUTS: Final = ("file", "holdout", "scenario", "population_file")
HEADS: Final[Mapping[str, tuple[str, str]]] = {
    "risk": (
        "Re-identification risk of {}",
        "How many people share their values, and how often an attacker who seeks one of them is right.",
    ),
    "profile": (
        "The columns of {}",
        "What each column contains, and which columns together single people out.",
    ),
    "compare": (
        "A release compared with {}",
        "What the release changes and loses, and how often an attacker still links its records to people.",
    ),
    "audit": (
        "A synthetic table compared with {}",
        "Whether the synthetic table reveals more about the people it was made from than about others.",
    ),
    "later": (
        "The release after {}",
        "Who can be followed from one release to the next, who entered, and who left.",
    ),
    "join": (
        "The join of {} with another table",
        "Whom both tables single out together although neither does alone.",
    ),
    "tables": (
        "The published tables of {}",
        "What an attacker computes of hidden cells from the tables that are published together.",
    ),
    "safe": (
        "Counts of people from {}",
        "How many people each category has, and which cells are too small to publish.",
    ),
    "validation": (
        "Methods tried on {}",
        "How far each method errs on samples of the table, for which the true value is known.",
    ),
    "scenario": (
        "{} against an attacker",
        "How often an attacker who knows only part of the columns identifies a person.",
    ),
}
NOT_MASKED: Final = (
    "Counts on this page are exact, and not masked. It is for people who may see the table; "
    "reid-sql check writes a report to pass on."
)


def write_page(options: argparse.Namespace, head: str, page: RenderableType, people: str) -> None:
    """Write what the command prints as one HTML file."""
    path = Path(options.html)
    if not path.name:
        raise OutOfDomainError(
            "--html must name a file, got none; write its path, or omit the option"
        )
    inputs = [getattr(options, name, None) for name in INPUTS] + getattr(options, "others", [])
    refuse_to_overwrite({"--html": path}, [Path(each) for each in inputs if each and each != "-"])
    title, words = HEADS[head]
    title = title.format(Path(options.file).name)
    counted = f"<p>{escape(people)}</p>" if people else ""
    origin = (
        f"<h2>How this was made</h2><p>{NOT_MASKED}</p><p class=soft>reid-sql {__version__}</p>"
    )
    body = f"<h1>{escape(title)}</h1><p class=soft>{escape(words)}</p>{page_body(page)}{counted}{origin}"
    write_report(path, render_document(title, body))
