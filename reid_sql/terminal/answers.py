"""Pages of a profile, of comparisons of tables, and of audits of synthetic tables."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Column, Table

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.columns.column_profile import SUGGESTIONS, kind_of_advice
from reid_sql.models.columns.missing_value_codes import show_code
from reid_sql.models.comparison.release_classes import STATUS_NO_KEY, STATUS_NO_SENSITIVE
from reid_sql.models.numerics.quantiles import percent
from reid_sql.parameters import ColumnNames, Rows
from reid_sql.terminal.console import (
    ONE_ROW_ONE_PERSON,
    PLAIN,
    Bar,
    FigureTable,
    Folded,
    Text,
    TextTable,
    caution,
    figure_columns,
    heading,
    note,
    note_columns,
    page,
    statuses,
    word_columns,
)

WIDEST_BAR: Final = 40
CODES_COUNT: Final = "Missing-value codes count as values: make them NULL if they mean 'unknown'."


def describe_smallest_set(share: float, sets: Rows) -> str:
    """Name the smallest set of columns by which such a share is unique, or why none is named.

    >>> best = {"columns": ["age", "sex"], "share_unique": 0.12, "status": "ok"}
    >>> describe_smallest_set(0.05, [best, best])
    'Smallest set of columns that singles out 5 % of the records: age, sex (12.0 %); 1 other set is as small.'
    """
    best, wanted = sets[0], f"{100 * share:g} %"
    singled = f"singles out {wanted} of the records:"
    status = re.sub(r"(^|; )[a-z_]+: ", r"\1", best["status"]).replace("at_least", wanted)
    if not best["columns"]:
        is_none = best["status"].startswith("no_set:")
        return f"Smallest set of columns that {singled} {'none' if is_none else 'not searched'} ({status})."
    names = f"{', '.join(best['columns'])} ({percent(best['share_unique'])})"
    if best["status"] != OK:
        return f"A set of columns that {singled} {names}; {status}."
    more = len(sets) - 1
    equal = f"; {more:,} other set{'s are' if more > 1 else ' is'} as small" if more else ""
    return f"Smallest set of columns that {singled} {names}{equal}."


def profile_page(rows: Rows, singling_out: ColumnNames) -> RenderableType:
    """Show which columns together single records out, a line for each column, then what to do by kind."""
    has_codes = any(row["sentinels"] for row in rows)
    records = rows[0]["records"]
    counted = f"{records:,} record{'' if records == 1 else 's'}"
    return page(
        heading(f"{counted}, {len(rows)} column{'' if len(rows) == 1 else 's'}"),
        *map(Text, singling_out),
        "",
        columns_table(rows, {}),
        "",
        *(Text.assemble((names, "bold"), f": {text}") for names, text in advice_by_kind(rows)),
        Text(CODES_COUNT if has_codes else ""),
        note(ONE_ROW_ONE_PERSON),
    )


def advice_by_kind(rows: Rows) -> list[tuple[str, str]]:
    """Name the columns of each kind, and what to do with them."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        share_filled = 1 - row["missing"] - sum(row["sentinel_records"]) / row["records"]
        kind = kind_of_advice(row, share_filled)
        kinds[kind].append(row["column_name"])
    advice_of_columns = []
    for kind, names in kinds.items():
        advice, _, safer = SUGGESTIONS[kind]
        advice_of_columns.append((", ".join(names), f"{advice}{f'; {safer}' if safer else ''}."))
    return advice_of_columns


