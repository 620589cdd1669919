"""JSON files as tables: a record an object, a column a key, and the type of each.

A key whose values are objects is a column for each of their keys, "home.city". A list stays one value.
Of GeoJSON a record is a feature: its properties are columns, and where it is, as others may know it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from duckdb import DuckDBPyConnection

from reid_sql.engines.file_headers import refuse_repeated_names
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import quoted, sql_text
from reid_sql.sql.text import sort_keys

POINTER: Final = "'/' || replace(replace(key, '~', '~0'), '/', '~1')"
# Kinds of the values of each key; a number is kept as one only where no two texts of it become the same.
KEYS: Final = """
WITH objects AS (SELECT {object} AS json FROM {source}),
found AS (SELECT unnest(json_keys(json)) AS key, json FROM objects WHERE json_type(json) = 'OBJECT'),
texts AS (
    SELECT key, json_type(json, {pointer}) AS type, json_extract_string(json, {pointer}) AS text FROM found
),
read AS (
    SELECT key, CASE WHEN starts_with(text, chr(1)) THEN 'DOUBLE' ELSE type END AS kind,
      ltrim(text, chr(1)) AS value
    FROM texts
)
SELECT key, count(value), count(value) FILTER (kind = 'OBJECT'),
    count(value) FILTER (kind = 'VARCHAR'), count(value) FILTER (kind = 'BOOLEAN'),
    count(try_cast(value AS BIGINT)) FILTER (kind IN ('BIGINT', 'UBIGINT')),
    count(try_cast(value AS DOUBLE)) FILTER (kind IN ('BIGINT', 'UBIGINT', 'DOUBLE')),
    count(DISTINCT value), count(DISTINCT try_cast(value AS DOUBLE))
FROM read WHERE kind IS NOT NULL GROUP BY key ORDER BY key ASC
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
# Whether there may be such decimals; whether the file is GeoJSON, of a feature a line, or one collection.
CONTENT: Final = f"""
SELECT bool_or(regexp_matches(json::VARCHAR, '{MAY_HAVE_DECIMALS}')),
    bool_and(json_extract_string(json, '/type') = 'Feature' AND json_exists(json, '/geometry')),
    count(*) = 1 AND bool_or(json_extract_string(json, '/type') = 'FeatureCollection'
      AND json_type(json, '/features') = 'ARRAY')
FROM {{source}}
"""
# An object of the properties, other members such as an id, and the place. A key that is among two is refused.
# The place is one value, whatever objects it is written with.
GEOMETRY: Final = sort_keys("json_extract(feature, '/geometry')")
FEATURES: Final = f"""(
    SELECT ('{{' || array_to_string(list_filter(list_transform(
      [json_extract(feature, '/properties'), json_merge_patch(feature,
        '{{"type": null, "geometry": null, "properties": null, "bbox": null}}'),
        CASE WHEN json_extract_string(feature, '/geometry/type') = 'Point' THEN
          json_merge_patch('{{}}', json_object('longitude', json_extract(feature, '/geometry/coordinates/0'),
            'latitude', json_extract(feature, '/geometry/coordinates/1'),
            'altitude', json_extract(feature, '/geometry/coordinates/2')))
        ELSE json_object('geometry', nullif({GEOMETRY}, 'null')) END],
      lambda part: CASE WHEN json_type(part) = 'OBJECT' THEN trim((part::VARCHAR)[2:-2]) END),
      lambda part: part <> ''), ',') || '}}')::JSON AS json
    FROM (SELECT {{feature}} AS feature FROM {{source}})
)"""
EACH_FEATURE: Final = "unnest(json_extract(json, '/features')::JSON[])"
GEOGRAPHIC: Final = ".geojson"
MAX_OBJECT: Final = 2**24  # bytes, of DuckDB's reader unless it is given another limit
BROKEN: Final = """
SELECT count(*), count(*) FILTER (json_type(json) <> 'OBJECT'),
    count(*) FILTER (len(json_keys(json)) > len(list_distinct(json_keys(json))))
FROM (SELECT {object} AS json FROM {source})
"""
# The lists of objects in the one object of a file: the records are within one of them.
WITHIN: Final = """
SELECT list(key ORDER BY key ASC) FROM (SELECT unnest(json_keys(json)) AS key, json FROM {source})
WHERE json_type(json, {pointer}) = 'ARRAY' AND json_type(json, {pointer} || '/0') = 'OBJECT'
"""
MAX_DEPTH: Final = 4  # of objects within objects that are divided into columns
MAX_KEYS: Final = 100  # of an object; of more, keys are values, such as names of people


