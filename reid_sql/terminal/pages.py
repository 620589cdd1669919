"""The pages that commands print: risk, forecasts, validation, attackers, profiles."""

from collections.abc import Container, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from rich import text as rich_text
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table

from reid_sql.charts.risk_charts import EDGES, NO_END
from reid_sql.models.numerics.quantiles import percent
from reid_sql.models.population_risk.answer import format_percent
from reid_sql.terminal.console import (
    ONE_ROW_ONE_PERSON,
    Bar,
    FigureTable,
    Text,
    answer_table,
    number,
)
from reid_sql.terminal.runner import Answer

THRESHOLD: Final = 0.2  # of the risk, above which a bar is red: that of classes below 5
RECORDS: Final = "records"  # what a class counts, unless people are named
METHOD_FIGURES: Final = {  # figures of validate_risk with the words for them
    "uniqueness_error": "error of Ξ",
    "uniqueness_bias": "bias",
    "uniqueness_held": "interval contains Ξ",
    "correctness_error": "error of κ",
}
PERSON_FIGURES: Final = {  # of the methods that score single persons
    "auc": "AUC",
    "brier": "Brier",
    "brier_constant": "best constant",
    "false_discovery_rate": "FDR 0.95",
    "recall": "recall",
}
# in percent; the others are numbers by convention
PERSON_SHARES: Final = ("false_discovery_rate", "recall")
VALIDATED: Final = (
    "Mean absolute errors in percentage points, least first. AUC, Brier score, false discoveries and recall "
    "above ξ = 0.95 are those of persons outside the samples."
)
ADVERSARY_CAPTION: Final = (
    "Worst case: the median risk if the attacker knows all columns. "
    "Reduction: the median over records at risk."
)
SCOPE: Final = (
    "This is the risk if an attacker knows who is in the table; the figures of the population are the risk "
    "if not."
)
BAR: Final = 40


def function_lines(signature: str, words: str, source: str) -> rich_text.Text:
    """Show a function: how it is called, what it answers, where it comes from."""
    return Text.assemble((signature, "bold"), f"\n    {words}\n", (f"    {source}\n", "dim"))


def summary_table(risk: dict[str, Any], noun: str = RECORDS) -> Table:
    """Show the summary in words, one measure a line."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_column(style="dim", overflow="fold")
    for row in summary_lines(risk, noun):
        table.add_row(*(Text(cell) for cell in row))
    return table


def summary_lines(risk: Mapping[str, Any], noun: str = RECORDS) -> list[tuple[str, str, str]]:
    """The summary's measures: name, figure, and what it means; `noun` is what a class counts."""
    counted, unique = risk["records"], risk["unique_records"]
    return [
        (noun, f"{counted:,}", ""),
        ("classes", f"{risk['classes']:,}", "distinct combinations of the quasi-identifiers"),
        ("k", f"{risk['k']:,}", f"{noun} in the smallest class"),
        (
            f"unique {noun}",
            f"{unique:,}",
            f"{percent(risk['uniqueness'])} share their values with nobody",
        ),
        (
            "highest risk",
            f"{format_percent(risk['highest_risk'])} %",
            "chance of a right match on the most exposed person",
        ),
        (
            "average risk",
            f"{format_percent(risk['average_risk'])} %",
            "share of right matches if an attacker links everybody",
        ),
        (f"{noun} at risk", percent(risk["records_at_risk"]), f"risk above {risk['threshold']:g}"),
        ("NULLs", risk["nulls"], _null_note(risk)),
    ]


def _null_note(risk: Mapping[str, Any]) -> str:
    if risk["nulls"] == "drop":
        return f"{risk['records_dropped']:,} records dropped"
    blank = risk["blank_records"]
    return (
        f"{blank:,} records have no value at all: they match every record, and no other record matches them"
        if blank
        else ""
    )


