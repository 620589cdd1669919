"""An original and a release or synthetic table in SQL: the distinct records of both as codes."""

from collections.abc import Sequence

from reid_sql.reduction import refuse_key
from reid_sql.reductions.codes.sql import is_ordinal
from reid_sql.reductions.release import AUDITED_COLUMNS, AUDITED_COLUMNS_AND_ENTITY
from reid_sql.sql.people import with_entity
from reid_sql.sql.records import encode_values, is_key, with_null_report
from reid_sql.sql.text import Source, aliases, numbered, texts, union


def paired_records(original: Source, released: Source, qi: Sequence[str], key: str | None) -> str:
    """Count the distinct records of the original, each with what was released of it, as codes of values."""
    refuse_key(qi, key)
    label = "quasi-identifiers" if key is None else "quasi-identifiers and key"
    asked = [*qi] if key is None else [*qi, key]
    keys = "" if key is None else f"{_check_keys(original, released, label, asked)},"
    body = f"""
        WITH {_number_values("reid_rows_of_original", original, qi, asked)},
        {_number_values("reid_rows_of_released", released, qi, asked)},
        {keys}
        {_encode_rows("reid_rows_of_original", qi, key)},
        {_encode_rows("reid_rows_of_released", qi, key)},
        reid_pairs AS (
          SELECT original, released, count(*) AS records
          FROM ({_pair_records(key)})
          GROUP BY original, released
        )
        SELECT {texts(qi)} AS names, [{"false" if key is None else "true"}] AS keyed,
          {_list_codes("original", qi)} AS original_codes,
          {_list_codes("released", qi)} AS released_codes,
          coalesce(list(records), []::BIGINT[]) AS records,
          {_list_values("reid_rows_of_original", qi)} AS original_values,
          {_list_values("reid_rows_of_released", qi)} AS released_values
        FROM reid_pairs"""
    return original.check_columns_of_both(
        released, label, asked, with_null_report(original, qi, "value", body)
    )


def _number_values(table: str, source: Source, columns: Sequence[str], asked: Sequence[str]) -> str:
    """Name a table, and the distinct values of each of its columns, numbered from 1."""
    values = "".join(
        f""",
        {table}_{place} AS MATERIALIZED (
          SELECT v, row_number() OVER () AS code
          FROM (SELECT DISTINCT q{place} AS v FROM {table})
          WHERE v IS NOT NULL
        )"""
        for place, _ in enumerate(columns, 1)
    )
    return f"{table} AS MATERIALIZED (SELECT * FROM {source.rows(asked)}){values}"


def _encode_rows(table: str, columns: Sequence[str], key: str | None) -> str:
    """Name a table's rows as the codes of their values, 0 for NULL; behind the check of the keys, if any."""
    codes = ", ".join(f"coalesce(c{place}.code, 0)::INTEGER" for place, _ in enumerate(columns, 1))
    joins = "".join(
        f"""
          LEFT JOIN {table}_{place} AS c{place} ON q{place} = c{place}.v"""
        for place, _ in enumerate(columns, 1)
    )
    own_key = "" if key is None else f", q{len(columns) + 1} AS key"
    where = "" if key is None else "WHERE (SELECT has_keys FROM reid_keys)"
    return f"""{table}_encoded AS (
          SELECT [{codes}] AS codes{own_key}
          FROM {table}{joins} {where}
        )"""


def _pair_records(key: str | None) -> str:
    """Select each record of the original with its release; without a key, each table's by themselves."""
    if key is None:
        return """
            SELECT codes AS original, NULL::INTEGER[] AS released FROM reid_rows_of_original_encoded
            UNION ALL
            SELECT NULL, codes FROM reid_rows_of_released_encoded"""
    return """
            SELECT o.codes AS original, r.codes AS released
            FROM reid_rows_of_original_encoded AS o
            FULL JOIN reid_rows_of_released_encoded AS r ON o.key IS NOT DISTINCT FROM r.key"""


def _list_codes(side: str, columns: Sequence[str]) -> str:
    """List the codes of each column, -1 where a record is missing on this side."""
    lists = ", ".join(f"list(coalesce({side}[{place}], -1))" for place, _ in enumerate(columns, 1))
    return f"[{lists}]"


