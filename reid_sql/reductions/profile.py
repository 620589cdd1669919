"""Single columns: how many records have each of their values, and how these are written."""

import re
from typing import Final

from reid_sql.models.columns.column_profile import OTHER, PADDED_PATTERN, ColumnCounts
from reid_sql.models.columns.dates import DATE_PATTERN
from reid_sql.parameters import ColumnNames, Columns, Table, fold_case
from reid_sql.reduction import Argument, Reduction
from reid_sql.sql.missing_value_codes import (
    are_lists_of_codes,
    describe_values_beside,
    mark_candidates,
    read_amounts,
)
from reid_sql.sql.records import with_null_report
from reid_sql.sql.text import Source, fold_case_in_sql, text, texts

# The kind of values of the types of DuckDB: of the first pattern that a type matches.
KINDS: Final = (
    (r"(?s).*\]", OTHER),
    ("U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM", "integer"),
    ("DECIMAL.*", "decimal"),
    ("FLOAT|DOUBLE", "float"),
    ("BOOLEAN", "boolean"),
    ("DATE", "date"),
    ("TIMESTAMP.*", "timestamp"),
    ("TIME.*", "time"),
    ("(?s)VARCHAR|UUID|JSON|ENUM.*", "text"),
)
EACH: Final = "COLUMNS('(?s)(.*)')"  # column, whose name an alias repeats
SOME_COLUMNS: Final = Columns("columns", optional=True)
COLUMN_COUNTS: Final = Reduction(
    __name__,
    name="column_counts",
    words="for each column, its records by distinct value, and how the values are written",
    arguments=(
        Argument("tbl", Table(describes_columns=True)),
        Argument("columns", SOME_COLUMNS, optional=True),
    ),
    columns={
        "place": "BIGINT",
        "column_name": "VARCHAR",
        "column_type": "VARCHAR",
        "records": "BIGINT",
        "missing": "BIGINT",
        "distinct_values": "BIGINT",
        "unique_records": "BIGINT",
        "pairs_alike": "HUGEINT",
        "n_log_n": "DOUBLE",
        "numbers": "BIGINT",
        "whole": "BIGINT",
        "least": "DOUBLE",
        "greatest": "DOUBLE",
        "dates": "BIGINT",
        "padded": "BIGINT",
        "spaced": "BIGINT",
        "shortest": "BIGINT",
        "longest": "BIGINT",
        "letters": "BIGINT",
        "number_rows": "BIGINT",
        "words": "BIGINT",
        "word_rows": "BIGINT",
        "other_records": "BIGINT",
        "high": "VARCHAR[]",
        "low": "VARCHAR[]",
        "candidates": "VARCHAR[]",
    },
    arrays=ColumnCounts,
    reasons=dict.fromkeys(
        ("entity", "by"), "it describes columns, by the values in all rows of the table"
    ),
)


def column_counts(tbl: Source, columns: ColumnNames | None) -> str:
    """Count the records of each column by distinct value, and describe how the values are written.

    The numbers of a column of numbers are written in one way, and `written` is NULL: no pattern is tried.
    """
    values = f"""
          SELECT place, column_name, kind, t, n, CASE
            WHEN kind = 'float' THEN CASE WHEN contains(t, 'n') THEN t END
            WHEN kind NOT IN ('integer', 'decimal') THEN t END AS written
          FROM ({_describe_columns(tbl, columns)})
            LEFT JOIN ({_count_values(tbl, columns)}) USING (place)"""
    body = f"""
        SELECT place, any_value(column_name) AS column_name, any_value(kind) AS column_type,
          {_count_records()}, {_describe_texts()}
        FROM ({read_amounts(mark_candidates(values))})
        GROUP BY place"""
    return tbl.check_columns("columns", columns or [], with_null_report(tbl, [], "value", body))


