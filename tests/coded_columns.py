"""Columns with missing-value codes and without, and the codes that plain Python finds in them."""

import random
import re
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime
from itertools import pairwise
from math import isfinite

from reid_sql.models.columns.missing_value_codes import (
    AMBIGUOUS_WORDS,
    FAR_ABOVE,
    FAR_BELOW,
    MISSING_CODES,
    MISSING_DATES,
    MISSING_NUMBERS,
    MISSING_WORDS,
    NEGATIVE_NINES,
    NINES,
    NUMBER_AMONG_TEXTS,
    STRUCTURAL_CODES,
    TEXT_AMONG_NUMBERS,
)
from reid_sql.models.columns.spelling import word_form

HIGH = {float(each) for each in (*NINES, *MISSING_CODES)}
BELOW = {float(each) for each in MISSING_NUMBERS if float(each) < 0}
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
MANY = 20


def beyond_gaps(counts: Counter[float]) -> set[float]:
    """The codes among numbers, by going through them in their order and looking at the gap below each."""
    values = set(counts)
    plain = sorted({value for value in values if value not in HIGH | BELOW})
    if not plain:
        return set()
    gaps = [after - before for before, after in pairwise(plain)]
    usual = max([1.0, sum(gaps) / len(gaps)] if gaps else [1.0])
    marks: set[float] = set()
    refusals = {value for value in values if value in BELOW} - set(map(float, NEGATIVE_NINES))
    are_answers = len(refusals) >= len(plain) or any(counts[value] == 1 for value in refusals)
    for value in sorted(values):
        if value in BELOW and min(plain) >= 0 and not (refusals and are_answers):
            marks.add(value)
        below = [other for other in values - marks if other < value and other not in BELOW]
        alone = counts[value] == 1 or value in set(map(float, MISSING_CODES))
        if (
            value in HIGH
            and value > max(plain)
            and value - max(below) > usual
            and not (len(plain) > MANY and alone)
        ):
            marks.add(value)
    return marks


def codes_in(values: list[object], *, identifies: bool = False) -> dict[str, int]:
    """The missing-value codes of a column, as they are reported, with their records.

    In texts, numbers count if nearly all others are numbers. A column of many values with an identifier's
    name has no numbers that are codes.
    """
    known = [value for value in values if value is not None]
    texts = Counter(value if isinstance(value, str) else _write(value) for value in known)
    words = {
        each
        for each in texts
        if word_form(each) in (*MISSING_WORDS, *AMBIGUOUS_WORDS) or each[:10] in MISSING_DATES
    }
    numbers = {each: float(each) for each in texts if each not in words and NUMBER.fullmatch(each)}
    numbers = {each: number for each, number in numbers.items() if isfinite(number)}
    others = [each for each in texts if each not in words and numbers.get(each) not in HIGH | BELOW]
    plain = [each for each in others if each in numbers]
    is_numeric = not all(isinstance(value, str) for value in known) or 20 * len(plain) >= 19 * len(
        others
    )
    lengths = {len(each) for each in others}
    found = {
        each
        for each in words
        if word_form(each) not in AMBIGUOUS_WORDS
        or len(others) < 2
        or lengths != {len(word_form(each))}
        or identifies
    }
    are_texts = all(isinstance(value, str) for value in known)
    is_named = identifies and len(others) > MANY
    if are_texts and others and not plain and not is_named:
        found |= {each for each in numbers if numbers[each] in HIGH | BELOW}
    if others and is_numeric and not (identifies and len(others) > MANY):
        of_numbers = Counter[float]()
        for each, number in numbers.items():
            of_numbers[number] += texts[each]
        marks = beyond_gaps(of_numbers)
        found |= {each for each, number in numbers.items() if number in marks}
    of_structure = {} if is_named else _apart(texts, others, plain, is_numeric=is_numeric)
    if are_texts:
        return {each: texts[each] for each in found} | of_structure
    shown = Counter[str]()
    for each in found:
        shown["NaN" if each == "nan" else each[:10] if each in words else f"{float(each):.0f}"] += (
            texts[each]
        )
    return dict(shown) | of_structure


