"""The report as one HTML file that needs nothing else: no network, light and dark, printable."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from reid_sql.charts.risk_charts import (
    Range,
    class_sizes_chart,
    forecast_chart,
    frontier_chart,
    measured_columns,
    quasi_identifiers_chart,
)
from reid_sql.charts.spec import Chart
from reid_sql.charts.svg import escape, read_styles, svg
from reid_sql.check.masked_tables import describe_shares
from reid_sql.check.masking import ReportPage, refuse_unmasked
from reid_sql.check.remarks import without_codes
from reid_sql.check.sentences import (
    REMEDY_POLICY,
    REMEDY_TABLE,
    count_verdicts,
    counted_noun,
    describe_check,
    describe_columns,
    describe_count,
    describe_knowledge,
    describe_released_columns,
    describe_verdict,
    explain_verdict,
    find_table_cautions,
    format_figure,
    format_limit,
    group_label,
    next_steps,
    verdicts_by_recipient,
)
from reid_sql.models.numerics.quantiles import percent

Page = ReportPage
ROWS: Final = 200  # groups shown; the JSON has all
SMALL: Final = 5  # classes below it are drawn as risky where no check on k says otherwise
COMMAND: Final = "reid-sql prepare POLICY --sql FILE writes it as SQL."
OWN_VIEW: Final = "the policy's own quasi-identifiers, and the checks that no recipient has"
CAPTION_FORMS: Final = (
    "Each mark is a transformation for which no other of the {} evaluated has less risk and less loss, "
    "before any record is left out. The line is the loss of the release, which includes these records."
)


@dataclass(frozen=True)
class PreparedRelease:
    """What preparing found, with its sentences; or, in `page`'s place, nothing and why in the sentences."""

    page: Mapping[str, Any] | None
    sentences: Sequence[str]


def render_html(
    page: Page,
    steps: Sequence[str] = (),
    prepared: PreparedRelease | None = None,
    *,
    before_checks: str = "",
    after_checks: str = "",
) -> str:
    """Write the report; `steps` are sentences before those on what to do next, `prepared` what would pass.

    `before_checks` and `after_checks` are sections, such as on other transformations that would pass.
    """
    sections = render_body(
        page, steps, prepared, before_checks=before_checks, after_checks=after_checks
    )
    return render_document(f"{page['policy']['name']}: {page['verdict']}", sections)


def render_body(
    page: Page,
    steps: Sequence[str] = (),
    prepared: PreparedRelease | None = None,
    *,
    before_checks: str = "",
    after_checks: str = "",
) -> str:
    """Write the sections of the report, as `render_html` and a page of several reports have them."""
    refuse_unmasked(page)
    found = prepared is not None and prepared.page is not None
    parts = [
        _verdict_section(page, steps, advise=not found),
        _recipients(page) if page["recipients"] else "",
        cautions_section(page),
        released_columns_section(page),
        render_prepared_release(prepared) if prepared else "",
        before_checks,
        render_checks(page),
        after_checks,
        *(table_section(page, table) for table in page["tables"]),
        _group_tables(page),
        provenance_section(page),
    ]
    return "".join(parts)


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


def _verdict_section(page: Page, before: Sequence[str], *, advise: bool) -> str:
    word, rest = describe_verdict(page)
    verdicts = ", ".join(
        f"{count} {verdict}" for verdict, count in count_verdicts(page).items() if count
    )
    tables = "; ".join(f"{each['name']} ({describe_count(each)})" for each in page["tables"])
    advice = (without_codes(step) for step in (*before, *next_steps(page, advise=advise)))
    steps = "".join(f"<li>{escape(step)}</li>" for step in advice)
    return (
        f'<h1>{escape(page["policy"]["name"])}</h1><p class="soft">'
        f"Re-identification risk of {escape(tables)}</p>"
        f'<div class="verdict {css_class(page["verdict"])}"><strong>{word}:</strong>'
        f"{escape(rest)} Checks: {verdicts}.</div>"
        f"<h2>What to do next</h2><ul>{steps}</ul>"
    )


