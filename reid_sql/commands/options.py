"""How commands read texts from the command line, and print text; light, as help is shown with it."""

import csv
import re
import sys
from typing import TYPE_CHECKING, Final

from reid_sql.errors import OutOfDomainError
from reid_sql.terminal import progress

if TYPE_CHECKING:
    from typing import TextIO

PASSED: Final = 0
GROUPED: Final = re.compile(r"\d{1,3}(,\d{3})+")  # 67,000,000


def names(label: str, text: str) -> list[str]:
    """Read names separated by commas; a name that contains a comma is quoted as in CSV."""
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error:
        rule = f"{label} must be one line of names by comma, got {text!r}"
        raise OutOfDomainError(f"{rule}; write them like age,sex and quote a name that has a comma") from None
    return [column for row in rows for column in row if column]


def number(label: str, text: str) -> float:
    """Read a number, or refuse the text."""
    try:
        return float(text)
    except ValueError:
        rule = f"{label} must be a number, got '{text}'"
        raise OutOfDomainError(f"{rule}; write it with digits, such as 5 or 0.2") from None


def numbers(label: str, texts: list[str]) -> list[float]:
    """Read lists of numbers separated by commas; an unambiguous comma may also separate thousands."""
    return [value for text in texts for value in _numbers(label, text)]


def _numbers(label: str, text: str) -> list[float]:
    if not GROUPED.fullmatch(text.strip()):
        return [number(label, part) for part in text.split(",")]
    parts = text.strip().split(",")
    if not any(part.startswith("0") for part in parts[1:]):  # 67,000 is no list: 000 is no number
        rule = f"{label} must show whether a comma separates numbers or thousands, got '{text}'"
        raise OutOfDomainError(f"{rule}; write {''.join(parts)}, or give {label} twice")
    return [float("".join(parts))]


def require(option: str, value: object, other: str, *, given: bool) -> None:
    """Refuse an option that has no effect without another one."""
    if value not in (None, False) and not given:
        got = "it" if value is True else str(value)
        raise OutOfDomainError(f"{option} must come with {other}, got {got} alone; add {other} or omit it")


def printed(text: str, stream: "TextIO | None" = None) -> None:
    """Print the text unchanged, on standard output unless another stream is named; end the progress line."""
    progress.end()
    print(text, end="", file=stream or sys.stdout)
