"""The dossier as one HTML file: the gate's page, with sections for the person who signs."""

from collections.abc import Iterable, Mapping
from typing import Final

from reid_sql.charts.svg import escape
from reid_sql.check.html import Additions, render_html
from reid_sql.check.html_parts import css_class, definition_list, render_table
from reid_sql.check.masking import ReportPage, refuse_unmasked
from reid_sql.dossier.clauses import describe_test
from reid_sql.parameters import Rows

MISSING: Final = "To be filled in"
GIVEN: Final = "Written by a person"
LEAD: Final = (
    "This document shows figures of one run of reid-sql check, and the words of the person who assesses. It "
    "does not decide whether data are personal in the sense of a law."
)
SIGNATURE: Final = "Name, place, date and signature: ______________________________________________"
LABELS: Final[Mapping[str, str]] = {
    "assessor": "assessed by",
    "role": "role",
    "qualification": "qualification",
    "purpose": "purpose",
    "date": "date",
    "valid_until": "valid until",
    "license": "terms of this document",
}


def render_dossier(dossier: ReportPage) -> str:
    """Write the dossier; the gate renders its own report within it."""
    refuse_unmasked(dossier)
    before = [_assessment(dossier["assessment"]), *map(_standard, dossier["standards"])]
    after = [
        _attacks(dossier),
        f"<h2>What was not measured</h2>{_list(dossier['not_measured'])}",
        _changes(dossier),
        f"<h2>This document</h2>{definition_list({'digest of the dossier': dossier['digest']})}",
        _sources(dossier),
    ]
    additions = Additions(before_checks="".join(before), after_checks="".join(after))
    return render_html(dossier["report"], additions)


def _assessment(assessment: ReportPage) -> str:
    """Who assesses, for how long, what people tried, and a line to sign on."""
    facts = {label: assessment[name] or _missing(name) for name, label in LABELS.items()}
    tests = [describe_test(each) for each in assessment["intruder_tests"]] or [
        _missing("intruder_tests")
    ]
    return (
        f"<h2>Assessment</h2><p>{escape(LEAD)}</p>{definition_list(facts)}"
        f"<h3>A new assessment is required by</h3>{_list(assessment['triggers'] or [_missing('triggers')])}"
        f"<h3>Tests by people who tried to identify somebody</h3>{_list(tests)}"
        f"<p>{SIGNATURE}</p>"
    )


def _missing(key: str) -> str:
    """Say what a person writes, and where."""
    return f"{MISSING}: {key} of [assessment] in the policy"


def _list(sentences: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(each)}</li>" for each in sentences) + "</ul>"


def _standard(standard: ReportPage) -> str:
    """A table of clauses: the number, the question, and what answers it."""
    rows = "".join(
        f"<tr><td class=name>{escape(row['clause'])}</td>"
        f"<td>{escape(row['question'])}{_answer(row)}</td></tr>"
        for row in standard["rows"]
    )
    title = ", ".join(filter(None, (standard["name"], standard["edition"])))
    return (
        f"<h2>{escape(title)}</h2>{render_table(('clause', 'question, and what answers it'), rows)}"
    )


def _answer(row: ReportPage) -> str:
    parts = [_figures(row["figures"])] if row["figures"] else []
    if row["facts"]:
        parts.append(_list(row["facts"]))
    if row["given"] is not None:
        words = _list(row["words"]) if row["given"] else ""
        where = "" if row["given"] else f": {row['written_in']}"
        parts.append(
            f"<p><strong>{GIVEN if row['given'] else MISSING}</strong>{escape(where)}</p>{words}"
        )
    parts += [f"<p class=soft>{escape(each)}</p>" for each in row["reasons"]]
    return "".join(parts)


def _figures(figures: Rows) -> str:
    """Figures with their verdicts and limits; the appendix has their definitions and sources."""
    rows = "".join(
        f"<tr class={css_class(each['verdict'])}><td class=badge>{each['verdict'].upper()}</td>"
        f"<td>{escape(each['check'])}</td><td class=number>{escape(each['figure'])}</td>"
        f"<td class=name>{escape(each['limit'])}</td></tr>"
        for each in figures
    )
    return f'<div class="scroll"><table><tbody>{rows}</tbody></table></div>'


def _sources(dossier: ReportPage) -> str:
    """The appendix: what each figure means, and where its definition is from, once."""
    rows = [row for standard in dossier["standards"] for row in standard["rows"]]
    tried = [each for each in dossier["attacks"] if each["tried"]]
    figures = [figure for each in (*rows, *tried) for figure in each["figures"]]
    definitions = {(each["check"], each["definition"], each["source"]): None for each in figures}
    cells = "".join(
        "<tr>" + "".join(f"<td>{escape(words)}</td>" for words in each) + "</tr>"
        for each in definitions
    )
    table = render_table(("figure", "what it is", "source"), cells)
    return f"<h2>Appendix: definitions and sources</h2>{table}" * bool(definitions)


def _attacks(dossier: ReportPage) -> str:
    """Each kind of attack: what was found by which command, or the command that would try it."""
    rows = "".join(
        f"<tr><td>{escape(each['attack'])}</td>"
        f"<td class=name>{'tried' if each['tried'] else 'NOT TRIED'}</td>"
        f"<td><code>{escape(each['command'])}</code>"
        f"{_figures(each['figures']) if each['tried'] else ''}</td></tr>"
        for each in dossier["attacks"]
    )
    floor = f"<p><strong>{escape(dossier['floor'])}</strong></p>"
    table = render_table(("attack", "", "command and figures"), rows)
    return f"<h2>What was attacked, and what was not</h2>{floor}{table}"


def _changes(dossier: ReportPage) -> str:
    """What changed since the dossier before, if one was named."""
    if dossier["since"] is None:
        return "<h2>Changes</h2><p>No earlier dossier was named.</p>"
    rows = "".join(
        f"<tr><td>{escape(each['what'])}</td><td>{escape(each['before'] or '–')}</td>"
        f"<td>{escape(each['now'] or '–')}</td></tr>"
        for each in dossier["changes"]
    )
    since = f"<p>Since the dossier of digest {escape(dossier['since'])}:</p>"
    table = render_table(("what", "before", "now"), rows)
    return f"<h2>Changes</h2>{since}{table if rows else '<p>Nothing changed.</p>'}"
