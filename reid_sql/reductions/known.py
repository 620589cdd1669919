"""Distinct records on the columns that a scenario speaks of."""

import json
from collections.abc import Container, Sequence
from typing import Final

from reid_sql.errors import OutOfDomainError
from reid_sql.models.attacker.adversary import KnownRecords
from reid_sql.parameters import OPTIONAL_TABLE, ColumnNames, Columns, fold_case
from reid_sql.parameters.tolerance import Allowance, allowances_of
from reid_sql.reduction import (
    ANY_NULLS,
    ENTITY,
    KEY,
    REFUSAL_SEVERAL_RECORDS,
    TBL,
    WITHIN,
    Argument,
    Reduction,
    refuse_key_with_entity,
    refuse_tolerance,
)
from reid_sql.scenarios import SCENARIO
from reid_sql.sql.people import count_people, with_entity
from reid_sql.sql.records import (
    codes_of,
    encode_values,
    fits_memory,
    named_by_key,
    with_null_report,
)
from reid_sql.sql.text import Source, name, none_null, numbered, refusal, with_names
from reid_sql.sql.tolerance import tolerance_tables

SCENARIO_COLUMNS: Final = Columns("columns of the scenario")
NO_POPULATION: Final = -1  # people that hold a record, where no population table says how many
KEYED_COLUMNS: Final = Columns("columns of the scenario, and key,")
OF_PEOPLE: Final = Columns("columns of the scenario, and entity,")
KNOWN_BYTES: Final = 600  # that a distinct record takes at least, as measured
KNOWN_RECORDS: Final = Reduction(
    __name__,
    name="known_records",
    words="the distinct records on a scenario's columns, as codes, with how many and which records hold "
    "each, and how many of a population table, whose own records come along",
    arguments=(
        TBL,
        Argument("scenario", SCENARIO),
        Argument("population_tbl", OPTIONAL_TABLE, optional=True),
        KEY,
        ANY_NULLS,
        ENTITY,
        WITHIN,
    ),
    columns={
        "place": "BIGINT",
        "records": "BIGINT",
        "codes": "BIGINT[]",
        "texts": "VARCHAR[]",
        "people": "BIGINT",
        "members": "BIGINT[]",
        "near": "BIGINT[]",
    },
    arrays=KnownRecords,
    reasons={"by": "a scenario describes one table and its population"},
)


def known_records(
    tbl: Source,
    scenario: str,
    population_tbl: Source | None,
    key: str | None,
    nulls: str,
    entity: str | None,
    tolerance: str | None = None,
) -> str:
    """List the distinct records as codes, with the records that hold each, and how many of a population.

    Each record is named by the key, or else by its place in the scan, counted before any is left out. With a
    tolerance, `near` has for each column the first and the last code that the record's value matches.
    """
    refuse_tolerance(tolerance, nulls)
    document = json.loads(scenario)
    columns, text_columns = document["columns"], document.get("text_columns", [])
    folded = [fold_case(column) for column in columns]
    SCENARIO_COLUMNS.check(folded, folded)
    columns_read = [*columns, *(column for column in text_columns if column not in columns)]
    if population_tbl is not None:
        tbl, population_tbl = tbl.guard_types([population_tbl], columns)
    if entity is not None:
        refuse_key_with_entity(key)
        tbl, key = _one_record_per_person(tbl, columns, columns_read, entity, nulls), entity
    distinct = _distinct_records(tbl, columns, columns_read, population_tbl, key, nulls)
    tables, codes, near, relation = "", codes_of(columns), "NULL::BIGINT[]", "reid_distinct"
    if tolerance is not None:
        allowances = _allowances_in_order(tolerance, columns)
        tables, relation = f", {tolerance_tables(columns, relation, allowances)}", "reid_placed"
        codes = _list_codes(columns, allowances, "c")
        near = _list_codes(columns, allowances, "low", "high")
    body = f"""
        WITH reid_distinct AS MATERIALIZED ({distinct}){tables}
        SELECT id AS place, records, {codes} AS codes,
          {_list_texts(text_columns, columns_read)} AS texts, people, members, {near} AS near
        FROM {relation} {encode_values(columns, "reid_distinct")}
        WHERE (SELECT {fits_memory(KNOWN_BYTES)} FROM reid_distinct)"""
    if population_tbl is not None:  # which must have the columns, in types that compare exactly
        compared = tbl.check_types(population_tbl, columns, body)
        body = population_tbl.check_columns(SCENARIO_COLUMNS.words, columns, compared)
    body = named_by_key(tbl, columns, key, nulls, body)
    label = SCENARIO_COLUMNS.words if key is None else KEYED_COLUMNS.words
    checked_columns = columns_read if key is None else [*columns_read, key]
    return tbl.check_columns(label, checked_columns, with_null_report(tbl, columns, nulls, body))


