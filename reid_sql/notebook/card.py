"""The answer of risk_summary as a small card of HTML."""

from collections.abc import Mapping
from html import escape
from typing import Any, Final

from reid_sql.control_characters import escape_control_characters
from reid_sql.terminal.pages import summary_lines

BOX: Final = "display:inline-block;border:1px solid #8888;border-radius:6px;padding:.6em 1em"
CELL: Final = "text-align:{side};padding:.1em .8em .1em 0;border:none;background:none"


def card(risk: Mapping[str, Any]) -> str:
    """Write the summary as a table without lines; its colours are the notebook's."""
    rows = "".join(_row(*line) for line in summary_lines(risk))
    head = '<div style="font-weight:bold;margin-bottom:.3em">Risk of re-identification</div>'
    return f'<div style="{BOX}">{head}<table style="margin:0;border:none">{rows}</table></div>'


def _row(name: str, figure: str, words: str) -> str:
    cells = (
        f'<th scope=row style="{CELL.format(side="left")}">{_told(name)}</th>',
        f'<td style="{CELL.format(side="right")}">{_told(figure)}</td>',
        f'<td style="{CELL.format(side="left")};opacity:.7">{_told(words)}</td>',
    )
    return f"<tr>{''.join(cells)}</tr>"


def _told(text: str) -> str:
    return escape(escape_control_characters(text))
