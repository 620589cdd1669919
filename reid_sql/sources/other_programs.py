"""Files of other programs: workbooks, and tables of SPSS, Stata and SAS, by readers of the extra `files`."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from reid_sql.errors import OutOfDomainError, UnavailableError, UnknownNameError, suggestion

if TYPE_CHECKING:
    import polars as pl

WORKBOOKS: Final = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
READERS: Final[Mapping[str, str]] = {  # of pyreadstat
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
STATISTICS: Final = tuple(READERS)
MIDNIGHT: Final = " 00:00:00"  # as the reader ends a day
MAX_WHOLE: Final = 2**53  # of a double


def write_sheet(words: str, path: Path, sheet: str | None, target: Path) -> None:
    """Write the cells of a sheet as CSV, to be read as the sheet is when it is saved as one.

    A workbook of several sheets must name the sheet, as nothing says which one has the people; a hidden sheet
    is one of them.
    """
    fastexcel = _reader("fastexcel", words, path)
    with _readable(words, path, (fastexcel.FastExcelError, OSError)):
        book = fastexcel.read_excel(path)
        name = _find_sheet(words, sheet, book)
        cells = book.load_sheet(
            name, header_row=None, dtypes="string", skip_whitespace_tail_rows=True
        ).to_polars()
    columns = [_without_midnight(column.to_list()) for column in cells.iter_columns()]
    with target.open("x", encoding="utf-8", newline="") as written:
        target.chmod(0o600)
        csv.writer(written).writerows(zip(*columns, strict=True))


def other_sheets(words: str, path: Path, sheet: str | None) -> list[str]:
    """Name the sheets with cells beside the one that is read; of a workbook whose only one is read, none."""
    if path.suffix.lower() not in WORKBOOKS or sheet is None:
        return []
    fastexcel = _reader("fastexcel", words, path)
    with _readable(words, path, (fastexcel.FastExcelError, OSError)):
        return [name for name in _filled_sheets(fastexcel.read_excel(path)) if name != sheet]


def _filled_sheets(book: Any) -> list[str]:  # noqa: ANN401 - of a library without types
    return [name for name in book.sheet_names if book.load_sheet(name, header_row=None).width]


def _find_sheet(words: str, sheet: str | None, book: Any) -> str:  # noqa: ANN401 - the same
    filled = _filled_sheets(book)
    option = "--table" if not words.startswith("policy") else f"{words.removesuffix('file')}table"
    if sheet is None and len(filled) == 1:
        return str(filled[0])
    if sheet is None:
        rule = f"{option} must name the sheet of a workbook of {len(filled)} sheets, got none"
        raise UnknownNameError(f"{rule}; {suggestion('', filled, 'sheets')}")
    if sheet not in filled:
        rule = f"{option} must be a sheet with cells, got '{sheet}'"
        raise UnknownNameError(f"{rule}; {suggestion(sheet, filled, 'sheets')}")
    return sheet


def _without_midnight(cells: Sequence[str | None]) -> Sequence[str | None]:
    """Write days without a time, where all cells below the first that have one have midnight.

    >>> _without_midnight(["born", "1980-01-02 00:00:00", None])
    ['born', '1980-01-02', None]
    """
    days = [cell for cell in cells[1:] if cell is not None]
    if not days or not all(cell.endswith(MIDNIGHT) for cell in days):
        return cells
    return [cell if cell is None else cell.removesuffix(MIDNIGHT) for cell in cells]


def read_statistics(words: str, path: Path, kind: str, encoding: str) -> "pl.DataFrame":
    """Read a table of SPSS, Stata or SAS: values that the file declares as missing are NULL.

    Numbers have their labels in their place where each that occurs has one, and no two the same.
    """
    pyreadstat = _reader("pyreadstat", words, path)
    read: Callable[..., Any] = getattr(pyreadstat, READERS[kind])
    named = {} if encoding == "utf-8" else {"encoding": encoding}
    with _readable(words, path, (pyreadstat.PyreadstatError, pyreadstat.ReadstatError, OSError)):
        frame, about = read(path, output_format="polars", **named)
    return _as_labelled(frame, about.variable_value_labels)


def _as_labelled(frame: "pl.DataFrame", labels: Mapping[str, Mapping[Any, str]]) -> "pl.DataFrame":
    """Write labels for numbers, whole numbers without a fraction, and no value for an empty text."""
    import polars as pl  # noqa: PLC0415 - few files need it

    made = []
    for column in frame.iter_columns():
        values = column.drop_nulls().unique().to_list()
        named = [labels.get(column.name, {}).get(value) for value in values]
        if values and None not in named and len(set(named)) == len(values):
            made.append(column.replace_strict(values, named, return_dtype=pl.String))
        elif column.dtype == pl.Float64 and all(
            value.is_integer() and abs(value) <= MAX_WHOLE for value in values
        ):
            made.append(column.cast(pl.Int64))
        elif column.dtype == pl.String:
            made.append(column.replace("", None))
        else:
            made.append(column)
    return pl.DataFrame(made)


def _reader(module: str, words: str, path: Path) -> ModuleType:
    if find_spec(module) is None:
        rule = f"{words} must have {module} to read {path.suffix}, got none"
        raise UnavailableError(f"{rule}; pip install 'reid-sql[files]', or save it as CSV")
    return import_module(module)


@contextmanager
def _readable(words: str, path: Path, refusals: tuple[type[Exception], ...]) -> Iterator[None]:
    """Refuse in one sentence what a reader refuses; its own words may have values."""
    try:
        yield
    except refusals:
        rule = f"{words} must be a {path.suffix} file that can be read, got '{path.name}'"
        raise OutOfDomainError(f"{rule}; write it anew, or save it as CSV") from None