def _list_values(table: str, columns: Sequence[str]) -> str:
    """List the texts of each column's distinct values, in the order of their codes."""
    lists = ", ".join(
        f"""(
            SELECT coalesce(list(v::VARCHAR ORDER BY code ASC NULLS LAST), []::VARCHAR[])
            FROM {table}_{place}
          )"""
        for place, _ in enumerate(columns, 1)
    )
    return f"[{lists}]"


def _check_keys(original: Source, released: Source, label: str, asked: Sequence[str]) -> str:
    """Name reid_keys the check that the key differs between records, and has the same type in both tables.

    A cast would make one key of several. It comes before the join of the tables: by a key that repeats, or
    that a table lacks, each record of one would meet each record of the other.
    """
    one, other = (
        f"""(
            SELECT {is_key(f"q{len(asked)}")} AS is_key, any_value(typeof(q{len(asked)})) AS kind FROM {table}
          )"""
        for table in ("reid_rows_of_original", "reid_rows_of_released")
    )
    return f"""reid_keys AS MATERIALIZED (
          SELECT CASE WHEN {original.has_columns(label, asked)} AND {released.has_columns(label, asked)}
            THEN o.is_key AND r.is_key
              AND coalesce(error(reid_refusal('keys', o.kind, r.kind))::BOOLEAN, true) END AS has_keys
          FROM {one} AS o, {other} AS r
        )"""


SIDES = ("originals", "synthetics", "controls")


def audited_tables(
    original: Source,
    synthetic: Source,
    qi: Sequence[str],
    sensitive: Sequence[str] | None,
    holdout: Source | None,
    entity: str | None,
) -> str:
    """Group the records of all tables together, and list the distinct ones, or each person's, as codes."""
    asked = union(qi, sensitive or [])
    every = with_entity(asked, entity, "value")
    tables = [original, synthetic, *([] if holdout is None else [holdout])]
    rows = " UNION ALL ".join(_rows(table, side, asked, entity) for side, table in enumerate(tables))
    counts = [_count(side, entity) for side, _ in enumerate(SIDES)]
    counted = ", ".join(f"{count} AS {name}" for count, name in zip(counts, SIDES, strict=True))
    keys = numbered(asked) if entity is None else f"{numbered(asked)}, side, person"
    ordinal = ", ".join(f"coalesce({is_ordinal(alias)}, false)" for alias in aliases(len(asked)))
    flags = ", ".join(str(column not in qi).lower() for column in asked)
    codes = ", ".join(_list(f"coalesce(code{place}, 0)", "INTEGER") for place, _ in enumerate(asked, 1))
    body = f"""
        WITH reid_rows AS MATERIALIZED ({rows}),
        reid_distinct AS MATERIALIZED (
          SELECT {keys}, {counted} FROM reid_rows GROUP BY {keys}
        )
        SELECT {texts(asked)} AS names, [{flags}]::BOOLEAN[] AS is_sensitive,
          [{ordinal}] AS is_ordinal, [{codes}] AS codes,
          {", ".join(f"{_list(name, 'BIGINT')} AS {name}" for name in SIDES)},
          [{str(holdout is not None).lower()}] AS has_holdout,
          {"[]::BIGINT[]" if entity is None else _list("person", "BIGINT")} AS people
        FROM reid_distinct {encode_values(asked, "reid_distinct", in_order=True)}"""
    for other in tables[1:]:
        body = original.check_types(other, asked, body)
    body = with_null_report(original, qi, "value", body)
    label = (AUDITED_COLUMNS if entity is None else AUDITED_COLUMNS_AND_ENTITY).words
    if holdout is not None:
        body = holdout.check_columns(label, every, body)
    return original.check_columns_of_both(synthetic, label, every, body)


def _rows(table: Source, side: int, asked: Sequence[str], entity: str | None) -> str:
    """Read the records of one table, with the person of each: NULL is one, and each table has its own."""
    if entity is None:
        return f"SELECT {side} AS side, {numbered(asked)} FROM {table.rows(asked)}"
    person = f"dense_rank() OVER (ORDER BY q{len(asked) + 1} ASC NULLS FIRST) AS person"
    return f"SELECT {side} AS side, {numbered(asked)}, {person} FROM {table.rows([*asked, entity])}"


def _count(side: int, entity: str | None) -> str:
    """Count the records of one table with the same values; a person has them once."""
    return f"count(*) FILTER (side = {side})" if entity is None else f"(side = {side})::BIGINT"


def _list(value: str, kind: str) -> str:
    """List the values of all distinct records, an empty list if there is none."""
    return f"coalesce(list({value}::{kind}), []::{kind}[])"