def histogram(rows: list[dict[str, Any]], threshold: float, noun: str = RECORDS) -> Table:
    """Show the records, or people, of each class size as bars; red if the risk is above the threshold."""
    ranges = []
    for low, end in zip(EDGES, (*EDGES[1:], NO_END), strict=True):
        inside = [row for row in rows if low <= row["class_size"] < end]
        counts = {name: sum(row[name] for row in inside) for name in ("classes", "records")}
        ranges.append({"from": low, "to": None if end == NO_END else end - 1, **counts})
    return class_size_bars(ranges, threshold, noun, has_classes=True)


def class_size_bars(
    ranges: Sequence[Mapping[str, Any]],
    threshold: float = THRESHOLD,
    noun: str = "people",
    *,
    has_classes: bool = False,
) -> Table:
    """Show the people of each range of class sizes as bars; a count that is not shown has none."""
    names = {**({"classes": "classes"} if has_classes else {}), "records": noun}
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("class size", *names.values()):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("", max_width=BAR)
    shown = [each for each in ranges if each["records"] != 0]
    top = max((each["records"] or 0 for each in shown), default=1) or 1
    for each in shown:
        low, high, counted = each["from"], each["to"], each["records"]
        label = f"{low:,}" if low == high else f"{low:,}+" if high is None else f"{low:,}–{high:,}"
        cells = ("not shown" if each[name] is None else f"{each[name]:,}" for name in names)
        bar = Bar((counted or 0) / top, "red" if 1 / low > threshold else "cyan")
        table.add_row(label, *cells, bar if counted else "")
    return table


def verdict(
    risk: dict[str, Any],
    columns: list[str],
    counted: str = ONE_ROW_ONE_PERSON,
    *,
    has_population: bool = False,
    known: Sequence[dict[str, Any]] = (),
) -> Panel:
    """State what the figures mean for a release in one sentence, and what counts as a person.

    Where attackers of several rows were asked for, the one who finds most comes first.
    """
    names = ", ".join(columns)
    strongest = max(known, key=_risk_of_known, default=None)
    if risk["highest_risk"] > risk["threshold"]:
        who = f"{risk['unique_records']:,} of {risk['records']:,} people are unique by {names}"
        text = f"AT RISK: {who}; {percent(risk['records_at_risk'])} have a risk above {risk['threshold']:g}."
        style = "red"
    else:
        text = f"WITHIN THE THRESHOLD: everybody shares their {names} with {risk['k'] - 1:,} others or more."
        style = "green"
    lines = [] if strongest is None else [_verdict_of_rows(strongest, risk["threshold"])]
    if strongest is not None:
        text = f"With one row of a person: {text}"
        style = (
            "red"
            if strongest["correctness"] > risk["threshold"] or strongest["uniqueness"]
            else style
        )
    scope = [Text(SCOPE)] * has_population
    return Panel(Group(*lines, Text(text), *scope, Text(counted)), style=style)


def _risk_of_known(row: Mapping[str, Any]) -> tuple[float, float, float]:
    """Order attackers by what they find: right matches, people singled out, then rows that they know."""
    return float(row["correctness"]), float(row["uniqueness"]), float(row["points"])


def _verdict_of_rows(row: dict[str, Any], threshold: float) -> Text:
    """State what an attacker who knows some rows of a person finds out."""
    at_risk = row["correctness"] > threshold or row["uniqueness"]
    word = "AT RISK" if at_risk else "NOBODY IS UNIQUE"
    drawn = ", as drawn" if row["draws"] else ""
    found = f"{percent(row['uniqueness'])} of the people, and is right about {percent(row['correctness'])}"
    return Text(
        f"{word}: an attacker who knows {row['points']:g} rows of a person singles out {found}{drawn}."
    )


def answer_page(rows: list[dict[str, Any]], k: int) -> RenderableType:
    """Show the one answer for each population, with its 95 % intervals and the sentence to quote."""
    names = ("correctness", "uniqueness", "below_k")
    return Group(
        Text("In a population, by the model of people (population_risk)", style="bold"),
        _shares(rows, names, k),
        *(Text(row["sentence"]) for row in rows),
    )


