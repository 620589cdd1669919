"""The first line of a text file, whether it names the columns, each once, and the last, if it is no record.

A reader that takes a title, or the first record, for the header loses a record or measures another column in
silence. So do two columns of one name: each engine renames the second in its own way, or ignores it.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain, islice, pairwise
from typing import Final

from reid_sql.errors import OutOfDomainError

FieldRows = Sequence[Sequence[str]]  # of each line
DELIMITERS: Final = (",", ";", "\t", "|")
MAX_LINES_COMPARED: Final = 20  # of the header and the lines below it
# of the names that are values of their columns: the line is a record
MIN_REPEATED_SHARE: Final = 1 / 3
# how readers call the columns of a file without a header
NUMBERED: Final = re.compile(r"(column|_c)?\d+")
RENAMED: Final = re.compile(r"_\d+$")  # what DuckDB puts behind a name that the table already has
DAY: Final = r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
# a number or a date
VALUE: Final = re.compile(rf"[+-]?\d+([.,]\d+)*|{DAY}")
DATE: Final = re.compile(rf"{DAY}([ T]\d{{1,2}}:.*)?")
SIGNED: Final = re.compile(r"[+-].*|\d+[.,]\d+")  # or with a fraction
# what no column is called: an address of mail, an amount of money, JSON
NO_NAME: Final = re.compile(r"\S+@\S+[.]\w+|[$€£¥]\s?[-\d.,]+|\{.*:.*\}")
MAX_GAP: Final = 100  # between the years, or the numbers, that name columns
# \W of DuckDB is also any letter beyond ASCII: of a name that begins like a total, a person would be one
MARKS_BEHIND_TOTAL: Final = "([^\\w\u0080-\U0010ffff]|[\u2013\u2014\uff1a\u00a0])*"
SEPARATOR_LINE: Final = re.compile(r"sep=.", re.IGNORECASE)  # by which Excel reads the lines below
REMEDY: Final = "remove the lines above the header"
REMEDY_IN_SQL: Final = f"{REMEDY}, or pass a view of read_csv('…', skip = …)"


def refuse_title(
    words: str, row: Sequence[str], lines: Sequence[str], write_remedy: Callable[[], str]
) -> None:
    """Refuse a line that is no header: most of its names are empty, or the lines below have more fields."""
    named = sum(map(bool, row))
    below = [line for line in lines[1:MAX_LINES_COMPARED] if line.strip()]
    has_more = (
        named == len(row) == 1
        and len(below) > 1
        and any(_divides(below, mark) for mark in DELIMITERS)
    )
    is_mark = bool(SEPARATOR_LINE.fullmatch(lines[0].removeprefix("\ufeff").strip()))
    if has_more or is_mark or (len(row) > 2 and 2 * named < len(row)):  # noqa: PLR2004 - R leaves one name out
        raise OutOfDomainError(
            f"{words} must begin with its header, got a line that names {named} of its columns; {write_remedy()}"
        )


def lines_above_header(lines: Sequence[str], quote: str = '"') -> int:
    """How many lines stand above the first with as many filled fields as most have; 0 where none are divided.

    >>> lines_above_header(["Patients, 2024", "", "age;sex", "30;f", "31;m", "32;f"])
    2

    Of two marks, that of more fields divides them: the other one is within numbers.

    >>> lines_above_header(["Patients", "", "age;cost;sex", "30;1,5;f", "31;2,5;m", "32;7,5;f", "33;7,0;m"])
    2
    """
    marks = [mark for mark in DELIMITERS if lines and _divides(lines, mark)]
    if not marks:
        return 0
    mark = max(
        marks, key=lambda each: Counter(line.count(each) for line in lines).most_common(1)[0][0]
    )
    rows = (chain(*read_rows([line], mark, quote)) for line in lines)
    filled = [sum(map(bool, map(str.strip, row))) for row in rows]
    most, _ = Counter(filled).most_common(1)[0]
    return next(place for place, number in enumerate(filled) if number >= most)


def _divides(lines: Sequence[str], mark: str) -> bool:
    """Whether most of the lines, though not all need, have the same number of a mark."""
    number, times = Counter(line.count(mark) for line in lines).most_common(1)[0]
    return number > 0 and 2 * times > len(lines)


def refuse_quotes(words: str, row: Sequence[str], remedy: str) -> None:
    """Refuse names that are all within the same marks: these are quotes, which a reader must know."""
    marks = {name[:1] for name in row} | {name[-1:] for name in row}
    if len(marks) == 1 and marks <= {"'", "`"} and all(len(name) > 1 for name in row):
        raise OutOfDomainError(
            f"{words} must be read by its quotes, got names that all begin and end with {marks.pop()}; {remedy}"
        )


def refuse_record(words: str, rows: FieldRows, remedy: str) -> None:
    """Refuse a first line that is a record: its fields are values of the lines below, or numbers in no order.

    Years and the numbers of columns are in order and near each other, or twice all numbers below, and names.
    So is a row of dates, unless they are above dates.

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
    named = sum(map(bool, map(str.strip, header)))
    if _has_values(rows) or (repeated and repeated >= MIN_REPEATED_SHARE * named):
        raise OutOfDomainError(
            f"{words} must begin with its header, got a first line that looks like a record; {remedy}"
        )


