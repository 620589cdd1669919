"""An original table with its release, record by record."""

from typing import Final

from reid_sql.models.comparison.paired_records import PairedRecords
from reid_sql.parameters import QUASI_IDENTIFIERS, TABLE, ColumnNames
from reid_sql.parameters.tolerance import Allowances, allowances_of
from reid_sql.reduction import KEY, WITHIN, Argument, Reduction, refuse_key
from reid_sql.sql.records import is_key, with_null_report
from reid_sql.sql.text import Source, aliases, numbered, texts
from reid_sql.sql.tolerance import count_within, is_within, tolerance_tables

TABLE_NAMES: Final = ("the original", "the release")  # what sentences call the tables
PAIRED_RECORDS: Final = Reduction(
    __name__,
    name="paired_records",
    words="the distinct records of the original, each with what was released of it, as codes",
    arguments=(
        Argument("original", TABLE),
        Argument("released", TABLE),
        Argument("qi", QUASI_IDENTIFIERS),
        KEY,
        WITHIN,
    ),
    columns={
        "names": "VARCHAR[]",
        "keyed": "BOOLEAN[]",
        "original_codes": "INTEGER[][]",
        "released_codes": "INTEGER[][]",
        "records": "BIGINT[]",
        "original_values": "VARCHAR[][]",
        "released_values": "VARCHAR[][]",
        "within": "BIGINT[]",
        "is_within": "BIGINT[]",
    },
    arrays=PairedRecords,
    reasons={
        "entity": "it compares records, which key pairs, and not people",
        "by": "it compares two tables as a whole",
    },
    whole=True,
)


def paired_records(
    original: Source,
    released: Source,
    qi: ColumnNames,
    key: str | None,
    tolerance: str | None = None,
) -> str:
    """Count the distinct records of the original, each with what was released of it, as codes of values.

    With a tolerance, `within` is how many released records match the original one within it, and `is_within`
    whether its own does.
    """
    refuse_key(qi, key)
    allowances = allowances_of(tolerance, qi)
    if allowances:
        original, released = original.guard_types([released], qi)
    label = "quasi-identifiers" if key is None else "quasi-identifiers and key"
    columns_read = [*qi] if key is None else [*qi, key]
    keys = "" if key is None else f"{_check_keys(original, released, label, columns_read)},"
    body = f"""
        WITH {_number_values("reid_rows_of_original", original, qi, columns_read)},
        {_number_values("reid_rows_of_released", released, qi, columns_read)},
        {keys}
        {_encode_rows("reid_rows_of_original", qi, key)},
        {_encode_rows("reid_rows_of_released", qi, key)},
        reid_pairs AS (
          SELECT original, released, count(*) AS records
          FROM ({_pair_records(key)})
          GROUP BY original, released
        ){_match_pairs(qi, allowances)}
        SELECT {texts(qi)} AS names, [{"false" if key is None else "true"}] AS keyed,
          {_list_codes("original", qi)} AS original_codes,
          {_list_codes("released", qi)} AS released_codes,
          coalesce(list(records), []::BIGINT[]) AS records,
          {_list_values("reid_rows_of_original", qi)} AS original_values,
          {_list_values("reid_rows_of_released", qi)} AS released_values,
          {"list(within)" if allowances else "NULL::BIGINT[]"} AS within,
          {"list(is_within)" if allowances else "NULL::BIGINT[]"} AS is_within
        FROM {"reid_found" if allowances else "reid_pairs"}"""
    if allowances:
        body = original.check_types(released, qi, body)
    return original.check_columns_of_both(
        released, TABLE_NAMES, label, columns_read, with_null_report(original, qi, "value", body)
    )


def _number_values(
    table: str, source: Source, columns: ColumnNames, columns_read: ColumnNames
) -> str:
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
    return f"{table} AS MATERIALIZED (SELECT * FROM {source.rows(columns_read)}){values}"


def _encode_rows(table: str, columns: ColumnNames, key: str | None) -> str:
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