def _list_codes(columns: ColumnNames, allowances: Container[int], *cells: str) -> str:
    """List these cells of each column with an allowance; of another, its code in place of each."""
    listed = (
        f"{cell}{place}" if place in allowances else f"coalesce(code{place}, 0)"
        for place in range(1, len(columns) + 1)
        for cell in cells
    )
    return f"[{', '.join(listed)}]"


def _allowances_in_order(tolerance: str, columns: ColumnNames) -> dict[int, Allowance]:
    """Read the allowances; refuses edits of a text, whose matches are no numbers from a first to a last."""
    allowances = allowances_of(tolerance, columns)
    for place, each in allowances.items():
        if each.is_of_text:
            raise OutOfDomainError(
                f"tolerance must be a number, a percentage or a time where an attacker knows part, got '1 edit' for '{columns[place - 1]}'; leave the column out of it"
            )
    return allowances


def _one_record_per_person(
    tbl: Source, columns: ColumnNames, columns_read: ColumnNames, entity: str, nulls: str
) -> Source:
    """Put in place of the table a row for each person.

    People of several records are refused: an attacker could know any of these.
    """
    complete = f"FILTER ({none_null(columns)})" if nulls == "drop" else ""
    body = f"""
        SELECT {with_names(columns_read)}, entity AS {name(entity)}
        FROM (
          SELECT *, count(*) {complete} OVER (PARTITION BY entity) AS several
          FROM ({count_people(tbl, columns_read, entity, "value")})
        )
        WHERE CASE WHEN several > 1 THEN {refusal(REFUSAL_SEVERAL_RECORDS)} ELSE true END"""
    return tbl.derive(
        tbl.check_columns(OF_PEOPLE.words, with_entity(columns_read, entity, nulls), body)
    )


def _distinct_records(
    tbl: Source,
    columns: ColumnNames,
    columns_read: ColumnNames,
    population_tbl: Source | None,
    key: str | None,
    nulls: str,
) -> str:
    """Number the distinct records, each with the records that hold it, and how many of a population do."""
    record = {"record": "row_number() OVER () - 1" if key is None else name(key)}
    rows = tbl.rows(columns_read, before=record)
    counts = f"count(*) AS records, list(record) AS members, {NO_POPULATION}::BIGINT AS people"
    if population_tbl is not None:
        # of the population, the columns alone are read: NULL in every other
        missing = ", NULL" * (len(columns_read) - len(columns))
        rows = f"""(
          SELECT *, false AS other FROM {rows}
          UNION ALL
          SELECT NULL, {numbered(columns)}{missing}, true FROM {population_tbl.rows(columns)}
        )"""
        counts = """count(*) FILTER (NOT other) AS records,
            coalesce(list(record) FILTER (NOT other), list_slice(list(record), 1, 0)) AS members,
            count(*) FILTER (other) AS people"""
    return f"""
        SELECT row_number() OVER () AS id, *
        FROM (
          SELECT {numbered(columns_read)}, {counts}
          FROM {rows}
          {f"WHERE {none_null(columns)}" if nulls == "drop" else ""}
          GROUP BY {numbered(columns_read)}
        )"""


def _list_texts(text_columns: Sequence[str], columns_read: ColumnNames) -> str:
    listed = ", ".join(f"q{columns_read.index(column) + 1}::VARCHAR" for column in text_columns)
    return f"[{listed}]::VARCHAR[]"