def refuse_footer(words: str, rows: FieldRows, remedy: Callable[[int], str]) -> None:
    """Refuse a last line that is a total or a note: most of its fields are empty, as in no line before it.

    `remedy` says how to leave out so many lines at the end.

    >>> remove = "remove {}".format
    >>> refuse_footer("FILE", [["Summe", "1"], ["anna", ""]], remove)
    >>> refuse_footer("FILE", [["anna", "1"], ["Summe:", ""]], remove)  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    reid_sql.errors.OutOfDomainError: FILE must end with a record, got a last line that looks like a total or
        a note; remove 1, or write it further up if it is a record
    """
    *above, last = [list(map(str.strip, row)) for row in rows] or [[]]
    empty = last.count("")
    if not above or empty <= max(len(last) / 2 - 1, *(row.count("") for row in above)):
        return
    first = next(filter(None, last), "")
    is_note = empty == len(last) - 1 and re.search(r":\s*\w|(\w+\W+){4}", first)
    if is_total(first) or is_note or _is_word_below_numbers(first, above, last.index(first)):
        raise OutOfDomainError(
            f"{words} must end with a record, got a last line that looks like a total or a note; "
            f"{remedy(1)}, or write it further up if it is a record"
        )


@cache
def pattern_of_totals() -> str:
    """Write the pattern of what totals are called in many languages: a word is first, or the last of few."""
    from reid_sql.models.columns.missing_value_codes import (  # noqa: PLC0415 - lists of words
        SPELLINGS_OF_TOTALS,
    )

    words = f"({'|'.join(SPELLINGS_OF_TOTALS)})".replace(" ", "[ -]")
    return rf"(?i)\s*(?:{words}{MARKS_BEHIND_TOTAL}(\s+\S+){{0,3}}|(\S+\s+){{1,3}}{words})[\s:.]*"


def is_total(field: str) -> bool:
    """Whether a field is called a total.

    >>> [is_total(each) for each in ("Razem:", "Total général", "Ogółem", "Toto")]
    [True, True, True, False]
    """
    return re.fullmatch(pattern_of_totals(), field) is not None


def _is_word_below_numbers(field: str, rows: FieldRows, place: int) -> bool:
    """Whether a field is a word where all others of its column have a digit."""
    fields = [row[place] for row in rows if len(row) > place and row[place].strip()]
    have_digits = len(fields) >= MIN_ROWS_BELOW and all(re.search(r"\d", each) for each in fields)
    return have_digits and field.isalpha() and is_word(field)


MAX_ROWS_COMPARED: Final = 300  # below a header, which show what the values of its columns are
MAX_HEADER_ROWS: Final = 3  # below the first
MIN_ROWS_BELOW: Final = 8  # that are records for certain
MIN_SHARE_OF_VALUES: Final = 0.95  # of the fields of a column are numbers or dates
FIRST_OF_NOTE: Final = tuple("*\u2020\u2021\u00a7\u00b9\u00b2\u00b3\u207a(#")
WORDS_OF_NOTE: Final = 4


