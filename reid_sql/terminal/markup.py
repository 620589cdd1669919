"""Pages of a terminal as HTML: the same words, tables and bars, the verdict and the cautions first."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, Final

from rich import text as rich_text
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table

from reid_sql.terminal.console import Bar, Folded
from reid_sql.terminal.control_characters import escape_control_characters

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
    return escape(escape_control_characters(text))


def _table(table: Table) -> str:
    """Write a table; columns of figures are those that are aligned to the right."""
    kinds = [" class=number" if column.justify == "right" else "" for column in table.columns]
    heads = [_inline(column.header) for column in table.columns]
    body = ""
    for row in zip(*(column.cells for column in table.columns), strict=True):
        cells = (_cell(kind, cell) for kind, cell in zip(kinds, row, strict=True))
        body += f"<tr>{''.join(cells)}</tr>"
    head = ""
    if table.show_header and any(heads):
        cells = (f"<th{kind}>{name}</th>" for kind, name in zip(kinds, heads, strict=True))
        head = f"<thead><tr>{''.join(cells)}</tr></thead>"
    title = f"<h2>{_inline(table.title)}</h2>" if table.title else ""
    caption = f"<p class=soft>{_inline(table.caption)}</p>" if table.caption else ""
    return f'{title}<div class="scroll"><table>{head}<tbody>{body}</tbody></table></div>{caption}'


def _cell(kind: str, cell: RenderableType) -> str:
    return f"<td{' class=lengths' if isinstance(cell, Bar) else kind}>{_inline(cell)}</td>"
