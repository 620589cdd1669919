"""Missing-value codes: values that mean "missing" but count as values, and the sentence on their records.

Words of many languages are in missing_values.toml. Others stand out by the values beside them: a number among
texts, a text among numbers, or a number or day that repeats far from all others.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Final

from reid_sql.models.columns.spelling import normal_form, word_form
from reid_sql.parameters import Row, plain

MAX_CODES_SHOWN: Final = 5  # missing-value codes that a sentence names
_FILE: Final[dict[str, dict[str, list[str]]]] = tomllib.loads(
    Path(__file__).with_name("missing_values.toml").read_text("utf-8")
)


def _word_forms(section: str) -> tuple[str, ...]:
    """The words of a section as they are compared, each once."""
    return tuple(dict.fromkeys(map(word_form, chain.from_iterable(_FILE[section].values()))))


MISSING_WORDS: Final = _word_forms("missing")
# codes and abbreviations of values in other columns
AMBIGUOUS_WORDS: Final = tuple(
    each for each in _word_forms("ambiguous") if each not in MISSING_WORDS
)
CODE_WORDS: Final = (*MISSING_WORDS, *AMBIGUOUS_WORDS)
_TOTALS: Final = _FILE["nobody"]["totals"]
TOTAL_WORDS: Final = tuple(map(word_form, _TOTALS))
SPELLINGS_OF_TOTALS: Final = tuple(dict.fromkeys([*_TOTALS, *TOTAL_WORDS]))
NOBODY_WORDS: Final = tuple(dict.fromkeys([*CODE_WORDS, *_word_forms("nobody")]))
WORDS_WITHIN_MARKS: Final = (
    "",
    "na",
    "n/a",
    "null",
    "none",
    "unknown",
    "missing",
    "blank",
    "empty",
    "leer",
)


def spellings_of_words(*sections: str) -> list[str]:
    """The words of sections, as they are written and as they are compared, and with marks around them."""
    words = [
        word.lower()
        for section in sections or ("missing", "ambiguous", "nobody")
        for word in chain.from_iterable(_FILE[section].values())
    ]
    forms = [*words, *map(word_form, words)]
    dotted = [f"{word}." for word in forms if "." in word]
    around = ("<{}>", "({})", "[{}]", "*{}*")
    marked = [form.format(word) for word in WORDS_WITHIN_MARKS for form in around]
    return list(dict.fromkeys([*forms, *dotted, *marked, ".", "..", "*", "**", "***"]))


MISSING_DAYS: Final = tuple(map(date.fromisoformat, _FILE["days"]["never"]))
# as year, month and day are written, one behind the other or with marks between them
_ORDERS_OF_DAY: Final = ("{0}-{1}-{2}", "{0}/{1}/{2}", "{0}.{1}.{2}", "{2}.{1}.{0}", "{2}/{1}/{0}")
_OTHER_ORDERS: Final = ("{1}/{2}/{0}", "{2}-{1}-{0}", "{1}-{2}-{0}")
_DAYS: Final = (*_FILE["days"]["never"], *_FILE["days"]["unwritten"])
MISSING_DATES: Final = tuple(
    dict.fromkeys(
        order.format(*day.split("-"))
        for day in _DAYS
        for order in (*_ORDERS_OF_DAY, *_OTHER_ORDERS)
    )
)
NINES: Final = tuple("9" * digits for digits in range(1, 11))
# only where few numbers encode answers
MISSING_CODES: Final = (
    *("66", "77", "88", "95", "96", "97", "98", "777", "888", "996", "997", "998"),
    *("7777", "8888", "9996", "9997", "9998", "77777", "88888", "99997", "99998"),
)
NEGATIVE_NINES: Final = ("-1", *(f"-{nines}" for nines in NINES))
# of several refusals, where no other number is below zero and each repeats
NEGATIVE_CODES: Final = (
    *("-2", "-3", "-4", "-5", "-6", "-7", "-8", "-77", "-88", "-97", "-98", "-777", "-888"),
    *("-997", "-998", "-9997", "-9998"),
)
MISSING_NUMBERS: Final = (*NINES, *MISSING_CODES, *NEGATIVE_NINES, *NEGATIVE_CODES)
# a column of so few distinct numbers encodes answers rather than amounts
MAX_CODED_NUMBERS: Final = 20
# share of the values that must be dates, or numbers, for the column to be
MIN_SHARE_OF_FORM: Final = 0.95
NUMBER_PATTERN: Final = r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?"
# Codes by the values beside them, of which no value is shown.
NUMBER_AMONG_TEXTS: Final = "a number among texts"
TEXT_AMONG_NUMBERS: Final = "a text among numbers"
FAR_ABOVE: Final = "a value far above all others"
FAR_BELOW: Final = "a value far below all others"
STRUCTURAL_CODES: Final = (NUMBER_AMONG_TEXTS, TEXT_AMONG_NUMBERS, FAR_ABOVE, FAR_BELOW)
MAX_VALUES_APART: Final = 3  # distinct values that are codes by the values beside them
MIN_VALUES_BESIDE: Final = 5  # distinct others for each of them
ENDS_COUNTED: Final = MAX_VALUES_APART + 1  # numbers at each end of a column


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


@dataclass(frozen=True)
class ValuesBeside:
    """The distinct values of a column that are no candidates, as far as codes stand out from them.

    `words` have no digit. `shortest` and `longest` are the lengths of texts. `high` are the greatest numbers
    or days, from the greatest, `low` the least, from the least, each with its records.
    """

    values: int
    numbers: int = 0
    number_rows: int = 0
    words: int = 0
    word_rows: int = 0
    shortest: int = 0
    longest: int = 0
    high: Sequence[tuple[float, int]] = ()
    low: Sequence[tuple[float, int]] = ()
    records: int = 0


def may_end_with_code(least: float | None, greatest: float | None) -> bool:
    """Whether numbers between these may have codes: a code is the greatest of them, the least, or NaN.

    Infinity is no code, and hides which number is the greatest.

    >>> may_end_with_code(0, 99), may_end_with_code(9, 50), may_end_with_code(None, None)
    (True, False, False)
    """
    if least is None or greatest is None:
        return False
    is_hidden = not (isfinite(least) and isfinite(greatest))
    return (
        is_hidden
        or greatest in map(float, MISSING_NUMBERS)
        or least in map(float, (*NEGATIVE_NINES, *NEGATIVE_CODES))
    )


def find_missing_value_codes(
    candidates: Sequence[MissingValueCode],
    numbers: NumberRange | None,
    beside: ValuesBeside | None = None,
    *,
    are_days: bool = False,
) -> list[MissingValueCode]:
    """Select the candidates that mean a missing value, the most frequent first.

    Words and dates always do; abbreviations unless all values beside them are as long. Nines do beyond a gap,
    which is wider than 1 and than the mean spacing, if several records have them; among few numbers one
    record is enough, and 97 and 98 count, too. Negative numbers do where no other is negative. `numbers` is
    None where the column is not numeric: then a number is a code where no other value is one.

    >>> candidates = [MissingValueCode("9", 7), MissingValueCode("?", 8), MissingValueCode("-1", 2)]
    >>> [code.text for code in find_missing_value_codes(candidates, NumberRange(5, 1, 5))]
    ['?', '9', '-1']
    >>> [code.text for code in find_missing_value_codes([MissingValueCode("-9", 7)], None, ValuesBeside(2))]
    ['-9']
    """
    numeric: dict[float, list[MissingValueCode]] = {}
    codes: list[MissingValueCode] = []
    for each in candidates:
        number = _parse_number(each)
        if number is not None:
            numeric.setdefault(number, []).append(each)
        elif beside is None or not _is_value(each, beside):
            codes.append(each)
    if numbers is not None and numbers.values:
        below = _codes_below_zero(numeric, numbers)
        for number in (*below, *_codes_beyond_gap(numeric, numbers)):
            codes += numeric[number]
    elif numbers is None and beside is not None and beside.values and not beside.numbers:
        codes += chain.from_iterable(numeric.values())
    if beside is not None:
        codes += _find_values_apart(beside, is_ordered=are_days or numbers is not None)
    return sorted(codes, key=lambda code: (-code.records, code.text))


def _is_value(code: MissingValueCode, beside: ValuesBeside) -> bool:
    """Whether an abbreviation is a value like those beside it, which are all as long."""
    word = word_form(code.text)
    lengths = {beside.shortest, beside.longest, len(word)}
    return word in AMBIGUOUS_WORDS and beside.values > 1 and len(lengths) == 1


def _find_values_apart(beside: ValuesBeside, *, is_ordered: bool) -> Iterator[MissingValueCode]:
    """Yield codes that are in no list: written unlike all others, or far from them and repeated."""
    texts = beside.values - beside.numbers
    if 0 < beside.numbers <= MAX_VALUES_APART and texts == beside.words > beside.numbers:
        yield MissingValueCode(NUMBER_AMONG_TEXTS, beside.number_rows)
    has_few_words = 0 < beside.words == texts <= MAX_VALUES_APART
    if has_few_words and beside.numbers >= MIN_VALUES_BESIDE * beside.words:
        yield MissingValueCode(TEXT_AMONG_NUMBERS, beside.word_rows)
    if is_ordered and beside.values - MAX_VALUES_APART >= MIN_VALUES_BESIDE:
        for phrase, ends, sign in ((FAR_ABOVE, beside.high, 1), (FAR_BELOW, beside.low, -1)):
            other_end = (beside.low if sign > 0 else beside.high)[0][0] if ends else 0.0
            if records := _count_beyond_range(ends, other_end, beside):
                yield MissingValueCode(phrase, records)


def _count_beyond_range(
    ends: Sequence[tuple[float, int]], other_end: float, beside: ValuesBeside
) -> int:
    """Count the records of the values at an end that lie farther from all others than these from each other.

    Each repeats as often as the others do on average, and twice at least.
    """
    for place in range(1, min(MAX_VALUES_APART, len(ends) - 1) + 1):
        apart, (nearest, _) = ends[:place], ends[place]
        gap, spread = abs(apart[-1][0] - nearest), abs(nearest - other_end)
        rows = sum(records for _, records in apart)
        usual = max(2.0, (beside.records - rows) / (beside.values - place))
        if gap > max(spread, 1.0) and all(records >= usual for _, records in apart):
            return rows
    return 0


def _codes_below_zero(
    candidates: Mapping[float, Sequence[MissingValueCode]], numbers: NumberRange
) -> Iterator[float]:
    """Yield negative candidates where no other number is negative; but for -1 and nines, they repeat."""
    if numbers.least < 0:
        return
    below = [number for number in candidates if number < 0]
    further = {*below} - {*map(float, NEGATIVE_NINES)}
    repeats = all(sum(code.records for code in candidates[number]) > 1 for number in further)
    if not further or (repeats and numbers.values > len(further)):
        yield from below


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
    if word_form(candidate.text) in CODE_WORDS or candidate.text[:10] in MISSING_DATES:
        return None
    try:
        return float(candidate.text)
    except ValueError:
        return None


def is_listed(code: str) -> bool:
    """Whether a code is a word, number or day that anybody knows, rather than one by the values beside it.

    >>> is_listed("keine Angabe"), is_listed("97"), is_listed("A51.3")
    (True, True, False)
    """
    if word_form(code) in CODE_WORDS or code[:10] in MISSING_DATES:
        return True
    try:
        return float(code) in map(float, MISSING_NUMBERS)
    except ValueError:
        return False


def finite_numbers(codes: Sequence[str]) -> list[float]:
    """Return the codes that are numbers, which a column of numbers has.

    >>> finite_numbers(["97", "?", "9.5", "nan"])
    [97.0, 9.5]
    """
    numbers = []
    for code in codes:
        try:
            number = float(code)
        except ValueError:
            continue
        if isfinite(number):
            numbers.append(number)
    return numbers


WRITTEN_WITH_SPACES: Final = "with spaces around it"
WRITTEN_WITH_CAPITALS: Final = "with other capitals"
WRITTEN_AS_NUMBER: Final = "as a number that is written otherwise"
WRITTEN_WITH_MARKS: Final = "with other letters or marks"


def is_written_as(code: str, value: str, *, is_number: bool) -> bool:
    """Whether a value is this code: a number by its size, a day whatever its time, a text by its letters."""
    return (
        value == code
        or value[:10] == code
        or (is_number and finite_numbers([code]) == finite_numbers([value]) != [])
    )


def describe_spelling(code: str, values: Sequence[str]) -> str:
    """Say how values that are no code are written otherwise than it; nothing where none is like it.

    >>> describe_spelling("97", ["97.0"]), describe_spelling("keine Antwort", ["Keine Antwort"])
    ('as a number that is written otherwise', 'with other capitals')
    """
    tests = (
        (WRITTEN_WITH_SPACES, lambda value: value.strip() == code.strip()),
        (WRITTEN_WITH_CAPITALS, lambda value: value.strip().lower() == code.strip().lower()),
        (WRITTEN_AS_NUMBER, lambda value: finite_numbers([code]) == finite_numbers([value]) != []),
        (WRITTEN_WITH_MARKS, lambda value: normal_form(value) == normal_form(code)),
    )
    return next((words for words, is_one in tests if any(map(is_one, values))), "")


def spellings_of(codes: Sequence[str]) -> list[str]:
    """Write codes in small letters, and numbers also as decimal numbers and with a zero before them.

    So a database finds them that knows no normal form.
    """
    small = [code.strip().lower() for code in codes]
    numbers = [plain(number) for number in finite_numbers(codes)]
    decimals = (form.format(each) for each in numbers for form in ("{}", "{}.0", "{}.00", "0{}"))
    return list(dict.fromkeys([*small, *decimals]))


def show_code(code: str) -> str:
    """Write a code in a sentence: in quotes, but for one by the values beside it, which is not shown."""
    return code if code in STRUCTURAL_CODES else f"'{code}'"


def list_codes(codes: Sequence[str]) -> str:
    """Write the most frequent codes of a column, divided by commas."""
    return ", ".join(map(show_code, codes[:MAX_CODES_SHOWN]))


def values_beside(row: Row, values: int) -> ValuesBeside:
    """Put the counts together that an engine made of the values that are no candidates."""
    pairs = ([each.partition(":") for each in row[end]] for end in ("high", "low"))
    high, low = ([(float(number), int(records)) for records, _, number in end] for end in pairs)
    names = ("numbers", "number_rows", "words", "word_rows", "shortest", "longest")
    counts = {name: int(row[name]) for name in names}
    return ValuesBeside(values, **counts, high=high, low=low, records=int(row["other_records"]))


def describe_codes(codes: Mapping[str, Sequence[MissingValueCode]]) -> dict[str, str]:
    """Give the columns that have missing-value codes, each with the sentence of `count_missing_values`.

    >>> list(describe_codes({"age": [], "sex": [MissingValueCode("?", 2)]}))
    ['sex']
    """
    return {
        column: count_missing_values(
            [code.text for code in missing], [code.records for code in missing], column
        )
        for column, missing in codes.items()
        if missing
    }


def count_missing_values(codes: Sequence[str], records: Sequence[int], column: str = "") -> str:
    """Write how many records have missing-value codes, as a sentence without its full stop, or nothing.

    >>> count_missing_values(["?"], [1836], "workclass")
    "1,836 records have '?' in workclass, which looks like a missing-value code and counts as a value"
    """
    if not codes:
        return ""
    listed, total = list_codes(codes), sum(records)
    where = f" in {column}" if column else ""
    counted = f"{total:,} record{' has' if total == 1 else 's have'} {listed}{where}"
    return f"{counted}, which looks like a missing-value code and counts as a value"
