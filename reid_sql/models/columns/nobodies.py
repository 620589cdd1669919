"""Values that stand for nobody in a column of people or households: all of their rows count as one of these.

A value stands out by its rows, of which it has far more than any other, or by how it is written: a word of
missing_values.toml, or a number such as 0, -1 and 999999 that lies apart from all others.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, Final

from reid_sql.models.columns.missing_value_codes import (
    MIN_SHARE_OF_FORM,
    MISSING_NUMBERS,
    MISSING_WORDS,
    NEGATIVE_NINES,
    NINES,
    NOBODY_WORDS,
    count_missing_values,
)
from reid_sql.models.columns.spelling import (
    DOUBLE_LETTERS,
    FINAL_ZEROS,
    MARKS_AROUND_WORDS,
    normal_form,
)
from reid_sql.models.columns.units import UNIT_PERSON, UNIT_VALUE

# values that may have far more rows than any other, such as a guest of each branch
MAX_NOBODIES: Final = 8
MAX_NOBODIES_OF_FEW: Final = 3  # of few values; of more, as many must have few rows
SIZES_COUNTED: Final = 2 * MAX_NOBODIES  # numbers of rows, of the most frequent values
MIN_ROWS_OF_NOBODY: Final = 10
MIN_RATIO_OF_NOBODY: Final = 5  # of its rows to those of the next value
MIN_NINES: Final = 3  # digits: an identifier may well be 9, or 99
NOBODY_NUMBERS: Final = (
    0,
    *map(int, NEGATIVE_NINES),
    *(int(each) for each in NINES[MIN_NINES - 1 :]),
)
_WORDS: Final = frozenset(NOBODY_WORDS)
CAUTION_NOBODY: Final = (
    "far more than any other value of it, and {} as one {}: if {} for nobody, leave these rows out, or name "
    "each of them"
)
CAUTION_CODE: Final = (
    "which {} like {} for a missing identifier and count{} as one {}: leave these rows out, or name each of "
    "them"
)
CAUTION_ALIKE: Final = (
    "another of '{}' but for capitals, accents, spaces, hyphens, apostrophes, invisible characters or zeros: if "
    "both are one {}, "
    "write them alike, as what counts twice looks safer than it is"
)


@dataclass(frozen=True)
class IdentifierCounts:
    """Counts of the values of a column of people or households, from which those of nobody stand out.

    `codes` are texts of NOBODY_WORDS and NOBODY_NUMBERS with their rows. Of the `others`, distinct values,
    `numbers` are numbers, and those that are `alike` have the `normal_form` of another, but for leading
    zeros, and zeros behind a point.
    """

    sizes: Sequence[int]  # rows of the SIZES_COUNTED most frequent values
    codes: Sequence[tuple[str, int]]
    others: int
    numbers: int
    least: float | None
    greatest: float | None
    alike: int = 0

    @property
    def is_numeric(self) -> bool:
        """Whether the other values are numbers."""
        return self.others > 0 and self.numbers >= MIN_SHARE_OF_FORM * self.others

    @property
    def gap(self) -> float:
        """The distance to the next number that is more than one between neighbours."""
        least, greatest = self.least or 0.0, self.greatest or 0.0
        return max(1.0, (greatest - least) / (self.numbers - 1)) if self.numbers > 1 else 1.0


def counts_of_nobodies(row: Sequence[Any]) -> IdentifierCounts:
    """Put the counts together in the order of COUNTS_OF_NOBODIES."""
    sizes, codes, rows, *others = row
    pairs = zip(codes or (), rows or (), strict=True)
    return IdentifierCounts(
        [*map(int, sizes or ())], [(code, int(size)) for code, size in pairs], *others
    )


def count_texts(texts: Sequence[str], sizes: Sequence[int]) -> IdentifierCounts:
    """Count distinct texts with their rows: codes, numbers, and those that are written like another.

    >>> count_texts(["Flu", "flu ", "Gehörlos", "Gehoerlos", "n/a", "7.5"], [4, 1, 2, 1, 3, 1])
    IdentifierCounts(sizes=[], codes=[('n/a', 3)], others=5, numbers=1, least=7.5, greatest=7.5, alike=2)
    """
    codes: list[tuple[str, int]] = []
    forms: list[str] = []
    with_doubles: list[str] = []
    second_forms: list[str] = []
    numbers: list[float] = []
    for value, size in zip(texts, sizes, strict=True):
        word, number = normal_form(value), _read_number(value)
        code = word.strip(MARKS_AROUND_WORDS)
        if code in _WORDS or number in NOBODY_NUMBERS:
            codes.append((code if code in _WORDS else str(int(number)), size))
            continue
        forms.append(_without_zeros(word))
        numbers += [number] if isfinite(number) else []
        if not value.isascii() or any(pair in value for pair in DOUBLE_LETTERS):
            second = normal_form(value, second_letters=True)
            with_doubles.append(forms[-1])
            second_forms.append(_without_zeros(second))
    merged = len(set(with_doubles)) - len(set(second_forms))
    alike = len(forms) - len(set(forms)) + max(0, merged)
    least, greatest = min(numbers, default=None), max(numbers, default=None)
    return IdentifierCounts([], codes, len(forms), len(numbers), least, greatest, alike)


def _read_number(value: str) -> float:
    """The number that a text is, or NaN; databases read ASCII digits alone."""
    try:
        return float(value) if value.isascii() and "_" not in value else nan
    except ValueError:
        return nan


def _without_zeros(form: str) -> str:
    return re.sub(FINAL_ZEROS, "", form).lstrip("0")


def count_nobodies(sizes: Sequence[int]) -> int:
    """Count the values that have far more rows than any other; `sizes` are rows of a value, in any order.

    >>> count_nobodies([900, 2, 2, 1]), count_nobodies([900, 870, 3, 1]), count_nobodies([12, 9, 9, 8])
    (1, 2, 0)
    >>> count_nobodies([60] * 5 + [1] * 4), count_nobodies([60] * 5 + [1] * 5)
    (0, 5)
    """
    largest = sorted(sizes, reverse=True)
    most = min(MAX_NOBODIES, len(largest) - 1, max(MAX_NOBODIES_OF_FEW, len(largest) // 2))
    return max(
        (
            place
            for place in range(1, most + 1)
            if largest[place - 1] >= max(MIN_ROWS_OF_NOBODY, MIN_RATIO_OF_NOBODY * largest[place])
        ),
        default=0,
    )


def count_rows_of_nobodies(counts: IdentifierCounts) -> int:
    """Count the rows of values that stand out by their number, or by how they are written, at least.

    >>> count_rows_of_nobodies(IdentifierCounts([900, 2, 1], [("unknown", 900), ("?", 2)], 1, 0, None, None))
    902
    """
    heavy = sum(sorted(counts.sizes, reverse=True)[: count_nobodies(counts.sizes)])
    return max(heavy, sum(size for _, size in find_nobody_codes(counts)))


def find_nobody_codes(counts: IdentifierCounts) -> list[tuple[str, int]]:
    """Select the codes that stand for nobody, with their rows: words always, numbers apart from all others.

    >>> find_nobody_codes(IdentifierCounts([], [("0", 3), ("unknown", 1)], 50, 50, 1.0, 50.0))
    [('unknown', 1)]
    >>> find_nobody_codes(IdentifierCounts([], [("0", 3), ("999", 1)], 50, 50, 101.0, 150.0))
    [('0', 3), ('999', 1)]
    """
    return [
        each
        for each in sorted(counts.codes)
        if each[0] in NOBODY_WORDS or _lies_apart(each[0], counts)
    ]


def _lies_apart(code: str, counts: IdentifierCounts) -> bool:
    """Whether a number is none of a sequence of identifiers: among other texts, or beyond a gap."""
    if not counts.is_numeric or counts.least is None or counts.greatest is None:
        return True
    number = int(code)
    return number < counts.least - counts.gap or (
        number > counts.greatest + counts.gap and isfinite(counts.greatest)
    )


def describe_nobodies(column: str, counts: IdentifierCounts, unit: str = UNIT_PERSON) -> str:
    """Write the cautions on values of the column that may stand for nobody, or nothing."""
    sentences, nobodies = [], count_nobodies(counts.sizes)
    if unit == UNIT_VALUE:
        nobodies, codes = 0, []
    else:
        codes = find_nobody_codes(counts)
    if nobodies:
        rows = sum(sorted(counts.sizes, reverse=True)[:nobodies])
        sentences.append(
            f"{count_of_values(nobodies, column)} {rows:,} rows, {heavy_words(nobodies, unit)}."
        )
    if codes:
        rows = sum(size for _, size in codes)
        has = "row has" if rows == 1 else "rows have"
        sentences.append(f"{rows:,} {has} {code_words(column, codes, unit)}.")
    if counts.alike:
        sentences.append(
            f"{counts.alike:,} {plural_of_alike(counts.alike)} {alike_words(column, unit)}."
        )
    return " ".join(sentences)


def find_codes_of_values(counts: IdentifierCounts) -> list[tuple[str, int]]:
    """Select the missing-value codes of a sensitive column: words, and numbers where no other value is one.

    >>> codes = [("-9", 5), ("none", 3), ("unbekannt", 2)]
    >>> find_codes_of_values(IdentifierCounts([], codes, 4, 0, None, None))
    [('-9', 5), ('unbekannt', 2)]
    """
    is_text = counts.others > counts.numbers == 0
    return [
        each
        for each in counts.codes
        if each[0] in MISSING_WORDS
        or (is_text and each[0] not in NOBODY_WORDS and each[0] in MISSING_NUMBERS)
    ]


def describe_codes_of_values(column: str, counts: IdentifierCounts) -> str:
    """Write the caution on missing-value codes of a sensitive column, or nothing."""
    missing = find_codes_of_values(counts)
    words = count_missing_values(
        [code for code, _ in missing], [rows for _, rows in missing], column
    )
    return f"{words}." if words else ""


def plural_of_alike(values: int) -> str:
    """Write the verb with what equals another but for how it is written."""
    return "value equals" if values == 1 else "values equal"


def alike_words(column: str, unit: str) -> str:
    """Write what follows the number of values that equal another but for how they are written."""
    return CAUTION_ALIKE.format(column, unit)


def count_of_values(nobodies: int, column: str) -> str:
    """Write the number of values that have far more rows than any other."""
    return (
        f"1 value of '{column}' has" if nobodies == 1 else f"{nobodies} values of '{column}' have"
    )


def heavy_words(nobodies: int, unit: str) -> str:
    """Write what follows their rows."""
    if nobodies == 1:
        return CAUTION_NOBODY.format("counts", unit, "it stands")
    return CAUTION_NOBODY.format("count", f"{unit} each", "they stand")


def code_words(column: str, codes: Sequence[tuple[str, int]], unit: str) -> str:
    """Write what follows the rows of values that are written like codes."""
    listed = ", ".join(f"'{code}'" for code, _ in codes)
    looks = ("looks", "a code", "s") if len(codes) == 1 else ("look", "codes", "")
    return f"{listed} in {column}, {CAUTION_CODE.format(*looks, unit)}"
