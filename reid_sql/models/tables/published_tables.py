"""Published tables as an analyst has them: a row for each cell, with categories, a count, and totals."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from math import inf
from typing import Any, Final, NamedTuple

from reid_sql.errors import (
    OTHER_VALUE,
    NoRecordsError,
    OutOfDomainError,
    UnknownNameError,
    suggestion,
)
from reid_sql.models.columns.missing_value_codes import TOTAL_WORDS
from reid_sql.models.columns.spelling import normal_form, word_form
from reid_sql.models.tables.marks import SDC_STATUS, STATUS, find_hidden
from reid_sql.parameters import ColumnNames, Integers, Row, Rows, fold_case

# the column by which safe_table names the columns that a row is a total of
TOTALS: Final = "total_over"
# What safe_table adds to the columns that it counts by; none of it is a category.
ADDED: Final = (
    TOTALS,
    "records",
    "people",
    "value_sum",
    "largest_share",
    "unsafe",
    STATUS,
    "loss",
    "records_dropped",
    "nulls",
    SDC_STATUS,
)
NIL: Final = "-"  # of tau-Argus and of many offices: a cell of nobody
MARKS: Final = frozenset(
    [
        "",
        "*",
        "**",
        ".",
        "..",
        "...",
        ":",
        "/",
        "c",
        "x",
        "s",
        "[c]",
        "[s]",
        "[u]",
        "[x]",
        "(d)",
        "n/a",
    ]
) | frozenset(["na", "n.a.", "n.p.", "suppressed", "redacted", "hidden", "masked", "confidential"])
LIKE_TOTALS: Final = frozenset(  # categories that would hide every equation if they were not totals
    [*TOTAL_WORDS, "all", "overall", "both sexes", "all ages", "alle", "tous", "todos", "tutti"]
)
BELOW: Final = re.compile(r"(<|<=|≤|under|fewer than|less than)\s*(\d{1,9})")
# a count of thousands; a comma may be that of a decimal number
GROUPED: Final = re.compile("[1-9][0-9]{0,2}([ '’\u00a0\u202f][0-9]{3})+")
NULL: Final = "\x01NULL"  # the category of NULL where a total is marked by something else
BLANKS: Final = frozenset([NULL, ""])
Key = tuple[str | None, ...]  # the category of each column, None for a total
# the number of the table, the key, the values, and whether the count is hidden
ReadRow = tuple[int, Key, Mapping[str, Any], bool]


@dataclass(frozen=True)
class PublishedRows:
    """The rows of all tables, each as a JSON object of its columns, with the number of its table."""

    tbl: Integers  # (rows,), from 1
    text: Sequence[str | None]  # (rows,), None for a table without rows


@dataclass
class Cell:
    """A cell of one or more tables: its count, and what its publisher's rule tells of a hidden one.

    A rounded count has no value, but bounds.
    """

    low: float
    high: float
    value: float | None = None
    # the tables that show the count, perhaps rounded
    published: list[int] = field(default_factory=list)
    suppressed: list[int] = field(default_factory=list)  # the tables that hide it
    is_listed: bool = True  # by one of the tables; else rounding may have left it out

    @property
    def bounds(self) -> tuple[float, float]:
        """What is known of the count without an equation."""
        return (self.low, self.high) if self.value is None else (self.value, self.value)

    def of_table(self, number: int) -> "Cell":
        """The cell as one table alone shows it."""
        value = self.value if number in self.published else None
        published, suppressed = (
            [number] * (number in each) for each in (self.published, self.suppressed)
        )
        return Cell(self.low, self.high, value, published, suppressed, self.is_listed)

    @property
    def tables(self) -> list[int]:
        """The tables that have the cell."""
        return self.published + self.suppressed


Cells = dict[Key, Cell]


class Counted(NamedTuple):
    """A cell as one table shows it, before its count is rounded off."""

    table: int
    key: Key
    cell: Cell
    names_totals: bool = (
        False  # whether the row says which columns it totals, as those of safe_table do
    )


def group_by_table(counted: Sequence[Counted]) -> dict[int, list[Counted]]:
    """The cells of each table, by its number."""
    tables: dict[int, list[Counted]] = {}
    for each in sorted(counted, key=lambda each: each.table):
        tables.setdefault(each.table, []).append(each)
    return tables


@dataclass(frozen=True)
class Reading:
    """How tables are read: their columns of categories and of counts, and what marks a total.

    `status` names the column that marks counts as hidden. `lowest` and `highest` are what an attacker knows
    of each hidden count by the publisher's rule. Published counts are multiples of `base`, 0 if it is to be
    found, and differ from the true ones by at most `within`, half the base if it is 0. Those of at most
    `redacted` people are 0. If `whole` are columns of tables, those of others list some of their cells.
    """

    columns: list[str] | None = None
    count: str = "records"
    total: Sequence[str] = ()
    lowest: float = 1.0
    highest: float = inf
    base: int = 1
    status: str | None = None
    value: str | None = None  # the column of sums, if they are audited
    largest: str = "largest"  # of the largest contributions to each, which only the auditor knows
    within: int = 0
    left_out: Sequence[str] = ()  # columns that are constant in each table, and part them
    figures: Sequence[str] = ()  # columns besides the count that are no categories, and not audited
    not_total: Sequence[str] = ()  # categories that are no totals, although their counts are sums
    redacted: int = 0
    whole: Sequence[frozenset[str]] | None = None

    @property
    def distance(self) -> int:
        """By how much a published count may differ from the true one."""
        return max(self.within or self.base // 2, self.redacted)


def read_cells(
    rows: PublishedRows, reading: Reading, *, nested: bool = False
) -> tuple[list[str], Cells]:
    """Read the cells of all tables; gives the columns of categories too.

    A column that a table lacks is totalled there. With `nested`, a table counts some of the people of the
    one before: each has a column more, which stands for the step from that one.

    >>> rows = PublishedRows([1, 1], ['{"sex": "F", "records": 3}', '{"sex": null, "records": 7}'])
    >>> read_cells(rows, Reading())[1][(None,)].value
    7.0
    """
    columns, counted = read_counts(rows, reading, nested=nested)
    cells: Cells = {}
    for number, key, cell, _ in counted:
        add_cell(cells, key, _round_off(cell, reading), number, is_shown=cell.value is not None)
    _refuse_unmarked_totals(cells, reading)
    keys_of: dict[int, list[Key]] = {}
    for key, cell in cells.items():
        for number in cell.tables:
            keys_of.setdefault(number, []).append(key)
    _refuse_unlike_categories(keys_of, columns)
    for place, name in enumerate([] if reading.columns else columns):
        for number in sorted(keys_of):
            _refuse_figures(keys_of[number], place, name)
    return columns, cells


def read_counts(
    rows: PublishedRows, reading: Reading, *, nested: bool = False
) -> tuple[list[str], list[Counted]]:
    """Give the columns of categories, and the cell of each row."""
    columns, read = read_rows(rows, reading, nested=nested)
    return columns, [
        Counted(
            number,
            key,
            read_count(row, reading, is_hidden=is_hidden),
            row.get(TOTALS) is not None,
        )
        for number, key, row, is_hidden in read
    ]


def parse_rows(rows: PublishedRows) -> Rows:
    """Give each row as a dictionary, and refuse a table without rows."""
    if not len(rows.text) or None in rows.text:
        raise NoRecordsError
    return [json.loads(text or "") for text in rows.text]


def read_rows(
    rows: PublishedRows, reading: Reading, *, nested: bool = False
) -> tuple[list[str], list[ReadRow]]:
    """Give the columns of categories, and each row: its table, key and values, and whether it is hidden."""
    numbers = list(map(int, rows.tbl))
    parsed = parse_rows(rows)
    columns = [name for name in _columns_of(parsed, reading) if name not in reading.left_out]
    steps = max(numbers) - 1 if nested else 0
    folded_rows = [{fold_case(name): value for name, value in row.items()} for row in parsed]
    if not reading.left_out:
        _refuse_absent_labels(folded_rows, columns, reading)
    hidden = find_hidden(folded_rows, numbers, reading.status, reading.columns or ())
    read: list[ReadRow] = []
    for number, folded, is_hidden in zip(numbers, folded_rows, hidden, strict=True):
        within = tuple("1" if step < number - 1 else None for step in range(steps))
        totals = _totals_of(folded.get(TOTALS))
        categories = (_category_of(folded, name, totals, reading.total) for name in columns)
        read.append((number, (*categories, *within), folded, is_hidden))
    return columns, list(_fill_margins(read, len(columns))) if reading.total else read


def _fill_margins(read: Sequence[ReadRow], width: int) -> Iterator[ReadRow]:
    """Yield rows whose blanks are totals where only rows of other totals have one.

    So pandas writes the margins of several variables: All of the first, and nothing of the others.
    """
    taken = {(number, key) for number, key, *_ in read}
    parts = {
        (number, place)
        for number, key, row, _ in read
        for place, category in enumerate(key[:width])
        if category in BLANKS and (None not in key[:width] or row.get(TOTALS) is not None)
    }
    for number, key, row, is_hidden in read:
        filled = tuple(
            None
            if category in BLANKS and place < width and (number, place) not in parts
            else category
            for place, category in enumerate(key)
        )
        yield number, key if (number, filled) in taken else filled, row, is_hidden


def _refuse_absent_labels(rows: Rows, columns: ColumnNames, reading: Reading) -> None:
    """Refuse a total, or a category that is none, which no row has: a slip would declare nothing."""
    labels = {"total": reading.total, "not_total": reading.not_total}
    if not any(labels.values()):
        return
    values = (row.get(fold_case(name)) for row in rows for name in columns)
    categories = sorted({text_of(value) for value in values if value is not None})
    for parameter, declared in labels.items():
        for label in declared:
            if label not in categories:
                raise OutOfDomainError(
                    f"{parameter} must be a category of a table, got '{label}', which no row has; "
                    f"{suggestion(label, categories, 'categories')}"
                )


def _refuse_unmarked_totals(cells: Cells, reading: Reading) -> None:
    """Refuse a category named like a total: as a category, it would be one more part, and link nothing."""
    named = {category for key in cells for category in key if category is not None}
    named -= set(reading.not_total)
    if unmarked := sorted(named & {each for each in named if word_form(each) in LIKE_TOTALS}):
        raise OutOfDomainError(
            f"total must say how totals are marked, got a category '{unmarked[0]}' that is none; "
            f"pass total := '{unmarked[0]}', or rename the category"
        )


def _refuse_unlike_categories(keys_of: Mapping[int, Sequence[Key]], columns: ColumnNames) -> None:
    """Refuse two tables that write the categories of a column otherwise: nothing would link their cells.

    Some of them may differ by their writing, or all by anything. Tables of different regions have no category
    in common either, where a column of one category says so.
    """
    categories = {
        number: [{*each} - {None} for each in zip(*keys, strict=True)]
        for number, keys in keys_of.items()
    }
    for one, other in combinations(sorted(categories), 2):
        sets = list(zip(columns, categories[one], categories[other], strict=False))
        _refuse_unlike_sets(sets, one, other)


def _refuse_unlike_sets(
    sets: Sequence[tuple[str, set[Any], set[Any]]], one: int, other: int
) -> None:
    """Refuse two tables by the categories of each column that they have."""
    if alike := [name for name, *pair in sets if _differ_by_writing(*pair)]:
        raise OutOfDomainError(
            f"tables must write categories alike, got two of '{alike[0]}' in tables {one} and {other} that differ "
            "by capitals, spaces, accents or zeros alone; write them alike in all"
        )
    apart = [each for each in sets if all(each) and each[1].isdisjoint(each[2])]
    if apart and all(min(len(first), len(second)) > 1 for _, first, second in apart):
        label = f"'{apart[0][0]}' in both {one} and {other}"
        raise OutOfDomainError(
            f"tables must write categories alike, got no category of {label}; "
            "write values alike in all, or add a column of the part of each"
        )


def _differ_by_writing(first: set[Any], second: set[Any]) -> bool:
    one, other = (set(map(_writing_form, each)) for each in (first - second, second - first))
    return not one.isdisjoint(other)


def _writing_form(category: str | None) -> str:
    """Write a category as all of its spellings, without the zeros before a number.

    >>> _writing_form("01") == _writing_form("1"), _writing_form("Nord ") == _writing_form("NORD")
    (True, True)
    """
    text = normal_form(category or "")
    return text.lstrip("0") or "0" if text.isdigit() else text


def _refuse_figures(keys: Sequence[Key], place: int, name: str) -> None:
    """Refuse a column of figures among the categories of a table: its totals have values that no part has.

    Each row would be a category of its own, and no total would be the sum of its parts.
    """
    values = {key[place] for key in keys}
    most = max(map(depth, keys))
    if None not in values and values - {key[place] for key in keys if depth(key) == most}:
        raise OutOfDomainError(
            f"columns must name the categories, got '{name}', of which totals have other values; "
            "pass columns := ['region'] without figures such as means"
        )


def depth(key: Key) -> int:
    """How many columns a cell is no total of."""
    return sum(category is not None for category in key)


def _columns_of(rows: Rows, reading: Reading) -> list[str]:
    """The columns of categories: those that are named, or all that are neither counts nor added."""
    for row in rows:
        _refuse_row(row, reading.count)
    names = list(dict.fromkeys(chain(*rows)))
    folded = set(map(fold_case, names))
    if reading.columns:
        for name in reading.columns:
            if fold_case(name) not in folded:
                raise UnknownNameError(
                    f"columns must be in one of the tables, got '{name}'; {suggestion(name, names)}"
                )
        return list(reading.columns)
    figures = () if reading.value is None else (reading.value, reading.largest)
    figures = (*figures, *reading.figures)
    no_categories = {*ADDED, *map(fold_case, (reading.count, reading.status or STATUS, *figures))}
    columns = list(
        {fold_case(name): name for name in names if fold_case(name) not in no_categories}.values()
    )
    if not columns:
        raise OutOfDomainError(
            f"tables must have a column of categories next to '{reading.count}', got none; "
            "name it by columns := ['region']"
        )
    return columns


def _refuse_row(row: Mapping[str, Any], count: str) -> None:
    """Refuse a row without a count, or of which two columns have one name."""
    folded = {fold_case(name) for name in row}
    if len(folded) < len(row):
        raise OutOfDomainError(
            "columns of tables must differ by more than capitals, got two that do not; rename one of them"
        )
    if fold_case(count) not in folded:
        raise UnknownNameError(
            f"count must be a column of every table, got '{count}'; {suggestion(count, list(row))}"
        )


def _totals_of(listed: Any) -> set[str] | None:  # noqa: ANN401 - as JSON has it
    """The columns that a row of safe_table is a total of; from a CSV file as the text of a list."""
    if isinstance(listed, str):
        listed = [name.strip("\"' ") for name in listed.strip("[] ").split(", ")]
    return None if listed is None else {fold_case(str(name)) for name in listed}


def _category_of(
    row: Row, column: str, totals: set[str] | None, labels: Sequence[str]
) -> str | None:
    name = fold_case(column)
    if name not in row or (totals is not None and name in totals):
        return None
    value = row[name]
    if totals is None and (
        value is not None and text_of(value) in labels if labels else value is None
    ):
        return None
    return NULL if value is None else text_of(value)


def text_of(value: Any) -> str:  # noqa: ANN401 - as JSON has it
    """The text of a category, the same for 1 and 1.0.

    >>> text_of(1.0), text_of(True), text_of("F")
    ('1', 'true', 'F')
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value)


