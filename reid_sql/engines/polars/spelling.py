"""The form of texts that are written alike, in Polars; `models.columns.spelling` is the reference."""

from typing import Final

import polars as pl

from reid_sql.models.columns.spelling import (
    APOSTROPHES,
    DASHES,
    DOUBLE_LETTERS,
    ENDS_OF_WORDS,
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

NARROW: Final = {
    **dict(zip(WIDE_LETTERS, NARROW_LETTERS, strict=True)),
    **dict.fromkeys(DASHES, "-"),
}
LETTERS: Final = {**LIGATURES, **PLAIN_LETTERS}


def normal_form(value: pl.Expr, *, second_letters: bool = False) -> pl.Expr:
    """Write a text as all of its spellings are; most are plain ASCII."""
    seen = value.str.replace_all(SPACES, " ").str.replace_all(INVISIBLE, "")
    small = seen.str.replace_many(NARROW).str.normalize("NFC").str.to_lowercase()
    plain = small.str.replace_many({**LETTERS, **UMLAUTS} if second_letters else LETTERS)
    bare = plain.str.normalize("NFD").str.replace_all(r"\p{M}+", "").str.normalize("NFC")
    is_plain = value.str.len_bytes() == value.str.len_chars()
    letters = pl.when(is_plain).then(value.str.to_lowercase()).otherwise(bare)
    word = letters.str.strip_chars(ENDS_OF_WORDS).str.replace_all(f"[{APOSTROPHES}{QUOTES}]", "")
    spaced, written = (word.str.replace_all(each, " ") for each in (r"[-_\s]+", r"\s+"))
    return pl.when(word >= "a").then(spaced).otherwise(written).str.strip_chars(ENDS_OF_WORDS)


def word_form(word: pl.Expr) -> pl.Expr:
    """Write a normal form without the marks around it."""
    return word.str.strip_chars(MARKS_AROUND_WORDS)


def is_written_otherwise(value: pl.Expr) -> pl.Expr:
    """Test whether a text has a letter with a mark, or two letters that may stand for one."""
    is_plain = value.str.len_bytes() == value.str.len_chars()
    return ~is_plain | value.str.contains_any(list(DOUBLE_LETTERS))