def select_json(
    con: DuckDBPyConnection, words: str, path: Path, pattern: str, *, lines: bool
) -> str:
    """Write the query that reads the file: a record an object, a column a key."""
    source = _select_objects(con, words, path, pattern, "newline_delimited" if lines else "auto")
    columns = _list_columns(con, words, source)
    if not columns:
        raise OutOfDomainError(
            f"{words} must contain at least one object with a key, got none; write a record an object"
        )
    if "" in columns:
        raise OutOfDomainError(f"{words} must name each column, got the key ''; name it")
    refuse_repeated_names(words, tuple(columns))
    listed = (f"{expression} AS {quoted(name)}" for name, expression in columns.items())
    return f"SELECT {', '.join(listed)} FROM {source}"


def _list_columns(
    con: DuckDBPyConnection, words: str, source: str, parents: Sequence[str] = ()
) -> dict[str, str]:
    """Write an expression for each column, by its name, of the objects of the file or within them."""
    within = f"json_extract(json, {_pointer(parents)})" if parents else "json"
    _refuse_broken(con, words, source, within, is_record=not parents)
    columns: dict[str, str] = {}
    keys = con.execute(KEYS.format(source=source, object=within, pointer=POINTER)).fetchall()
    if parents and len(keys) > MAX_KEYS:
        return {}
    for key, values, objects, *kinds in keys:
        path = (*parents, key)
        divided = {}
        if values and objects == values and len(path) <= MAX_DEPTH:
            divided = _list_columns(con, words, source, path)
        added = divided or {".".join(path): _write_column(_pointer(path), values, *kinds)}
        if twice := sorted({*added} & {*columns}):
            raise OutOfDomainError(
                f"{words} must name each column once, got two keys for {twice}; rename one"
            )
        columns |= added
    return columns


def _refuse_broken(
    con: DuckDBPyConnection, words: str, source: str, within: str, *, is_record: bool
) -> None:
    """Refuse keys that are there twice; of records also what is no object, and one object around all.

    Within a record an object may be missing.
    """
    broken = BROKEN.format(source=source, object=within)
    records, other_values, repeated = con.execute(broken).fetchall()[0]
    if repeated or (is_record and other_values):
        got = (
            f"{other_values} values that are none"
            if is_record and other_values
            else f"{repeated} that name a key twice"
        )
        raise OutOfDomainError(
            f"{words} must contain objects whose keys are distinct, got {got}; mend those records"
        )
    if records == 1 and is_record:
        lists = con.execute(WITHIN.format(source=source, pointer=POINTER)).fetchall()[0][0]
        if lists:
            raise OutOfDomainError(
                f"{words} must be a list of records, got one object with lists in {lists}; write that of the records alone"
            )


def _pointer(keys: Sequence[str]) -> str:
    """Write the place of a value within a record, as RFC 6901 does."""
    return sql_text("".join(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in keys))


def _select_objects(
    con: DuckDBPyConnection, words: str, path: Path, pattern: str, form: str
) -> str:
    """Write the FROM item of the objects of the file, as `json`; of GeoJSON those of its features."""
    is_geographic = path.suffix.lower() == GEOGRAPHIC
    size = path.stat().st_size + 1
    limit = f", maximum_object_size = {size}" if is_geographic and size > MAX_OBJECT else ""
    source = (
        f"read_json_objects({sql_text(pattern)}, format = '{form}', "
        f"ignore_errors = false, hive_partitioning = false{limit})"
    )
    content = con.execute(CONTENT.replace("{source}", source)).fetchall()[0]
    has_decimals, is_feature, is_collection = content
    source = MARK_DECIMALS.replace("{source}", source) if has_decimals else source
    if is_feature or is_collection:
        feature = EACH_FEATURE if is_collection else "json"
        return FEATURES.replace("{feature}", feature).replace("{source}", source)
    if is_geographic:
        raise OutOfDomainError(
            f"{words} must have a collection of features, got another object of GeoJSON; write its geometries as features, or save them as CSV"
        )
    return source


def _write_column(  # noqa: PLR0917 - a row of what was counted
    pointer: str,
    values: int,
    texts: int,
    flags: int,
    wholes: int,
    numbers: int,
    distinct: int,
    apart: int,
) -> str:
    """Write a column; where values are of several kinds, as JSON writes them, so that 1 and "1" stay two."""
    text = f"ltrim(json_extract_string(json, {pointer}), chr(1))"
    written = sort_keys(f"json_extract(json, {pointer})")
    casts = (("", texts), ("::BOOLEAN", flags), ("::BIGINT", wholes))
    cast = next((cast for cast, count in casts if count == values), None)
    if cast is not None:
        return f"{text}{cast}"
    if numbers == values and distinct == apart:
        return f"{text}::DOUBLE"
    return f"""CASE WHEN starts_with(json_extract_string(json, {pointer}), chr(1)) THEN {text}
      ELSE nullif({written}, 'null') END"""