def read_count(row: Row, reading: Reading, *, is_hidden: bool) -> Cell:
    """The count of a row, or the bounds of a hidden one."""
    value = None if is_hidden else row[fold_case(reading.count)]
    if isinstance(value, str):
        value = value.strip()
        if value.lower() in MARKS:
            value = None
        elif value == NIL:
            value = 0
        elif below := BELOW.fullmatch(value.lower()):
            most = int(below[2]) - (below[1] not in {"<=", "≤"}) * 1.0
            return Cell(min(reading.lowest, most), min(reading.highest, most))
        else:
            value = _number(value)
    if value is None:
        return Cell(reading.lowest, reading.highest)
    if isinstance(value, bool) or not 0 <= value <= 1e15 or value != int(value):  # noqa: PLR2004
        raise OutOfDomainError(
            f"count must be whole numbers of at least 0, NULL where hidden, got {OTHER_VALUE} in '{reading.count}'; write counts as 12, and hidden ones as NULL, * or <5"
        )
    return Cell(reading.lowest, reading.highest, float(value))


def _round_off(cell: Cell, reading: Reading) -> Cell:
    """Give the bounds of a count that is rounded; to the nearest multiple, half a base goes either way."""
    if cell.value is None or not reading.distance:
        return cell
    if cell.value % reading.base:
        raise OutOfDomainError(
            f"count must be multiples of {reading.base}, as base says, or hidden"
            f", got {OTHER_VALUE} in '{reading.count}'; pass the base of the rounding"
        )
    bounds = cell_between(cell.value, reading)
    if bounds.low > bounds.high:
        raise OutOfDomainError(
            f"count must be 0 where a cell has at most {reading.redacted} people, as rule says"
            f", got {OTHER_VALUE} in '{reading.count}'; leave rule out, and pass base"
        )
    return bounds


