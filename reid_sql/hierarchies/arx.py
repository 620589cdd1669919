"""Hierarchies of ARX: a CSV file with a row for each value, and a column for each level.

The first column has the value, the next ones what it becomes. ARX separates columns by semicolons. No message
contains a value of the file.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.hierarchies.steps import ALL, Grouped
from reid_sql.parameters import Choice
from reid_sql.suggestion import suggestion

SEPARATOR: Final = Choice((";", ",", "|", "\t"))
MIN_COLUMNS: Final = 2


def read_arx(where: str, path: Path, separator: str) -> tuple[tuple[Grouped, ...], frozenset[str]]:
    """Read the levels, without a last one that is `*` for all, and the values that the file has."""
    if not path.is_file():
        files = path.parent.glob("*.csv") if path.parent.is_dir() else []
        near = [other.name for other in files if other.is_file()]
        rule = f"{where} must be an existing file, got '{path.name}'"
        raise UnknownNameError(f"{rule}; {suggestion(path.name, near, 'files beside it')}")
    rows = _read_rows(where, path, separator)
    _refuse_uneven(where, path, rows)
    levels = list(zip(*rows, strict=True))
    _refuse_inconsistent(where, path, levels)
    values, coarser = levels[0], levels[1:]
    if set(coarser[-1]) == {ALL}:
        coarser = coarser[:-1]
    steps = tuple(Grouped(tuple(zip(values, level, strict=True))) for level in coarser)
    return steps, frozenset(values)


def _read_rows(where: str, path: Path, separator: str) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [row for row in csv.reader(file, delimiter=separator, strict=True) if row]
    except UnicodeDecodeError:
        rule = f"{where} must be a file in UTF-8, got '{path.name}' with a byte that is not"
        raise OutOfDomainError(f"{rule}; save it in UTF-8") from None
    except csv.Error:
        rule = f"{where} must be a file of CSV, got '{path.name}' with a quote that does not end"
        raise OutOfDomainError(f"{rule}; correct the quotes") from None


def _refuse_uneven(where: str, path: Path, rows: Sequence[Sequence[str]]) -> None:
    if not rows or len(rows[0]) < MIN_COLUMNS:
        got = f"got '{path.name}' with fewer than {MIN_COLUMNS} columns"
        raise OutOfDomainError(
            f"{where} must have a column of values and one for each level, {got}; name the separator"
        )
    for line, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            rule = f"{where} must have equally many columns in each row"
            got = f"got {len(row)} in row {line} of '{path.name}' and {len(rows[0])} in row 1"
            raise OutOfDomainError(f"{rule}, {got}; complete the row")


def _refuse_inconsistent(where: str, path: Path, levels: Sequence[Sequence[str]]) -> None:
    """Refuse a value that is there twice, and a label of which a later level splits the values."""
    first: dict[str, int] = {}
    for line, value in enumerate(levels[0], 1):
        if value in first:
            rule = f"{where} must have each value once"
            got = f"got one in the rows {first[value]} and {line} of '{path.name}'"
            raise OutOfDomainError(f"{rule}, {got}; remove one of the rows")
        first[value] = line
    for level in range(1, len(levels) - 1):
        above: dict[str, tuple[str, int]] = {}
        for line, (label, coarser) in enumerate(zip(levels[level], levels[level + 1], strict=True), 1):
            known, earlier = above.setdefault(label, (coarser, line))
            if known != coarser:
                rule = f"{where} must merge values at each level, got level {level + 1} of '{path.name}'"
                raise OutOfDomainError(
                    f"{rule}, which splits those of rows {earlier} and {line}; correct one of them"
                )
