"""The form of texts that are written alike, in DuckDB, and counts from which values of nobody stand out.

`models.columns.spelling` is the reference.
"""

from functools import reduce
from typing import Final

from reid_sql.models.columns.missing_value_codes import NOBODY_WORDS
from reid_sql.models.columns.nobodies import NOBODY_NUMBERS, SIZES_COUNTED
from reid_sql.models.columns.spelling import (
    APOSTROPHES,
    DASHES,
    DOUBLE_LETTERS,
    FINAL_ZEROS,
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
from reid_sql.sql.text import any_of, text

FROM_LETTERS: Final = text(WIDE_LETTERS + DASHES)
TO_LETTERS: Final = text(NARROW_LETTERS + "-" * len(DASHES))
LETTERS_FOR_ONE: Final = tuple(map(text, map("".join, zip(*PLAIN_LETTERS.items(), strict=True))))
ENDS: Final = r"E' \t\r\n\f'"
GROUPED_DIGITS: Final = "[0-9]{1,3}([.,'’ ][0-9]{3})+"  # of thousands


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


def without_marks(value: str) -> str:
    """Write the number of a text without marks between thousands, and with a point before its fraction."""
    return f"""CASE WHEN regexp_full_match({value}, {text(GROUPED_DIGITS)})
        THEN regexp_replace({value}, '[^0-9]', '', 'g') ELSE replace({value}, ',', '.') END"""


def without_writing(plain: str) -> str:
    """Write one text for all that are one value in several writings, of texts without the marks of numbers.

    These differ by capitals, spaces, accents, invisible characters, or zeros before a number or behind its
    point.
    """
    return rf"ltrim(regexp_replace({letters_of(plain)}, '[.]0+\s*$|[\s_]+', '', 'g'), '0')"


def is_ascii(value: str) -> str:
    """Test whether a text is of ASCII characters alone."""
    return f"strlen({value}) = length({value})"


def is_plain(value: str) -> str:
    """Test whether a text is of plain letters and digits, or a number: it needs nothing but small letters."""
    return f"regexp_full_match({value}, '[A-Za-z0-9]+([.,][A-Za-z0-9]+)*')"


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


# Counts of the values of a column of people or households, from which those of nobody stand out.

WORDS: Final = any_of(NOBODY_WORDS)
NUMBERS: Final = ", ".join(map(str, NOBODY_NUMBERS))
SIGNED_INTEGERS: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
INTEGER_TYPES: Final = ", ".join(f"'{each}', 'U{each}'" for each in SIGNED_INTEGERS)
IS_WHOLE: Final = (
    f"(typeof(identifier) IN ({INTEGER_TYPES}) OR starts_with(typeof(identifier), 'DECIMAL'))"
)
IS_FLOAT: Final = "typeof(identifier) IN ('FLOAT', 'DOUBLE')"


def without_zeros(word: str) -> str:
    """Write a normal form without leading zeros, and those of a whole number that was once a float."""
    whole = f"CASE WHEN contains({word}, '.0') THEN regexp_replace({word}, '{FINAL_ZEROS}', '') ELSE {word} END"
    return f"ltrim({whole}, '0')"


def list_values(item: str, column: str, most: int | None = None) -> str:
    """List the texts of a sensitive column, or the first `most`, and their rows, in one row for Python.

    DuckDB would bind the forms of `count_nobodies` for longer than it counts a million rows. Numbers are not
    listed: only a text can be written in two ways.
    """
    return f"""
        SELECT list(identifier::VARCHAR) AS texts, list(size) AS sizes
        FROM (
          SELECT identifier, count(*) AS size
          FROM (SELECT {column} AS identifier FROM {item} AS reid_person) AS reid_identified
          WHERE identifier IS NOT NULL AND NOT ({IS_WHOLE} OR {IS_FLOAT})
          GROUP BY identifier
          {"" if most is None else f"LIMIT {most}"}
        ) AS reid_values"""


def count_nobodies(item: str, column: str) -> str:
    """Count the rows of each value of a column, as SQL has it, and how the values are written.

    The answer is one row of COUNTS_OF_NOBODIES; NULL and NaN are no values. Numbers are written in one way,
    and DuckDB knows the type when it binds: no texts are made of them. A text that begins above the digits is
    no finite number, and takes long to fail as one.
    """
    is_number = f"({IS_WHOLE} OR ({IS_FLOAT} AND isfinite(TRY_CAST(identifier AS DOUBLE))))"
    is_other = "FILTER (code IS NULL AND isfinite(number))"
    is_otherwise = "FILTER (code IS NULL AND second IS NOT NULL)"
    # Each form is a column of its own, as DuckDB binds a long expression anew wherever it stands.
    return f"""
        SELECT max(size, {SIZES_COUNTED}) AS sizes,
          list(code ORDER BY code ASC) FILTER (code IS NOT NULL) AS codes,
          list(size ORDER BY code ASC) FILTER (code IS NOT NULL) AS code_rows,
          count(*) FILTER (code IS NULL) AS others, count(number) {is_other} AS numbers,
          min(number) {is_other} AS least, max(number) {is_other} AS greatest,
          count(bare) FILTER (code IS NULL) - count(DISTINCT bare) FILTER (code IS NULL)
            + greatest(0, count(DISTINCT bare) {is_otherwise} - count(DISTINCT second) {is_otherwise})
            AS alike
        FROM (
          SELECT size, number, {without_zeros("word")} AS bare, {without_zeros("second_word")} AS second,
            CASE WHEN bare_word IN {WORDS} THEN bare_word
              WHEN number IN ({NUMBERS}) THEN number::BIGINT::VARCHAR
            END AS code
          FROM (SELECT *, {word_form("word")} AS bare_word FROM (
            SELECT {join_words("letters", "value")} AS word,
              CASE WHEN is_otherwise THEN {join_words("second_letters", "value")} END AS second_word, *
            FROM (
              SELECT {without_accents("small", "value")} AS letters,
                CASE WHEN is_otherwise THEN {without_accents("small", "value", second_letters=True)} END
                  AS second_letters,
                CASE WHEN is_number THEN TRY_CAST(identifier AS DOUBLE)
                  WHEN value < ':' THEN TRY_CAST(value AS DOUBLE) END AS number, *
              FROM (SELECT *, {small_letters_of("value")} AS small, {is_written_otherwise("value")} AS is_otherwise
              FROM (
                SELECT identifier, CASE WHEN NOT {is_number} THEN identifier::VARCHAR END AS value,
                  count(*) AS size, {is_number} AS is_number
                FROM (SELECT {column} AS identifier FROM {item} AS reid_person) AS reid_identified
                WHERE identifier IS NOT NULL
                GROUP BY identifier
              ) AS reid_values) AS reid_written
            ) AS reid_letters
          ) AS reid_words) AS reid_bare
        ) AS reid_codes"""
