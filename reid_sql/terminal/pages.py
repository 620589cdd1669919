"""The pages that commands print: risk, forecasts, validation, attackers, profiles."""

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from operator import itemgetter
from statistics import fmean
from typing import Any, Final

from rich import text as rich_text
from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Column, Table

from reid_sql.charts.risk_charts import EDGES, NO_END
from reid_sql.models.numerics.quantiles import percent
from reid_sql.models.population_risk.answer import format_percent
from reid_sql.parameters import Row, Rows
from reid_sql.terminal.console import (
    ONE_ROW_ONE_PERSON,
    PLAIN,
    Bar,
    FigureTable,
    Text,
    TextTable,
    answer_table,
    caution,
    figure_columns,
    heading,
    note,
    number,
    page,
    statuses,
    word_columns,
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


def summary_table(risk: Row, noun: str = RECORDS) -> Table:
    """Show the summary in words, one measure a line."""
    columns = [Column(), Column(justify="right"), Column(style="dim", overflow="fold")]
    return TextTable(columns, summary_lines(risk, noun), show_header=False, **PLAIN)


def summary_lines(risk: Row, noun: str = RECORDS) -> list[tuple[str, str, str]]:
    """The summary's measures: name, figure, and what it means; `noun` is what a class counts."""
    counted, unique = risk["records"], risk["unique_records"]
    null_note = ""
    if risk["nulls"] == "drop":
        null_note = f"{risk['records_dropped']:,} records dropped"
    elif risk["blank_records"]:
        null_note = f"{risk['blank_records']:,} records have no value at all: they match every record, and no other record matches them"
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
        ("NULLs", risk["nulls"], null_note),
    ]


def histogram(rows: Rows, threshold: float, noun: str = RECORDS) -> Table:
    """Show the records, or people, of each class size as bars; red if the risk is above the threshold."""
    ranges = []
    for low, end in zip(EDGES, (*EDGES[1:], NO_END), strict=True):
        inside = [row for row in rows if low <= row["class_size"] < end]
        counts = {name: sum(row[name] for row in inside) for name in ("classes", "records")}
        ranges.append({"from": low, "to": None if end == NO_END else end - 1, **counts})
    return class_size_bars(ranges, threshold, noun, has_classes=True)


def class_size_bars(
    ranges: Rows,
    threshold: float = THRESHOLD,
    noun: str = "people",
    *,
    has_classes: bool = False,
) -> Table:
    """Show the people of each range of class sizes as bars; a count that is not shown has none."""
    names = {"classes": "classes", "records": noun} if has_classes else {"records": noun}
    top = max((each["records"] or 0 for each in ranges), default=1) or 1
    lines = []
    for each in ranges:
        if each["records"] == 0:
            continue
        counts = ("not shown" if each[name] is None else f"{each[name]:,}" for name in names)
        colour = "red" if 1 / each["from"] > threshold else "cyan"
        bar = Bar(each["records"] / top, colour) if each["records"] else ""
        lines.append([_describe_range(each["from"], each["to"]), *counts, bar])
    heads = ("class size", *names.values())
    columns = [Column(Text(name), justify="right", no_wrap=True) for name in heads]
    return TextTable([*columns, Column(max_width=BAR)], lines, **PLAIN)