def _find_second_headers(rows: FieldRows, first_line: int) -> list[int]:
    """The lines below the header that name its columns again."""
    columns = len(rows[0])
    below = [row for row in rows[1 + MAX_HEADER_ROWS :] if len(row) == columns]
    if columns < 2 or len(below) < MIN_ROWS_BELOW:  # noqa: PLR2004 - one column has no other to agree with
        return []
    values = [[row[place].strip() for row in below] for place in range(columns)]
    seen = [set(each) - {""} for each in values]
    numeric = [place for place in range(columns) if _are_values(values[place])]
    return [
        number
        for number, row in enumerate(rows[1 : 1 + MAX_HEADER_ROWS], first_line + 1)
        if len(row) == columns and _is_header([field.strip() for field in row], seen, numeric)
    ]


def refuse_second_header(
    words: str,
    rows: FieldRows,
    first_line: int = 1,
    write_skip: Callable[[int], str] | None = None,
) -> None:
    """Refuse lines below the header that name its columns again: their labels, units, or "Response".

    Such a line has words where all others have numbers, or the same word in each field, and no value that
    another line has. `write_skip` says how to skip so many lines more, down to the last of them.

    >>> lines = [["age", "sex"], ["Response", "Response"], *[[str(20 + i), "fm"[i % 2]] for i in range(12)]]
    >>> refuse_second_header("FILE", lines)  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    reid_sql.errors.OutOfDomainError: FILE must have one line with the names of its columns, got one that
        looks like another header in line 2; remove it
    """
    if numbers := _find_second_headers(rows, first_line):
        lines = " and ".join(map(str, numbers))
        looks = "one that looks like another header" if len(numbers) == 1 else "others like headers"
        rule = (
            f"{words} must have one line with the names of its columns, got {looks} in line {lines}"
        )
        remedy = f"remove {'it' if len(numbers) == 1 else 'them'}"
        if write_skip is not None:
            last = numbers[-1]
            remedy = f"{write_skip(last - first_line)} if the names are in line {last}, or {remedy}"
        raise OutOfDomainError(f"{rule}; {remedy}")


def _are_values(fields: Sequence[str]) -> bool:
    """Whether nearly all fields of a column that are filled are numbers or dates."""
    filled = [field for field in fields if field]
    number = sum(bool(VALUE.fullmatch(field)) for field in filled)
    return len(filled) >= MIN_ROWS_BELOW and number >= MIN_SHARE_OF_VALUES * len(filled)


def _is_header(row: Sequence[str], seen: Sequence[set[str]], numeric: Sequence[int]) -> bool:
    """Whether a line is none of records: it has no value that another has, and words in place of numbers."""
    filled = [place for place, field in enumerate(row) if field]
    if len(filled) < 2 or any(row[place] in seen[place] for place in filled):  # noqa: PLR2004 - see above
        return False
    are_words = [not re.search(r"\d", row[place]) and is_word(row[place]) for place in filled]
    if len({row[place] for place in filled}) == 1:
        return all(are_words)
    named = [place for place in filled if place in numeric]
    return bool(named) and all(are_words[filled.index(place)] for place in named)


def is_word(field: str) -> bool:
    """Whether a field is a word, and no code of a missing value, as a record may have."""
    from reid_sql.models.columns.missing_value_codes import CODE_WORDS  # noqa: PLC0415 - lists of words
    from reid_sql.models.columns.spelling import word_form  # noqa: PLC0415 - the same

    return word_form(field) not in CODE_WORDS