def _recipients(page: Page) -> str:
    """For whom the release passes: the controller, then each recipient with what they may know."""
    known = {each["name"]: describe_knowledge(each) for each in page["recipients"]}
    rows = "".join(
        f"<tr class={css_class(verdict)}><td class=badge>{verdict.upper()}</td><td>{escape(name)}</td>"
        f"<td>{escape(known.get(name, OWN_VIEW))}</td></tr>"
        for name, verdict in verdicts_by_recipient(page).items()
    )
    return f"<h2>For whom</h2>{render_table(('verdict', 'for whom', 'where, and what they may know'), rows)}"


def cautions_section(page: Page) -> str:
    """The cautions on each table, once, with the lines of the policy that resolve them."""
    parts = []
    for table in page["tables"]:
        cautions = find_table_cautions(page, table["name"])
        if not cautions.sentences and not cautions.accepted:
            continue
        items = "".join(f"<li>{escape(without_codes(each))}</li>" for each in cautions.sentences)
        parts.append(f"<h3>{escape(table['name'])}</h3>" + (f"<ul>{items}</ul>" if items else ""))
        for words, lines in (
            (REMEDY_TABLE, cautions.remedies),
            (REMEDY_POLICY, [cautions.accepted] * bool(cautions.accepted)),
        ):
            parts.append(f"<p>{words}</p>{render_lines(lines)}" if lines else "")
    return f"<h2>Cautions</h2>{''.join(parts)}" if parts else ""


def released_columns_section(page: Page) -> str:
    """The columns of each table that no check measures, and those that the release lacks."""
    parts = []
    for table in page["tables"]:
        items = "".join(f"<li>{escape(each)}</li>" for each in describe_released_columns(table))
        title = f"<h3>{escape(table['name'])}</h3>" if len(page["tables"]) > 1 else ""
        parts.append(f"{title}<ul>{items}</ul>" if items else "")
    listed = "".join(parts)
    return f"<h2>Columns in no check</h2>{listed}" if listed else ""


def render_lines(lines: Sequence[str]) -> str:
    """Write lines to copy."""
    return "<pre>" + "\n".join(map(escape, lines)) + "</pre>"


def render_checks(page: Page) -> str:
    """A table of checks for each table of the policy, below its name."""
    head = "<tr><th>verdict</th><th>what is measured</th><th class=number>figure</th><th>limit</th></tr>"
    parts = []
    for table in page["tables"]:
        above = find_table_cautions(page, table["name"]).sentences
        checks = [check for check in page["checks"] if check["table"] == table["name"]]
        rows = "".join(_check_row(check, above) for check in checks)
        title = f"<h3>{escape(table['name'])}</h3>" if len(page["tables"]) > 1 else ""
        parts.append(
            f'{title}<table class="checks"><thead>{head}</thead><tbody>{rows}</tbody></table>'
        )
    return f"<h2>Checks</h2>{''.join(parts)}"


def _check_row(check: Page, above: Sequence[str]) -> str:
    explanation = explain_verdict(check, above)
    words = f"<strong>{escape(describe_check(check))}</strong>"
    for line in (check["words"], describe_columns(check), without_codes(explanation.words)):
        words += f"<br><span class=soft>{escape(line)}</span>" if line else ""
    words += (
        f"<br><q>{escape(explanation.group['sentence'])}</q>"
        if explanation.group["sentence"]
        else ""
    )
    badge = f"<td class=badge>{check['verdict'].upper()}</td>"
    return (
        f"<tr class={css_class(check['verdict'])}>{badge}"
        f"<td>{words}</td><td class=number>{_figure_cell(format_figure(explanation.group, check))}</td>"
        f"<td class=limit-cell>{escape(format_limit(check))}</td></tr>"
    )


def _figure_cell(figure: str) -> str:
    """The figure, its interval in a line of its own."""
    value, mark, interval = figure.partition(" (")
    return escape(value) + (f"<br><span class=soft>({escape(interval)}</span>" if mark else "")


