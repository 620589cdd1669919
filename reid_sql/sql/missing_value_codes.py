"""Missing-value codes of a column: a test whether it may have some, and the counts that select them."""

from collections.abc import Mapping, Sequence
from typing import Final

from reid_sql.models.columns.column_profile import DATE_TYPES, NUMERIC_TYPES
from reid_sql.models.columns.marked_numbers import (
    AROUND_NUMBER,
    CODES,
    MARKED_NUMBER,
    MIN_PAIRS,
    NUMBER_MARKS,
    PAIRS,
    number_pattern,
)
from reid_sql.models.columns.missing_value_codes import (
    CODE_WORDS,
    ENDS_COUNTED,
    MISSING_DATES,
    MISSING_DAYS,
    MISSING_NUMBERS,
    NUMBER_PATTERN,
    finite_numbers,
)
from reid_sql.models.columns.spelling import normal_form
from reid_sql.parameters import plain_number
from reid_sql.sql.spelling import join_words, letters_of, select_words, word_form
from reid_sql.sql.text import any_of, is_nan, text

DAYS: Final = ", ".join(f"DATE '{each}'" for each in MISSING_DAYS)
WORDS: Final = any_of(CODE_WORDS)
DATES: Final = any_of(MISSING_DATES)
NUMBERS: Final = f"({', '.join(MISSING_NUMBERS)})"


# A text with a digit that is no word: the words of CODE_WORDS that have one have "#" or "r", too. A letter
# beyond ASCII may become either.
NO_WORD_PATTERN: Final = r"[^#rR\x{80}-\x{10FFFF}]*[0-9][^#rR\x{80}-\x{10FFFF}]*"


def select_ends(columns: Mapping[str, str]) -> str:
    """Select the ends of numbers and days, and whether a day is a code; `columns` have their kinds."""
    return ", ".join(
        f"coalesce(bool_or({column}::DATE IN ({DAYS})), false), NULL"
        if kind in DATE_TYPES
        else f"min({column})::DOUBLE, max({column})::DOUBLE"
        for column, kind in columns.items()
    )


def find_candidates_in_texts(item: str, columns: Sequence[str], *, in_groups: bool) -> str:
    """Test of each column whether a text of it may be a code, in one scan.

    In groups, each distinct value is tested once; else each row is, which needs no memory. A number or a date
    may be one, and stands out where other texts are none.
    """
    tests = (f"coalesce(bool_or({_may_be_code(f'{each}::VARCHAR')}), false)" for each in columns)
    sets = ", ".join(f"({each})" for each in columns)
    groups = (
        f"(SELECT {', '.join(columns)} FROM {item} AS reid_source GROUP BY GROUPING SETS ({sets}))"
    )
    return f"""
        SELECT {", ".join(tests)}
        FROM {groups if in_groups else item} AS reid_source"""


def _may_be_code(value: str) -> str:
    word = word_form(join_words(letters_of(value), value))
    return f"""regexp_full_match({value}, {text(NUMBER_PATTERN)})
          OR substr({value}, 1, 10) IN {DATES} OR {word} IN {WORDS}"""


def mark_candidates(values: str) -> str:
    """Select values with their texts t, the number or day that a text is, and whether it may be a code.

    A text is `written` unless its column is one of numbers. To write the normal form of a text takes longer
    than all else, and most texts have a digit.
    """
    wordlike = f"""
                SELECT *,
                  CASE WHEN NOT regexp_full_match(written, {text(NO_WORD_PATTERN)}) THEN written END AS wordlike
                FROM ({values})"""
    return f"""
          SELECT * EXCLUDE (letters, word, wordlike), coalesce(
            {word_form("word")} IN {WORDS}
            OR number IN {NUMBERS}
            OR (substr(written, 1, 10) IN {DATES} AND NOT ends_with(written, '(BC)')), false
          ) AS marked
          FROM (
            SELECT *,
              CASE WHEN written IS NULL OR regexp_full_match(written, {text(NUMBER_PATTERN)})
                THEN try_cast(t AS DOUBLE) END AS number,
              CASE WHEN regexp_matches(written, '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}')
                THEN date_diff('day', DATE '1970-01-01', try_cast(left(t, 10) AS DATE))::DOUBLE END AS day
            FROM ({select_words(wordlike, "wordlike")})
          )"""


