"""The first report on a file as an HTML page: what was found, and what to do next."""

from collections.abc import Sequence

from reid_sql.charts.svg import escape
from reid_sql.check.html import (
    cautions_section,
    provenance_section,
    released_columns_section,
    render_document,
    table_section,
)
from reid_sql.check.masking import ReportPage, refuse_unmasked
from reid_sql.check.remarks import without_codes
from reid_sql.check.sentences import cautions_of_figures


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