def refuse_footnotes(
    words: str, rows: FieldRows, last_line: int, remedy: Callable[[int], str]
) -> None:
    """Refuse notes below the last record, perhaps filled with separators to its width.

    A note is alone in its line, in the first field, as nothing is in the lines above the notes. Filled with
    separators, it is written as one: with a colon, a mark before it, or several words. Lines of separators
    alone may be between them and the last record.

    >>> rows = [["ann", "1"], ["bob", "2"], ["", ""], ["Source: office", ""]]
    >>> refuse_footnotes("FILE", rows, 5, "remove {}".format)  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    reid_sql.errors.OutOfDomainError: FILE must end with a record, got notes or totals in lines 4 to 5;
        remove 2
    """
    end = len(rows)
    width = max(map(len, rows), default=0)
    while (
        end
        and width > 1
        and (_is_note(rows[end - 1], width) or not any(map(str.strip, rows[end - 1])))
    ):
        end -= 1
    above, notes = rows[:end], rows[end:]
    if len(above) < 2 or any(map(_is_alone, above)):  # noqa: PLR2004 - one line shows no rule
        return
    if not any(_is_note(row, width) for row in notes):
        return
    first = last_line - len(notes) + 1
    where = (
        f"a note or total in line {first}"
        if len(notes) == 1
        else f"notes or totals in lines {first} to {last_line}"
    )
    raise OutOfDomainError(f"{words} must end with a record, got {where}; {remedy(len(notes))}")


def _is_alone(row: Sequence[str]) -> bool:
    return len(row) > 1 and bool(row[0].strip()) and not any(field.strip() for field in row[1:])


def _is_note(row: Sequence[str], width: int) -> bool:
    """Whether a line is a note; one that is not filled to the width ends no field of several lines."""
    note = row[0].strip() if row else ""
    if len(row) == 1 < width:
        return bool(note) and '"' not in note
    return _is_alone(row) and bool(
        is_total(note)
        or re.search(r":\s*\w", note)
        or note.startswith(FIRST_OF_NOTE)
        or len(note.split()) >= WORDS_OF_NOTE
    )


def refuse_blank_records(
    words: str, lines: Sequence[int], count: int, last_line: int, remedy: Callable[[int], str]
) -> None:
    """Refuse records that have separators alone, by the numbers of the first lines of them."""
    if not count:
        return
    shown = ", ".join(map(str, lines))
    more = f" and {count - len(lines):,} more" if count > len(lines) else ""
    rule = f"{words} must have a value in each record, got separators alone in line {shown}{more}"
    if count == last_line - lines[0] + 1:  # all of them are below the last record
        raise OutOfDomainError(f"{rule}; {remedy(count)}")
    raise OutOfDomainError(f"{rule}; remove {'it' if count == 1 else 'them'}")


def _has_values(rows: FieldRows) -> bool:
    """Whether a line is a record: a field of it names nothing, or its numbers count nothing."""
    header = [name.strip() for name in rows[0]]
    if any(map(NO_NAME.fullmatch, header)) or _has_date_above_dates(header, rows[1:]):
        return True
    values = list(filter(VALUE.fullmatch, header))
    if len(values) < 2:  # noqa: PLR2004 - pandas calls a single column 0
        return values not in ([], ["0"])
    numbers = [[*map(int, re.findall(r"\d+", value))] for value in values]
    steps = list(pairwise(numbers))
    is_ordered = all(len(one) == len(other) and one < other for one, other in steps)
    is_near = all(len(one) > 1 or other[0] - one[0] <= MAX_GAP for one, other in steps)
    counts = is_ordered and (is_near or _are_beyond_values(rows))
    return not counts or any(map(SIGNED.fullmatch, values))


def _has_date_above_dates(header: Sequence[str], below: FieldRows) -> bool:
    """Whether a name is a date, as most values of its column are."""
    for place, name in enumerate(header):
        if DATE.fullmatch(name):
            fields = [row[place].strip() for row in below if place < len(row)]
            filled = list(filter(None, fields))
            if 2 * len(list(filter(DATE.fullmatch, filled))) > len(filled):
                return True
    return False


def _are_beyond_values(rows: FieldRows) -> bool:
    """Whether all numbers of a line are twice those below: frequencies, in Hz, above what is heard, in dB."""
    for place, name in enumerate(rows[0]):
        fields = [row[place].strip() for row in rows[1:] if place < len(row)]
        numbers = [_read_number(field) for field in fields if VALUE.fullmatch(field)]
        is_number = VALUE.fullmatch(name.strip()) is not None
        if is_number and (len(numbers) < MIN_ROWS_BELOW or _read_number(name) <= 2 * max(numbers)):
            return False
    return True


