"""No number reaches a report that no mask has seen."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reid_sql.check.gate import Report, check
from reid_sql.check.html import render_html
from reid_sql.check.masking import Mask, Masked, ReportPage, Setting, Shown
from reid_sql.check.report import check_rows, render_junit
from reid_sql.check.sentences import format_figure
from reid_sql.check.terminal import verdict_page
from tests.cells import each_cell

SOURCES = Path(__file__).parents[2] / "reid_sql"
RENDERERS: list[Callable[[Any], object]] = [
    render_html,
    render_junit,
    verdict_page,
    check_rows,
    format_figure,
    Report,
]


@each_cell("number", [3, 0.25])
@each_cell("nest", [lambda n: n, lambda n: [n], lambda n: {"k": n}, lambda n: [{"k": [n]}]])
def test_a_page_takes_no_raw_number_at_any_depth(nest: Callable[[Any], Any], number: float) -> None:
    with pytest.raises(TypeError, match=r"must be shown or masked in a report, got (int|float)"):
        ReportPage({"name": "people", "records": nest(number)})
    assert ReportPage({"records": nest(Setting(number))}) == {"records": nest(number)}
    assert ReportPage({"records": nest(Shown(number))}) == {"records": nest(number)}
    assert ReportPage({"records": nest(Masked())}) == {"records": nest(None)}


@pytest.mark.parametrize("render", RENDERERS)
def test_no_renderer_takes_a_document_that_no_mask_has_seen(
    render: Callable[[Any], object], tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text("age\n" + "1\n2\n3\n" * 9 + "4\n", encoding="utf-8")
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[[tables]]\nfile = "people.csv"\nquasi_identifiers = ["age"]\n'
        'checks = [{measure = "unique_records", at_most = 0}]\n',
        encoding="utf-8",
    )
    page = check(policy)
    assert page["checks"][0]["groups"][0]["value"] is None  # one record
    raw = {**page, "checks": [{**page["checks"][0], "groups": [{"value": 1}]}]}
    for document in (dict(page), raw):
        with pytest.raises(TypeError, match="must be rendered from a ReportPage, got dict"):
            render(document)


def test_a_mask_hides_small_counts_but_not_none_at_all() -> None:
    mask = Mask(10)
    assert [mask.count(count) for count in (0, 1, 9, 10)] == [
        Shown(0),
        Masked(),
        Masked(),
        Shown(10),
    ]
    assert Mask(1).count(1) == Shown(1)
    assert str(mask.status("3 records lack a value")) == "fewer than 10 records lack a value"


def test_only_the_mask_shows_a_figure() -> None:
    """Each figure of a report is shown in one file, so that a rule which hides it has one place."""
    call = re.compile(r"(?<!class )\b(Shown|Masked)\(")
    docstring = re.compile(r'""".*?"""', re.DOTALL)
    sources = {
        path.name: docstring.sub("", path.read_text(encoding="utf-8"))
        for path in SOURCES.rglob("*.py")
    }
    assert {name for name, text in sources.items() if call.search(text)} == {"masking.py"}