def _match_pairs(qi: ColumnNames, allowances: Allowances) -> str:
    """Name reid_found the pairs with how many released records match the original one within the tolerance.

    A record is found by the codes of its values; `codes` are those of a side.
    """
    if not allowances:
        return ""
    sides = " UNION ALL ".join(
        f"""
          SELECT {side} AS side, row_number() OVER () AS id, * FROM (
            SELECT {numbered(qi)}, count(*) AS records FROM reid_rows_of_{table} GROUP BY {numbered(qi)}
          )"""
        for side, table in enumerate(("original", "released"))
    )
    exact = [alias for place, alias in enumerate(aliases(len(qi)), 1) if place not in allowances]
    codes = ", ".join(f"coalesce(v{place}.code, 0)::INTEGER" for place, _ in enumerate(qi, 1))
    coded = " UNION ALL ".join(
        f"""
          SELECT reid_placed.*, [{codes}] AS codes
          FROM reid_placed {_join_values(f"reid_rows_of_{table}", qi)} WHERE side = {side}"""
        for side, table in enumerate(("original", "released"))
    )
    return f""",
        reid_both AS MATERIALIZED ({sides}),
        {tolerance_tables(qi, "reid_both", allowances)},
        reid_sizes AS ({count_within(exact, allowances, "side = 1", "within", of_people=False)}),
        reid_coded AS MATERIALIZED ({coded}),
        reid_found AS MATERIALIZED (
          SELECT reid_pairs.*, coalesce(s.within, 0) AS within,
            coalesce(({is_within(exact, allowances, "o", "r")})::BIGINT, 0) AS is_within
          FROM reid_pairs
          LEFT JOIN (FROM reid_coded WHERE side = 0) AS o ON reid_pairs.original = o.codes
          LEFT JOIN (FROM reid_coded WHERE side = 1) AS r ON reid_pairs.released = r.codes
          LEFT JOIN reid_sizes AS s ON o.id = s.id
        )"""


def _join_values(table: str, columns: ColumnNames) -> str:
    return " ".join(
        f"LEFT JOIN {table}_{place} AS v{place} ON q{place} = v{place}.v"
        for place, _ in enumerate(columns, 1)
    )


def _list_codes(side: str, columns: ColumnNames) -> str:
    """List the codes of each column, -1 where a record is missing on this side."""
    lists = ", ".join(f"list(coalesce({side}[{place}], -1))" for place, _ in enumerate(columns, 1))
    return f"[{lists}]"


def _list_values(table: str, columns: ColumnNames) -> str:
    """List the texts of each column's distinct values, in the order of their codes."""
    lists = ", ".join(
        f"""(
            SELECT coalesce(list(v::VARCHAR ORDER BY code ASC NULLS LAST), []::VARCHAR[])
            FROM {table}_{place}
          )"""
        for place, _ in enumerate(columns, 1)
    )
    return f"[{lists}]"


def _check_keys(original: Source, released: Source, label: str, columns_read: ColumnNames) -> str:
    """Name reid_keys the check that the key differs between records, and has the same type in both tables.

    A cast would make one key of several. It comes before the join of the tables: by a key that repeats, or
    that a table lacks, each record of one would meet each record of the other.
    """
    one, other = (
        f"""(
            SELECT {is_key(f"q{len(columns_read)}")} AS is_key, any_value(typeof(q{len(columns_read)})) AS kind FROM {table}
          )"""
        for table in ("reid_rows_of_original", "reid_rows_of_released")
    )
    return f"""reid_keys AS MATERIALIZED (
          SELECT CASE WHEN {original.has_columns(label, columns_read)} AND {released.has_columns(label, columns_read)}
            THEN o.is_key AND r.is_key
              AND coalesce(error(reid_refusal('keys', o.kind, r.kind))::BOOLEAN, true) END AS has_keys
          FROM {one} AS o, {other} AS r
        )"""
