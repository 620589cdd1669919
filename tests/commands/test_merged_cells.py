"""Workbooks with cells merged over rows: each row has the value."""

import json
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
import xlsxwriter

from reid_sql.cli import main
from reid_sql.errors import OutOfDomainError
from reid_sql.sources.merged_cells import shows_merged_cells
from reid_sql.sources.other_programs import write_sheet
from tests.cells import each_cell


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@each_cell("above, left", [(0, 0), (3, 2)])
@each_cell("header", [1, 2])
def test_cells_merged_over_rows_have_their_value_in_each(
    above: int, left: int, header: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """All but the first person of a district had none, so that fewer people were alone than are."""
    draw = np.random.default_rng(left)
    rows = [(place // 8, *map(int, draw.integers(0, 5, 2))) for place in range(40)]
    with xlsxwriter.Workbook("x.xlsx") as book:
        sheet = book.add_worksheet("A & B")
        first = above + header
        if header == 2:
            sheet.merge_range(above, left, above + 1, left, "district")
        for at, name in enumerate(("district", "age", "sex")):
            if header == 1 or at:
                sheet.write(first - 1, left + at, name)
        for place, (district, *others) in enumerate(rows):
            if place % 8 == 0:
                sheet.merge_range(first + place, left, first + place + 7, left, f"d{district}")
            sheet.write_row(first + place, left + 1, others)
    skip = ["--skip", str(header - 1)] if header > 1 else []
    assert main(["risk", "x.xlsx", "--qi", "district,age,sex", *skip, "--json"]) == 0
    page = json.loads(capsys.readouterr().out)["summary"]
    assert (page["records"], page["classes"]) == (40, len(set(rows)))
    assert main(["risk", "x.xlsx", "--qi", "district", *skip]) == 0
    assert "merged over rows" in "".join(capsys.readouterr())


def test_a_formula_without_a_value_is_no_corner_of_merged_cells() -> None:
    """Readers begin at the first value; cells were filled from a corner that had none, or not at all."""
    with xlsxwriter.Workbook("x.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_formula(0, 0, '=""', None, "")
        sheet.write_row(3, 1, ["district", "age"])
        sheet.merge_range(4, 1, 7, 1, "north")
        sheet.write_column(4, 2, [30, 31, 32, 33])
    write_sheet("FILE", Path("x.xlsx"), None, Path("x.csv"))
    rows = [f"north,{age}" for age in range(30, 34)]
    assert Path("x.csv").read_text(encoding="utf-8").splitlines() == ["district,age", *rows]


@pytest.mark.parametrize("merged", ["people", "notes"])
def test_merged_cells_of_another_sheet_are_no_matter(merged: str) -> None:
    """An OpenDocument is refused for those of the sheet that is read alone."""
    spanned = {merged: ' table:number-rows-spanned="2"'}
    cell = '<table:table-cell{} office:value-type="string"><text:p>a</text:p></table:table-cell>'
    tables = "".join(
        f'<table:table table:name="{name}"><table:table-row>{cell.format(spanned.get(name, ""))}'
        f"</table:table-row><table:table-row>{cell.format('')}</table:table-row></table:table>"
        for name in ("notes", "people")
    )
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    content = (
        f"<office:document-content {spaces}><office:body><office:spreadsheet>{tables}"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    with ZipFile("x.ods", "w") as book:
        book.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        book.writestr("content.xml", content)
        book.writestr("META-INF/manifest.xml", "<manifest/>")
    if merged == "people":
        with pytest.raises(OutOfDomainError, match="must have no cells merged over rows"):
            write_sheet("FILE", Path("x.ods"), "people", Path("x.csv"))
    else:
        write_sheet("FILE", Path("x.ods"), "people", Path("x.csv"))
        assert Path("x.csv").read_text(encoding="utf-8").split() == ["a", "a"]


@pytest.mark.parametrize("part", ["xl/workbook.xml", "content.xml", "xl/workbook.bin", None])
def test_what_cannot_be_seen_of_a_format_is_known(part: str | None, tmp_path: Path) -> None:
    """A binary workbook names its merged cells where they are not read."""
    file = tmp_path / "book"
    file.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    if part is not None:
        with ZipFile(file, "w") as book:
            book.writestr(part, "")
    assert shows_merged_cells(file) == (part in {"xl/workbook.xml", "content.xml"})