def _describe_range(low: int, high: int | None) -> str:
    if high is None:
        return f"{low:,}+"
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def verdict(
    risk: Row,
    columns: list[str],
    counted: str = ONE_ROW_ONE_PERSON,
    *,
    unit: str = "people",
    has_population: bool = False,
    unicity: Rows = (),
) -> Panel:
    """State what the figures mean for a release in one sentence, and what counts as a person.

    The `unit` is "records" where a person may have several. Where attackers of several rows were asked for,
    the one who finds most comes first.
    """
    names = ", ".join(columns)
    is_at_risk = risk["highest_risk"] > risk["threshold"]
    text = f"WITHIN THE THRESHOLD: everybody shares their {names} with {risk['k'] - 1:,} others or more."
    if is_at_risk:
        who = f"{risk['unique_records']:,} of {risk['records']:,} {unit} are unique by {names}"
        text = f"AT RISK: {who}; {percent(risk['records_at_risk'])} have a risk above {risk['threshold']:g}."
    lines = [Text(SCOPE if has_population else ""), Text(counted)]
    if not unicity:
        return _panel(page(Text(text), *lines), is_at_risk=is_at_risk)
    strongest = max(unicity, key=itemgetter("correctness", "uniqueness", "points"))
    is_found = bool(strongest["correctness"] > risk["threshold"] or strongest["uniqueness"])
    word = "AT RISK" if is_found else "NOBODY IS UNIQUE"
    drawn = ", as drawn" if strongest["draws"] else ""
    shares = f"{percent(strongest['uniqueness'])} of the people, and is right about {percent(strongest['correctness'])}"
    by_rows = Text(
        f"{word}: an attacker who knows {strongest['points']:g} rows of a person singles out {shares}{drawn}."
    )
    by_one_row = Text(f"With one row of a person: {text}")
    return _panel(page(by_rows, by_one_row, *lines), is_at_risk=is_at_risk or is_found)


def _panel(words: RenderableType, *, is_at_risk: bool) -> Panel:
    return Panel(words, style="red" if is_at_risk else "green")


def answer_page(rows: Rows, k: int) -> RenderableType:
    """Show the one answer for each population, with its 95 % intervals and the sentence to quote."""
    names = ("correctness", "uniqueness", "below_k")
    lines = []
    for row in rows:
        line = [f"{row['population']:,.0f}"]
        for name in names:
            share, low, high = (row[column] for column in (name, f"{name}_low", f"{name}_high"))
            estimate = "NULL" if share is None else f"{format_percent(share)} %"
            if low is not None and high is not None:
                estimate += f" ({format_percent(low)} to {format_percent(high)} %)"
            line.append(estimate)
        lines.append(line)
    heads = ("population", "right matches", "unique people", f"people in classes below {k}")
    return page(
        heading("In a population, by the model of people (population_risk)"),
        FigureTable(figure_columns(*heads), lines, caption="95 % intervals in brackets"),
        *map(caution, statuses(rows)),
        *(Text(row["sentence"]) for row in rows),
    )


def validation_page(rows: Rows) -> RenderableType:
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
    errors: dict[str, list[float]] = defaultdict(list)
    for pair in pairs:
        errors[pair[1]].append(_error(over, pair))
    best = min(errors, key=lambda method: fmean(errors[method]))
    least = format_percent(fmean(errors[best]))
    persons = _figures_by_method(over, scored, PERSON_FIGURES, PERSON_SHARES)
    return page(
        Text(f"True share of unique people: {percent(truth)}"),
        _figures_by_method(over, pairs, METHOD_FIGURES, METHOD_FIGURES),
        persons if scored else Text(),
        note(VALIDATED),
        heading(f"On this table, {best} errs least: by {least} percentage points on average."),
        caution(rows[-1]["status"].partition(": ")[2].capitalize() + "."),
    )


def _figures_by_method(
    over: Mapping[tuple[float, str, str], float],
    pairs: Sequence[tuple[float, str]],
    figures: Mapping[str, str],
    shares: Container[str],
) -> Table:
    """Show the figures of each fraction and method, one a line, and `shares` of them in percent."""
    lines = []
    for fraction, method in pairs:
        line = [f"{fraction * 100:g} %", method]
        for figure in figures:
            value = over.get((fraction, method, figure))
            written = _signed_percent if figure in shares else number
            line.append("" if value is None else written(value))
        lines.append(line)
    columns = [*figure_columns("sample"), *word_columns("method")]
    return FigureTable([*columns, *figure_columns(*figures.values())], lines, **PLAIN)


def _signed_percent(share: float) -> str:
    return f"{'-' if share < 0 else ''}{format_percent(abs(share))} %"


def _error(over: dict[tuple[float, str, str], Any], pair: tuple[float, str]) -> float:
    error_rate = over.get((*pair, "uniqueness_error"))
    return float("inf") if error_rate is None else float(error_rate)


