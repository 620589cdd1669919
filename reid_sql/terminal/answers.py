"""Pages of a profile, of comparisons of tables, and of audits of synthetic tables."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.columns.column_profile import SUGGESTIONS, kind_of_advice
from reid_sql.models.columns.missing_value_codes import show_code
from reid_sql.models.comparison.release_classes import STATUS_NO_KEY, STATUS_NO_SENSITIVE
from reid_sql.models.numerics.quantiles import percent
from reid_sql.terminal.console import ONE_ROW_ONE_PERSON, Bar, FigureTable, Folded, Text

WIDEST_BAR: Final = 40
CODES_COUNT: Final = "Missing-value codes count as values: make them NULL if they mean 'unknown'."


def describe_smallest_set(share: float, found: Sequence[Mapping[str, Any]]) -> str:
    """Name the smallest set of columns by which such a share is unique, or why none is named.

    >>> best = {"columns": ["age", "sex"], "share_unique": 0.12, "status": "ok"}
    >>> describe_smallest_set(0.05, [best, best])
    'Smallest set of columns that singles out 5 % of the records: age, sex (12.0 %); 1 other set is as small.'
    """
    best, asked = found[0], f"{100 * share:g} %"
    singled = f"singles out {asked} of the records:"
    status = "; ".join(re.sub(r"^[a-z_]+: ", "", each) for each in best["status"].split("; "))
    status = status.replace("at_least", asked)
    if not best["columns"]:
        is_none = best["status"].startswith("no_set:")
        return f"Smallest set of columns that {singled} {'none' if is_none else 'not searched'} ({status})."
    names = f"{', '.join(best['columns'])} ({percent(best['share_unique'])})"
    if best["status"] != OK:
        return f"A set of columns that {singled} {names}; {status}."
    others = len(found) - 1
    more = f"; {others:,} other set{'s are' if others > 1 else ' is'} as small" if others else ""
    return f"Smallest set of columns that {singled} {names}{more}."


def profile_page(rows: Sequence[dict[str, Any]], singling_out: Sequence[str]) -> RenderableType:
    """Show which columns together single records out, a line for each column, then what to do by kind."""
    title = Text(f"{rows[0]['records']:,} records, {len(rows)} columns", style="bold")
    sets = [Text(line) for line in singling_out]
    advice = [Text.assemble((names, "bold"), f": {text}") for names, text in advice_by_kind(rows)]
    codes = any(row["sentinels"] for row in rows)
    parts = [
        *advice,
        *([Text(CODES_COUNT)] if codes else []),
        Text(ONE_ROW_ONE_PERSON, style="dim"),
    ]
    return Group(title, *sets, "", columns_table(rows, {}), "", *parts)


def advice_by_kind(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Name the columns of each kind, and what to do with them."""
    kinds: dict[str, list[str]] = {}
    for row in rows:
        known = 1 - row["missing"] - sum(row["sentinel_records"]) / row["records"]
        kind = kind_of_advice(row["column_name"], row["looks_like"], known)
        kinds.setdefault(kind, []).append(row["column_name"])
    found = []
    for kind, names in kinds.items():
        advice, _, safer = SUGGESTIONS[kind]
        found.append((", ".join(names), f"{advice}{f'; {safer}' if safer else ''}."))
    return found


def columns_table(rows: Sequence[Mapping[str, Any]], roles: Mapping[str, str]) -> Table:
    """Show a line for each column; with what it is proposed as, where there are `roles`."""
    table = FigureTable(
        header_style="bold",
        box=None,
        padding=(0, 2, 0, 0),
        caption="unique: share of records that are the only one with their value",
        caption_justify="left",
    )
    for name in ("column", *(["proposed as"] if roles else []), "looks like"):
        table.add_column(name)
    for name in ("values", "unique", "NULL"):
        table.add_column(name, justify="right")
    table.add_column("missing-value codes")
    for row in rows:
        codes = zip(row["sentinels"], row["sentinel_records"], strict=True)
        cells = [
            row["column_name"],
            *([roles.get(row["column_name"], "")] if roles else []),
            row["looks_like"],
            f"{row['distinct_values']:,}",
            percent(row["uniqueness"]),
            percent(row["missing"]),
            ", ".join(f"{show_code(code)} {records:,}" for code, records in codes),
        ]
        table.add_row(*map(Text, cells))
    return table


SHARES: Final = {
    "uniqueness": "records that share their values with no other",
    "highest_risk": "chance of a right match on the most exposed record, if it is known to be there",
    "average_risk": "share of right matches, if an attacker links every record",
    "average_class_risk": "the same, as a mean over classes",
    "records_at_risk": "records whose risk is above the threshold",
    "information_loss": "share of the columns' entropy that the release loses",
    "correct_links": "share of right links of the best attack below",
    "certain_links": "share of people with a right link to a single record",
    "highest_link": "greatest chance of a right link for one person",
    "correct_candidates": "right links, if the attacker takes any possible record",
    "links_by_likelihood": "right links, if the attacker takes the likeliest record",
    "links_by_distance": "right links, if the attacker takes the nearest record",
    "links_by_exact_match": "right links, if the attacker takes a record with equal values",
    "links_by_some_columns": "right links, by equal values of the best set of columns",
}


