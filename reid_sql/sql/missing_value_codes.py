"""Missing-value codes of a column: a test whether it may have some, and the counts that select them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from reid_sql.models.columns.column_profile import DATE_TYPES, NUMERIC_TYPES
from reid_sql.models.columns.missing_value_codes import (
    CANDIDATE_PATTERN,
    MISSING_DATES,
    MISSING_DAYS,
    MISSING_NUMBERS,
    MISSING_WORDS,
    NUMBER_PATTERN,
)
from reid_sql.sql.text import is_nan, text

DAYS: Final = ", ".join(f"DATE '{each}'" for each in MISSING_DAYS)


def select_ends(columns: Mapping[str, str]) -> str:
    """Select the ends of numbers, and of dates whether one is a code; `columns` have their kinds."""
    return ", ".join(
        f"coalesce(bool_or({column}::DATE IN ({DAYS})), false), NULL"
        if kind in DATE_TYPES
        else f"min({column})::DOUBLE, max({column})::DOUBLE"
        for column, kind in columns.items()
    )


def find_candidates_in_texts(item: str, columns: Sequence[str], *, in_groups: bool) -> str:
    """Test of each column whether a text of it may be a code, in one scan.

    In groups, each distinct value is tested once; else each row is, which needs no memory.
    """
    pattern = text(CANDIDATE_PATTERN)
    tests = (
        f"coalesce(bool_or(regexp_full_match({each}::VARCHAR, {pattern})), false)"
        for each in columns
    )
    sets = ", ".join(f"({each})" for each in columns)
    groups = (
        f"(SELECT {', '.join(columns)} FROM {item} AS reid_source GROUP BY GROUPING SETS ({sets}))"
    )
    return f"""
        SELECT {", ".join(tests)}
        FROM {groups if in_groups else item} AS reid_source"""


def mark_candidates(values: str) -> str:
    """Select values with their texts t, and add the number that a text is, and whether it may be a code."""
    return f"""
          SELECT *, coalesce(
            lower(trim(t)) IN {_in_parentheses(MISSING_WORDS)}
            OR number IN {_in_parentheses(MISSING_NUMBERS)}
            OR (substr(t, 1, 10) IN {_in_parentheses(MISSING_DATES)} AND NOT ends_with(t, '(BC)')), false
          ) AS marked
          FROM (
            SELECT *,
              CASE WHEN regexp_full_match(t, {text(NUMBER_PATTERN)}) THEN try_cast(t AS DOUBLE) END AS number
            FROM ({values})
          )"""


def _in_parentheses(words: Iterable[str]) -> str:
    return f"({', '.join(map(text, words))})"


def count_candidates(item: str, column: str, kind: str, place: int) -> str:
    """Count what `missing_values_of` selects a column's codes from."""
    values = f"""
            SELECT {column} AS v, {column}::VARCHAR AS t, count(*) AS n
            FROM {item} AS reid_source GROUP BY {column}"""
    marked = mark_candidates(values)
    if kind in NUMERIC_TYPES:
        is_code = f"{is_nan('v::DOUBLE')} OR v::DOUBLE IN ({', '.join(MISSING_NUMBERS)})"
        number = "CASE WHEN isfinite(v::DOUBLE) THEN v::DOUBLE END"
        marked = (
            f"SELECT *, coalesce({is_code}, false) AS marked, {number} AS number FROM ({values})"
        )
    return f"""
        SELECT {place} AS place, count(t) FILTER (NOT marked) AS values,
          count(number) FILTER (NOT marked) AS numbers,
          coalesce(min(number) FILTER (NOT marked), 0)::DOUBLE AS least,
          coalesce(max(number) FILTER (NOT marked), 0)::DOUBLE AS greatest,
          coalesce(list(t) FILTER (marked), []::VARCHAR[]) AS texts,
          coalesce(list(n) FILTER (marked), []::BIGINT[]) AS rows
        FROM ({marked})"""
