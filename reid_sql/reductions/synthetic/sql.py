"""Distinct records of three tables in SQL, each with how many records of each table have its values."""

from collections.abc import Sequence

from reid_sql.reductions.codes.sql import is_ordinal
from reid_sql.reductions.synthetic import AUDITED_COLUMNS
from reid_sql.sql.records import encode_values, with_null_report
from reid_sql.sql.source import Source
from reid_sql.sql.text import aliases, numbered, texts, union

SIDES = ("originals", "synthetics", "controls")


def audited_tables(
    original: Source,
    synthetic: Source,
    qi: Sequence[str],
    sensitive: Sequence[str] | None,
    holdout: Source | None,
) -> str:
    """Group the records of all tables together, and list the distinct ones as codes."""
    asked = union(qi, sensitive or [])
    tables = [original, synthetic, *([] if holdout is None else [holdout])]
    rows = " UNION ALL ".join(
        f"SELECT {side} AS side, {numbered(asked)} FROM {table.rows(asked)}"
        for side, table in enumerate(tables)
    )
    counts = ", ".join(f"count(*) FILTER (side = {side}) AS {name}" for side, name in enumerate(SIDES))
    ordinal = ", ".join(f"coalesce({is_ordinal(alias)}, false)" for alias in aliases(len(asked)))
    flags = ", ".join(str(column not in qi).lower() for column in asked)
    body = f"""
        WITH reid_rows AS MATERIALIZED ({rows}),
        reid_distinct AS MATERIALIZED (
          SELECT {numbered(asked)}, {counts} FROM reid_rows GROUP BY {numbered(asked)}
        )
        SELECT {texts(asked)} AS names, [{flags}]::BOOLEAN[] AS is_sensitive,
          [{ordinal}] AS is_ordinal,
          [{", ".join(_list(f"coalesce(code{place}, 0)", "INTEGER") for place, _ in enumerate(asked, 1))}]
            AS codes,
          {", ".join(f"{_list(name, 'BIGINT')} AS {name}" for name in SIDES)},
          [{str(holdout is not None).lower()}] AS has_holdout
        FROM reid_distinct {encode_values(asked, "reid_distinct", in_order=True)}"""
    for other in tables[1:]:
        body = original.check_types(other, asked, body)
    body = with_null_report(original, qi, "value", body)
    if holdout is not None:
        body = holdout.check_columns(AUDITED_COLUMNS.words, asked, body)
    return original.check_columns_of_both(synthetic, AUDITED_COLUMNS.words, asked, body)


def _list(value: str, kind: str) -> str:
    """List the values of all distinct records, an empty list if there is none."""
    return f"coalesce(list({value}::{kind}), []::{kind}[])"
