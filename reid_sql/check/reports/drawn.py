"""A chart of a report, with the words beneath it."""

from collections.abc import Mapping
from typing import Any

from reid_sql.charts.spec import Chart
from reid_sql.charts.svg import escape, svg


def drawn(chart: Chart, table: Mapping[str, Any], words: str) -> str:
    """Draw the chart of the table as a figure of the page."""
    shown = svg(chart, f", {table['name']}")
    return f"<figure>{shown}<figcaption>{escape(words)}</figcaption></figure>"