def _apart(
    texts: Counter[str], others: list[str], plain: list[str], *, is_numeric: bool
) -> dict[str, int]:
    """Codes by the values beside them, found by looking at each value of a small column."""
    words = [each for each in others if each not in plain]
    without_digits = [each for each in words if not re.search(r"\d", each)]
    found: dict[str, int] = {}
    if 0 < len(plain) <= min(3, len(words)) and words == without_digits:
        found[NUMBER_AMONG_TEXTS] = sum(texts[each] for each in plain)
    if 0 < len(words) <= 3 and words == without_digits and len(plain) >= 5 * len(words):
        found[TEXT_AMONG_NUMBERS] = sum(texts[each] for each in words)
    if is_numeric and len(others) >= 8:
        for phrase, sign in ((FAR_ABOVE, 1), (FAR_BELOW, -1)):
            ordered = sorted(plain, key=lambda each: -sign * float(each))
            for place in range(1, min(4, len(ordered))):
                far, rest = ordered[:place], ordered[place:]
                spread = abs(float(rest[0]) - float(rest[-1]))
                usual = (sum(texts[each] for each in others) - sum(texts[each] for each in far)) / (
                    len(others) - place
                )
                often = all(texts[each] >= max(2, usual) for each in far)
                if abs(float(far[-1]) - float(rest[0])) > max(1, spread) and often:
                    found[phrase] = sum(texts[each] for each in far)
                    break
    return found


def _write(value: object) -> str:
    return value.isoformat(" ") if isinstance(value, datetime) else str(value)


def sentence(codes: dict[str, int], column: str) -> str:
    """What is said of a column with codes."""
    if not codes:
        return ""
    listed = sorted(codes, key=lambda code: (-codes[code], code))[:5]
    records = sum(codes.values())
    shown = ", ".join(each if each in STRUCTURAL_CODES else f"'{each}'" for each in listed)
    return (
        f"{records:,} record{' has' if records == 1 else 's have'} {shown} in {column}, which looks like a "
        "missing-value code and counts as a value."
    )


def _texts(rng: random.Random) -> str:
    return rng.choice(
        [
            "a",
            "b",
            "c",
            " Unknown",
            "?",
            "N/A",
            "NULL",
            "9",
            "x9",
            "1e5",
            "na",
            "don't know",
            "",
            "\u00a0-",
            "\u3000",
        ]
    )


def _numerals(rng: random.Random) -> str:
    odd = [
        "9",
        "99",
        "099",
        "99.0",
        "9.9e1",
        "+97",
        "-1",
        "-1.0",
        "-.1e1",
        "8.99999999999999999",
        "?",
    ]
    return rng.choice([*odd, *map(str, range(40))])


NUMBERS = [0, 1, 2, 3, 5, 8, 9, 10, 40, 90, 96, 97, 98, 99, 999, -1, -3, -9]
DAYS = [date(2001, 2, 3), date(1999, 1, 1), date(9999, 12, 31), date(1900, 1, 1), date(1, 1, 1)]
DRAW: dict[str, Callable[[random.Random], object]] = {
    "BIGINT": lambda rng: rng.choice(NUMBERS),
    "SMALLINT": lambda rng: rng.randrange(-1, 100),
    "HUGEINT": lambda rng: rng.choice([*NUMBERS, 9999999999]),
    "DECIMAL(12,2)": lambda rng: rng.choice([*NUMBERS, 1.5, 99.5]),
    "DOUBLE": lambda rng: rng.choice([*map(float, NUMBERS), 0.5, 99.5, float("nan"), float("inf")]),
    "VARCHAR": _texts,
    "ENUM('a', '?', '99', 'b', '-1')": lambda rng: rng.choice(["a", "?", "99", "b", "-1"]),
    "VARCHAR COLLATE C": _numerals,
    "DATE": lambda rng: rng.choice(DAYS),
    "TIMESTAMP": lambda rng: datetime.combine(
        rng.choice(DAYS), datetime.min.time().replace(rng.choice([0, 7]))
    ),
    "BOOLEAN": lambda rng: rng.random() < 1 / 2,
}


def draw_column(kind: str, seed: int) -> list[object]:
    """Draw a column of few or many of the values of a type of DuckDB, and NULL."""
    rng = random.Random(f"{kind} {seed}")  # noqa: S311 - no secret
    values = [DRAW[kind](rng) for _ in range(rng.choice([1, 2, 4, 8, 60]))]
    return [rng.choice([*values, None]) for _ in range(rng.choice([1, 3, 90]))]
