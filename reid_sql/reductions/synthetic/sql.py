"""Attacks on a synthetic table in SQL: the records of all tables are grouped, once for each attack."""

from collections.abc import Iterator, Sequence

from reid_sql.models.synthetic.audit import DISCLOSIVE_CORRECT, EXACT_PRESENCE, NO_CONTROL, REPLICATED_UNIQUES
from reid_sql.reductions.synthetic import AUDITED_COLUMNS
from reid_sql.sql.records import with_null_report
from reid_sql.sql.source import Source
from reid_sql.sql.text import aliases, numbered, text, union

COUNTS = ", ".join(f"count(*) FILTER (side = {side}) AS {name}" for side, name in enumerate("osh"))


def synthetic_attacks(
    original: Source,
    synthetic: Source,
    qi: Sequence[str],
    sensitive: Sequence[str] | None,
    holdout: Source | None,
) -> str:
    """Count the records of the original and of the holdout that each attack is right about."""
    asked = union(qi, sensitive or [])
    tables = [original, synthetic, *([] if holdout is None else [holdout])]
    rows = " UNION ALL ".join(
        f"SELECT {side} AS side, {numbered(asked)} FROM {table.rows(asked)}"
        for side, table in enumerate(tables)
    )
    attacks = " UNION ALL ".join(
        f"SELECT {place} AS place, {attack}" for place, attack in enumerate(_attacks(qi, asked))
    )
    control = "control_hits" if holdout else f"{NO_CONTROL}::BIGINT"
    body = f"""
        WITH reid_rows AS MATERIALIZED ({rows}),
        reid_sizes AS (SELECT {COUNTS} FROM reid_rows)
        SELECT place::BIGINT AS place, attack, column_name, coalesce(hits, 0)::BIGINT AS hits,
          coalesce({control}, 0)::BIGINT AS control_hits, o AS originals, s AS synthetics,
          {"h" if holdout else f"{NO_CONTROL}::BIGINT"} AS controls
        FROM ({attacks}), reid_sizes"""
    for other in tables[1:]:
        body = original.check_types(other, asked, body)
    body = with_null_report(original, qi, "value", body)
    if holdout is not None:
        body = holdout.check_columns(AUDITED_COLUMNS.words, asked, body)
    return (
        original.check_columns_of_both(synthetic, AUDITED_COLUMNS.words, asked, body) + " ORDER BY place ASC"
    )


def _attacks(qi: Sequence[str], asked: Sequence[str]) -> Iterator[str]:
    """Select the name of each attack, and what it is right about; o, s and h are records of the tables."""
    unique = "count(*) FILTER ({} = 1 AND s = 1)"
    yield f"""{text(REPLICATED_UNIQUES)} AS attack, '' AS column_name, {unique.format("o")} AS hits,
        {unique.format("h")} AS control_hits
        FROM (SELECT {COUNTS} FROM reid_rows GROUP BY {numbered(qi)})"""
    yield f"""{text(EXACT_PRESENCE)}, '', sum(o) FILTER (s > 0), sum(h) FILTER (s > 0)
        FROM (SELECT {COUNTS} FROM reid_rows GROUP BY {numbered(asked)})"""
    for column, alias in zip(asked[len(qi) :], aliases(len(asked))[len(qi) :], strict=True):
        yield f"""{text(DISCLOSIVE_CORRECT)}, {text(column)}, sum(o) FILTER (s > 0 AND n = 1),
        sum(h) FILTER (s > 0 AND n = 1)
        FROM (
          SELECT o, s, h, count(*) FILTER (s > 0) OVER (PARTITION BY {numbered(qi)}) AS n
          FROM (SELECT {numbered(qi)}, {COUNTS} FROM reid_rows GROUP BY {numbered(qi)}, {alias})
        )"""
