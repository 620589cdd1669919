"""The page of a profile: the columns that single records out, a line for each column, and advice by kind."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table

from reid_sql.models.columns.column_profile import SUGGESTIONS
from reid_sql.models.numerics.quantiles import percent
from reid_sql.terminal.console import ONE_ROW_ONE_PERSON, FigureTable, Text

CODES_COUNT: Final = "Missing-value codes count as values: make them NULL if they mean 'unknown'."


def describe_smallest_set(share: float, found: Sequence[Mapping[str, Any]]) -> str:
    """Name the smallest set of columns by which such a share is unique, or why none is named.

    >>> best = {"columns": ["age", "sex"], "share_unique": 0.12}
    >>> describe_smallest_set(0.05, [best, best])
    'Smallest set of columns that singles out 5 % of the records: age, sex (12.0 %); 1 other set is as small.'
    """
    best, asked = found[0], f"{100 * share:g} %"
    start = f"Smallest set of columns that singles out {asked} of the records:"
    if not best["columns"]:
        return f"{start} none found ({re.sub(r'^[a-z_]+: ', '', best['status']).replace('at_least', asked)})."
    others = len(found) - 1
    more = f"; {others:,} other set{'s are' if others > 1 else ' is'} as small" if others else ""
    return f"{start} {', '.join(best['columns'])} ({percent(best['share_unique'])}){more}."


def profile_page(rows: Sequence[dict[str, Any]], singling_out: Sequence[str]) -> RenderableType:
    """Show which columns together single records out, a line for each column, then what to do by kind."""
    title = Text(f"{rows[0]['records']:,} records, {len(rows)} columns", style="bold")
    sets = [Text(line) for line in singling_out]
    advice = [Text.assemble((names, "bold"), f": {text}") for names, text in advice_by_kind(rows)]
    codes = any(row["sentinels"] for row in rows)
    parts = [*advice, *([Text(CODES_COUNT)] if codes else []), Text(ONE_ROW_ONE_PERSON, style="dim")]
    return Group(title, *sets, "", _profile_table(rows), "", *parts)


def advice_by_kind(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Name the columns of each kind, and what to do with them."""
    kinds: dict[str, list[str]] = {}
    for row in rows:
        kinds.setdefault(row["looks_like"], []).append(row["column_name"])
    found = []
    for kind, names in kinds.items():
        advice, _, safer = SUGGESTIONS[kind]
        found.append((", ".join(names), f"{advice}{f'; {safer}' if safer else ''}."))
    return found


def _profile_table(rows: Sequence[dict[str, Any]]) -> Table:
    table = FigureTable(
        header_style="bold",
        box=None,
        padding=(0, 2, 0, 0),
        caption="unique: share of records that are the only one with their value",
        caption_justify="left",
    )
    for name in ("column", "looks like"):
        table.add_column(name)
    for name in ("values", "unique", "NULL"):
        table.add_column(name, justify="right")
    table.add_column("missing-value codes")
    for row in rows:
        codes = zip(row["sentinels"], row["sentinel_records"], strict=True)
        cells = [
            row["column_name"],
            row["looks_like"],
            f"{row['distinct_values']:,}",
            percent(row["uniqueness"]),
            percent(row["missing"]),
            ", ".join(f"'{code}' {records:,}" for code, records in codes),
        ]
        table.add_row(*map(Text, cells))
    return table
