"""The best forms of a table side by side, for a person to choose: what each shows, loses and risks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from reid_sql.charts.risk_charts import frontier_chart
from reid_sql.charts.svg import escape
from reid_sql.check.html import CAPTION_FORMS, render_chart, render_document
from reid_sql.check.sentences import describe_check, explain_verdict, format_figure
from reid_sql.models.numerics.quantiles import percent

MAX_CHOICES: Final = 5
MAX_TRIES: Final = 25  # forms that the gate measures for them
MAX_SQL: Final = 200_000  # characters of a query on the page
WITHHELD: Final = "withheld"
CAPTION: Final = (
    "Each form meets the policy, measured by the gate on what its query returns. These are the {} forms of "
    "least loss of those that the search evaluated."
)


@dataclass(frozen=True)
class Choice:
    """A form that meets the policy, described as the release is, with the gate's checks and the query."""

    described: Mapping[str, Any]
    checks: Sequence[Mapping[str, Any]]
    sql: str

    @property
    def page(self) -> dict[str, Any]:
        """The form as a dictionary."""
        keys = ("method", "losses", "suppressed_share", "columns", "target", "cross_tables")
        return {key: self.described[key] for key in keys} | {"checks": list(self.checks), "sql": self.sql}


def render_choices(page: Mapping[str, Any]) -> str:
    """Write the page: for each table the forms side by side, risk against loss, and the queries."""
    parts = [f"<h1>{escape(page['policy'])}: forms that meet the policy</h1>"]
    parts += [part for table in page["tables"] for part in _table(table)]
    return render_document(f"{page['policy']}: forms to choose from", "".join(parts))


def _table(table: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h2>{escape(table['name'])}</h2>"
    forms = table["choices"]
    if not forms:
        yield "<p>No form that meets the policy was found.</p>"
    else:
        head = "".join(f"<th>form {number}</th>" for number in range(1, len(forms) + 1))
        rows = "".join(_row(label, cells) for label, cells in _rows(forms))
        yield f"<p>{escape(CAPTION.format(len(forms)))}</p>"
        yield (
            f'<div class="scroll"><table><thead><tr><th></th>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>"
        )
    yield render_chart(frontier_chart(table), table, CAPTION_FORMS.format(f"{table['forms_counted']:,}"))
    yield _frontier(table)
    for number, form in enumerate(forms, 1):
        yield f"<details><summary>SQL of form {number}</summary><pre>{_lines(form)}</pre></details>"


def _lines(form: Mapping[str, Any]) -> str:
    """Write the query line by line; a long one, of many classes, is better in a file."""
    if len(form["sql"]) > MAX_SQL:
        return escape(
            f"{len(form['sql']):,} characters: reid-sql prepare --method {form['method']} --sql FILE"
        )
    return "\n".join(escape(line) for line in form["sql"].splitlines())


def _row(label: str, cells: Sequence[str]) -> str:
    listed = "".join(f"<td>{escape(cell).replace(' %', '&nbsp;%')}</td>" for cell in cells)
    return f"<tr><td>{escape(label)}</td>{listed}</tr>"


def _rows(forms: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    """List what the forms differ in: a label, and a cell for each form."""
    yield "recoding", [form["method"] for form in forms]
    yield "loss (entropy)", [percent(form["losses"]["entropy"]) for form in forms]
    yield "records left out", [_share(form["suppressed_share"]) for form in forms]
    for at, column in enumerate(forms[0]["columns"]):
        yield column["column"], [_column(form["columns"][at]) for form in forms]
    for at, check in enumerate(forms[0]["checks"]):
        figures = [
            format_figure(explain_verdict(form["checks"][at]).group, form["checks"][at]) for form in forms
        ]
        yield describe_check(check), figures
    if forms[0]["target"] is not None:
        label = f"information kept about {forms[0]['target']['column']}"
        yield label, [_share(form["target"]["information_kept"]) for form in forms]
        yield (
            "its log-loss, bits a record",
            [f"{form['target']['released']['log_loss']:.3g}" for form in forms],
        )
    for at, cross in enumerate(forms[0]["cross_tables"]):
        label = f"cross table of {' and '.join(cross['columns'])}: records moved"
        yield label, [percent(form["cross_tables"][at]["variation"]) for form in forms]


def _column(column: Mapping[str, Any]) -> str:
    return f"{column['form'].removeprefix(column['column'] + ' ')} ({percent(column['loss'] or 0.0)})"


def _share(share: float | None) -> str:
    return WITHHELD if share is None else percent(share)


def _frontier(table: Mapping[str, Any]) -> str:
    """Risk and loss of the forms that no other one betters in both."""
    names = [each["column"] for each in table["columns"]]
    words = [each["hierarchy"] for each in table["columns"]]
    rows = "".join(
        f"<tr><td class=number>{percent(point['records_below_k'])}</td>"
        f"<td class=number>{percent(point['generalisation_loss'])}</td>"
        f"<td>{'yes' if point['meets_class_sizes'] else 'no'}</td>"
        f"<td>{escape(_levels(words, point['levels']))}</td></tr>"
        for point in table["frontier"]
    )
    small = f"in classes smaller than {table['k']:,}"
    head = (
        f"<tr><th class=number>{small}</th><th class=number>loss of levels</th>"
        f"<th>meets class sizes</th><th>{escape(', '.join(names))}</th></tr>"
    )
    return f'<div class="scroll"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'


def _levels(words: Sequence[Sequence[str]], levels: Sequence[int]) -> str:
    return "; ".join(column[level] for column, level in zip(words, levels, strict=True))