def _group_tables(page: Page) -> str:
    nouns = {table["name"]: counted_noun(table) for table in page["tables"]}
    groups = "".join(
        _group_table(check, nouns[check["table"]]) for check in page["checks"] if check["by"]
    )
    return f"<h2>Group by group</h2>{groups}" if groups else ""


def _group_table(check: Page, noun: str) -> str:
    shown = sorted(check["groups"], key=lambda group: group["verdict"] == "pass")[:ROWS]
    rows = "".join(
        f"<tr class={css_class(group['verdict'])}><td class=badge>{group['verdict'].upper()}</td><td>"
        f"{escape(group_label(group)) or '<em>a small group</em>'}</td>"
        f"<td class=number>{'masked' if group['records'] is None else format(group['records'], ',')}</td>"
        f"<td class=number>{escape(format_figure(group, check))}</td>"
        f"<td class=soft>{escape(without_codes(group['why']))}</td></tr>"
        for group in shown
    )
    left = len(check["groups"]) - len(shown)
    more = f"<p class=soft>{left:,} more groups are in the JSON report.</p>" if left else ""
    title = f"{check['table']}: {describe_check(check)}, {format_limit(check)}"
    table = render_table(("verdict", "group", noun, "figure", ""), rows, figures=(2, 3))
    return f"<h3>{escape(title)}</h3>{table}{more}"


def render_table(heads: Sequence[str], rows: str, figures: Collection[int] = ()) -> str:
    """Write a table that scrolls where it is wide; `figures` are the places of the columns of figures."""
    named = "".join(
        f"<th{' class=number' * (at in figures)}>{escape(head)}</th>"
        for at, head in enumerate(heads)
    )
    return f'<div class="scroll"><table><thead><tr>{named}</tr></thead><tbody>{rows}</tbody></table></div>'


def table_section(page: Page, table: Page) -> str:
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
        parts.append(_risky(table))
    return "".join(parts)


def _table_facts(table: Page) -> str:
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


def _class_sizes(page: Page, table: Page) -> str:
    safe = max(
        (c["limit"] for c in _checks_of_table(page, table, "k") if c["limit"]), default=SMALL
    )
    ranges = [Range(each["from"], each["to"], each["records"]) for each in table["class_sizes"]]
    people = table["records"] - (table["records_dropped"] or 0)
    shown = class_sizes_chart(ranges, people, safe)
    words = "Each bar is the number of people in classes of one size: people with the same quasi-identifiers."
    return f"<h3>{escape(shown.title)}</h3>{render_chart(shown, table, words)}"


def _checks_of_table(page: Page, table: Page, measure: str) -> list[Page]:
    """The checks of a measure on what is drawn: the whole table, by its own quasi-identifiers."""
    return [
        check
        for check in page["checks"]
        if check["measure"] == measure
        and check["table"] == table["name"]
        and check["quasi_identifiers"] == table["quasi_identifiers"]
        and not check["by"]
    ]


def _columns(table: Page) -> str:
    shown = quasi_identifiers_chart(table)
    words = (
        "Average risk: the share of right matches if an attacker links everybody. Each label has it with all "
        "quasi-identifiers and without this one, and the smallest class then."
    )
    return (
        f"<h3>{escape(shown.title)}</h3>{render_chart(shown, table, words)}{_column_table(table)}"
    )


def _column_table(table: Page) -> str:
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


def _unique(risk: Page | None) -> str:
    return "masked" if risk is None else percent(risk["uniqueness"])


def _population_risk(answer: Page) -> str:
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


def _forecast(page: Page, table: Page) -> str:
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


def _risky(table: Page) -> str:
    rows = "".join(
        f"<tr><td class=number>{each['class_size']:,}</td>"
        + "".join(
            f"<td>{'NULL' if value is None else escape(value)}</td>"
            for value in each["values"].values()
        )
        + "</tr>"
        for each in table["risky_records"]
    )
    return (
        "<h3>The rarest combinations</h3><p><strong>These are values of real people, "
        "shown because they were asked for. Do not pass this report on.</strong></p>"
        + render_table((counted_noun(table), *table["quasi_identifiers"]), rows, figures=[0])
    )


