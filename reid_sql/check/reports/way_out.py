"""The release found for a policy that the table fails: its form, its loss, its verdict, a picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape as escaped
from typing import Any, Final

from reid_sql.charts.risk_charts import frontier_chart
from reid_sql.check.reports.drawn import drawn
from reid_sql.check.reports.words import VERDICTS, asked, figure, limit, note
from reid_sql.control_characters import escape_control_characters
from reid_sql.models.numerics.percent import percent

Page = Mapping[str, Any]
COMMAND: Final = "reid-sql prepare POLICY --sql FILE writes it as SQL."
FORMS: Final = (
    "Risk against loss of the {} forms that were counted: each mark is one that no other betters in both, "
    "before any record is left out. The line is the loss of the release, with what is left out of it."
)


@dataclass(frozen=True)
class WayOut:
    """What preparing found, with its sentences; or, in `page`'s place, nothing and why in the sentences."""

    page: Page | None
    sentences: Sequence[str]


def way_out(found: WayOut) -> str:
    """Write it, to stand under what to do next."""
    told = "".join(f"<li>{_escape(each)}</li>" for each in found.sentences)
    head = f"<h3>What meets the policy</h3><ul>{told}</ul>"
    if found.page is None:
        return head
    return head + _verdict(found.page) + "".join(_table(each) for each in found.page["tables"])


def _escape(text: str) -> str:
    return escaped(escape_control_characters(text))


def _verdict(page: Page) -> str:
    """The gate's verdict on the release, check by check; nothing where no form was found."""
    report = page["report"]
    if report is None:
        return ""
    word, _, rest = VERDICTS[report["verdict"]].partition(":")
    rows = "".join(
        f"<tr class={check['verdict'].replace(' ', '-')}><td class=badge>{check['verdict'].upper()}</td>"
        f"<td class=name>{_escape(check['table'])}</td><td>{_escape(asked(check))}</td>"
        f"<td class=number>{_escape(figure(note(check).group, check))}</td>"
        f"<td class=name>{_escape(limit(check))}</td></tr>"
        for check in report["checks"]
    )
    head = (
        "<tr><th>verdict</th><th>table</th><th>on the release</th><th class=number>figure</th><th>limit</th>"
        "</tr>"
    )
    return (
        f"<p>Measured on the release: <strong>{word}:</strong>{_escape(rest)} {_escape(COMMAND)}</p>"
        f'<div class="scroll"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
    )


def _table(table: Page) -> str:
    """A table's form, column by column, and risk against loss of those that were counted."""
    chosen = None if table["losses"] is None else float(table["losses"]["entropy"])
    figured = drawn(frontier_chart(table), table, FORMS.format(f"{table['forms_counted']:,}"))
    if chosen is None:
        return figured
    rows = "".join(
        f"<tr><td class=name>{_escape(each['column'])}</td>"
        f"<td>{_escape(each['form'].removeprefix(each['column'] + ' '))}</td>"
        f"<td class=number>{percent(each['loss'] or 0.0)}</td></tr>"
        for each in table["columns"]
    )
    head = "<tr><th>column</th><th>in the release</th><th class=number>loss</th></tr>"
    listed = f'<div class="scroll"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
    return f"<h3>{_escape(table['name'])}: the form that meets it</h3>{listed}{figured}"