def columns_table(rows: Rows, roles: Mapping[str, str]) -> Table:
    """Show a line for each column; with what it is proposed as, where there are `roles`."""
    lines = []
    for row in rows:
        codes = zip(row["sentinels"], row["sentinel_records"], strict=True)
        role = [roles.get(row["column_name"], "")] if roles else []
        figures = (
            f"{row['distinct_values']:,}",
            percent(row["uniqueness"]),
            percent(row["missing"]),
        )
        counts = ", ".join(f"{show_code(code)} {records:,}" for code, records in codes)
        lines.append([row["column_name"], *role, row["looks_like"], *figures, counts])
    return FigureTable(
        [
            *word_columns("column", *(["proposed as"] if roles else []), "looks like"),
            *figure_columns("values", "unique", "NULL"),
            *word_columns("missing-value codes"),
        ],
        lines,
        caption="unique: share of records that are the only one with their value",
        **PLAIN,
    )


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
    figures: Rows,
    columns: Rows,
    headline: Sequence[str],
    unmeasured: ColumnNames,
) -> RenderableType:
    """Show every figure of both tables, then the changes of each column, then the result of the attack.

    The `headline` is the result by some columns, and by all; `unmeasured` names the others.
    """
    stated = [row for row in figures if not row["measure"].startswith("links_by_")]
    measured = [row for row in figures if not row["status"].startswith(NO_KEY)]
    first = [row for row in measured if row["measure"] in FIRST_FIGURES]
    more = [row for row in measured if row["measure"] not in FIRST_FIGURES]
    return page(
        _figures(first),
        "",
        _shares(first),
        "",
        _columns(columns),
        Folded(f"{len(more)} more figures", (_figures(more),)),
        Panel(Group(*map(Text, headline))),
        *map(Text, unmeasured),
        # one sentence names the figures that need a key
        *(caution(f"{status}.") for status in statuses([*stated, *columns])),
        note(ONE_ROW_ONE_PERSON),
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


def _shares(figures: Rows) -> Table:
    """Draw the shares of people of the original above those of the release."""
    lines = []
    for row in figures:
        for side, style in (("original", "red"), ("released", "cyan")):
            value = row[side]
            if row["measure"] not in DRAWN or value is None:
                continue
            name = row["measure"].replace("_", " ") if side == "original" else ""
            lines.append([name, side, percent(value), Bar(value, style) if value else ""])
    columns = [*(Column(no_wrap=True) for _ in range(3)), Column(max_width=WIDEST_BAR)]
    return TextTable(columns, lines, show_header=False, **PLAIN)


def describe_links(figures: Rows, by: ColumnNames) -> str:
    """State the result of the attack by some columns in one sentence.

    >>> links = {"measure": "correct_links", "original": 0.5, "released": 0.1}
    >>> describe_links([links], ["age"])[-67:]
    'is right about 10.0 % of the people; in the original, about 50.0 %.'
    """
    names = ", ".join(by)
    row = next(row for row in figures if row["measure"] == "correct_links")
    before = percent(row["original"])
    if row["released"] is None:
        return f"The share of right links to the release by {names} is unknown; in the original, it is {before}."
    right = percent(row["released"])
    return f"An attacker who links every record by {names} is right about {right} of the people; in the original, about {before}."


def _figures(figures: Rows) -> Table:
    lines = []
    for row in figures:
        sides = (_format_figure(row["measure"], row[side]) for side in ("original", "released"))
        meaning = SHARES.get(row["measure"], "")
        lines.append([row["measure"].replace("_", " "), *sides, meaning])
    columns = [*word_columns("figure"), *figure_columns("original", "released")]
    return FigureTable([*columns, *note_columns("meaning")], lines)


def _format_figure(measure: str, value: float | None) -> str:
    if value is None:
        return "NULL"
    return percent(value) if measure in SHARES else f"{value:,.0f}"


def _columns(columns: Rows) -> Table:
    """Show what changed in each column; without a key, what needs one is left out."""
    counted = {
        head: name
        for head, name in CHANGES.items()
        if any(row[name] is not None for row in columns)
    }
    heads = [*word_columns("column"), *figure_columns(*counted), *word_columns("understood")]
    lines = []
    for row in columns:
        line = [row["column_name"]]
        for name in counted.values():
            value = row[name]
            if value is None:
                line.append("NULL")
            else:
                line.append(f"{value:,}" if isinstance(value, int) else percent(value))
        lines.append([*line, row["understood"]])
    return FigureTable(heads, lines)


# The page of a join.


def join_page(rows: Rows) -> RenderableType:
    """Show whom each choice of columns singles out, the sentence, and what matches nothing."""
    lines = []
    for row in rows:
        counts = [row[f"below_k_{side}"] for side in ("left", "right", "joined")]
        share = "" if row["share"] is None else percent(row["share"])
        without = "" if row["without"] is None else f"{row['without']:,}"
        figures = [f"{count:,}" for count in (*counts, row["singled_out"])]
        lines.append([", ".join(row["columns"]), *figures, share, without])
    heads = (
        "unsafe in left",
        "in right",
        "in the join",
        "in the join alone",
        "share",
        "without it",
    )
    first = rows[0]
    return page(
        FigureTable([*word_columns("joined columns"), *figure_columns(*heads)], lines),
        "",
        heading(first["sentence"]),
        *(caution(f"{status}.") for status in statuses(rows[:1])),
        note(
            f"Without a match: {first['left_only']:,} people of the left table, {first['right_only']:,} of the "
            f"right; rows without a value of on: {first['without_key']:,}."
        ),
    )


# The page of two releases of one table.


def releases_page(rows: Rows, *, counts_people: bool) -> RenderableType:
    """Show the known figures, then how many people can be followed, then why the others are not known."""
    lines = []
    for row in rows:
        if row["value"] is not None:
            value = f"{row['value']:,.1f}".removesuffix(".0")
            total = "" if row["total"] is None else f"{row['total']:,}"
            share = "" if row["share"] is None else percent(row["share"])
            name = row["figure"].replace("_", " ")
            lines.append([name, value, total, share, row["definition"]])
    columns = [*word_columns("figure"), *figure_columns("value", "of", "share")]
    return page(
        FigureTable([*columns, *note_columns("definition")], lines),
        "",
        heading(describe_followed(rows)),
        heading(describe_combined(rows)),
        *(caution(f"{_figures_of(rows, status)}: {status}.") for status in statuses(rows)),
        note("" if counts_people else ONE_ROW_ONE_PERSON),
    )


def _figures_of(rows: Rows, status: str) -> str:
    """The figures of a status: their number, where a parameter that all of them need is missing."""
    names = [row["figure"].replace("_", " ") for row in rows if row["status"] == status]
    if status in {STATUS_NO_KEY, STATUS_NO_SENSITIVE}:
        return f"{len(names)} figures"
    return ", ".join(names)


def describe_combined(rows: Rows) -> str:
    """How many people all releases single out together, in one sentence; nothing where it is not known.

    >>> counts = {"unique_by_all": 57, "unique_by_one": 20, "unique_by_two": 40}
    >>> describe_combined([{"figure": name, "value": n, "total": 3000} for name, n in counts.items()])
    '57 of 3,000 people are unique by all releases together; at most 40 by two, and 20 by one.'
    """
    figures = {row["figure"]: row for row in rows}
    together = figures.get("unique_by_all", {})
    if together.get("value") is None:
        return ""
    people = f"{together['value']:,.0f} of {together['total']:,} people"
    most = f"{figures['unique_by_one']['value']:,.0f} by one"
    if "unique_by_two" in figures:
        most = f"{figures['unique_by_two']['value']:,.0f} by two, and {most}"
    return f"{people} are unique by all releases together; at most {most}."


FOLLOWED: Final = ("followed", "followed_within")


def describe_followed(rows: Rows) -> str:
    """How many people can be followed, in one sentence: within a tolerance, if these are more.

    >>> followed = {"figure": "followed", "value": 20.0, "total": 80}
    >>> rows = [followed, {"figure": "followed_right", "value": 19.0}]
    >>> describe_followed(rows)
    '20 of 80 people can be followed from one release to the other; 19 of these links are right.'
    >>> describe_followed([row | {"value": None} for row in rows])
    'It is not known how many people can be followed from one release to the other.'
    """
    figures = {row["figure"]: row for row in rows}
    measured = [name for name in FOLLOWED if figures.get(name, {}).get("value") is not None]
    if not measured:
        return "It is not known how many people can be followed from one release to the other."
    name = max(measured, key=lambda each: figures[each]["value"])
    followed, right = figures[name], figures[f"{name}_right"]["value"]
    links = "" if right is None else f"; {right:,.0f} of these links are right"
    people = f"{followed['value']:,.0f} of {followed['total']:,} people"
    return f"{people} can be followed from one release to the other{links}."
