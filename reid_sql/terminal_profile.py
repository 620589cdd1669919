"""How the profile of a table's columns is shown on a terminal."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from reid_sql.models.numerics.quantiles import percent
from reid_sql.terminal import ONE_ROW_ONE_PERSON, Text


def profile_page(rows: Sequence[dict[str, Any]]) -> RenderableType:
    """Show a line for each column, then what to think of each."""
    title = Text(f"{rows[0]['records']:,} records, {len(rows)} columns", style="bold")
    said = [Text.assemble((row["column_name"], "bold"), f": {row['suggestion']}.") for row in rows]
    return Group(title, "", _table(rows), "", *said, "", Text(ONE_ROW_ONE_PERSON, style="dim"))


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    table = Table(
        header_style="bold",
        caption="unique: records that nobody shares the value with; apart: pairs of records "
        "that differ; bits: entropy",
        caption_justify="left",
    )
    for name in ("column", "looks like", "type"):
        table.add_column(name)
    for name in ("values", "unique", "apart", "bits", "NULL"):
        table.add_column(name, justify="right")
    table.add_column("marks for missing values")
    for row in rows:
        apart = "" if row["separation"] is None else percent(row["separation"])
        marks = zip(row["sentinels"], row["sentinel_records"], strict=True)
        cells = [
            row["column_name"],
            row["looks_like"],
            row["column_type"],
            f"{row['distinct_values']:,}",
            percent(row["uniqueness"]),
            apart,
            f"{row['entropy_bits']:.1f}",
            percent(row["missing"]),
            ", ".join(f"'{mark}' {records:,}" for mark, records in marks),
        ]
        table.add_row(*map(Text, cells))
    return table
