"""Cells of a workbook that are merged over rows: each row has the value, which the file has in the first.

Read as they are written, all but the first person of a district would have none.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Final
from xml.etree import ElementTree as ET
from zipfile import ZipFile, is_zipfile

from reid_sql.errors import OutOfDomainError

CHUNK: Final = 2**20
LONGEST: Final = 200  # characters of an element that names merged cells
MERGED: Final = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"')
TABLE: Final = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
CELL: Final = re.compile("([A-Z]+)([0-9]+)")
LETTERS_OF_COLUMN: Final = 26
BOOK, LINKS, OPEN_DOCUMENT = "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "content.xml"
Place = tuple[int, int]  # row and column


def fill_merged_cells(
    words: str, path: Path, sheet: str, columns: Sequence[Sequence[str | None]]
) -> tuple[list[Sequence[str | None]], int]:
    """Return the columns of a sheet with the value of merged cells in each row, and how many are filled."""
    filled = [list(column) for column in columns]
    count = 0
    for (first, place), last in _list_merged(words, path, sheet):
        if not 0 <= place < len(filled) or not 0 <= first < len(filled[place]):
            continue
        column, value = filled[place], filled[place][first]
        for row in range(first + 1, min(last + 1, len(column))):
            if column[row] is None and value is not None:
                column[row] = value
                count += 1
    return [*filled], count


def shows_merged_cells(path: Path) -> bool:
    """Whether the format of a workbook says which cells are merged, as read here: .xls and .xlsb do not."""
    if not is_zipfile(path):
        return False
    with ZipFile(path) as book:
        return not {BOOK, OPEN_DOCUMENT}.isdisjoint(book.namelist())


def _list_merged(words: str, path: Path, sheet: str) -> Iterator[tuple[Place, int]]:
    """List the first cell of those merged over rows, counted from the first filled cell, and the last row."""
    if not is_zipfile(path):
        return
    with ZipFile(path) as book:
        if OPEN_DOCUMENT in book.namelist():
            with book.open(OPEN_DOCUMENT) as content:
                if _has_spanned(content, sheet):
                    raise OutOfDomainError(
                        f"{words} must have no cells merged over rows, got some in '{path.name}'; save it as .xlsx, or unmerge and fill them"
                    )
            return
        name = _find_sheet(book, sheet)
        if name is None:
            return
        with book.open(name) as content:
            merged = [
                ((int(top), _number_column(left)), int(bottom))
                for left, top, _, bottom in (each.groups() for each in _find_merged(content))
                if int(bottom) > int(top)
            ]
        if merged:
            with book.open(name) as content:
                row, column = _find_corner(content)
            for (top, left), bottom in merged:
                yield (top - row, left - column), bottom - row


def _find_sheet(book: ZipFile, sheet: str) -> str | None:
    """Find the part of a workbook that has the cells of a sheet."""
    if BOOK not in book.namelist() or LINKS not in book.namelist():
        return None
    with book.open(BOOK) as content, book.open(LINKS) as links:
        parsed = ET.iterparse(links)  # noqa: S314 - expat limits what entities become
        targets = {each.get("Id"): each.get("Target", "") for _, each in parsed}
        for _, each in ET.iterparse(content):  # noqa: S314 - the same
            if _tag(each) == "sheet" and each.get("name") == sheet:
                link = next(value for key, value in each.items() if key.endswith("}id"))
                target = targets.get(link, "")
                return target[1:] if target.startswith("/") else str(PurePosixPath("xl") / target)
    return None


def _has_spanned(content: IO[bytes], sheet: str) -> bool:
    """Whether a sheet of an OpenDocument has cells merged over rows; others of the workbook may."""
    is_read = False
    for event, each in ET.iterparse(content, ("start", "end")):  # noqa: S314 - as above
        if event == "end":
            if each.tag == f"{TABLE}table-row":
                each.clear()
        elif each.tag == f"{TABLE}table":
            is_read = each.get(f"{TABLE}name") == sheet
        elif is_read and each.get(f"{TABLE}number-rows-spanned", "1") != "1":
            return True
    return False


def _find_merged(content: IO[bytes]) -> Iterator[re.Match[bytes]]:
    """Find all merged cells, also those at the end of a chunk, each once."""
    rest = b""
    while chunk := content.read(CHUNK):
        text = rest + chunk
        end = 0
        for match in MERGED.finditer(text):
            end = match.end()
            yield match
        rest = text[max(end, len(text) - LONGEST) :]


def _find_corner(content: IO[bytes]) -> Place:
    """Find the first row and the first column that have a value, where readers begin."""
    rows, columns = [], []
    for _, each in ET.iterparse(content):  # noqa: S314 - expat limits what entities become
        place = CELL.fullmatch(each.get("r", "")) if _tag(each) == "c" else None
        if place and any(map(_is_value, each)):
            rows.append(int(place[2]))
            columns.append(_number_column(place[1].encode()))
        elif _tag(each) == "row":
            each.clear()
    return min(rows, default=1), min(columns, default=1)


def _is_value(element: ET.Element) -> bool:
    """Whether a part of a cell is its value, which that of a formula may lack."""
    return _tag(element) == "is" or (_tag(element) == "v" and bool(element.text))


def _number_column(letters: bytes) -> int:
    """Number a column from its letters, from 1.

    >>> _number_column(b"A"), _number_column(b"AB")
    (1, 28)
    """
    number = 0
    for letter in letters:
        number = number * LETTERS_OF_COLUMN + letter - ord("A") + 1
    return number


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]
