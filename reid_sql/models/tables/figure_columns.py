"""Columns of figures beside the counts of published tables: percentages, means, bases, counts of others.

As a category, a figure would link nothing: each row would be a category of its own, and a hidden count would
be called protected next to its percentage. A figure is found by its values: they are numbers that the other
columns determine, while a column of categories distinguishes rows. Numbers that are constant within a
category, such as its code, are labels, unless they may be the sum of its counts. Numbers at equal steps, such
as years, are labels, too. The audit computes nothing from figures, and names each of them instead.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from typing import Any, Final

from reid_sql.models.columns.spelling import words_of_name
from reid_sql.models.tables.published_tables import (
    ADDED,
    BELOW,
    GROUPED,
    MARKS,
    NIL,
    TOTALS,
    Reading,
    text_of,
)
from reid_sql.models.tables.undeclared_totals import PLAUSIBLE
from reid_sql.parameters import Rows, fold_case

# figures that safe_table adds next to a count: no categories in any table
ADDED_FIGURES: Final = ("records", "people", "value_sum", "largest_share", "loss")
HIDDEN: Final = MARKS | {NIL}
# words in the names of whole numbers that are labels
LABEL_WORDS: Final = frozenset(
    ["code", "codes", "id", "fips", "nuts", "ags", "lau", "isco", "nace", "isic", "icd"]
) | {"year", "age", "rank", "order", "level", "class"}
NUMBER: Final = re.compile(r"[<>≤≥~≈]?\s*[+-]?(0|[1-9]\d*)?([.,]\d+)?\s*[%‰]?")
FRACTION: Final = re.compile(r".*([.,]\d*[1-9]\d*|[%‰]).*")
MIN_ROWS: Final = 2  # of a category, on average, in which a number is constant by more than chance
MAX_PARTS: Final = 6  # columns of which every set but one is compared, too
# values whose equal steps are no chance; of two, only neighbours such as 0 and 1
MIN_STEPS: Final = 3


@dataclass(frozen=True)
class _Table:
    """The rows of one table, with their values as texts, and None for NULL."""

    rows: Sequence[Mapping[str, str | None]]
    counts: Sequence[float | None]
    by_safe_table: bool  # whether a row says which columns it totals

    def values(self, name: str) -> list[str | None]:
        """The figures of a column, None for NULL and for the mark of a hidden figure."""
        values = [row.get(name) for row in self.rows]
        return [None if each is None or each.lower() in HIDDEN else each for each in values]

    def has_numbers(self, name: str) -> bool:
        """Whether a column has several values, and all of them are numbers."""
        known = {value for value in self.values(name) if value is not None}
        return len({*self.values(name)}) > 1 and bool(known) and all(map(_is_number, known))

    def is_count(self, name: str) -> bool:
        """Whether a column repeats the count, where it has a value."""
        pairs = zip(self.counts, self.values(name), strict=True)
        return all(value is None or _number_of(value) == count for count, value in pairs)

    def count_distinct(self, names: Sequence[str]) -> int:
        """How many combinations of values the columns have."""
        return len({tuple(row.get(name) for name in names) for row in self.rows})

    def determines(self, names: Sequence[str], name: str) -> bool:
        """Whether rows with equal values of the columns have equal values of another one."""
        return bool(names) and self.count_distinct(names) == self.count_distinct([*names, name])


def find_figures(
    rows: Rows, numbers: Sequence[int], reading: Reading, k: int
) -> dict[str, list[int]]:
    """Give the columns of figures that the audit does not read, each with the tables that have it.

    If the columns of categories are named, each other column of numbers is one of figures.

    >>> cells = [("N", None, 2.0), ("S", 50, 50.5), ("T", 48, 47.5)]
    >>> rows = [dict(zip(("region", "records", "percent"), each)) for each in cells]
    >>> find_figures(rows, [1, 1, 1], Reading(), 5)
    {'percent': [1]}
    """
    shown = {fold_case(name): name for row in rows for name in row}
    verdicts: dict[str, dict[int, bool]] = {}
    for number in dict.fromkeys(numbers):
        table = _read_table(rows, numbers, number, reading.count)
        for name, is_figure in _judge_table(table, shown, reading, k).items():
            if not table.is_count(name):
                verdicts.setdefault(name, {})[number] = is_figure
    figures = [name for name in shown if name in verdicts and all(verdicts[name].values())]
    return {shown[name]: list(verdicts[name]) for name in figures}


def _judge_table(table: _Table, names: Iterable[str], reading: Reading, k: int) -> dict[str, bool]:
    """Say of columns of a table whether they are figures."""
    read = [reading.count, reading.status]
    if reading.value:
        read += [reading.value, reading.largest]
    no_figures = set(map(fold_case, filter(None, read)))
    named = set(map(fold_case, reading.columns or ()))
    added = [name for name in ADDED_FIGURES if name not in no_figures | named]
    judged = dict.fromkeys(filter(partial(_shows_more, table), added), True)
    others = [name for name in names if name not in {*no_figures, *ADDED}]
    if not named:
        return judged | dict(_judge_columns(table, others, k))
    unnamed = [name for name in others if name not in named]
    return judged | dict.fromkeys(filter(table.has_numbers, unnamed), True)


def _read_table(rows: Rows, numbers: Sequence[int], number: int, count: str) -> _Table:
    of_table = [
        {fold_case(name): _text_of(value) for name, value in row.items()}
        for row, each in zip(rows, numbers, strict=True)
        if each == number
    ]
    counts = [_number_of(row.get(fold_case(count))) for row in of_table]
    return _Table(of_table, counts, any(row.get(TOTALS) is not None for row in of_table))


def _shows_more(table: _Table, name: str) -> bool:
    """Whether a figure that safe_table adds is more than the count, and no setting of the whole table.

    In the answer of safe_table it is, where the count is hidden: else the figure is part of what was judged.
    """
    if table.by_safe_table:
        pairs = zip(table.counts, table.values(name), strict=True)
        return name != "loss" and any(count is None and value is not None for count, value in pairs)
    return table.has_numbers(name)


def _judge_columns(table: _Table, names: Sequence[str], k: int) -> Iterator[tuple[str, bool]]:
    """Yield of each column of several numbers whether they are figures.

    Fractions are judged first, then columns from the right, where figures are: of two columns that determine
    each other, the left one has categories.
    """
    of_table = set().union(*table.rows)
    left = [name for name in names if name in of_table]
    columns = list(filter(table.has_numbers, reversed(left)))
    for name in sorted(columns, key=lambda each: not _has_fractions(table, each)):
        others = [each for each in left if each != name]
        is_figure = table.determines(others, name) and not _are_labels(table, name, others, k)
        if is_figure:
            left.remove(name)
        yield name, is_figure


def _are_labels(table: _Table, name: str, others: Sequence[str], k: int) -> bool:
    """Whether numbers that other columns determine are names of categories."""
    if _has_fractions(table, name):
        return False
    parts = [*combinations(others, 1)]
    if 1 < len(others) <= MAX_PARTS:
        parts += combinations(others, len(others) - 1)
    large = [each for each in parts if MIN_ROWS * table.count_distinct(each) <= len(table.rows)]
    if any(table.determines(each, name) for each in large):
        return not _is_sum(table, name, others, k)
    return _has_equal_steps(table, name) or not LABEL_WORDS.isdisjoint(words_of_name(name))


def _has_equal_steps(table: _Table, name: str) -> bool:
    values = sorted(_number_of(value) or 0.0 for value in table.values(name) if value is not None)
    steps = {after - before for before, after in pairwise(values)}
    return len(steps) == 1 and (len(values) >= MIN_STEPS or steps == {1.0})


def _is_sum(table: _Table, name: str, others: Sequence[str], k: int) -> bool:
    """Whether a number that several rows share may be the sum of their counts: a base of percentages."""
    sums: dict[str | None, float] = {}
    hidden: dict[str | None, int] = {}
    for row, count in zip(table.rows, table.counts, strict=True):
        if any(row.get(each) is None for each in others):  # a total of such rows
            continue
        value = row.get(name)
        sums[value] = sums.get(value, 0.0) + (count or 0.0)
        hidden[value] = hidden.get(value, 0) + (count is None)
    more = [((_number_of(value) or 0.0) - sums[value], hidden[value]) for value in sums]
    return all(0 <= gap <= PLAUSIBLE * k * number for gap, number in more)


def _has_fractions(table: _Table, name: str) -> bool:
    return any(value is not None and FRACTION.fullmatch(value) for value in table.values(name))


def _text_of(value: Any) -> str | None:  # noqa: ANN401 - as JSON has it
    return None if value is None else text_of(value)


def _is_number(text: str) -> bool:
    has_digit = any(letter.isdigit() for letter in text)
    forms = (NUMBER, GROUPED, BELOW)
    return has_digit and any(form.fullmatch(text.lower()) for form in forms)


def _number_of(text: str | None) -> float | None:
    """The whole or decimal number that a text is; None of a mark or a bound."""
    try:
        return None if text is None else float(text.rstrip(" %‰").replace(",", "."))
    except ValueError:
        return None
