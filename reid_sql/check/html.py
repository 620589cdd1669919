"""The report as one HTML file that needs nothing else: no network, light and dark, printable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from reid_sql.charts.risk_charts import frontier_chart
from reid_sql.charts.svg import escape
from reid_sql.check.html_parts import (
    css_class,
    definition_list,
    render_chart,
    render_document,
    render_lines,
    render_table,
    table_section,
)
from reid_sql.check.masking import ReportPage, refuse_unmasked
from reid_sql.check.next_steps import next_steps
from reid_sql.check.remarks import without_codes
from reid_sql.check.sentences import (
    cautions_of_figures,
    checks_of,
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
    verdicts_by_recipient,
)
from reid_sql.models.numerics.quantiles import percent

ROWS: Final = 200  # groups shown; the JSON has all
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


@dataclass(frozen=True)
class Additions:
    """What a page shows besides the gate's report.

    `steps` are sentences before those on what to do next, `prepared` is what would pass; `before_checks` and
    `after_checks` are sections, such as on other transformations that would pass.
    """

    steps: Sequence[str] = ()
    prepared: PreparedRelease | None = None
    before_checks: str = ""
    after_checks: str = ""


NO_ADDITIONS: Final = Additions()


def render_html(page: ReportPage, additions: Additions = NO_ADDITIONS) -> str:
    """Write the report as a document."""
    title = f"{page['policy']['name']}: {page['verdict']}"
    return render_document(title, render_body(page, additions))


def render_body(page: ReportPage, additions: Additions = NO_ADDITIONS) -> str:
    """Write the sections of the report, as a document of one or of several reports has them."""
    refuse_unmasked(page)
    prepared = additions.prepared
    parts = [
        _verdict_section(page, additions.steps, advise=prepared is None or prepared.page is None),
        _recipients(page) if page["recipients"] else "",
        cautions_section(page),
        released_columns_section(page),
        render_prepared_release(prepared) if prepared else "",
        additions.before_checks,
        render_checks(page),
        additions.after_checks,
        *(table_section(page, table) for table in page["tables"]),
        _group_tables(page),
        provenance_section(page),
    ]
    return "".join(parts)


def _verdict_section(page: ReportPage, before: Sequence[str], *, advise: bool) -> str:
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


def _recipients(page: ReportPage) -> str:
    """For whom the release passes: the controller, then each recipient with what they may know."""
    knowledge = {each["name"]: describe_knowledge(each) for each in page["recipients"]}
    rows = "".join(
        f"<tr class={css_class(verdict)}><td class=badge>{verdict.upper()}</td><td>{escape(name)}</td>"
        f"<td>{escape(knowledge.get(name, OWN_VIEW))}</td></tr>"
        for name, verdict in verdicts_by_recipient(page).items()
    )
    return f"<h2>For whom</h2>{render_table(('verdict', 'for whom', 'where, and what they may know'), rows)}"


def cautions_section(page: ReportPage) -> str:
    """The cautions on each table, once, with the lines of the policy that resolve them."""
    parts = []
    for table in page["tables"]:
        cautions = find_table_cautions(page, table["name"])
        if not cautions.sentences and not cautions.accepted:
            continue
        items = "".join(f"<li>{escape(without_codes(each))}</li>" for each in cautions.sentences)
        parts.append(f"<h3>{escape(table['name'])}</h3>" + (f"<ul>{items}</ul>" if items else ""))
        parts += [f"<p>{words}</p>{render_lines(each)}" for words, each in cautions.lines.items()]
    return f"<h2>Cautions</h2>{''.join(parts)}" if parts else ""


def released_columns_section(page: ReportPage) -> str:
    """The columns of each table that no check measures, and those that the release lacks."""
    parts = []
    for table in page["tables"]:
        items = "".join(f"<li>{escape(each)}</li>" for each in describe_released_columns(table))
        title = f"<h3>{escape(table['name'])}</h3>" if len(page["tables"]) > 1 else ""
        parts.append(f"{title}<ul>{items}</ul>" if items else "")
    listed = "".join(parts)
    return f"<h2>Columns in no check</h2>{listed}" if listed else ""


def render_checks(page: ReportPage) -> str:
    """A table of checks for each table of the policy, below its name."""
    head = "<tr><th>verdict</th><th>what is measured</th><th class=number>figure</th><th>limit</th></tr>"
    parts = []
    for table in page["tables"]:
        above = find_table_cautions(page, table["name"]).sentences
        noun = counted_noun(table)
        rows = ""
        for check in checks_of(page, table["name"]):
            explanation = explain_verdict(check, above)
            words = f"<strong>{escape(describe_check(check))}</strong>"
            measured = check["words"].replace("records", noun)
            for line in (measured, describe_columns(check), without_codes(explanation.words)):
                words += f"<br><span class=soft>{escape(line)}</span>" if line else ""
            quote = explanation.group["sentence"]
            words += f"<br><q>{escape(quote)}</q>" if quote else ""
            value, mark, interval = format_figure(explanation.group, check).partition(" (")
            figure = escape(value)
            figure += f"<br><span class=soft>({escape(interval)}</span>" if mark else ""
            rows += (
                f"<tr class={css_class(check['verdict'])}>"
                f"<td class=badge>{check['verdict'].upper()}</td>"
                f"<td>{words}</td><td class=number>{figure}</td>"
                f"<td class=limit-cell>{escape(format_limit(check))}</td></tr>"
            )
        title = f"<h3>{escape(table['name'])}</h3>" if len(page["tables"]) > 1 else ""
        parts.append(
            f'{title}<table class="checks"><thead>{head}</thead><tbody>{rows}</tbody></table>'
        )
    return f"<h2>Checks</h2>{''.join(parts)}"


def _group_tables(page: ReportPage) -> str:
    nouns = {table["name"]: counted_noun(table) for table in page["tables"]}
    groups = ""
    for check in page["checks"]:
        if not check["by"]:
            continue
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
        heads = ("verdict", "group", nouns[check["table"]], "figure", "")
        table = render_table(heads, rows, figures=(2, 3))
        groups += f"<h3>{escape(title)}</h3>{table}{more}"
    return f"<h2>Group by group</h2>{groups}" if groups else ""


def hash_label(sha256: str | None) -> str:
    """Write the hash of a table."""
    return f"sha256 {sha256}" if sha256 else "no hash, as it is no single file"


def provenance_section(page: ReportPage) -> str:
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
    facts["digest"] = page["digest"] + ", signed" * bool(page["signature"])
    if page["baseline_sha256"]:
        taken = page["baseline_accepted_by"]
        facts["baseline"] = f"sha256 {page['baseline_sha256']}" + (
            f", accepted by {taken}" if taken else ""
        )
    return f"<h2>How this was made</h2>{definition_list(facts)}"


def render_prepared_release(prepared: PreparedRelease) -> str:
    """Write what to do next to meet the policy."""
    items = "".join(f"<li>{escape(each)}</li>" for each in prepared.sentences)
    head = f"<h3>What meets the policy</h3><ul>{items}</ul>"
    if prepared.page is None:
        return head
    tables = ""
    for table in prepared.page["tables"]:
        forms = CAPTION_FORMS.format(f"{table['forms_counted']:,}")
        figured = render_chart(frontier_chart(table), table, forms)
        if table["losses"] is None:
            tables += figured
            continue
        rows = "".join(
            f"<tr><td class=name>{escape(each['column'])}</td>"
            f"<td>{escape(each['form'].removeprefix(each['column'] + ' '))}</td>"
            f"<td class=number>{percent(each['loss'] or 0.0)}</td></tr>"
            for each in table["columns"]
        )
        listed = render_table(("column", "in the release", "loss"), rows, figures=[2])
        title = f"{escape(table['name'])}: the transformation that meets the policy"
        tables += f"<h3>{title}</h3>{listed}{figured}"
    return head + _verdict(prepared.page) + tables


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


# The first report on a file, of which nobody wrote a policy.


def render_first_report(
    page: ReportPage, answer: str, steps: Sequence[str], columns: str, policy: str
) -> str:
    """Write the first report on a file: what was found, and no verdict of a policy that nobody wrote.

    `columns` and `policy` are sections of their own.
    """
    refuse_unmasked(page)
    listed = "".join(f"<li>{escape(without_codes(step))}</li>" for step in steps)
    parts = [
        f"<h1>{escape(page['policy']['name'])}</h1><p><strong>{escape(answer)}</strong></p>",
        *(table_section(page, table) for table in page["tables"]),
        f"<h2>What to do next</h2><ul>{listed}</ul>",
        cautions_section(page),
        *(
            f"<p>{escape(without_codes(each))}</p>"
            for table in page["tables"]
            for each in cautions_of_figures(page, table["name"])
        ),
        released_columns_section(page),
        columns,
        policy,
        provenance_section(page),
    ]
    return render_document(page["policy"]["name"], "".join(parts))
