"""What was prepared as rows, for CSV: a row for each column of each table, with the fields of the JSON."""

from collections.abc import Mapping
from typing import Any, Final

Page = Mapping[str, Any]
# In the JSON alone: lists of the table's own, and what stands in a row under another name.
LEFT_OUT: Final = {"name", "loss", "columns", "columns_released", "columns_left_out", "frontier"}


def release_rows(page: Page) -> list[Page]:
    """Give a row for each column: its form and loss, then what was found of its table."""
    return [
        {
            "table": table["name"],
            "verdict": page["verdict"],
            **column,
            "minimised": table["loss"],
            **{name: value for name, value in table.items() if name not in LEFT_OUT},
        }
        for table in page["tables"]
        for column in table["columns"]
    ]