def cell_between(value: float, reading: Reading) -> Cell:
    """A cell whose rounded count is this: 0 of those that are redacted, else a multiple of the base."""
    if not reading.redacted:
        return Cell(max(0.0, value - reading.distance), value + reading.distance)
    if value == 0:
        return Cell(0.0, reading.redacted)
    near = reading.base // 2
    return Cell(max(reading.redacted + 1.0, value - near), value + near)


def _number(text: str) -> float:
    """Read a count, perhaps with marks between its thousands; -1 of what is none."""
    if GROUPED.fullmatch(text):
        text = re.sub("[^0-9]", "", text)
    try:
        return float(text)
    except ValueError:
        return -1.0


def add_cell(cells: Cells, key: Key, read: Cell, number: int, *, is_shown: bool) -> None:
    """Put a cell of one table among those of all."""
    cell = cells.setdefault(key, Cell(read.low, read.high))
    if number in cell.tables:
        raise OutOfDomainError(
            f"tables must have one row for each cell, got two in table {number}; "
            "name all columns of categories, and mark totals by total := 'Total'"
        )
    if read.value is None:
        (cell.published if is_shown else cell.suppressed).append(number)
        cell.low, cell.high = max(cell.low, read.low), min(cell.high, read.high)
        return
    if cell.value is not None and cell.value != read.value:
        raise OutOfDomainError(
            f"tables must count the same people, got two counts of one cell in tables {cell.published[0]} and {number}; pass people := 'nested' if each counts some of those before, or name what differs in a column"
        )
    cell.value = read.value
    cell.published.append(number)