NO_KEY: Final = "no_key"
CHANGES: Final = {  # of a column, by what is counted
    "values": "original_values",
    "released": "released_values",
    "cells changed": "cells_changed",
    "suppressed": "cells_suppressed",
    "lost": "information_loss",
    "moved": "total_variation",
}


def comparison_page(
    figures: Sequence[dict[str, Any]],
    columns: Sequence[dict[str, Any]],
    headline: Sequence[str],
    unmeasured: Sequence[str],
) -> RenderableType:
    """Show every figure of both tables, then the changes of each column, then the result of the attack.

    The `headline` is the result by some columns, and by all; `unmeasured` names the others.
    """
    asked = [row for row in figures if not row["measure"].startswith("links_by_")]
    # one sentence names the others
    known = [row for row in figures if not row["status"].startswith(NO_KEY)]
    first = [row for row in known if row["measure"] in FIRST_FIGURES]
    others = [row for row in known if row["measure"] not in FIRST_FIGURES]
    statuses_ = {row["status"]: None for row in [*asked, *columns] if row["status"] != "ok"}
    return Group(
        _figures(first),
        "",
        _shares(first),
        "",
        _columns(columns),
        Folded(f"{len(others)} more figures", (_figures(others),)),
        Panel(Group(*map(Text, headline))),
        *map(Text, unmeasured),
        *(Text(f"{status}.", style="yellow") for status in statuses_),
        Text(ONE_ROW_ONE_PERSON, style="dim"),
    )


# What a reader looks for first; the others are folded.
FIRST_FIGURES: Final = (
    "unique_records",
    "records_at_risk",
    "average_risk",
    "correct_links",
    "information_loss",
)
DRAWN: Final = ("records_at_risk", "average_risk", "correct_links")  # as bars, shares of the people


def _shares(figures: Sequence[Mapping[str, Any]]) -> Table:
    """Draw the shares of people of the original above those of the release."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column("", max_width=WIDEST_BAR)
    for row in figures:
        for side, style in (("original", "red"), ("released", "cyan")):
            value = row[side]
            if row["measure"] not in DRAWN or value is None:
                continue
            name = row["measure"].replace("_", " ") if side == "original" else ""
            cells = (Text(name), Text(side), Text(percent(value)))
            table.add_row(*cells, Bar(value, style) if value else "")
    return table


def describe_links(figures: Sequence[dict[str, Any]], by: Sequence[str]) -> str:
    """State the result of the attack by some columns in one sentence.

    >>> known = {"measure": "correct_links", "original": 0.5, "released": 0.1}
    >>> describe_links([known], ["age"])[-67:]
    'is right about 10.0 % of the people; in the original, about 50.0 %.'
    """
    names = ", ".join(by)
    row = next(row for row in figures if row["measure"] == "correct_links")
    before = percent(row["original"])
    if row["released"] is None:
        return f"The share of right links to the release by {names} is unknown; in the original, it is {before}."
    right = percent(row["released"])
    of_release = (
        f"An attacker who links every record by {names} is right about {right} of the people"
    )
    return f"{of_release}; in the original, about {before}."


def _figures(figures: Sequence[Mapping[str, Any]]) -> Table:
    table = FigureTable(header_style="bold")
    table.add_column("figure")
    for name in ("original", "released"):
        table.add_column(name, justify="right")
    table.add_column("meaning", style="dim")
    for row in figures:
        shown = (_format_figure(row["measure"], row[side]) for side in ("original", "released"))
        words = SHARES.get(row["measure"], "")
        table.add_row(Text(row["measure"].replace("_", " ")), *map(Text, shown), Text(words))
    return table


def _format_figure(measure: str, value: float | None) -> str:
    if value is None:
        return "NULL"
    return percent(value) if measure in SHARES else f"{value:,.0f}"


def _columns(columns: Sequence[dict[str, Any]]) -> Table:
    """Show what changed in each column; without a key, what needs one is left out."""
    table = FigureTable(header_style="bold")
    table.add_column("column")
    shown = {
        head: name
        for head, name in CHANGES.items()
        if any(row[name] is not None for row in columns)
    }
    for head in shown:
        table.add_column(head, justify="right")
    table.add_column("understood")
    for row in columns:
        cells = (_format_change(row[name]) for name in shown.values())
        table.add_row(*map(Text, (row["column_name"], *cells, row["understood"])))
    return table


def _format_change(value: float | None) -> str:
    if value is None:
        return "NULL"
    return f"{value:,}" if isinstance(value, int) else percent(value)


# The page of a join.


def join_page(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Show whom each choice of columns singles out, the sentence, and what matches nothing."""
    table = FigureTable(header_style="bold")
    table.add_column("joined columns")
    for name in (
        "unsafe in left",
        "in right",
        "in the join",
        "in the join alone",
        "share",
        "without it",
    ):
        table.add_column(name, justify="right")
    for row in rows:
        counts = [row[f"below_k_{side}"] for side in ("left", "right", "joined")]
        figures = [f"{count:,}" for count in (*counts, row["singled_out"])]
        share = "" if row["share"] is None else percent(row["share"])
        without = "" if row["without"] is None else f"{row['without']:,}"
        table.add_row(*map(Text, [", ".join(row["columns"]), *figures, share, without]))
    first = rows[0]
    unmatched = (
        f"Without a match: {first['left_only']:,} people of the left table, {first['right_only']:,} of the "
        f"right; rows without a value of on: {first['without_key']:,}."
    )
    status = [] if first["status"] == "ok" else [Text(f"{first['status']}.", style="yellow")]
    return Group(
        table, "", Text(first["sentence"], style="bold"), *status, Text(unmatched, style="dim")
    )


