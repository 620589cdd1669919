"""Distinct records as texts in SQL, with how many records hold each."""

from collections.abc import Sequence

from reid_sql.reductions.texts import NAMES
from reid_sql.sql import text as sql_text
from reid_sql.sql.groups import count_by_group, group_aliases
from reid_sql.sql.records import value_texts, with_null_report
from reid_sql.sql.source import Source
from reid_sql.sql.text import numbered, prefix


def texts(tbl: Source, qi: Sequence[str], by: Sequence[str] | None, nulls: str) -> str:
    """List the distinct records as texts, below a line with the names of the columns."""
    if by is not None:
        return _texts_by_group(tbl, qi, by, nulls)
    body = f"""
        SELECT {NAMES}::BIGINT AS line, {sql_text.texts(qi)} AS texts, 0::BIGINT AS records
        UNION ALL
        SELECT row_number() OVER () AS line, {value_texts(qi)} AS texts, records
        FROM (
          SELECT {numbered(qi)}, count(*) AS records
          FROM {tbl.rows(qi, drop_nulls=nulls == "drop")}
          GROUP BY {numbered(qi)}
        )"""
    return tbl.check_columns("quasi-identifiers", qi, with_null_report(tbl, qi, nulls, body))


def _texts_by_group(tbl: Source, qi: Sequence[str], by: Sequence[str], nulls: str) -> str:
    """List the same of each group, all from one count by the columns and the groups."""
    groups = prefix(group_aliases(qi, by))
    sized = f"""reid_sized AS (
          SELECT DISTINCT {groups}{NAMES}::BIGINT AS line, {sql_text.texts(qi)} AS texts, 0::BIGINT AS records
          FROM reid_divided WHERE kept
          UNION ALL
          SELECT {groups}row_number() OVER () AS line, {value_texts(qi)} AS texts, records
          FROM reid_divided WHERE kept
        )"""
    counts = "line, texts, coalesce(s.records, 0)::BIGINT AS records"
    return count_by_group(tbl, "quasi-identifiers", qi, by, None, nulls, counts, sized)
