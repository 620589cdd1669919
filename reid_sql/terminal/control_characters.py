"""Escape control characters: data or a policy must not control a terminal or hide text."""

import re
from typing import Final

# Controls, marks that turn the direction of writing or take no room, lone surrogates, and breaks of lines.
# which a spreadsheet computes
FORMULA: Final = re.compile(r"\s*[=+\-@\uff0b\uff0d\uff1d\uff20]|[\t\r]")
NUMBER: Final = re.compile(r"[+-]?(\d[\d,. ]*|\.\d+)([eE][+-]?\d+)?%?")
HIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufe00-\ufe0f"
    "\ufeff\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)


def escape_control_characters(text: str) -> str:
    r"""Escape each character that would control a terminal or hide text.

    >>> escape_control_characters("a\x1b[31mb\u202ec\nd é 漢")
    'a\\x1b[31mb\\u202ec\\x0ad é 漢'
    """
    return HIDDEN.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = f"{ord(match[0]):x}"
    letter, digits = next(
        (letter, size) for letter, size in (("x", 2), ("u", 4), ("U", 8)) if len(code) <= size
    )
    return f"\\{letter}{code.zfill(digits)}"


def escape_in_csv(text: str) -> str:
    r"""Escape control characters in a field of CSV, which may contain line breaks and tabs.

    A carriage return that ends no line would overwrite the text before it. A spreadsheet computes a text that
    begins like a formula, and shows one that begins with an apostrophe as it is.

    >>> escape_in_csv("a\r\n\tb\rc\x1b"), escape_in_csv("=1+1"), escape_in_csv("-1")
    ('a\r\n\tb\\x0dc\\x1b', "'=1+1", '-1')
    """
    escaped = HIDDEN.sub(_in_csv, text)
    is_formula = len(text) > 1 and FORMULA.match(text) and not NUMBER.fullmatch(text)
    return f"'{escaped}" if is_formula else escaped


def _in_csv(match: re.Match[str]) -> str:
    allowed = match[0] in "\n\t" or match.string.startswith("\r\n", match.start())
    return match[0] if allowed else _escape(match)


def escape_in_json(text: str) -> str:
    """Escape control characters that JSON allows but a terminal obeys, as JSON escapes."""
    return HIDDEN.sub(lambda match: match[0] if match[0] in "\n\r\t" else _in_json(match[0]), text)


def _in_json(letter: str) -> str:
    return "".join(
        f"\\u{unit:04x}"
        for unit in memoryview(letter.encode("utf-16-le", "surrogatepass")).cast("H")
    )