# The page of two releases of one table.


def releases_page(rows: Sequence[Mapping[str, Any]], *, counts_people: bool) -> RenderableType:
    """Show the known figures, then how many people can be followed, then why the others are not known."""
    table = FigureTable(header_style="bold")
    table.add_column("figure")
    for name in ("value", "of", "share"):
        table.add_column(name, justify="right")
    table.add_column("definition", style="dim")
    for row in rows:
        if row["value"] is not None:
            value = f"{row['value']:,.1f}".removesuffix(".0")
            total = "" if row["total"] is None else f"{row['total']:,}"
            share = "" if row["share"] is None else percent(row["share"])
            table.add_row(
                *map(
                    Text, [row["figure"].replace("_", " "), value, total, share, row["definition"]]
                )
            )
    statuses = {row["status"]: None for row in rows if row["status"] != "ok"}
    return Group(
        table,
        "",
        Text(describe_followed(rows), style="bold"),
        *([Text(combined, style="bold")] if (combined := describe_combined(rows)) else []),
        *(Text(f"{_figures_of(rows, status)}: {status}.", style="yellow") for status in statuses),
        *([] if counts_people else [Text(ONE_ROW_ONE_PERSON, style="dim")]),
    )


def _figures_of(rows: Sequence[Mapping[str, Any]], status: str) -> str:
    """The figures of a status: their number, where a parameter that all of them need is missing."""
    some = [row["figure"].replace("_", " ") for row in rows if row["status"] == status]
    return (
        f"{len(some)} figures"
        if status in {STATUS_NO_KEY, STATUS_NO_SENSITIVE}
        else ", ".join(some)
    )


def describe_combined(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many people all releases single out together, in one sentence; nothing where it is not known.

    >>> counts = {"unique_by_all": 57, "unique_by_one": 20, "unique_by_two": 40}
    >>> describe_combined([{"figure": name, "value": n, "total": 3000} for name, n in counts.items()])
    '57 of 3,000 people are unique by all releases together; at most 40 by two, and 20 by one.'
    """
    figures = {row["figure"]: row for row in rows}
    together = figures.get("unique_by_all", {})
    if together.get("value") is None:
        return ""
    two = (
        f"{figures['unique_by_two']['value']:,.0f} by two, and "
        if "unique_by_two" in figures
        else ""
    )
    people = f"{together['value']:,.0f} of {together['total']:,} people"
    one = f"{figures['unique_by_one']['value']:,.0f} by one"
    return f"{people} are unique by all releases together; at most {two}{one}."


FOLLOWED: Final = ("followed", "followed_within")


def describe_followed(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many people can be followed, in one sentence: within a tolerance, if these are more.

    >>> followed = {"figure": "followed", "value": 20.0, "total": 80}
    >>> rows = [followed, {"figure": "followed_right", "value": 19.0}]
    >>> describe_followed(rows)
    '20 of 80 people can be followed from one release to the other; 19 of these links are right.'
    >>> describe_followed([row | {"value": None} for row in rows])
    'It is not known how many people can be followed from one release to the other.'
    """
    figures = {row["figure"]: row for row in rows}
    known = [name for name in FOLLOWED if figures.get(name, {}).get("value") is not None]
    if not known:
        return "It is not known how many people can be followed from one release to the other."
    name = max(known, key=lambda each: figures[each]["value"])
    followed, right = figures[name], figures[f"{name}_right"]["value"]
    links = "" if right is None else f"; {right:,.0f} of these links are right"
    people = f"{followed['value']:,.0f} of {followed['total']:,} people"
    return f"{people} can be followed from one release to the other{links}."