def _shares(rows: list[dict[str, Any]], names: Sequence[str], k: int) -> RenderableType:
    """Show shares of populations with their intervals and statuses."""
    table = FigureTable(
        header_style="bold", caption="95 % intervals in brackets", caption_justify="left"
    )
    for column in ("population", "right matches", "unique people", f"people in classes below {k}"):
        table.add_column(column, justify="right")
    for row in rows:
        cells = [
            _share_with_ends(*(row[column] for column in (name, f"{name}_low", f"{name}_high")))
            for name in names
        ]
        table.add_row(f"{row['population']:,.0f}", *(Text(cell) for cell in cells))
    statuses_ = dict.fromkeys(row["status"] for row in rows if row["status"] != "ok")
    return Group(table, *(Text(status, style="yellow") for status in statuses_))


def _share_with_ends(share: float | None, low: float | None, high: float | None) -> str:
    estimate = "NULL" if share is None else f"{format_percent(share)} %"
    if low is None or high is None:
        return estimate
    return f"{estimate} ({format_percent(low)} to {format_percent(high)} %)"


def validation_page(rows: list[dict[str, Any]]) -> RenderableType:
    """Show how far each method errs at each fraction, least error first, and how scores of persons fare."""
    over = {
        (row["fraction"], row["method"], row["figure"]): row["value"]
        for row in rows
        if not row["sample"]
    }
    pairs = list(dict.fromkeys((row["fraction"], row["method"]) for row in rows))
    pairs.sort(key=lambda pair: (-pair[0], _error(over, pair), pair[1]))
    scored = [pair for pair in pairs if over.get((*pair, "auc")) is not None]
    truth = next(row["truth"] for row in rows if row["figure"] == "uniqueness")
    methods = {
        method: fmean(_error(over, pair) for pair in pairs if pair[1] == method)
        for _, method in pairs
    }
    best = min(methods, key=lambda method: methods[method])
    least = format_percent(methods[best])
    persons = _figures_by_method(over, scored, PERSON_FIGURES, PERSON_SHARES)
    return Group(
        Text(f"True share of unique people: {percent(truth)}"),
        _figures_by_method(over, pairs, METHOD_FIGURES, METHOD_FIGURES),
        *([persons] if scored else []),
        Text(VALIDATED, style="dim"),
        Text(
            f"On this table, {best} errs least: by {least} percentage points on average.",
            style="bold",
        ),
        Text(rows[-1]["status"].partition(": ")[2].capitalize() + ".", style="yellow"),
    )


def _figures_by_method(
    over: Mapping[tuple[float, str, str], float],
    pairs: Sequence[tuple[float, str]],
    figures: Mapping[str, str],
    shares: Container[str],
) -> Table:
    """Show the figures of each fraction and method, one a line, and `shares` of them in percent."""
    table = FigureTable(header_style="bold", box=None, padding=(0, 2, 0, 0))
    for column in ("sample", "method", *figures.values()):
        table.add_column(column, justify="left" if column == "method" else "right")
    for fraction, method in pairs:
        values = {figure: over.get((fraction, method, figure)) for figure in figures}
        cells = [
            "" if value is None else _signed_percent(value) if figure in shares else number(value)
            for figure, value in values.items()
        ]
        table.add_row(f"{fraction * 100:g} %", method, *map(Text, cells))
    return table


def _signed_percent(share: float) -> str:
    return f"{'-' if share < 0 else ''}{format_percent(abs(share))} %"


def _error(over: dict[tuple[float, str, str], Any], pair: tuple[float, str]) -> float:
    error_rate = over.get((*pair, "uniqueness_error"))
    return float("inf") if error_rate is None else float(error_rate)