def adversary_page(
    name: str, assumptions: Sequence[str], rows: Rows, settings: Answer | None
) -> RenderableType:
    """Show the four risks and the worst case, what was assumed, and a verdict."""
    threshold, at_risk = rows[0]["threshold"], rows[-1]["records_at_risk"]
    lines = []
    for row in rows:
        names = ("median", "average", "highest", "records_at_risk", "worst_median")
        figures = (_signed_percent(row[column]) for column in names)
        lines.append([row["measure"], *figures, _reduction(row)])
    heads = (
        "median",
        "average",
        "highest",
        f"above {threshold:g}",
        "worst case (median)",
        "reduction",
    )
    columns = [*word_columns(""), *figure_columns(*heads)]
    people = rows[0]["records"]
    word = "AT RISK" if at_risk else "WITHIN THE THRESHOLD"
    end = f"{word}: {round(at_risk * people):,} of {people:,} people have an overall risk above {threshold:g}."
    return page(
        heading(f"Risk against the attacker of: {name}"),
        "",
        FigureTable(columns, lines, caption=ADVERSARY_CAPTION),
        *(note(f"Assumed: {assumption}") for assumption in assumptions),
        *map(caution, statuses(rows)),
        Text() if settings is None else _settings_table(settings.records()),
        _panel(Text(end), is_at_risk=bool(at_risk)),
    )


def _reduction(row: Row) -> str:
    reduction = row["reduction_median"]
    return "none at risk" if reduction is None else _signed_percent(reduction)


def _settings_table(rows: Rows) -> Table:
    lines = []
    for row in rows:
        setting = map(number, [*row.values()][:4])
        figures = (_signed_percent(row[column]) for column in ("median", "average"))
        lines.append([*setting, *figures, _reduction(row)])
    columns = figure_columns("P_d", "P_s", "P_u", "P_c", "median", "average", "median reduction")
    return FigureTable(
        columns,
        lines,
        caption="Overall risk for each setting of P_d (presence disclosed), P_s (presence discovered), "
        "P_u (uniqueness confirmed) and P_c (link confirmed).",
    )


def risk_page(
    risk: Row,
    sizes: Rows,
    stand_out: Answer | None,
    columns: list[str],
    counted: str = ONE_ROW_ONE_PERSON,
    *,
    noun: str = RECORDS,
    unit: str = "people",
    answer: RenderableType | None = None,
    unicity: Rows = (),
) -> RenderableType:
    """Combine summary, histogram, most exposed records, the forecast for a population, and verdict."""
    parts: list[RenderableType] = [
        heading(f"Re-identification risk by {', '.join(columns)}"),
        "",
        summary_table(risk, noun),
        "",
        histogram(sizes, risk["threshold"], noun),
        "",
    ]
    if stand_out is not None:
        parts += [heading("Most exposed records"), answer_table(stand_out), ""]
    if answer is not None:
        parts += [answer, ""]
    if unicity:
        parts += [unicity_table(unicity), ""]
    has_population = answer is not None
    end = verdict(risk, columns, counted, unit=unit, has_population=has_population, unicity=unicity)
    return page(*parts, end)


def unicity_table(rows: Rows) -> Table:
    """Show for each number of known rows how many people they single out, with the error of a draw."""
    is_forecast = any(row["population_uniqueness_high"] is not None for row in rows)
    lines = []
    for row in rows:
        line = [
            str(row["points"]),
            _share_with_error(row, "uniqueness", "standard_error"),
            _share_with_error(row, "correctness", "correctness_standard_error"),
            f"{row['median_matches']:,}",
            f"{row['people_with_fewer']:,}",
        ]
        if is_forecast:
            ends = (percent(row[f"population_uniqueness_{end}"]) for end in ("low", "high"))
            line.append(" to ".join(ends))
        lines.append(line)
    heads = ["known rows", "unique people", "right matches", "median matches", "people with fewer"]
    heads += ["unique in the population"] if is_forecast else []
    return FigureTable(
        figure_columns(*heads),
        lines,
        title="An attacker who knows several rows of a person",
        caption="± is the standard error, where people and rows were drawn",
    )


def _share_with_error(row: Row, share: str, error: str) -> str:
    return f"{percent(row[share])}{f' ± {percent(row[error])}' if row['draws'] else ''}"
