"""Parts of an HTML report: a whole document, tables, facts, and what was counted of a table."""

from collections.abc import Collection, Mapping, Sequence
from importlib import resources
from typing import Any, Final

from reid_sql.charts.risk_charts import (
    Range,
    class_sizes_chart,
    forecast_chart,
    measured_columns,
    quasi_identifiers_chart,
)
from reid_sql.charts.spec import Chart
from reid_sql.charts.svg import escape, read_styles, svg
from reid_sql.check.masked_tables import describe_shares
from reid_sql.check.masking import ReportPage
from reid_sql.check.remarks import without_codes
from reid_sql.check.sentences import counted_noun
from reid_sql.models.numerics.quantiles import percent

SMALL: Final = 5  # classes below it are drawn as risky where no check on k says otherwise


def render_document(title: str, body: str) -> str:
    """Write a whole document of this style, which reads nothing else."""
    page = resources.files("reid_sql.check").joinpath("report.css").read_text(encoding="utf-8")
    css = read_styles() + page
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>'
        f"{escape(title)}</title>"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src '
        "'unsafe-inline'\">"
        f"<style>\n{css}</style></head>\n<body><main>\n{body}</main></body></html>\n"
    )


def css_class(verdict: str) -> str:
    """Name the style of a verdict."""
    return verdict.replace(" ", "-")


def render_lines(lines: Sequence[str]) -> str:
    """Write lines to copy."""
    return "<pre>" + "\n".join(map(escape, lines)) + "</pre>"


def render_table(heads: Sequence[str], rows: str, figures: Collection[int] = ()) -> str:
    """Write a table that scrolls where it is wide; `figures` are the places of the columns of figures."""
    named = "".join(
        f"<th{' class=number' * (at in figures)}>{escape(head)}</th>"
        for at, head in enumerate(heads)
    )
    return f'<div class="scroll"><table><thead><tr>{named}</tr></thead><tbody>{rows}</tbody></table></div>'


def table_section(page: ReportPage, table: ReportPage) -> str:
    """What was counted of a table, its class sizes and its columns."""
    parts = [f"<h2>{escape(table['name'])}</h2>{_table_facts(table)}"]
    if table["class_sizes"]:
        parts.append(_class_sizes(page, table))
    if measured_columns(table):
        parts.append(_columns(table))
    if table["population_risk"]:
        parts.append(_population_risk(table["population_risk"]))
    if table["forecast"]:
        parts.append(_forecast(page, table))
    if table.get("risky_records"):
        rows = "".join(
            f"<tr><td class=number>{each['class_size']:,}</td>"
            + "".join(
                f"<td>{'NULL' if value is None else escape(value)}</td>"
                for value in each["values"].values()
            )
            + "</tr>"
            for each in table["risky_records"]
        )
        parts.append(
            "<h3>The rarest combinations</h3><p><strong>These are values of real people, "
            "shown because they were asked for. Do not pass this report on.</strong></p>"
            + render_table((counted_noun(table), *table["quasi_identifiers"]), rows, figures=[0])
        )
    return "".join(parts)


def _table_facts(table: ReportPage) -> str:
    named = ", ".join(table["quasi_identifiers"]) or "none"
    where = table["file"] + (f", table {table['table']}" if table["table"] else "")
    nulls = {
        "value": "a value of its own",
        "wildcard": "may be any value",
        "drop": ("few records" if table["records"] is not None else "records are") + " dropped"
        if table["records_dropped"] is None
        else f"{table['records_dropped']:,} records dropped",
    }
    facts = {
        "file": where,
        counted_noun(table): "not counted" if table["records"] is None else f"{table['records']:,}",
        "counted": "records: one row per person is assumed"
        if table["entity"] is None
        else f"people, distinguished by {table['entity']}",
        "quasi-identifiers": named,
        "NULL": nulls[table["nulls"]],
    }
    facts |= {"population": f"{table['population']:,.0f} people"} if table["population"] else {}
    return definition_list(facts)


def definition_list(facts: Mapping[str, str]) -> str:
    """Write facts by their names."""
    return (
        "<dl>"
        + "".join(f"<dt>{escape(key)}</dt><dd>{escape(value)}</dd>" for key, value in facts.items())
        + "</dl>"
    )


