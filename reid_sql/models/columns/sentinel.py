"""Marks that stand for a missing value and count as one: `?`, N/A, 99 at the end of a gap, 9999-99-99."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

# Texts, in lower case and without spaces around them.
WORDS: Final = (
    *("", "?", "??", "???", "-", "--", "---", ".", "..", "*", "#", "xxx"),
    *("na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "<null>", "(null)", "\\n"),
    *("unknown", "unk", "not known", "unspecified", "not specified", "undefined", "undetermined"),
    *("missing", "not available", "not applicable", "not stated", "not given", "not reported", "no answer"),
    *("refused", "don't know", "dont know", "tbd", "tba"),
)
DATES: Final = (
    *("0000-00-00", "0001-01-01", "1899-12-30", "1899-12-31", "1900-00-00", "1900-01-01"),
    *("9999-01-01", "9999-12-31", "9999-99-99"),
)
NINES: Final = tuple("9" * digits for digits in range(1, 11))
CODES: Final = ("97", "98", "997", "998", "9997", "9998")  # beside nines where a few numbers stand for words
BELOW: Final = ("-1", *(f"-{nines}" for nines in NINES))
NUMBERS: Final = (*NINES, *CODES, *BELOW)
FEW: Final = 20  # numbers that stand for words rather than for amounts
NUMBER: Final = r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?"


@dataclass(frozen=True)
class Sentinel:
    """A value that looks like a mark for a missing one, and the records that hold it."""

    text: str
    records: int


@dataclass(frozen=True)
class Numbers:
    """The column's numbers that can be no marks: how many distinct ones, the least and the greatest."""

    values: int
    least: float
    greatest: float

    @property
    def spacing(self) -> float:
        """How far neighbours are from each other, on average."""
        return (self.greatest - self.least) / (self.values - 1) if self.values > 1 else 0.0


def sentinels(candidates: Sequence[Sentinel], numbers: Numbers | None) -> list[Sentinel]:
    """Those of the candidates that stand for a missing value, the most frequent first.

    Words and dates are told by themselves. Nines are marks where they end the numbers after a gap, which is
    wider than 1 and than neighbours are apart on average, and are held by several records; among few numbers
    one record is enough, and 97 and 98 are marks, too. Numbers below zero are, where all others are not.
    `numbers` is None where the column is not one of numbers.

    >>> codes = Numbers(5, 1, 5)
    >>> [mark.text for mark in sentinels([Sentinel("9", 7), Sentinel("?", 8), Sentinel("-1", 2)], codes)]
    ['?', '9', '-1']
    """
    written = {number: each for each in candidates if (number := _number(each)) is not None}
    marks = [each for each in candidates if each not in written.values()]
    if numbers is not None and numbers.values:
        below = numbers.least >= 0
        marks += [each for number, each in written.items() if below and number < 0]
        marks += _beyond(written, numbers)
    return sorted(marks, key=lambda mark: (-mark.records, mark.text))


def _beyond(written: Mapping[float, Sentinel], numbers: Numbers) -> Iterator[Sentinel]:
    """Nines and codes beyond a gap; one without is a number, beyond which the next may stand."""
    few, last = numbers.values <= FEW, numbers.greatest
    for number in sorted(number for number in written if number > last):
        mark = written[number]
        held = few or (mark.records > 1 and number in map(float, NINES))
        if held and number - last > max(1.0, numbers.spacing):
            yield mark
        else:
            last = number


def _number(candidate: Sentinel) -> float | None:
    try:
        return float(candidate.text) if candidate.text.lower().strip() not in WORDS else None
    except ValueError:
        return None
