"""What a value stands for as it is written: the same value in two tables, a number, nothing."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import numpy as np

from reid_sql.models.columns.column_profile import NUMBER_PATTERN, PADDED_PATTERN
from reid_sql.parameters import Floats

A_NUMBER: Final = re.compile(NUMBER_PATTERN)
A_PADDED_NUMBER: Final = re.compile(PADDED_PATTERN)
A_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?")
NOTHING: Final = re.compile(r"[\s*]*")


def canonical(text: str | None) -> str | float | None:
    """Give what is the same for the same value: numbers by their size, all else as it is written.

    >>> canonical("30.0") == canonical("30"), canonical("030") == canonical("30"), canonical("a")
    (True, False, 'a')
    """
    if text is None or A_PADDED_NUMBER.fullmatch(text) or not A_NUMBER.fullmatch(text):
        return text
    found = float(text)
    exact = "." in text or "e" in text.lower() or abs(found) < 2**53
    return found if exact else text  # beyond, whole numbers that differ are one double


def is_suppressed(text: str | None) -> bool:
    """Whether nothing is told: NULL, an empty text, or stars alone.

    >>> is_suppressed(None), is_suppressed("**"), is_suppressed("123**")
    (True, True, False)
    """
    return text is None or bool(NOTHING.fullmatch(text))


def numbers(texts: Sequence[str]) -> Floats | None:
    """Give the values as numbers, days as seconds; None where one of them is neither.

    >>> numbers(["3", "4.5"]), numbers(["3", "20 to 29"])
    (array([3. , 4.5]), None)
    """
    found = [_number(text) for text in texts]
    listed = [value for value in found if value is not None]
    return np.array(listed) if len(listed) == len(found) else None


def _number(text: str) -> float | None:
    """The number, unless zeros before it tell that it is a code."""
    if A_PADDED_NUMBER.fullmatch(text):
        return None
    if A_NUMBER.fullmatch(text):
        found = float(text)
        return found if np.isfinite(found) else None
    if not A_DATE.fullmatch(text):
        return None
    try:
        return (datetime.fromisoformat(text) - datetime(1970, 1, 1)).total_seconds()  # noqa: DTZ001 - no zones
    except ValueError:
        return None