def _read_number(field: str) -> float:
    """Read the first number of a field, without its sign."""
    return float(re.findall(r"\d+(?:[.,]\d+)?", field)[0].replace(",", "."))


def refuse_levels(words: str, rows: FieldRows) -> None:
    """Refuse names of columns in several lines, a line for each level, as a crosstab of pandas has them.

    Those of the first line repeat, and with the lines below, which have words alone, no two are the same.

    >>> refuse_levels("FILE", [["sex", "f", "f"], ["ill", "yes", "no"]])  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    reid_sql.errors.OutOfDomainError: FILE must have one line with the names of its columns, got a line for
        each level of a crosstab; write a line for each cell, in pandas by table.melt(ignore_index=False)
    """
    named = list(filter(None, rows[0]))
    if len(set(named)) == len(named):
        return
    for levels in range(2, MAX_HEADER_ROWS + 2):
        lines = rows[:levels]
        are_words = not any(VALUE.fullmatch(field) for row in lines[1:] for field in row)
        if not are_words or {len(row) for row in lines} != {len(rows[0])}:
            return
        if len(set(zip(*lines, strict=True))) == len(rows[0]):
            raise OutOfDomainError(
                f"{words} must have one line with the names of its columns, got a line for each level of a crosstab; "
                "write a line for each cell, in pandas by table.melt(ignore_index=False)"
            )


def refuse_repeated_names(
    words: str, names: Iterable[str], fold: Callable[[str], str] = str.lower
) -> None:
    """Refuse columns whose names differ by case alone, or not at all: engines take one for the other."""
    seen: dict[str, str] = {}
    for name in names:
        if fold(name) in seen:
            case = "" if fold is str else ", whatever the case"
            raise OutOfDomainError(
                f"{words} must name each column once{case}, got '{name}' beside '{seen[fold(name)]}'; "
                "rename one of them"
            )
        seen[fold(name)] = name


def read_rows(
    lines: Sequence[str], delimiter: str, quote: str = '"', most: int = MAX_LINES_COMPARED
) -> list[list[str]]:
    """Divide the first lines into fields; a record that goes on beyond them is left out."""
    text = io.StringIO("\n".join(lines), newline="")
    how = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE, "quotechar": None}
    return list(islice(csv.reader(text, delimiter=delimiter, **how), most))


def refuse_misread(words: str, names: Sequence[str], lines: Sequence[str]) -> None:
    """Refuse a file of which another program found other columns than its first line names.

    Such a program skips a title, renames the second of two columns, or takes all lines for one column.
    """
    lines = [lines[0].removeprefix("\ufeff"), *lines[1:]] if lines else []
    if not any(line.strip() for line in lines):
        return
    read = {mark: read_rows(lines, mark) for mark in DELIMITERS}
    widest = max(DELIMITERS, key=lambda mark: len(read[mark][0]))
    refuse_title(words, read[widest][0], lines, lambda: REMEDY_IN_SQL)
    is_numbered = all(NUMBERED.fullmatch(name) for name in names)
    for rows in read.values():
        if len(rows[0]) != len(names) or (len(names) == 1 and rows[0] != read[widest][0]):
            continue
        if is_numbered:
            return
        is_same = _are_same(rows[0], names)
        if is_same:
            refuse_record(words, rows, "write one, or pass a view of read_csv('…', header = …)")
            refuse_second_header(words, rows)
        # a query refuses those that differ by case
        refuse_repeated_names(words, filter(None, rows[0]), str)
        if is_same:
            return
    raise OutOfDomainError(
        f"{words} must be read by the columns that its first line names, got {len(names)} others; "
        "pass a view of read_csv('…') that names delim, quote and skip"
    )


def _are_same(row: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a reader found the names of the line.

    It may trim them, numbers those that are empty, and puts a number behind one that differs by case alone.
    """
    pairs = ((one.strip(), other.strip()) for one, other in zip(row, names, strict=True))
    return all(not one or RENAMED.sub("", other) == RENAMED.sub("", one) for one, other in pairs)
