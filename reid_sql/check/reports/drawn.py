"""A picture of a report, with the words beneath it."""

from collections.abc import Mapping
from typing import Any

from reid_sql.charts.marks import Picture
from reid_sql.charts.svg import escape, svg


def drawn(picture: Picture, table: Mapping[str, Any], words: str) -> str:
    """Draw the picture of the table as a figure of the page."""
    shown = svg(picture, f", {table['name']}")
    return f"<figure>{shown}<figcaption>{escape(words)}</figcaption></figure>"