def adversary_page(
    name: str, assumptions: Sequence[str], rows: list[dict[str, Any]], settings: Answer | None
) -> RenderableType:
    """Show the four risks and the worst case, what was assumed, and a verdict."""
    table = FigureTable(header_style="bold", caption=ADVERSARY_CAPTION, caption_justify="left")
    threshold, at_risk = rows[0]["threshold"], rows[-1]["records_at_risk"]
    for column in (
        "",
        "median",
        "average",
        "highest",
        f"above {threshold:g}",
        "worst case (median)",
        "reduction",
    ):
        table.add_column(column, justify="right" if column else "left")
    for row in rows:
        reduction = row["reduction_median"]
        names = ("median", "average", "highest", "records_at_risk", "worst_median")
        reduced = "none at risk" if reduction is None else _signed_percent(reduction)
        table.add_row(row["measure"], *(_signed_percent(row[column]) for column in names), reduced)
    assumed = [Text(f"Assumed: {assumption}", style="dim") for assumption in assumptions]
    statuses = [
        Text(status, style="yellow")
        for status in dict.fromkeys(row["status"] for row in rows)
        if status != "ok"
    ]
    people = rows[0]["records"]
    words = (
        f"{round(at_risk * people):,} of {people:,} people have an overall risk above {threshold:g}"
    )
    end = Panel(
        Text(f"{'AT RISK' if at_risk else 'WITHIN THE THRESHOLD'}: {words}."),
        style="red" if at_risk else "green",
    )
    more = [] if settings is None else [_settings_table(settings.records())]
    return Group(
        Text(f"Risk against the attacker of: {name}", style="bold"),
        "",
        table,
        *assumed,
        *statuses,
        *more,
        end,
    )


def _settings_table(rows: list[dict[str, Any]]) -> Table:
    table = FigureTable(
        header_style="bold",
        caption="Overall risk for each setting of P_d (presence disclosed), P_s (presence discovered), "
        "P_u (uniqueness confirmed) and P_c (link confirmed).",
        caption_justify="left",
    )
    columns = ("P_d", "P_s", "P_u", "P_c", "median", "average", "median reduction")
    for column in columns:
        table.add_column(column, justify="right")
    for row in rows:
        reduction = row["reduction_median"]
        cells = [number(value) for value in list(row.values())[:4]]
        cells += [_signed_percent(row[column]) for column in ("median", "average")]
        table.add_row(*cells, "none at risk" if reduction is None else _signed_percent(reduction))
    return table


def risk_page(
    risk: dict[str, Any],
    sizes: list[dict[str, Any]],
    stand_out: Answer | None,
    columns: list[str],
    counted: str = ONE_ROW_ONE_PERSON,
    *,
    noun: str = RECORDS,
    answer: RenderableType | None = None,
    known: Sequence[dict[str, Any]] = (),
) -> RenderableType:
    """Combine summary, histogram, most exposed records, the forecast for a population, and verdict."""
    title = Text(f"Re-identification risk by {', '.join(columns)}", style="bold")
    parts: list[RenderableType] = [
        title,
        "",
        summary_table(risk, noun),
        "",
        histogram(sizes, risk["threshold"], noun),
        "",
    ]
    if stand_out is not None:
        parts += [Text("Most exposed records", style="bold"), answer_table(stand_out), ""]
    if answer is not None:
        parts += [answer, ""]
    if known:
        parts += [unicity_table(known), ""]
    return Group(
        *parts, verdict(risk, columns, counted, has_population=answer is not None, known=known)
    )


def unicity_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Show for each number of known rows how many people they single out, with the error of a draw."""
    table = FigureTable(
        title="An attacker who knows several rows of a person",
        header_style="bold",
        caption="± is the standard error, where people and rows were drawn",
        caption_justify="left",
    )
    is_forecast = any(row["population_uniqueness_high"] is not None for row in rows)
    columns = (
        "known rows",
        "unique people",
        "right matches",
        "median matches",
        "people with fewer",
    )
    for column in (*columns, *(["unique in the population"] if is_forecast else [])):
        table.add_column(column, justify="right")
    for row in rows:
        shares = [("uniqueness", "standard_error"), ("correctness", "correctness_standard_error")]
        cells = [
            f"{percent(row[share])}{f' ± {percent(row[error])}' if row['draws'] else ''}"
            for share, error in shares
        ]
        counts = [f"{row[name]:,}" for name in ("median_matches", "people_with_fewer")]
        if is_forecast:
            ends = [percent(row[f"population_uniqueness_{end}"]) for end in ("low", "high")]
            counts.append(" to ".join(ends))
        table.add_row(str(row["points"]), *(Text(cell) for cell in (*cells, *counts)))
    return table
