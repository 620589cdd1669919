"""Cards of answers, as a notebook shows them above the table: what is found, in words and figures."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from reid_sql.charts.svg import escape
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.columns.missing_value_codes import show_code
from reid_sql.models.numerics.quantiles import percent
from reid_sql.parameters import Row
from reid_sql.terminal.answers import advice_by_kind
from reid_sql.terminal.pages import summary_lines
from reid_sql_udfs import declared

Lines = Sequence[Sequence[str]]
MAX_LINES: Final = 12
BOX: Final = (
    "display:inline-block;border:1px solid #8888;border-radius:6px;padding:.6em 1em;margin:.2em"
)
FIGURE: Final = re.compile(r"(below |above )?\d[\d.,e+-]*( %)?")
CELL: Final = "text-align:{side};padding:.1em .8em .1em 0;border:none;background:none"


def card(name: str, rows: Sequence[Row]) -> str | None:
    """Write the card of a function's answer; None if the function has none, or the answer no rows."""
    write = CARDS.get(name)
    return write(rows) if write and rows else None


def _risk_card(rows: Sequence[Row]) -> str:
    if len(rows) == 1:
        return _box("Risk of re-identification", summary_lines(rows[0]))
    columns = declared()["risk_summary"].answer_columns
    groups = [name for name in rows[0] if name not in columns]
    riskiest = sorted(rows, key=lambda row: (row["k"] is None, row["k"], -(row["uniqueness"] or 0)))
    lines = [
        [
            *(str(row[name]) for name in groups),
            f"{row['records']:,}",
            _number(row["k"]),
            _number(row["unique_records"]),
            "" if row["records_at_risk"] is None else percent(row["records_at_risk"]),
        ]
        for row in riskiest[:MAX_LINES]
    ]
    head = [*groups, "records", "k", "unique", "at risk"]
    return _box(
        f"Risk of re-identification in {len(rows):,} groups, the riskiest first", lines, head, rows
    )


def _population_card(rows: Sequence[Row]) -> str:
    groups = [name for name in rows[0] if name not in declared()["population_risk"].answer_columns]
    lines = [
        [*(str(row[name]) for name in groups), row["sentence"] or "", row["status"]]
        for row in rows[:MAX_LINES]
    ]
    return _box("Risk in the population", lines, [*groups, "sentence to quote", "status"], rows)


def _profile_card(rows: Sequence[Row]) -> str:
    lines = [
        [
            row["column_name"],
            row["looks_like"],
            f"{row['distinct_values']:,}",
            percent(row["uniqueness"]),
            ", ".join(map(show_code, row["sentinels"])),
        ]
        for row in rows
    ]
    head = ["column", "looks like", "values", "unique", "missing-value codes"]
    advice = [f"{names}: {text}" for names, text in advice_by_kind(rows)]
    return _box(f"{rows[0]['records']:,} records, {len(rows)} columns", lines, head, below=advice)


def _suda_card(rows: Sequence[Row]) -> str:
    scored = [row for row in rows if row["subsets"]]
    riskiest = sorted(scored, key=lambda row: -row["suda_score"])[:MAX_LINES]
    lines = [
        [
            str(row["record"]),
            f"{row['subsets']:,}",
            str(row["smallest_size"]),
            f"{row['suda_score']:.4g}",
            percent(row["dis_suda"]),
        ]
        for row in riskiest
    ]
    head = ["record", "sets that single it out", "columns of the smallest", "score", "DIS-SUDA"]
    return _box(
        f"{len(scored):,} records are unique by a set of columns, the riskiest first",
        lines,
        head,
        scored,
        _doubts(rows),
    )


def _minimal_sets_card(rows: Sequence[Row]) -> str:
    status = rows[0]["status"]
    sets = [row for row in rows if row["columns"]]
    if not sets:
        return _box("Minimal sets of columns that single people out", [["none", status]])
    lines = [
        [
            ", ".join(row["columns"]),
            percent(row["share_unique"]),
            *_counts(row, "unique_records", "classes"),
        ]
        for row in sets[:MAX_LINES]
    ]
    more = "" if status == OK else f"; {status}"
    title = f"Minimal sets of columns that single people out, the smallest first{more}"
    return _box(title, lines, ["columns", "share unique", "unique", "classes"], sets)


def _unsafe_card(rows: Sequence[Row]) -> str:
    lines = [
        [
            ", ".join(row["columns"]),
            percent(row["share"]),
            *_counts(row, "records", "combinations", "fewest"),
        ]
        for row in rows[:MAX_LINES]
        if row["columns"]
    ]
    title = "Sets of columns with values that too few people share, the smallest first"
    head = ["columns", "share", "people", "combinations", "fewest who share one"]
    return _box(title, lines, head, rows, _doubts(rows))


def _doubts(rows: Sequence[Row]) -> list[str]:
    """The status of a search, which all rows share, unless it is complete."""
    return [row["status"] for row in rows[:1] if row["status"] != OK]


def _counts(row: Row, *names: str) -> list[str]:
    return [f"{row[name]:,}" for name in names]


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _box(
    title: str,
    lines: Lines,
    head: Sequence[str] = (),
    rows: Sequence[Row] = (),
    below: Sequence[str] = (),
) -> str:
    """Write a table without lines; `rows` are those of the answer, of which the card may show the first."""
    header = "".join(_cell(text, "th", at) for at, text in enumerate(head))
    body = "".join(
        f"<tr>{''.join(_cell(text, 'td' if at else 'th', at) for at, text in enumerate(line))}</tr>"
        for line in lines
    )
    notes = [
        *below,
        *([f"and {len(rows) - MAX_LINES:,} more below"] if len(rows) > MAX_LINES else []),
    ]
    more = "".join(f"<div>{escape(note)}</div>" for note in notes)
    top = f"<tr>{header}</tr>" if header else ""
    return (
        f'<div style="{BOX}"><div style="font-weight:bold;margin-bottom:.3em">{escape(title)}</div>'
        f'<table style="margin:0;border:none">{top}{body}</table>{more}</div>'
    )


def _cell(text: str, tag: str, place: int) -> str:
    side = "right" if place and FIGURE.fullmatch(text) else "left"
    scope = " scope=row" if tag == "th" else ""
    return f'<{tag}{scope} style="{CELL.format(side=side)}">{escape(text)}</{tag}>'


# The functions whose answers may have columns of groups before their own.
GROUPED: Final = ("risk_summary", "population_risk")
CARDS: Final[Mapping[str, Callable[[Sequence[Row]], str]]] = {
    "risk_summary": _risk_card,
    "population_risk": _population_card,
    "profile": _profile_card,
    "suda_scores": _suda_card,
    "quasi_identifiers": _minimal_sets_card,
    "unsafe_combinations": _unsafe_card,
}