def _class_sizes(page: ReportPage, table: ReportPage) -> str:
    safe = max(
        (c["limit"] for c in _checks_of_table(page, table, "k") if c["limit"]), default=SMALL
    )
    ranges = [Range(each["from"], each["to"], each["records"]) for each in table["class_sizes"]]
    people = table["records"] - (table["records_dropped"] or 0)
    shown = class_sizes_chart(ranges, people, safe)
    words = "Each bar is the number of people in classes of one size: people with the same quasi-identifiers."
    return f"<h3>{escape(shown.title)}</h3>{render_chart(shown, table, words)}"


def _checks_of_table(page: ReportPage, table: ReportPage, measure: str) -> list[ReportPage]:
    """The checks of a measure on what is drawn: the whole table, by its own quasi-identifiers."""
    return [
        check
        for check in page["checks"]
        if check["measure"] == measure
        and check["table"] == table["name"]
        and check["quasi_identifiers"] == table["quasi_identifiers"]
        and not check["by"]
    ]


def _columns(table: ReportPage) -> str:
    shown = quasi_identifiers_chart(table)
    words = (
        "Average risk: the share of right matches if an attacker links everybody. Each label has it with all "
        "quasi-identifiers and without this one, and the smallest class then."
    )
    return (
        f"<h3>{escape(shown.title)}</h3>{render_chart(shown, table, words)}{_column_table(table)}"
    )


def _column_table(table: ReportPage) -> str:
    alone = len(table["columns"]) == 1
    rows = "".join(
        f"<tr><td>{escape(each['column'])}</td><td class=number>"
        f"{'masked' if each['distinct_values'] is None else format(each['distinct_values'], ',')}</td>"
        f"<td class=number>{_unique(each['alone'])}</td>"
        f"<td class=number>{'–' if alone else _unique(each['without'])}</td></tr>"
        for each in table["columns"]
    )
    return render_table(
        ("quasi-identifier", "values", "unique by it alone", "unique without it"), rows, (1, 2, 3)
    )


def _unique(risk: ReportPage | None) -> str:
    return "masked" if risk is None else percent(risk["uniqueness"])


def _population_risk(answer: ReportPage) -> str:
    people = f"{answer['population']:,.0f}"
    title = f"<h3>In a population of {people} people</h3>"
    if answer["method"] is None:
        return f"{title}<p>Not available: {escape(without_codes(answer['status']))}</p>"
    quote = f"<blockquote>{escape(answer['sentence'])}</blockquote>" if answer["sentence"] else ""
    status = "" if answer["status"] == "ok" else f"<p>{escape(without_codes(answer['status']))}</p>"
    facts = describe_shares(answer) | {
        "method": f"{answer['method']} (population_risk)",
        "assumed": answer["assumptions"],
    }
    return f"{title}{quote}{definition_list(facts)}{status}"


def _forecast(page: ReportPage, table: ReportPage) -> str:
    forecast = table["forecast"]
    title = (
        "<h3>Forecast: right matches in larger populations, by a second method (pyc_forecast)</h3>"
    )
    if not forecast["points"]:
        return f"{title}<p>Not available: {escape(without_codes(forecast['status']))}</p>"
    asked_for = _checks_of_table(page, table, "forecast_correctness")
    strictest = min(
        (check["limit"] for check in asked_for if check["limit"] is not None), default=None
    )
    shown = forecast_chart(
        "correctness",
        [{**row, "population": row["people"]} for row in forecast["points"]],
        measured=[{**row, "n": row["people"]} for row in forecast["measured"]],
        limit=strictest,
    )
    caution = "" if forecast["status"] == "ok" else f" {without_codes(forecast['status'])}"
    words = f"{shown.title}. The forecast treats the table as a random sample of the population.{caution}"
    return f"{title}{render_chart(shown, table, words)}"


def render_chart(chart: Chart, table: Mapping[str, Any], words: str) -> str:
    """Draw the chart of the table as a figure of the page."""
    shown = svg(chart, f", {table['name']}")
    return f"<figure>{shown}<figcaption>{escape(words)}</figcaption></figure>"
