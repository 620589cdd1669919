"""Columns as codes, small numbers one for each value."""

from dataclasses import replace
from typing import Final

from reid_sql.models.classes.class_keys import CODE_BYTES, KEY_BYTES, SPARE_ARRAYS
from reid_sql.models.classes.quasi_identifiers import Codes
from reid_sql.parameters import COLUMNS, Column, ColumnNames, fold_case, list_columns
from reid_sql.reduction import (
    DROPPABLE_NULLS,
    ENTITY,
    KEY,
    TBL,
    Argument,
    Reduction,
    refuse_key_with_entity,
)
from reid_sql.sql import text as sql_text
from reid_sql.sql.people import check_people, with_entity
from reid_sql.sql.records import (
    MEMORY_LIMIT,
    encode_values,
    fits_memory,
    is_key,
    list_codes,
    with_null_report,
)
from reid_sql.sql.text import Source, aliases, none_null, numbered, text

COLUMNS_AS_CODES: Final = {
    "names": "VARCHAR[]",
    "ordinal": "BOOLEAN[]",
    "codes": "INTEGER[][]",
    "position": "BIGINT[]",
    "people": "BIGINT[]",
    "memory": "BIGINT[]",
}
BYTES: Final = CODE_BYTES  # of one code
# bytes a record that any count takes in addition to the codes
LEAST: Final = KEY_BYTES * (1 + SPARE_ARRAYS)
BY_RECORD: Final = {
    "ibis": "whole columns would have to come to the client record by record, and records of the same values "
    "could not be distinguished"
}
NO_GROUPS: Final = {"by": "its columns are compared as a whole"}
CODES: Final = Reduction(
    __name__,
    name="codes",
    words="each column as codes, one small number for each of its values",
    arguments=(TBL, Argument("columns", COLUMNS), DROPPABLE_NULLS, ENTITY),
    columns=COLUMNS_AS_CODES,
    arrays=Codes,
    whole=True,
    reasons=NO_GROUPS,
)
UNIQUES: Final = Reduction(
    __name__,
    name="uniques",
    words="each column as codes, with the key of each record, or else whom choices of the columns single out",
    arguments=(TBL, Argument("columns", COLUMNS), KEY, DROPPABLE_NULLS, ENTITY),
    columns=COLUMNS_AS_CODES,
    arrays=Codes,
    whole=True,
    absences=BY_RECORD,
    reasons=NO_GROUPS,
)
RECORD_CODES: Final = replace(
    UNIQUES,
    name="record_codes",
    words="each column as codes, with the key of each record, else its place in the scan",
    absences={
        "spark": "it reads the codes of all records many times, in the memory of one process",
        **BY_RECORD,
    },
)
PERSON_ROWS: Final = replace(
    RECORD_CODES,
    name="person_rows",
    words="each column as codes, with the person of each distinct row",
    arguments=(TBL, Argument("entity", Column("columns and entity")), *CODES.arguments[1:-1]),
)


POSITION: Final = {"position": "row_number() OVER () - 1"}  # of a record in the scan
ORDINAL_TYPES: Final = "BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|ENUM.*"


def codes(tbl: Source, columns: ColumnNames, nulls: str, entity: str | None) -> str:
    """List each column as codes."""
    return record_codes(tbl, columns, None, nulls, entity)


def record_codes(
    tbl: Source,
    columns: ColumnNames,
    key: str | None,
    nulls: str,
    entity: str | None,
) -> str:
    """List each column as codes, with the key of each record, or else its position in the scan."""
    if entity is not None:
        refuse_key_with_entity(key)
        return _codes_of_people(tbl, columns, entity, nulls)
    columns_read = [*columns] if key is None else [*columns, key]
    is_complete = f"AND {none_null(columns)}" if nulls == "drop" else ""
    body = f"""
        WITH reid_records AS MATERIALIZED (
          SELECT *
          FROM {tbl.rows(columns_read, before=POSITION)}
          WHERE (
            SELECT {_fits_memory(columns, BYTES * len(columns) + LEAST)}
            FROM {tbl.rows(columns, drop_nulls=nulls == "drop")}
          ) {is_complete}
        )
        SELECT {_list_columns(columns)}, []::BIGINT[] AS people,
          {_list_keys(None if key is None else f"q{len(columns_read)}")} AS keys
        FROM reid_records {encode_values(columns, "reid_records", in_order=True)}"""
    label = "columns" if key is None else "columns and key"
    return tbl.check_columns(label, columns_read, with_null_report(tbl, columns, nulls, body))


uniques = record_codes


def person_rows(tbl: Source, entity: str, columns: ColumnNames, nulls: str) -> str:
    """List each column as codes, with the person of each distinct row; the entity must be named."""
    list_columns("columns and entity", [*columns, entity], fold_case)
    return _codes_of_people(tbl, columns, entity, nulls)


def _codes_of_people(tbl: Source, columns: ColumnNames, entity: str, nulls: str) -> str:
    """List a record for each combination of values that a person has; people are the keys."""
    columns_read = with_entity(columns, entity, nulls)
    person = len(columns_read)
    body = f"""
        WITH reid_records AS MATERIALIZED (
          SELECT min(position) AS position, {numbered(columns_read)}
          FROM {tbl.rows(columns_read, before=POSITION)}
          {f"WHERE {none_null(columns)}" if nulls == "drop" else ""}
          GROUP BY {numbered(columns_read)}
        )
        SELECT {_list_columns(columns)}, list(coalesce(code{person}, 0)) AS people,
          list(q{person} ORDER BY position ASC) AS keys
        FROM reid_records {encode_values(columns_read, "reid_records", in_order=True)}
        WHERE (
          SELECT {_fits_memory(columns, BYTES * len(columns) + KEY_BYTES + LEAST)}
          FROM reid_records
        )"""
    return check_people(tbl, "columns", columns, entity, nulls, body)


def _fits_memory(columns: ColumnNames, bytes_each: int) -> str:
    return fits_memory(bytes_each, f" records of {len(columns)} columns")


def _list_columns(columns: ColumnNames) -> str:
    """Select the columns' names, which of them are ordinal, their codes, 0 for NULL, and the positions."""
    ordinal = ", ".join(map(is_ordinal, aliases(len(columns))))
    return f"""{sql_text.texts(columns)} AS names, [{ordinal}] AS ordinal, {list_codes(columns)} AS codes,
          list(position) AS position, [{MEMORY_LIMIT}] AS memory"""


def is_ordinal(alias: str) -> str:
    """Test by its type whether the order of a column's values has a meaning."""
    return f"regexp_full_match(any_value(typeof({alias})), {text(ORDINAL_TYPES)})"


def _list_keys(alias: str | None) -> str:
    """List the keys in the order of the positions, which are the keys where no column is."""
    if alias is None:
        return "list(position ORDER BY position ASC)"
    return f"""CASE WHEN {is_key(alias)}
            THEN list({alias} ORDER BY position ASC) END"""
