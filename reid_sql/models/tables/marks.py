"""Columns by which other programs mark a count as hidden, although their files may contain it.

tau-Argus writes letters (S, P, E; hidden: U, M, D), numbers from 1 to 14 (hidden: 3 to 9, 11, 12), and for
European business statistics V (hidden: A, B, C, D, F, H). sdcTable writes s and z (hidden: u, x); a flag is
true or 1. Each alphabet is read as a whole: a letter of one may be a category elsewhere.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from reid_sql.errors import OTHER_VALUE, OutOfDomainError, UnknownNameError, suggestion
from reid_sql.parameters import Row, Rows, fold_case

SDC_STATUS: Final = "sdcstatus"  # the column of sdcTable, a name that means nothing else
STATUS: Final = "status"
# statuses of safe_table
OPEN: Final = frozenset({"", "published", "unsafe", "rounded", "beyond_base"})
BY_SAFE_TABLE: Final = OPEN | {"primary", "secondary", "unprotected"}
Alphabet = tuple[frozenset[str], frozenset[str]]  # what is shown, and what is hidden
ALPHABETS: Final[tuple[Alphabet, ...]] = (
    (OPEN, BY_SAFE_TABLE - OPEN),
    (frozenset({"", "s", "p", "e", "z", "w"}), frozenset({"u", "m", "d", "x"})),
    (frozenset({"", "v"}), frozenset("abcdfh")),
    (frozenset({"", "false", "0"}), frozenset({"true", "1"})),
    (
        frozenset({"", "1", "2", "10", "13", "14"}),
        frozenset({"3", "4", "5", "6", "7", "8", "9", "11", "12"}),
    ),
)
REMEDY_ASK: Final = "pass status := 'status' if it marks hidden counts, or name the columns of categories by columns"


def find_hidden(
    rows: Rows,
    tables: Sequence[int],
    status: str | None,
    columns: Sequence[str],
) -> list[bool]:
    """Whether the column `status` of its table marks each row as hidden; names are in small letters.

    Without `status`, a column sdcStatus is read, and a column status only where `safe_table` wrote it.
    Another must be named, there or in `columns`: its letters may be those of marital statuses.

    >>> find_hidden([{"status": "U"}, {"status": "S"}], [1, 1], "status", [])
    [True, False]
    """
    categories = {fold_case(name) for name in columns}
    names = {SDC_STATUS, STATUS} - categories
    if status is not None:
        _check_status(rows, status, categories)
        names = {fold_case(status)}
    hidden = [False] * len(rows)
    for number in dict.fromkeys(tables):
        places = [place for place, table in enumerate(tables) if table == number]
        of_table = [rows[place] for place in places]
        for name in names:
            if status is None and name == STATUS and not _texts(of_table, name) <= BY_SAFE_TABLE:
                raise OutOfDomainError(
                    "tables with a column 'status' must say what it is, got neither status nor columns; "
                    f"{REMEDY_ASK}"
                )
            marks = _find_marks(_texts(of_table, name), status or name)
            for place in places:
                hidden[place] |= _text(rows[place].get(name)) in marks
    return hidden


def _check_status(rows: Rows, status: str, categories: set[str]) -> None:
    if fold_case(status) in categories:
        raise OutOfDomainError(
            f"status must be no column of categories, got '{status}'; leave it out of one of them"
        )
    if not any(fold_case(status) in row for row in rows):
        columns_of_rows = list(dict.fromkeys(each for row in rows for each in row))
        raise UnknownNameError(
            f"status must be a column of one of the tables, got '{status}'; "
            f"{suggestion(status, columns_of_rows)}"
        )


def _find_marks(values: set[str], name: str) -> frozenset[str]:
    """Find what marks hidden counts in the only alphabet that has all values."""
    fitting = {frozenset(values & hides) for shows, hides in ALPHABETS if values <= shows | hides}
    if len(fitting) == 1:
        return fitting.pop()
    got = f"values of two meanings in '{name}'" if fitting else f"{OTHER_VALUE} in '{name}'"
    raise OutOfDomainError(
        "status must be letters of tau-Argus or sdcTable, or true where a count is hidden"
        f", got {got}; write true or false in a view"
    )


def _texts(rows: Iterable[Row], name: str) -> set[str]:
    return {_text(row.get(name)) for row in rows}


def _text(value: Any) -> str:  # noqa: ANN401 - as JSON has it
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value).strip().lower()
