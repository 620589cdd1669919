"""Files of other programs: SQLite; by readers of the extra `files` workbooks, SPSS, Stata and SAS; YAML."""

import codecs
import csv
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final
from xml.etree.ElementTree import ParseError
from zipfile import BadZipFile

from reid_sql.errors import OutOfDomainError, UnavailableError, UnknownNameError, suggestion
from reid_sql.parameters import quoted
from reid_sql.sources.merged_cells import fill_merged_cells, shows_merged_cells
from reid_sql.sources.notes import Note

if TYPE_CHECKING:
    import polars as pl

WORKBOOKS: Final = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
SQLITE: Final = (".sqlite", ".sqlite3", ".db3")
SQLITE_BEGINS: Final = b"SQLite format 3\0"
READERS: Final[Mapping[str, str]] = {  # of pyreadstat
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
STATISTICS: Final = tuple(READERS)
KEEPS_MISSING: Final = (
    ".sav",
    ".zsav",
    ".dta",
    ".sas7bdat",
)  # readers that tell what is declared missing
BYTES_OF_CONTENT: Final = 512
MIDNIGHT: Final = " 00:00:00"  # as the reader ends a day
MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
CONTENT: Final = (  # of a file that is no workbook: how it begins, what it is, and what to do
    (rb"\s*<", "the content of HTML or XML", "save it as .xlsx in a program that opens it"),
    (rb"\xd0\xcf\x11\xe0", "a password", "save it without one"),
    (rb"[\t\n\r\x20-\x7e\x80-\xff]+$", "the content of a text file", "give it the ending .csv"),
)
MAX_WHOLE: Final = 2**53  # of a double
# Codes of notes; what the file declares limits no figure, but for several missing values that count as one.
OTHER_SHEETS, MERGED_MISSING, AS_DECLARED = "other_sheets", "merged_missing", "as_declared"
NOTE_SHEETS: Final = (
    "the workbook has other sheets, which are not read ({}): release a file of this sheet alone"
)
NOTE_MERGED: Final = (
    "several values that the file declares missing count as one, NULL, in {} of its columns"
)
NOTE_MISSING: Final = "what the file declares missing is NULL in {} of its columns"
NOTE_FILLED: Final = "the value of cells that are merged over rows is in each of these rows"
NOTE_UNSEEN: Final = (
    "cells that are merged over rows have no value but in the first, and cannot be seen in this format: "
    "save the workbook as .xlsx"
)
NOTE_LABELS: Final = "labels of the file replace the codes in {} of its columns"


def write_sheet(words: str, path: Path, sheet: str | None, target: Path) -> tuple[Note, ...]:
    """Write the cells of a sheet as CSV, to be read as the sheet is when it is saved as one.

    A workbook of several sheets must name the sheet, as nothing says which one has the people; a hidden sheet
    is one of them. Those that are not read are named in a note.
    """
    fastexcel = _reader("fastexcel", words, path)
    with _readable(words, path, (fastexcel.FastExcelError, OSError, BadZipFile, ParseError)):
        book = fastexcel.read_excel(path)
        filled = _filled_sheets(book)
        name = _find_part(words, sheet, filled, "sheet with cells")
        cells = book.load_sheet(
            name, header_row=None, dtypes="string", skip_whitespace_tail_rows=True
        ).to_polars()
        columns, filled_cells = fill_merged_cells(
            words, path, name, [column.to_list() for column in cells.iter_columns()]
        )
    columns = [*map(_without_midnight, columns)]
    with target.open("x", encoding="utf-8", newline="") as written:
        target.chmod(0o600)
        csv.writer(written).writerows(zip(*columns, strict=True))
    unread = ", ".join(each for each in filled if each != name)
    notes = [Note(OTHER_SHEETS, NOTE_SHEETS.format(unread))] if unread else []
    notes += [Note(AS_DECLARED, NOTE_FILLED)] if filled_cells else []
    notes += [] if shows_merged_cells(path) else [Note(AS_DECLARED, NOTE_UNSEEN)]
    return tuple(notes)


def list_sheets(words: str, path: Path) -> list[str]:
    """Name the sheets of a workbook that have cells."""
    fastexcel = _reader("fastexcel", words, path)
    with _readable(words, path, (fastexcel.FastExcelError, OSError)):
        return _filled_sheets(fastexcel.read_excel(path))


def _filled_sheets(book: Any) -> list[str]:  # noqa: ANN401 - of a library without types
    return [name for name in book.sheet_names if book.load_sheet(name, header_row=None).width]


def _find_part(words: str, part: str | None, parts: Sequence[str], kind: str) -> str:
    """Find the sheet or the table of a file by its name; the only one where none is named."""
    option = "--table" if not words.startswith("policy") else f"{words.removesuffix('file')}table"
    if part is None and len(parts) == 1:
        return parts[0]
    kinds = f"{kind.partition(' ')[0]}s"
    if part is None:
        raise UnknownNameError(
            f"{option} must name one of {len(parts)} {kinds} of the file, got none; {suggestion('', parts, kinds)}"
        )
    if part not in parts:
        raise UnknownNameError(
            f"{option} must be a {kind}, got '{part}'; {suggestion(part, parts, kinds)}"
        )
    return part


def _without_midnight(cells: Sequence[str | None]) -> Sequence[str | None]:
    """Write days without a time, where all cells that are moments have midnight; names are above them.

    >>> _without_midnight(["born", "1980-01-02 00:00:00", None])
    ['born', '1980-01-02', None]
    """
    moments = [cell for cell in cells if cell is not None and MOMENT.fullmatch(cell)]
    if not all(cell.endswith(MIDNIGHT) for cell in moments):
        return cells
    days = {cell: cell.removesuffix(MIDNIGHT) for cell in moments}
    return [cell if cell is None else days.get(cell, cell) for cell in cells]


def list_sqlite_tables(words: str, path: Path) -> list[str]:
    """Name the tables and views of a SQLite database."""
    with _connect_sqlite(words, path) as con:
        return _sqlite_tables(con)


def read_sqlite(words: str, path: Path, table: str | None) -> "pl.DataFrame":
    """Read a table of a SQLite database; a column whose values have several types is text."""
    import polars as pl  # noqa: PLC0415 - few files need it

    with _connect_sqlite(words, path) as con:
        name = _find_part(words, table, _sqlite_tables(con), "table of the database")
        cursor = con.execute(f"SELECT * FROM {quoted(name)}")
        names = [column[0] for column in cursor.description]
        rows = cursor.fetchall()
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return pl.DataFrame([_one_type(*each) for each in zip(names, columns, strict=True)])


def _one_type(name: str, values: Sequence[Any]) -> "pl.Series":
    """Give each value of a column the type that all of them have, or their texts; those that differ stay so.

    Numbers are doubles where no whole one is beyond what a double has. Among several types, 7 and the text
    '7' are two values.
    """
    import polars as pl  # noqa: PLC0415 - the same

    distinct = {*values} - {None}
    kinds = {type(value) for value in distinct}
    if kinds == {int, float} and all(abs(value) <= MAX_WHOLE for value in distinct):
        return pl.Series(name, values, pl.Float64, strict=False)
    if len(kinds) == 1:
        return pl.Series(name, values)
    write = str if len({*map(str, distinct)}) == len(distinct) else repr
    return pl.Series(name, [None if value is None else write(value) for value in values], pl.String)


def _sqlite_tables(con: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name"
    return [row[0] for row in con.execute(query)]


@contextmanager
def _connect_sqlite(words: str, path: Path) -> Iterator[sqlite3.Connection]:
    url = f"{path.absolute().as_uri()}?mode=ro"
    with (
        _readable(words, path, (sqlite3.Error,)),
        closing(sqlite3.connect(url, uri=True)) as con,
    ):
        yield con


def read_statistics(
    words: str, path: Path, kind: str, encoding: str
) -> tuple["pl.DataFrame", tuple[Note, ...]]:
    """Read a table of SPSS, Stata or SAS: values that the file declares as missing are NULL.

    Numbers have their labels in their place where each that occurs has one, and no two the same. The notes
    count the columns of which either is true.
    """
    import polars as pl  # noqa: PLC0415 - few files need it

    pyreadstat = _reader("pyreadstat", words, path)
    read: Callable[..., Any] = getattr(pyreadstat, READERS[kind])
    named: dict[str, object] = {} if encoding == "utf-8" else {"encoding": encoding}
    named |= {"user_missing": True} if kind in KEEPS_MISSING else {}
    with _readable(words, path, (pyreadstat.PyreadstatError, pyreadstat.ReadstatError, OSError)):
        frame, about = read(path, output_format="polars", **named)
    columns = []
    counts = dict.fromkeys((NOTE_MERGED, NOTE_MISSING, NOTE_LABELS), 0)
    for column in frame.iter_columns():
        filled = _without_missing(column, about.missing_ranges.get(column.name, ()))
        gaps = column.filter(filled.is_null())
        is_declared = gaps.null_count() < len(gaps) and set(gaps.to_list()) != {""}
        if is_declared:
            counts[NOTE_MERGED if len(set(gaps.to_list())) > 1 else NOTE_MISSING] += 1
        labels = _labels_of(filled, about.variable_value_labels.get(column.name, {}))
        counts[NOTE_LABELS] += bool(labels)
        columns.append(filled.replace_strict(labels, return_dtype=pl.String) if labels else filled)
    notes = (
        Note(MERGED_MISSING if words == NOTE_MERGED else AS_DECLARED, words.format(count))
        for words, count in counts.items()
        if count
    )
    return pl.DataFrame(columns), tuple(notes)


def _without_missing(column: "pl.Series", ranges: Sequence[Mapping[str, Any]]) -> "pl.Series":
    """Return no value for what is declared missing, and whole numbers without a fraction.

    SPSS declares ranges of a column; Stata and SAS have marks of their own (.a), which are read as letters
    beside numbers. An empty text is no value either.
    """
    import polars as pl  # noqa: PLC0415 - the same

    if column.dtype == pl.Object:
        values = [None if isinstance(value, str) else value for value in column.to_list()]
        column = pl.Series(column.name, values, pl.Float64)
    missing = pl.lit(False)  # noqa: FBT003 - an expression
    for each in ranges:
        missing |= pl.col(column.name).is_between(each["lo"], each["hi"])
    if column.dtype == pl.String:
        missing |= pl.col(column.name) == ""
    filled = pl.when(~missing.fill_null(value=False)).then(pl.col(column.name))
    values_kept = column.to_frame().select(filled.alias(column.name)).to_series()
    if values_kept.dtype != pl.Float64:
        return values_kept
    values = values_kept.drop_nulls().unique().to_list()
    is_whole = all(value.is_integer() and abs(value) <= MAX_WHOLE for value in values)
    return values_kept.cast(pl.Int64) if is_whole else values_kept


def _labels_of(column: "pl.Series", labels: Mapping[Any, str]) -> dict[Any, str]:
    """Return the labels of the values that occur, if each has one and no two the same; else none."""
    values = column.drop_nulls().unique().to_list()
    named = {value: labels[value] for value in values if value in labels}
    return named if len(values) == len(named) == len(set(named.values())) else {}


def _reader(module: str, words: str, path: Path) -> ModuleType:
    if find_spec(module) is None:
        raise UnavailableError(
            f"{words} must have {module} to read {path.suffix}, got none; pip install 'reid-sql[files]', or save it as CSV"
        )
    return import_module(module)


@contextmanager
def _readable(words: str, path: Path, refusals: tuple[type[Exception], ...]) -> Iterator[None]:
    """Refuse in one sentence what a reader refuses; its own words may have values."""
    try:
        yield
    except refusals:
        what, remedy = "", "write it anew, or save it as CSV"
        if path.suffix.lower() in WORKBOOKS:
            head = path.read_bytes()[:BYTES_OF_CONTENT].removeprefix(codecs.BOM_UTF8)
            for pattern, content, way in CONTENT:
                if re.match(pattern, head):
                    what, remedy = f" with {content}", way
                    break
        raise OutOfDomainError(
            f"{words} must be a {path.suffix} file that can be read, got '{path.name}'{what}; {remedy}"
        ) from None


# Documents in YAML or JSON, which other programs wrote.


def read_mapping(path: Path, label: str, example: str) -> dict[Any, Any]:
    """Read a document of keys and values; YAML needs PyYAML. A refusal names it by the label."""
    is_json = path.suffix == ".json"
    if not is_json and find_spec("yaml") is None:
        raise UnavailableError(
            f"{label} must be read by PyYAML, which is not installed, got {path.name}; run pip install 'reid-sql[acro]'"
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
        parsed = json.loads(text) if is_json else _parse_yaml(text)
    except OSError as error:
        raise UnavailableError(
            f"{label} must be a file that can be read, got {path.name}: {error.strerror}; pass the path of a YAML file"
        ) from None
    except (ValueError, RecursionError):  # of either format, and of what is no text
        parsed = None
    if not isinstance(parsed, dict):
        raise OutOfDomainError(
            f"{label} must be {'JSON' if is_json else 'YAML with a key and a value a line'}, got another text in {path.name}; write it like {example}"
        )
    return parsed


def _parse_yaml(text: str) -> Any:  # noqa: ANN401 - as it is written
    """Parse YAML to what JSON has: keys are texts, and nothing contains itself."""
    import yaml  # noqa: PLC0415 - optional

    try:
        return json.loads(json.dumps(yaml.safe_load(text), default=str))
    except (yaml.YAMLError, TypeError) as error:
        raise ValueError from error
