"""Several policies in one run: one verdict, one exit code, one document of each form.

A policy that cannot be read, or whose tables cannot, is part of the run: it is not judged, and no run with it
passes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from xml.etree import ElementTree as ET

from rich.console import Group, RenderableType
from rich.panel import Panel

from reid_sql.charts.svg import escape
from reid_sql.check.html import Additions, PreparedRelease, render_body
from reid_sql.check.html_parts import css_class, render_document, render_table
from reid_sql.check.masking import ReportPage, Setting, refuse_unmasked
from reid_sql.check.report import (
    CHECK_VERDICT,
    FORMAT_OF_SEVERAL,
    Row,
    add_junit_suites,
    check_columns,
    check_rows,
    junit_document,
    seal,
)
from reid_sql.check.sentences import describe_verdict
from reid_sql.check.terminal import STYLES
from reid_sql.check.verdicts import EXIT_CODES, NOT_JUDGED, WORST_FIRST, worst_verdict
from reid_sql.terminal.console import Text
from reid_sql.terminal.control_characters import escape_control_characters

POLICY: Final = "policy"  # the column of rows that names the file of the policy


@dataclass(frozen=True)
class PolicyResult:
    """What came of one policy of a run: its report, or why there is none."""

    file: str
    page: ReportPage | None = None
    refusal: str = ""
    prepared: PreparedRelease | None = None

    @property
    def verdict(self) -> str:
        """The verdict of its report; without one, nothing is judged."""
        return NOT_JUDGED if self.page is None else str(self.page["verdict"])

    @property
    def words(self) -> str:
        """What the verdict means, or why there is no report."""
        return self.refusal if self.page is None else describe_verdict(self.page)[1].strip()


def build_run(results: Sequence[PolicyResult]) -> ReportPage:
    """Put the document of a run together; the report of each policy is in it as it would be alone."""
    verdict = worst_verdict([each.verdict for each in results])
    page = ReportPage(
        {
            "format": FORMAT_OF_SEVERAL,
            "verdict": verdict,
            "exit_code": Setting(EXIT_CODES[verdict]),
            "policies": [
                {
                    "file": each.file,
                    "verdict": each.verdict,
                    "exit_code": Setting(EXIT_CODES[each.verdict]),
                    "refusal": each.refusal or None,
                    "report": each.page,
                }
                for each in results
            ],
        }
    )
    return seal(page)


def summarize_run(results: Sequence[PolicyResult]) -> str:
    """Say the verdict of a run, and how many policies came out how.

    >>> summarize_run([PolicyResult("a.toml", refusal="no such file"), PolicyResult("b.toml")])
    'NOT JUDGED: 2 policies: 2 not judged.'
    """
    verdicts = [each.verdict for each in results]
    counts = [f"{verdicts.count(each)} {each}" for each in WORST_FIRST if each in verdicts]
    word = worst_verdict(verdicts).upper()
    return f"{word}: {len(results)} policies: {', '.join(counts)}."


def run_page(
    results: Sequence[PolicyResult], pages: Mapping[str, RenderableType]
) -> RenderableType:
    """Show the page of each policy by its file, then the verdict of each, then that of the run."""
    lines = [
        Text(f"{each.verdict.upper()}  {each.file}: {each.words}", style=STYLES[each.verdict])
        for each in results
    ]
    verdict = worst_verdict([each.verdict for each in results])
    return Group(
        *(part for page in pages.values() for part in (page, "")),
        *lines,
        Panel(Text(summarize_run(results)), style=STYLES[verdict]),
    )


def render_run_html(results: Sequence[PolicyResult]) -> str:
    """Write the reports as one HTML file: the verdict of each policy on top, then their reports in order."""
    verdict = worst_verdict([each.verdict for each in results])
    rows = "".join(
        f"<tr class={css_class(each.verdict)}><td class=badge>{each.verdict.upper()}</td>"
        f"<td>{_link(each, place)}</td><td>{escape(each.words)}</td></tr>"
        for place, each in enumerate(results, 1)
    )
    title = f"{len(results)} policies: {verdict}"
    parts = [
        f"<h1>{len(results)} policies</h1>",
        f'<div class="verdict {css_class(verdict)}"><strong>{escape(summarize_run(results))}</strong></div>',
        render_table(("verdict", "policy", "what it means"), rows),
    ]
    for place, each in enumerate(results, 1):
        if each.page is not None:
            body = render_body(each.page, Additions(prepared=each.prepared))
            parts.append(f'<section id="policy-{place}">{body}</section>')
    return render_document(title, "".join(parts))


def _link(each: PolicyResult, place: int) -> str:
    name = escape(each.file)
    return name if each.page is None else f'<a href="#policy-{place}">{name}</a>'


def render_run_junit(results: Sequence[PolicyResult]) -> str:
    """Write the verdicts; a policy that could not be read or measured is an error of its own suite."""
    suites = ET.Element("testsuites", name=f"{len(results)} policies")
    for each in results:
        if each.page is not None:
            refuse_unmasked(each.page)
            add_junit_suites(suites, each.page, f"{each.file}: ")
            continue
        name = escape_control_characters(each.file)
        counts = {"tests": "1", "failures": "0", "errors": "1"}
        suite = ET.SubElement(suites, "testsuite", {"name": name} | counts)
        case = ET.SubElement(suite, "testcase", classname=name, name="the policy is measured")
        ET.SubElement(case, "error", message=escape_control_characters(each.refusal))
    return junit_document(suites)


def run_rows(results: Sequence[PolicyResult]) -> tuple[list[str], list[Row]]:
    """Give a row for each group of each check; of a policy without a report, one with the reason."""
    columns = [POLICY, *check_columns()]
    rows: list[dict[str, Any]] = []
    for each in results:
        if each.page is None:
            why = {CHECK_VERDICT: each.verdict, "verdict": each.verdict, "why": each.refusal}
            rows.append(dict.fromkeys(columns) | {POLICY: each.file} | why)
        else:
            rows += [{POLICY: each.file} | row for row in check_rows(each.page)]
    return columns, rows