def hash_label(sha256: str | None) -> str:
    """Write the hash of a table."""
    return f"sha256 {sha256}" if sha256 else "no hash, as it is no single file"


def provenance_section(page: Page) -> str:
    """How the report was made, and of what."""
    seeds = sorted(
        {
            str(check["parameters"]["seed"])
            for check in page["checks"]
            if "seed" in check["parameters"]
        }
    )
    facts = {
        "policy": f"sha256 {page['policy']['sha256']}",
        **{
            f"table {table['name']}": f"{describe_count(table)}, {hash_label(table['sha256'])}"
            for table in page["tables"]
        },
        **{
            f"release of {table['name']}": f"SQL {hash_label(table['release']['sql_sha256'])}; "
            f"rows {hash_label(table['release']['rows_sha256'])}"
            for table in page["tables"]
            if "release" in table
        },
        "versions": ", ".join(f"{name} {version}" for name, version in page["versions"].items()),
        "seed": f"{page['policy']['seed']}"
        + (f"; of the checks: {', '.join(seeds)}" if seeds else ""),
        "masking": f"counts of 1 to {page['policy']['mask_below'] - 1} records are masked",
    }
    facts["digest"] = page["digest"] + (", signed" if page["signature"] else "")
    if page["baseline_sha256"]:
        taken = page["baseline_accepted_by"]
        facts["baseline"] = f"sha256 {page['baseline_sha256']}" + (
            f", accepted by {taken}" if taken else ""
        )
    return f"<h2>How this was made</h2>{definition_list(facts)}"


def render_chart(chart: Chart, table: Mapping[str, Any], words: str) -> str:
    """Draw the chart of the table as a figure of the page."""
    shown = svg(chart, f", {table['name']}")
    return f"<figure>{shown}<figcaption>{escape(words)}</figcaption></figure>"


def render_prepared_release(prepared: PreparedRelease) -> str:
    """Write what to do next to meet the policy."""
    items = "".join(f"<li>{escape(each)}</li>" for each in prepared.sentences)
    head = f"<h3>What meets the policy</h3><ul>{items}</ul>"
    if prepared.page is None:
        return head
    return (
        head
        + _verdict(prepared.page)
        + "".join(_release_table(each) for each in prepared.page["tables"])
    )


def _verdict(page: Mapping[str, Any]) -> str:
    """The gate's verdict on the release, check by check; nothing where no form was found."""
    report = page["report"]
    if report is None:
        return ""
    word, rest = describe_verdict(report)
    rows = "".join(
        f"<tr class={css_class(check['verdict'])}><td class=badge>{check['verdict'].upper()}</td>"
        f"<td class=name>{escape(check['table'])}</td><td>{escape(describe_check(check))}</td>"
        f"<td class=number>{escape(format_figure(explain_verdict(check).group, check))}</td>"
        f"<td class=name>{escape(format_limit(check))}</td></tr>"
        for check in report["checks"]
    )
    table = render_table(
        ("verdict", "table", "on the release", "figure", "limit"), rows, figures=[3]
    )
    return f"<p>Measured on the release: <strong>{word}:</strong>{escape(rest)} {escape(COMMAND)}</p>{table}"


def _release_table(table: Mapping[str, Any]) -> str:
    """A table's form, column by column, and risk against loss of those that were counted."""
    chosen = None if table["losses"] is None else float(table["losses"]["entropy"])
    figured = render_chart(
        frontier_chart(table), table, CAPTION_FORMS.format(f"{table['forms_counted']:,}")
    )
    if chosen is None:
        return figured
    rows = "".join(
        f"<tr><td class=name>{escape(each['column'])}</td>"
        f"<td>{escape(each['form'].removeprefix(each['column'] + ' '))}</td>"
        f"<td class=number>{percent(each['loss'] or 0.0)}</td></tr>"
        for each in table["columns"]
    )
    listed = render_table(("column", "in the release", "loss"), rows, figures=[2])
    return f"<h3>{escape(table['name'])}: the transformation that meets the policy</h3>{listed}{figured}"
