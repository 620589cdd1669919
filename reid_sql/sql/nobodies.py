"""Counts of the values of a column of people or households, from which those of nobody stand out."""

from typing import Final

from reid_sql.models.columns.missing_value_codes import NOBODY_WORDS
from reid_sql.models.columns.nobodies import (
    NOBODY_NUMBERS,
    SIZES_COUNTED,
    UNIT_PERSON,
    UNIT_VALUE,
)
from reid_sql.models.columns.spelling import FINAL_ZEROS
from reid_sql.sql.spelling import (
    is_written_otherwise,
    join_words,
    small_letters_of,
    without_accents,
    word_form,
)
from reid_sql.sql.text import any_of

WORDS: Final = any_of(NOBODY_WORDS)
NUMBERS: Final = ", ".join(map(str, NOBODY_NUMBERS))
SIGNED_INTEGERS: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
INTEGER_TYPES: Final = ", ".join(f"'{each}', 'U{each}'" for each in SIGNED_INTEGERS)


def without_zeros(word: str) -> str:
    """Write a normal form without leading zeros, and those of a whole number that was once a float."""
    whole = f"CASE WHEN contains({word}, '.0') THEN regexp_replace({word}, '{FINAL_ZEROS}', '') ELSE {word} END"
    return f"ltrim({whole}, '0')"


def count_nobodies(item: str, column: str, unit: str = UNIT_PERSON) -> str:
    """Count the rows of each value of a column, as SQL has it, and how the values are written.

    The answer is one row of COUNTS_OF_NOBODIES; NULL and NaN are no values. Integers are written in one way,
    and DuckDB knows the type when it binds: no texts are made of them. A text that begins above the digits is
    no finite number, and takes long to fail as one. Sensitive integers are not looked at: only a text can be
    written in two ways.
    """
    is_integer = f"typeof(identifier) IN ({INTEGER_TYPES})"
    is_looked_at = f"identifier IS NOT NULL{f' AND NOT {is_integer}' if unit == UNIT_VALUE else ''}"
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
                CASE WHEN is_integer THEN TRY_CAST(identifier AS DOUBLE)
                  WHEN value < ':' THEN TRY_CAST(value AS DOUBLE) END AS number, *
              FROM (SELECT *, {small_letters_of("value")} AS small, {is_written_otherwise("value")} AS is_otherwise
              FROM (
                SELECT identifier, CASE WHEN NOT {is_integer} THEN identifier::VARCHAR END AS value,
                  count(*) AS size, {is_integer} AS is_integer
                FROM (SELECT {column} AS identifier FROM {item} AS reid_person) AS reid_identified
                WHERE {is_looked_at}
                GROUP BY identifier
              ) AS reid_values) AS reid_written
            ) AS reid_letters
          ) AS reid_words) AS reid_bare
        ) AS reid_codes"""
