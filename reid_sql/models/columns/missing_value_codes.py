"""Missing-value codes: values that mean "missing" but count as values, and the sentence on their records."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import isfinite
from typing import Final

MAX_CODES_SHOWN: Final = 5  # missing-value codes that a sentence names
# Such as `?`, N/A, 99 beyond a gap, or 9999-99-99. Texts are in lower case and stripped of spaces.
MISSING_WORDS: Final = (
    *("", "?", "??", "???", "-", "--", "---", ".", "..", "*", "#", "xxx"),
    *("na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "<null>", "(null)", "\\n"),
    *("unknown", "unk", "not known", "unspecified", "not specified", "undefined", "undetermined"),
    *(
        "missing",
        "not available",
        "not applicable",
        "not stated",
        "not given",
        "not reported",
        "no answer",
    ),
    *("refused", "don't know", "dont know", "tbd", "tba"),
)
MISSING_DATES: Final = (
    *("0000-00-00", "0001-01-01", "1899-12-30", "1899-12-31", "1900-00-00", "1900-01-01"),
    *("9999-01-01", "9999-12-31", "9999-99-99"),
)
MISSING_DAYS: Final = tuple(
    date.fromisoformat(each) for each in MISSING_DATES if "-00" not in each and "-99" not in each
)
NINES: Final = tuple("9" * digits for digits in range(1, 11))
# only where few numbers encode answers
MISSING_CODES: Final = ("97", "98", "997", "998", "9997", "9998")
NEGATIVE_NINES: Final = ("-1", *(f"-{nines}" for nines in NINES))
MISSING_NUMBERS: Final = (*NINES, *MISSING_CODES, *NEGATIVE_NINES)
# a column of so few distinct numbers encodes answers rather than amounts
MAX_CODED_NUMBERS: Final = 20
# share of the values that must be dates, or numbers, for the column to be
MIN_SHARE_OF_FORM: Final = 0.95
NUMBER_PATTERN: Final = r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?"
# Every text that may be a code, and others: digits that round to one, and any number with an exponent.
CANDIDATE_PATTERN: Final = "|".join(
    (
        rf"(?is)\p{{Zs}}*({'|'.join(map(re.escape, MISSING_WORDS))})\p{{Zs}}*",
        r"[+-]?0*(9+|9*9[78])([.]0*)?",
        "-0*1([.]0*)?",
        r"[+-]?[0-9.]+e[+-]?[0-9]+",
        r"[+-]?[0-9]*[.](0{9}|9{9}).*",
        rf"({'|'.join(MISSING_DATES)}).*",
    )
)


@dataclass(frozen=True)
class MissingValueCode:
    """A value that looks like a missing-value code, and the number of records that have it."""

    text: str
    records: int


@dataclass(frozen=True)
class NumberRange:
    """The column's numbers without candidate codes: how many distinct ones, the least and the greatest."""

    values: int
    least: float
    greatest: float

    @property
    def spacing(self) -> float:
        """Mean distance between neighbouring numbers."""
        return (self.greatest - self.least) / (self.values - 1) if self.values > 1 else 0.0


def may_end_with_code(least: float | None, greatest: float | None) -> bool:
    """Whether numbers between these may have codes: a code is the greatest of them, the least, or NaN.

    Infinity is no code, and hides which number is the greatest.

    >>> may_end_with_code(0, 98), may_end_with_code(9, 50), may_end_with_code(None, None)
    (True, False, False)
    """
    if least is None or greatest is None:
        return False
    is_hidden = not (isfinite(least) and isfinite(greatest))
    return (
        is_hidden or greatest in map(float, MISSING_NUMBERS) or least in map(float, NEGATIVE_NINES)
    )


def find_missing_value_codes(
    candidates: Sequence[MissingValueCode], numbers: NumberRange | None
) -> list[MissingValueCode]:
    """Select the candidates that mean a missing value, the most frequent first.

    Words and dates always do. Nines do beyond a gap, which is wider than 1 and than the mean spacing, if
    several records have them; among few numbers one record is enough, and 97 and 98 count, too. Negative
    numbers do where all others are not negative. `numbers` is None where the column is not numeric.

    >>> candidates = [MissingValueCode("9", 7), MissingValueCode("?", 8), MissingValueCode("-1", 2)]
    >>> [code.text for code in find_missing_value_codes(candidates, NumberRange(5, 1, 5))]
    ['?', '9', '-1']
    """
    numeric: dict[float, list[MissingValueCode]] = {}
    codes: list[MissingValueCode] = []
    for each in candidates:
        number = _parse_number(each)
        (codes if number is None else numeric.setdefault(number, [])).append(each)
    if numbers is not None and numbers.values:
        below = [number for number in numeric if number < 0 <= numbers.least]
        for number in (*below, *_codes_beyond_gap(numeric, numbers)):
            codes += numeric[number]
    return sorted(codes, key=lambda code: (-code.records, code.text))


def _codes_beyond_gap(
    candidates: Mapping[float, Sequence[MissingValueCode]], numbers: NumberRange
) -> Iterator[float]:
    """Yield nines and codes beyond a gap; a candidate without a gap is a number that extends the range."""
    few, last = numbers.values <= MAX_CODED_NUMBERS, numbers.greatest
    for number in sorted(number for number in candidates if number > last):
        records = sum(each.records for each in candidates[number])
        frequent = few or (records > 1 and number in map(float, NINES))
        if frequent and number - last > max(1.0, numbers.spacing):
            yield number
        else:
            last = number


def _parse_number(candidate: MissingValueCode) -> float | None:
    try:
        return (
            float(candidate.text) if candidate.text.lower().strip() not in MISSING_WORDS else None
        )
    except ValueError:
        return None


def describe_codes(codes: Mapping[str, Sequence[MissingValueCode]]) -> dict[str, str]:
    """Give the columns that have missing-value codes, each with the sentence of `count_missing_values`.

    >>> list(describe_codes({"age": [], "sex": [MissingValueCode("?", 2)]}))
    ['sex']
    """
    return {
        column: count_missing_values(
            [code.text for code in found], [code.records for code in found], column
        )
        for column, found in codes.items()
        if found
    }


def count_missing_values(codes: Sequence[str], records: Sequence[int], column: str = "") -> str:
    """Write how many records have missing-value codes, as a sentence without its full stop, or nothing.

    >>> count_missing_values(["?"], [1836], "workclass")
    "1,836 records have '?' in workclass, which looks like a missing-value code and counts as a value"
    """
    if not codes:
        return ""
    listed, total = ", ".join(f"'{each}'" for each in codes[:MAX_CODES_SHOWN]), sum(records)
    where = f" in {column}" if column else ""
    counted = f"{total:,} record{' has' if total == 1 else 's have'} {listed}{where}"
    return f"{counted}, which looks like a missing-value code and counts as a value"
