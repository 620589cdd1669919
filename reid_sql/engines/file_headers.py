"""The first line of a text file, whether it names the columns, each once, and the last, if it is no record.

A reader that takes a title, or the first record, for the header loses a record or measures another column in
silence. So do two columns of one name: each engine renames the second in its own way, or ignores it.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import islice, pairwise
from typing import Final

from reid_sql.errors import OutOfDomainError

DELIMITERS: Final = (",", ";", "\t", "|")
MAX_LINES_COMPARED: Final = 20  # of the header and the lines below it
# of the names that are values of their columns: the line is a record
MIN_REPEATED_SHARE: Final = 1 / 3
# how readers call the columns of a file without a header
NUMBERED: Final = re.compile(r"(column|_c)?\d+")
RENAMED: Final = re.compile(r"_\d+$")  # what DuckDB puts behind a name that the table already has
# a number or a date
VALUE: Final = re.compile(r"[+-]?\d+([.,]\d+)*|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}")
TOTAL: Final = re.compile(  # in several languages, as exports write below the last record
    "(grand |sub)?total(s|e|en|es)?|sums?|summe|gesamt(summe)?|insgesamt|somme|suma|somma|totaal|razem|"
    "\u0438того|всего|合計|总计",
    re.IGNORECASE,
)
REMEDY: Final = "remove the lines above the header"
REMEDY_IN_SQL: Final = f"{REMEDY}, or pass a view of read_csv('…', skip = …)"


def refuse_title(
    words: str, row: Sequence[str], lines: Sequence[str], remedy: str = REMEDY
) -> None:
    """Refuse a line that is no header: most of its names are empty, or the lines below have more fields."""
    named = sum(map(bool, row))
    below = [line for line in lines[1:MAX_LINES_COMPARED] if line.strip()]
    has_more = (
        named == len(row) == 1
        and len(below) > 1
        and any(_divides(below, mark) for mark in DELIMITERS)
    )
    if has_more or (len(row) > 2 and 2 * named < len(row)):  # noqa: PLR2004 - R leaves one name out
        rule = f"{words} must begin with its header, got a line that names {named} of its columns"
        raise OutOfDomainError(f"{rule}; {remedy}")


def _divides(lines: Sequence[str], mark: str) -> bool:
    """Whether most of the lines, though not all need, have the same number of a mark."""
    number, times = Counter(line.count(mark) for line in lines).most_common(1)[0]
    return number > 0 and 2 * times > len(lines)


def refuse_quotes(words: str, row: Sequence[str], remedy: str) -> None:
    """Refuse names that are all within the same marks: these are quotes, which a reader must know."""
    marks = {name[:1] for name in row} | {name[-1:] for name in row}
    if len(marks) == 1 and marks <= {"'", "`"} and all(len(name) > 1 for name in row):
        rule = f"{words} must be read by its quotes, got names that all begin and end with {marks.pop()}"
        raise OutOfDomainError(f"{rule}; {remedy}")


def refuse_record(words: str, rows: Sequence[Sequence[str]], remedy: str) -> None:
    """Refuse a first line that is a record: its fields are values of the lines below, or numbers in no order.

    Years and the numbers of columns are in order, and names.

    >>> refuse_record("FILE", [["id", "2019", "2020"], ["1", "5", "6"]], "")
    >>> refuse_record("FILE", [["ann", "m"], ["bob", "m"]], "add it")  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    reid_sql.errors.OutOfDomainError: FILE must begin with its header, got a first line that looks like a
        record; add it
    """
    header = rows[0]
    if len(header) > 1 and header in rows[1:]:
        raise OutOfDomainError(
            f"{words} must have its header once, got a record that repeats it; remove it"
        )
    repeated = sum(
        any(place < len(row) and row[place] == name for row in rows[1:])
        for place, name in enumerate(header)
        if name.strip()
    )
    named = sum(bool(name.strip()) for name in header)
    if _has_values(header) or (repeated and repeated >= MIN_REPEATED_SHARE * named):
        rule = f"{words} must begin with its header, got a first line that looks like a record"
        raise OutOfDomainError(f"{rule}; {remedy}")


def refuse_footer(words: str, rows: Sequence[Sequence[str]]) -> None:
    """Refuse a last line that is a total or a note: most of its fields are empty, as in no line before it.

    >>> refuse_footer("FILE", [["Summe", "1", "2"], ["anna", "", ""]])
    >>> refuse_footer("FILE", [["anna", "1", "2"], ["Summe:", "", ""]])  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    reid_sql.errors.OutOfDomainError: FILE must end with a record, got a last line that looks like a total or
        a note; remove it, or write it further up if it is a record
    """
    empty = [sum(not field.strip() for field in row) for row in rows]
    if len(rows) < 2 or empty[-1] <= max(len(rows[-1]) / 2 - 1, *empty[:-1]):  # noqa: PLR2004 - one before it
        return
    first = rows[-1][0].strip()
    is_note = empty[-1] == len(rows[-1]) - 1 and re.search(r":\s*\w|(\w+\W+){4}", first)
    if TOTAL.fullmatch(first.rstrip(" :.")) or is_note:
        rule = f"{words} must end with a record, got a last line that looks like a total or a note"
        raise OutOfDomainError(f"{rule}; remove it, or write it further up if it is a record")


def _has_values(header: Sequence[str]) -> bool:
    values = [name.strip() for name in header if VALUE.fullmatch(name.strip())]
    if len(values) < 2:  # noqa: PLR2004 - pandas calls a single column 0
        return bool(values) and values != ["0"]
    numbers = [[int(digits) for digits in re.findall(r"\d+", value)] for value in values]
    is_ordered = all(one < other for one, other in pairwise(numbers))
    return not is_ordered or any(re.fullmatch(r"[+-].*|\d+[.,]\d+", value) for value in values)


def refuse_repeated_names(
    words: str, names: Iterable[str], fold: Callable[[str], str] = str.lower
) -> None:
    """Refuse columns whose names differ by case alone, or not at all: engines take one for the other."""
    seen: dict[str, str] = {}
    for name in names:
        if fold(name) in seen:
            case = "" if fold is str else ", whatever the case"
            rule = f"{words} must name each column once{case}, got '{name}' beside '{seen[fold(name)]}'"
            raise OutOfDomainError(f"{rule}; rename one of them")
        seen[fold(name)] = name


def read_rows(lines: Sequence[str], delimiter: str, quote: str = '"') -> list[list[str]]:
    """Divide the first lines into fields; a record that goes on beyond them is left out."""
    text = io.StringIO("\n".join(lines), newline="")
    how = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE, "quotechar": None}
    return list(islice(csv.reader(text, delimiter=delimiter, **how), MAX_LINES_COMPARED))


def refuse_misread(words: str, names: Sequence[str], lines: Sequence[str]) -> None:
    """Refuse a file of which another program found other columns than its first line names.

    Such a program skips a title, renames the second of two columns, or takes all lines for one column.
    """
    lines = [lines[0].removeprefix("\ufeff"), *lines[1:]] if lines else []
    if not any(line.strip() for line in lines):
        return
    read = {mark: read_rows(lines, mark) for mark in DELIMITERS}
    widest = max(DELIMITERS, key=lambda mark: len(read[mark][0]))
    refuse_title(words, read[widest][0], lines, REMEDY_IN_SQL)
    is_numbered = all(NUMBERED.fullmatch(name) for name in names)
    for rows in read.values():
        if len(rows[0]) != len(names) or (len(names) == 1 and rows[0] != read[widest][0]):
            continue
        if is_numbered:
            return
        is_same = _are_same(rows[0], names)
        if is_same:
            refuse_record(words, rows, "write one, or pass a view of read_csv('…', header = …)")
        # a query refuses those that differ by case
        refuse_repeated_names(words, filter(None, rows[0]), str)
        if is_same:
            return
    rule = f"{words} must be read by the columns that its first line names, got {len(names)} others"
    raise OutOfDomainError(f"{rule}; pass a view of read_csv('…') that names delim, quote and skip")


def _are_same(row: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a reader found the names of the line.

    It may trim them, numbers those that are empty, and puts a number behind one that differs by case alone.
    """
    pairs = ((one.strip(), other.strip()) for one, other in zip(row, names, strict=True))
    return all(not one or RENAMED.sub("", other) == RENAMED.sub("", one) for one, other in pairs)
