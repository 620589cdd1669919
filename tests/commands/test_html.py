"""Pages as HTML: everything that is printed, escaped; the verdict and the cautions first."""

from html import unescape

from rich.console import Group
from rich.panel import Panel

from reid_sql.commands.html import page_blocks, page_body
from reid_sql.terminal.console import Bar, FigureTable, Text


def page() -> Group:
    table = FigureTable(title="Columns", caption="a note")
    table.add_column("name")
    table.add_column("records", justify="right")
    table.add_column("")
    table.add_row(Text("<script>"), "1,051", Bar(0.25, "red"))
    return Group(
        Text("A title", style="bold"),
        "",
        table,
        Text("a caution", style="yellow"),
        Panel(Text("FAIL: no"), style="red"),
    )


def test_the_verdict_comes_first_then_the_cautions() -> None:
    text = page_body(page())
    places = [
        text.index(words)
        for words in ("<strong>FAIL:</strong> no", "a caution", "A title", "1,051", "a note")
    ]
    assert places == sorted(places)
    assert 'class="verdict fail"' in text


def test_nothing_is_lost_or_taken_for_markup() -> None:
    text = page_blocks(page())
    for words in (
        "A title",
        "Columns",
        "name",
        "records",
        "1,051",
        "a note",
        "a caution",
        "FAIL: no",
    ):
        assert words in unescape(text)
    assert "&lt;script&gt;" in text
    assert "<script>" not in text
    assert "width: 25%" in text


def test_control_characters_are_escaped() -> None:
    assert "\x1b" not in page_body(Group(Text("a"), "\x1b[31mred"))