def read_amounts(values: str) -> str:
    """Select values with the number `amount` that a text t with marks, a decimal comma or a unit is.

    It is NULL where the text is none, or a number without them.
    """
    forms = " ".join(
        f"WHEN regexp_full_match(bare, {text(number_pattern(marks))}) "
        f"THEN TRY_CAST({plain_number('bare', marks)} AS DOUBLE)"
        for marks in NUMBER_MARKS
    )
    may_be = f"number IS NULL AND regexp_full_match(written, {text(MARKED_NUMBER)})"
    bare = f"CASE WHEN {may_be} THEN regexp_replace(written, {text(AROUND_NUMBER)}, '') END AS bare"
    return f"SELECT * EXCLUDE (bare), CASE {forms} END AS amount FROM (SELECT *, {bare} FROM ({values}))"


def are_lists_of_codes(value: str, where: str) -> str:
    """Test whether texts that could be numbers are lists of codes of three digits, as 100,200,300 is.

    Amounts that all begin with three digits, some of them with thousands, leave 1,000 to 99,999 out. Pairs of
    codes have no zero behind the mark.
    """
    length = f"length({value})"
    return f"""coalesce(bool_and(regexp_full_match({value}, {text(CODES)})) FILTER ({where})
            AND (min({length}) FILTER ({where}) < max({length}) FILTER ({where})
              OR (bool_and(regexp_full_match({value}, {text(PAIRS)})) FILTER ({where})
                AND count(*) FILTER ({where}) >= {MIN_PAIRS})), false)"""


def describe_values_beside() -> str:
    """Aggregate the values that are no candidates, as far as codes stand out from them: `ValuesBeside`.

    The ends of numbers, or of days, are listed with their records.
    """
    other, number = "NOT marked AND t IS NOT NULL", "coalesce(number, day)"
    word = f"{other} AND number IS NULL AND NOT regexp_matches(written, '[0-9]')"
    ends = ", ".join(
        f"""coalesce(list_transform(
            arg_{most}(struct_pack(rows := n, number := {number}), {number}, {ENDS_COUNTED}) FILTER ({other}),
            lambda reid_end: struct_extract(reid_end, 'rows')::VARCHAR || ':'
              || struct_extract(reid_end, 'number')::VARCHAR
          ), []::VARCHAR[]) AS {end}"""
        for end, most in (("high", "max"), ("low", "min"))
    )
    return f"""coalesce(sum(n) FILTER ({other} AND number IS NOT NULL), 0)::BIGINT AS number_rows,
          count(*) FILTER ({word}) AS words,
          coalesce(sum(n) FILTER ({word}), 0)::BIGINT AS word_rows,
          coalesce(sum(n) FILTER ({other}), 0)::BIGINT AS other_records,
          {ends}"""


def count_candidates(item: str, column: str, kind: str, place: int) -> str:
    """Count what `missing_values_of` selects a column's codes from."""
    values = f"""
            SELECT {column} AS v, {column}::VARCHAR AS t, {column}::VARCHAR AS written, count(*) AS n
            FROM {item} AS reid_source GROUP BY {column}"""
    marked = mark_candidates(values)
    if kind in NUMERIC_TYPES:
        is_code = f"{is_nan('v::DOUBLE')} OR v::DOUBLE IN ({', '.join(MISSING_NUMBERS)})"
        number = "CASE WHEN isfinite(v::DOUBLE) THEN v::DOUBLE END"
        marked = (
            f"SELECT *, coalesce({is_code}, false) AS marked, {number} AS number, NULL::DOUBLE AS day "
            f"FROM ({values})"
        )
    return f"""
        SELECT {place} AS place, count(t) FILTER (NOT marked) AS values,
          count(number) FILTER (NOT marked) AS numbers,
          coalesce(min(number) FILTER (NOT marked), 0)::DOUBLE AS least,
          coalesce(max(number) FILTER (NOT marked), 0)::DOUBLE AS greatest,
          coalesce(min(length(t)) FILTER (NOT marked), 0)::BIGINT AS shortest,
          coalesce(max(length(t)) FILTER (NOT marked), 0)::BIGINT AS longest,
          {describe_values_beside()},
          coalesce(list(t) FILTER (marked), []::VARCHAR[]) AS texts,
          coalesce(list(n) FILTER (marked), []::BIGINT[]) AS rows
        FROM ({marked})"""


def spelled_alike(value: str, codes: Sequence[str]) -> str:
    """Test whether a text is one of the codes but for how it is written, as a word or as a number."""
    forms = ", ".join(text(normal_form(each)) for each in codes)
    numbers = ", ".join(map(repr, finite_numbers(codes))) or "NULL"
    days = ", ".join(map(text, codes))
    return f"""({join_words(letters_of(value), value)} IN ({forms}) OR left({value}, 10) IN ({days})
          OR try_cast({value} AS DOUBLE) IN ({numbers}))"""
