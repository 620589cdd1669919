"""JSON files as tables: a record an object, a column a key, and the type of each."""

from typing import Final

import duckdb

from reid_sql.engines.file_headers import refuse_repeated_names
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import sql_text
from reid_sql.sql.text import sort_keys

POINTER: Final = "'/' || replace(replace(key, '~', '~0'), '/', '~1')"
# Kinds of the values of each key; a number is kept as one only where no two texts of it become the same.
KEYS: Final = """
WITH found AS (SELECT unnest(json_keys(json)) AS key, json FROM {source} WHERE json_type(json) = 'OBJECT'),
texts AS (
    SELECT key, json_type(json, {pointer}) AS type, json_extract_string(json, {pointer}) AS text FROM found
),
read AS (
    SELECT key, CASE WHEN starts_with(text, chr(1)) THEN 'DOUBLE' ELSE type END AS kind,
      ltrim(text, chr(1)) AS value
    FROM texts
)
SELECT key, count(value), count(value) FILTER (kind = 'VARCHAR'), count(value) FILTER (kind = 'BOOLEAN'),
    count(try_cast(value AS BIGINT)) FILTER (kind IN ('BIGINT', 'UBIGINT')),
    count(try_cast(value AS DOUBLE)) FILTER (kind IN ('BIGINT', 'UBIGINT', 'DOUBLE')),
    count(DISTINCT value), count(DISTINCT try_cast(value AS DOUBLE))
FROM read WHERE kind IS NOT NULL GROUP BY key ORDER BY key
"""
# DuckDB reads a decimal number as a double: one of so many digits becomes a text that begins with a mark. A
# string is matched first, so that nothing within one is; the empty mark behind it goes.
LONG_DECIMAL: Final = "|".join(
    f"[0-9]{{{before},}}[.][0-9]{{{16 - before},}}" for before in (1, 3, 5, 7, 9, 11, 13, 15)
)
MAY_HAVE_DECIMALS: Final = "[0-9][0-9.]{15,}"
STRING_OR_DECIMAL: Final = rf'("(?:[^"\\]|\\.)*")|(-?(?:{LONG_DECIMAL})(?:[eE][+-]?[0-9]+)?)'
MARK_DECIMALS: Final = rf"""(
    SELECT replace(regexp_replace(json::VARCHAR, '{STRING_OR_DECIMAL}', '\1"\\u0001\2"', 'g'),
      '"\u0001"', '')::JSON AS json
    FROM {{source}}
)"""
BROKEN: Final = """
SELECT count(*) FILTER (json_type(json) <> 'OBJECT'),
    count(*) FILTER (len(json_keys(json)) > len(list_distinct(json_keys(json))))
FROM {source}
"""


def select_json(con: duckdb.DuckDBPyConnection, words: str, path: str, *, lines: bool) -> str:
    """Write the query that reads the file: a record an object, a column a key."""
    form = "newline_delimited" if lines else "auto"
    source = (
        f"read_json_objects({sql_text(path)}, format = '{form}', "
        "ignore_errors = false, hive_partitioning = false)"
    )
    others, repeated = con.execute(BROKEN.format(source=source)).fetchall()[0]
    if others or repeated:
        got = f"{others} values that are none" if others else f"{repeated} that name a key twice"
        raise OutOfDomainError(
            f"{words} must contain objects whose keys are distinct, got {got}; mend those records"
        )
    long = f"SELECT bool_or(regexp_matches(json::VARCHAR, '{MAY_HAVE_DECIMALS}')) FROM {source}"
    if con.execute(long).fetchall()[0][0]:
        source = MARK_DECIMALS.replace("{source}", source)
    keys = con.execute(KEYS.format(source=source, pointer=POINTER)).fetchall()
    if not keys:
        raise OutOfDomainError(
            f"{words} must contain at least one object with a key, got none; write a record an object"
        )
    refuse_repeated_names(words, tuple(row[0] for row in keys))
    return f"SELECT {', '.join(_column(*row) for row in keys)} FROM {source}"


def _column(  # noqa: PLR0917 - a row of what was counted
    key: str,
    values: int,
    texts: int,
    flags: int,
    wholes: int,
    numbers: int,
    distinct: int,
    apart: int,
) -> str:
    """Write a column; where values are of several kinds, as JSON writes them, so that 1 and "1" stay two."""
    pointer = sql_text("/" + key.replace("~", "~0").replace("/", "~1"))
    text = f"ltrim(json_extract_string(json, {pointer}), chr(1))"
    written = sort_keys(f"json_extract(json, {pointer})")
    kind = next(
        (
            f"{text}{cast}"
            for cast, count in (("", texts), ("::BOOLEAN", flags), ("::BIGINT", wholes))
            if count == values
        ),
        f"{text}::DOUBLE"
        if numbers == values and distinct == apart
        else f"""CASE WHEN starts_with(json_extract_string(json, {pointer}), chr(1)) THEN {text}
          ELSE nullif({written}, 'null') END""",
    )
    return f'{kind} AS "{key.replace(chr(34), chr(34) * 2)}"'
