"""A JSON file as a table: texts stay texts, whatever they look like, and numbers lose nothing."""

from typing import Final

import duckdb

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import sql_text
from reid_sql.text_file import refuse_twice

POINTER: Final = "'/' || replace(replace(key, '~', '~0'), '/', '~1')"
# Kinds of the values of each key; a number is kept as one only where no two texts of it become the same.
KEYS: Final = """
WITH found AS (SELECT unnest(json_keys(json)) AS key, json FROM {source} WHERE json_type(json) = 'OBJECT'),
told AS (
    SELECT key, json_type(json, {pointer}) AS kind, json_extract_string(json, {pointer}) AS value FROM found
)
SELECT key, count(value), count(value) FILTER (kind = 'VARCHAR'), count(value) FILTER (kind = 'BOOLEAN'),
    count(try_cast(value AS BIGINT)) FILTER (kind IN ('BIGINT', 'UBIGINT')),
    count(try_cast(value AS DOUBLE)) FILTER (kind IN ('BIGINT', 'UBIGINT', 'DOUBLE')),
    count(DISTINCT value), count(DISTINCT try_cast(value AS DOUBLE))
FROM told WHERE kind IS NOT NULL GROUP BY key ORDER BY key
"""
BROKEN: Final = """
SELECT count(*) FILTER (json_type(json) <> 'OBJECT'),
    count(*) FILTER (len(json_keys(json)) > len(list_distinct(json_keys(json))))
FROM {source}
"""


def json_select(con: duckdb.DuckDBPyConnection, words: str, path: str, *, lines: bool) -> str:
    """Spell the query that reads the file: a record an object, a column a key."""
    form = "newline_delimited" if lines else "auto"
    source = (
        f"read_json_objects({sql_text(path)}, format = '{form}', "
        "ignore_errors = false, hive_partitioning = false)"
    )
    others, repeated = con.execute(BROKEN.format(source=source)).fetchall()[0]
    if others or repeated:
        got = f"{others} values that are none" if others else f"{repeated} that name a key twice"
        raise OutOfDomainError(
            f"{words} must hold objects whose keys are distinct, got {got}; mend those records"
        )
    keys = con.execute(KEYS.format(source=source, pointer=POINTER)).fetchall()
    if not keys:
        raise OutOfDomainError(
            f"{words} must hold at least one object with a key, got none; write a record an object"
        )
    refuse_twice(words, tuple(row[0] for row in keys))
    return f"SELECT {', '.join(_column(*row) for row in keys)} FROM {source}"


def _column(  # noqa: PLR0917 - a row of what was counted
    key: str, values: int, texts: int, flags: int, wholes: int, numbers: int, distinct: int, apart: int
) -> str:
    """Spell a column; where values are of several kinds, as JSON writes them, so that 1 and "1" stay two."""
    pointer = sql_text("/" + key.replace("~", "~0").replace("/", "~1"))
    text = f"json_extract_string(json, {pointer})"
    kind = next(
        (
            f"{text}{cast}"
            for cast, count in (("", texts), ("::BOOLEAN", flags), ("::BIGINT", wholes))
            if count == values
        ),
        f"{text}::DOUBLE"
        if numbers == values and distinct == apart
        else f"nullif(json_extract(json, {pointer})::VARCHAR, 'null')",
    )
    return f'{kind} AS "{key.replace(chr(34), chr(34) * 2)}"'
