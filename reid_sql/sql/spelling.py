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


def letters_of(value: str, *, second_letters: bool = False) -> str:
    """Write a text without capitals, accents, invisible characters and wide letters; most are plain ASCII."""
    seen = f"regexp_replace(regexp_replace({value}, {text(SPACES)}, ' ', 'g'), {text(INVISIBLE)}, '', 'g')"
    small = f"lower(nfc_normalize(translate({seen}, {FROM_LETTERS}, {TO_LETTERS})))"
    several = {**LIGATURES, **(UMLAUTS if second_letters else {})}
    plain = reduce(
        lambda each, pair: f"replace({each}, {text(pair[0])}, {text(pair[1])})",
        several.items(),
        small,
    )
    return (
        f"CASE WHEN strlen({value}) = length({value}) THEN lower({value}) "
        f"ELSE strip_accents(translate({plain}, {', '.join(LETTERS_FOR_ONE)})) END"
    )


def is_plain(value: str) -> str:
    """Test whether a text is of plain letters and digits: most are, and need nothing but small letters."""
    return f"regexp_full_match({value}, '[A-Za-z0-9]+')"


def join_words(letters: str, value: str) -> str:
    """Leave out quotes and apostrophes; in a text that begins with a letter, write spaces for hyphens."""
    bare = f"translate(trim({letters}, {ENDS}), {text(APOSTROPHES + QUOTES)}, '')"
    spaced, written = (
        rf"regexp_replace({bare}, '{each}+', ' ', 'g')" for each in (r"[-_\s]", r"\s")
    )
    joined = f"trim(CASE WHEN {bare} >= 'a' THEN {spaced} ELSE {written} END, {ENDS})"
    return f"CASE WHEN {is_plain(value)} THEN {letters} ELSE {joined} END"


def word_form(word: str) -> str:
    """Write a normal form without the marks around it."""
    marks = text(MARKS_AROUND_WORDS)
    return f"CASE WHEN {is_plain(word)} THEN {word} ELSE trim({word}, {marks}) END"


def is_written_otherwise(value: str) -> str:
    """Test whether a text has a letter with a mark, or two letters that may stand for one."""
    pairs = " OR ".join(f"contains({value}, {text(pair)})" for pair in DOUBLE_LETTERS)
    return f"(strlen({value}) <> length({value}) OR {pairs})"


def select_words(values: str, column: str) -> str:
    """Select values with the normal form of the text of a column, as `word`."""
    return f"""
        SELECT *, {join_words("letters", column)} AS word
        FROM (SELECT *, {letters_of(column)} AS letters FROM ({values}))"""