def _count_values(tbl: Source, columns: ColumnNames | None) -> str:
    """Count the records, n, of each value of each column, with its text t.

    Where the columns are not known, a key that has the equality of the values groups them: values that differ
    may have the same text. A column is its place, as DuckDB lists more than 2,048 names in any order. Keys
    and texts are lists of their own: DuckDB binds a list of a thousand structs in time that grows with its
    square, and each column beside a list is copied for each of its items.
    """
    if columns is None:
        return rf"""
            SELECT place, any_value(t) AS t, count(*) AS n
            FROM (
              SELECT
                unnest(range(1, len(reid_keys) + 1)) AS place,
                unnest(reid_keys) AS k, unnest(reid_texts) AS t
              FROM (
                SELECT list_value(*COLUMNS('^k')) AS reid_keys, list_value(*COLUMNS('^t')) AS reid_texts
                FROM (
                  SELECT create_sort_key(
                      struct_pack(
                        v := {EACH},
                        t := CASE WHEN typeof({EACH}) = 'INTERVAL' THEN {EACH}::VARCHAR END
                      ),
                      'ASC NULLS LAST'
                    ) AS 'k\1',
                    {EACH}::VARCHAR AS 't\1'
                  FROM {tbl.items()}
                )
              )
            )
            GROUP BY place, k"""
    return " UNION ALL ".join(
        f"""
            SELECT {place} AS place, q1::VARCHAR AS t, count(*) AS n
            FROM {tbl.rows([column])}
            GROUP BY q1"""
        for place, column in enumerate(columns, start=1)
    )


def _count_records() -> str:
    """Aggregate the values of a column to numbers of records and values, and of pairs of records alike."""
    return """coalesce(sum(n), 0)::BIGINT AS records,
          coalesce(sum(n) FILTER (t IS NULL), 0)::BIGINT AS missing,
          count(t) AS distinct_values,
          coalesce(sum(n) FILTER (n = 1), 0)::BIGINT AS unique_records,
          coalesce(sum(n::HUGEINT * (n - 1)), 0)::HUGEINT AS pairs_alike,
          coalesce(sum(n * ln(n) ORDER BY n) FILTER (n > 1), 0)::DOUBLE AS n_log_n"""


def _describe_texts() -> str:
    """Aggregate the texts of a column; those that may stand for a missing value are listed as candidates."""
    number = "coalesce(number, amount)"
    are_lists = are_lists_of_codes("written", f"NOT marked AND {number} IS NOT NULL")
    commas = (
        "length(written) - length(replace(written, ',', ''))"  # one may be before a fraction: 1,265
    )
    numbers, whole = (  # of lists, those that are codes by themselves
        f"count({number}) FILTER ({where}) - CASE WHEN {are_lists} THEN count(amount) FILTER ({where}) ELSE 0 END"
        for where in (
            "NOT marked",
            f"NOT marked AND {number} = floor({number}) AND {commas} IS DISTINCT FROM 1",
        )
    )
    return f"""{numbers} AS numbers, {whole} AS whole,
          coalesce(min({number}) FILTER (NOT marked), 0)::DOUBLE AS least,
          coalesce(max({number}) FILTER (NOT marked), 0)::DOUBLE AS greatest,
          count(*) FILTER (NOT marked AND regexp_full_match(written, {text(DATE_PATTERN)})) AS dates,
          count(*) FILTER (NOT marked AND regexp_full_match(written, {text(PADDED_PATTERN)})) AS padded,
          count(*) FILTER (NOT marked AND length(written) - length(replace(written, ' ', '')) > 1) AS spaced,
          coalesce(min(length(t)) FILTER (NOT marked), 0)::BIGINT AS shortest,
          coalesce(max(length(t)) FILTER (NOT marked), 0)::BIGINT AS longest,
          coalesce(sum(length(t)) FILTER (NOT marked), 0)::BIGINT AS letters,
          {describe_values_beside()},
          coalesce(list((n::VARCHAR || ':' || t)::VARCHAR) FILTER (marked), []::VARCHAR[]) AS candidates"""


def _describe_columns(tbl: Source, columns: ColumnNames | None) -> str:
    """Select the columns that are asked for, each with its place and the kind of its values."""
    place = "row_number() OVER ()"
    if columns is not None:
        folded = texts(fold_case(column) for column in columns)
        place = f"list_position({folded}, {fold_case_in_sql('column_name')})"
    kinds = (
        f"WHEN regexp_full_match(column_type, {text(types)}) THEN {text(kind)}"
        for types, kind in KINDS
    )
    return f"""
          SELECT column_name, CASE {" ".join(kinds)} ELSE {text(OTHER)} END AS kind, place
          FROM (SELECT column_name, column_type, {place} AS place FROM (DESCRIBE FROM {tbl.items()}))
          WHERE place > 0"""


def kind_of_values(column_type: str) -> str:
    """Name what kind of values a type of DuckDB has, as on every engine.

    >>> kind_of_values("TIMESTAMP WITH TIME ZONE"), kind_of_values("INTEGER[]")
    ('timestamp', 'other')
    """
    return next((kind for types, kind in KINDS if re.fullmatch(types, column_type)), OTHER)
