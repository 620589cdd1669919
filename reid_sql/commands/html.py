"""The answer of a command as one HTML page, in the style of the gate's report."""

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich import text as rich_text
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table

from reid_sql import __version__
from reid_sql.charts.svg import escape
from reid_sql.check.html_parts import render_document
from reid_sql.check.report import refuse_to_overwrite, write_report
from reid_sql.errors import OutOfDomainError
from reid_sql.terminal.console import Bar, Folded

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


def check_file(path: Path, inputs: Sequence[Path]) -> None:
    """Refuse a path that names no file, or one of the inputs."""
    if not path.name:
        raise OutOfDomainError(
            "--html must name a file, got none; write its path, or omit the option"
        )
    refuse_to_overwrite({"--html": path}, inputs)


def write_page(options: Namespace, head: str, page: RenderableType, people: str) -> None:
    """Write what the command prints as one HTML file."""
    path = Path(options.html)
    inputs = [getattr(options, name, None) for name in INPUTS] + getattr(options, "others", [])
    check_file(path, [Path(each) for each in inputs if each and each != "-"])
    title, words = HEADS[head]
    title = title.format(Path(options.file).name)
    counted = f"<p>{escape(people)}</p>" if people else ""
    origin = (
        f"<h2>How this was made</h2><p>{NOT_MASKED}</p><p class=soft>reid-sql {__version__}</p>"
    )
    body = f"<h1>{escape(title)}</h1><p class=soft>{escape(words)}</p>{page_body(page)}{counted}{origin}"
    write_report(path, render_document(title, body))


TONES: Final = {"red": "fail", "green": "pass"}
CAUTION: Final = "yellow"


def page_body(page: RenderableType) -> str:
    """Write what the page says: its verdict, else its sentences in bold; its cautions; then all the rest."""
    parts = [*_flatten(page)]
    panels = [each for each in parts if isinstance(each, Panel)]
    leads: Sequence[Any] = panels or [each for each in parts if _style(each) == "bold"]
    cautions = [each for each in parts if _style(each) == CAUTION]
    written = {id(each) for each in (*leads, *cautions)}
    rest = "".join(_block(each) for each in parts if id(each) not in written)
    listed = "".join(f"<li>{_inline(each)}</li>" for each in cautions)
    doubts = f"<h2>Cautions</h2><ul>{listed}</ul>" if listed else ""
    return f"{''.join(map(_lead, leads))}{doubts}{rest}"


def page_blocks(page: RenderableType) -> str:
    """Write the page in the order in which it is printed."""
    return "".join(map(_block, _flatten(page)))


def _flatten(page: RenderableType) -> Iterator[RenderableType]:
    if isinstance(page, Group):
        for each in page.renderables:
            yield from _flatten(each)
    else:
        yield page


def _style(part: RenderableType) -> str:
    return str(part.style) if isinstance(part, rich_text.Text) else ""


def _lead(part: Panel | rich_text.Text) -> str:
    """Write a verdict; its first word, before a colon, is in the colour of the verdict."""
    tone = TONES.get(str(part.style), "")
    lines = [
        _inline(each) for each in _flatten(part.renderable if isinstance(part, Panel) else part)
    ]
    word, colon, rest = lines[0].partition(":")
    first = f"<strong>{word}:</strong>{rest}" if colon and word.isupper() else lines[0]
    return f'<div class="verdict {tone}">{"<br>".join([first, *lines[1:]])}</div>'


def _block(part: RenderableType) -> str:
    if isinstance(part, Folded):
        inner = "".join(map(_block, part.parts))
        return f"<details><summary>{escape(part.title)}</summary>{inner}</details>"
    if isinstance(part, Table):
        return _table(part)
    text = _inline(part)
    if not text:
        return ""
    if _style(part) == "bold":
        return f"<h2>{text}</h2>"
    return f"<p class=soft>{text}</p>" if _style(part) == "dim" else f"<p>{text}</p>"


def _inline(part: RenderableType) -> str:
    """Write a cell or a line."""
    if isinstance(part, Group):
        return "<br>".join(filter(None, map(_inline, part.renderables)))
    if isinstance(part, Padding | Panel):
        return _inline(part.renderable)
    if isinstance(part, Bar):
        risky = " at-risk" if part.style == "red" else ""
        return f'<span class="length{risky}" style="width: {100 * part.share:.4g}%"></span>'
    if not isinstance(part, rich_text.Text | str):
        raise TypeError(f"a page must be of texts, tables and bars, got {type(part).__name__}")
    text = part.plain if isinstance(part, rich_text.Text) else part
    return escape(text)


def _table(table: Table) -> str:
    """Write a table; columns of figures are those that are aligned to the right."""
    kinds = [" class=number" if column.justify == "right" else "" for column in table.columns]
    heads = [_inline(column.header) for column in table.columns]
    body = ""
    for row in zip(*(column.cells for column in table.columns), strict=True):
        body += f"<tr>{''.join(map(_cell, kinds, row))}</tr>"
    head = ""
    if table.show_header and any(heads):
        cells = map("<th{}>{}</th>".format, kinds, heads)
        head = f"<thead><tr>{''.join(cells)}</tr></thead>"
    title = f"<h2>{_inline(table.title)}</h2>" if table.title else ""
    caption = f"<p class=soft>{_inline(table.caption)}</p>" if table.caption else ""
    return f'{title}<div class="scroll"><table>{head}<tbody>{body}</tbody></table></div>{caption}'


def _cell(kind: str, cell: RenderableType) -> str:
    return f"<td{' class=lengths' if isinstance(cell, Bar) else kind}>{_inline(cell)}</td>"
