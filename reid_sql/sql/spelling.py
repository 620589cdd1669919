"""The form of texts that are written alike, in DuckDB; `models.columns.spelling` is the reference."""

from functools import reduce
from typing import Final

from reid_sql.models.columns.spelling import (
    APOSTROPHES,
    DASHES,
    DOUBLE_LETTERS,
    INVISIBLE,
    LIGATURES,
    MARKS_AROUND_WORDS,
    NARROW_LETTERS,
    PLAIN_LETTERS,
    QUOTES,
    SPACES,
    UMLAUTS,
    WIDE_LETTERS,
)
from reid_sql.sql.text import text

FROM_LETTERS: Final = text(WIDE_LETTERS + DASHES)
TO_LETTERS: Final = text(NARROW_LETTERS + "-" * len(DASHES))
LETTERS_FOR_ONE: Final = tuple(map(text, map("".join, zip(*PLAIN_LETTERS.items(), strict=True))))
ENDS: Final = r"E' \t\r\n\f'"


def small_letters_of(value: str) -> str:
    """Write a text without capitals, invisible characters and wide letters; most are plain ASCII."""
    seen = f"regexp_replace(regexp_replace({value}, {text(SPACES)}, ' ', 'g'), {text(INVISIBLE)}, '', 'g')"
    return (
        f"CASE WHEN {is_ascii(value)} THEN lower({value}) "
        f"ELSE lower(nfc_normalize(translate({seen}, {FROM_LETTERS}, {TO_LETTERS}))) END"
    )


def without_accents(small: str, value: str, *, second_letters: bool = False) -> str:
    """Write small letters of a text without accents; `second_letters` writes umlauts as two letters."""
    several = {**LIGATURES, **(UMLAUTS if second_letters else {})}
    plain = reduce(
        lambda each, pair: f"replace({each}, {text(pair[0])}, {text(pair[1])})",
        several.items(),
        small,
    )
    accented = f"strip_accents(translate({plain}, {', '.join(LETTERS_FOR_ONE)}))"
    return f"CASE WHEN {is_ascii(value)} THEN {small} ELSE {accented} END"


def letters_of(value: str, *, second_letters: bool = False) -> str:
    """Write a text without capitals, accents, invisible characters and wide letters."""
    return without_accents(small_letters_of(value), value, second_letters=second_letters)


def is_ascii(value: str) -> str:
    """Test whether a text is of ASCII characters alone."""
    return f"strlen({value}) = length({value})"


def is_plain(value: str) -> str:
    """Test whether a text is of plain letters and digits: most are, and need nothing but small letters."""
    return f"regexp_full_match({value}, '[A-Za-z0-9]+')"


def join_words(letters: str, value: str) -> str:
    """Leave out quotes and apostrophes; in a text that begins with a letter, write spaces for hyphens."""
    bare = f"translate(trim({letters}, {ENDS}), {text(APOSTROPHES + QUOTES)}, '')"
    spaced = f"CASE WHEN {bare} >= 'a' THEN translate({bare}, '-_', '  ') ELSE {bare} END"
    joined = rf"trim(regexp_replace({spaced}, '\s+', ' ', 'g'), {ENDS})"
    return f"CASE WHEN {is_plain(value)} THEN {letters} ELSE {joined} END"


def word_form(word: str) -> str:
    """Write a normal form without the marks around it."""
    marks = text(MARKS_AROUND_WORDS)
    return f"CASE WHEN {is_plain(word)} THEN {word} ELSE trim({word}, {marks}) END"


def is_written_otherwise(value: str) -> str:
    """Test whether a text has a letter with a mark, or two letters that may stand for one."""
    pairs = " OR ".join(f"contains({value}, {text(pair)})" for pair in DOUBLE_LETTERS)
    return f"(NOT {is_ascii(value)} OR {pairs})"


def select_words(values: str, column: str) -> str:
    """Select values with the normal form of the text of a column, as `word`."""
    return f"""
        SELECT *, {join_words("letters", column)} AS word
        FROM (SELECT *, {letters_of(column)} AS letters FROM ({values}))"""
