"""The distinct records as codes, small numbers one for each value, or as texts; and models in a table."""

from typing import Final

from reid_sql.models.classes.class_keys import CODE_BYTES, KEY_BYTES
from reid_sql.models.classes.identifying_sets import DistinctCodes
from reid_sql.models.copula.copula_file import SavedModels
from reid_sql.models.evidence import DistinctTexts
from reid_sql.parameters import ColumnNames, Columns, fold_case
from reid_sql.reduction import (
    BY,
    DROPPABLE_NULLS,
    ENTITY,
    MAX_FITTED_GROUPS,
    QI,
    TBL,
    Argument,
    Reduction,
)
from reid_sql.sql import text as sql_text
from reid_sql.sql.people import (
    check_people,
    count_by_group,
    group_aliases,
    label_with_entity,
    with_entity,
)
from reid_sql.sql.records import (
    MEMORY_LIMIT,
    count_distinct,
    encode_values,
    fits_memory,
    list_codes,
    value_texts,
    with_null_report,
)
from reid_sql.sql.text import (
    Source,
    fold_case_in_sql,
    list_described,
    name,
    none_null,
    numbered,
    prefix,
    text,
)

CODE: Final = CODE_BYTES  # bytes of one code
# bytes of how many records there are of a distinct one, and of its person
COUNTS: Final = 2 * KEY_BYTES
SOME_COLUMNS: Final = Columns("columns", optional=True)
DISTINCT_CODES: Final = Reduction(
    __name__,
    name="distinct_codes",
    words="the distinct records as codes, one small number for each value, with how many have each",
    arguments=(
        TBL,
        Argument("columns", SOME_COLUMNS, optional=True),
        DROPPABLE_NULLS,
        ENTITY,
    ),
    columns={
        "names": "VARCHAR[]",
        "codes": "INTEGER[][]",
        "records": "BIGINT[]",
        "people": "BIGINT[]",
        "memory": "BIGINT[]",
    },
    arrays=DistinctCodes,
    whole=True,
    reasons={"by": "its columns are compared as a whole"},
)


NAMES: Final = 0  # the line that holds the names of the columns; no records are in it
TEXTS: Final = Reduction(
    __name__,
    name="texts",
    words="the distinct records, each value as text, with the number of records that have each",
    arguments=(TBL, QI, BY, DROPPABLE_NULLS),
    columns={"line": "BIGINT", "texts": "VARCHAR[]", "records": "BIGINT"},
    arrays=DistinctTexts,
    max_groups=MAX_FITTED_GROUPS,
)


# Equal where the values are, of any type.
SORT_KEY: Final = "create_sort_key(struct_pack(v := {}), 'ASC NULLS LAST')"
LABEL_SAVED: Final = "columns of the saved models"
SAVED_COLUMNS: Final = ("model", "json")
SAVED: Final = Reduction(
    __name__,
    name="saved",
    words="the models in a table that model_json wrote",
    arguments=(TBL,),
    columns={"line": "BIGINT", "model": "VARCHAR", "json": "VARCHAR"},
    arrays=SavedModels,
    reasons=dict.fromkeys(("entity", "by"), "it reads saved models, and no records of people"),
)


def distinct_codes(tbl: Source, columns: ColumnNames | None, nulls: str, entity: str | None) -> str:
    """List the distinct records as codes, 0 for NULL, and those of people if any."""
    if columns is None:
        return _of_all_columns(tbl, nulls, entity)
    columns_read = with_entity(columns, entity, nulls)
    people = "[]::BIGINT[]" if entity is None else f"list(coalesce(code{len(columns_read)}, 0))"
    what = f" distinct records of {len(columns)} columns"
    # Each row has a person, so only the other columns decide which records are left out.
    body = f"""
        WITH reid_distinct AS MATERIALIZED (
          FROM ({count_distinct(tbl, columns_read, "value")})
          {f"WHERE {none_null(columns)}" if nulls == "drop" else ""}
        )
        SELECT {sql_text.texts(columns)} AS names, {list_codes(columns)} AS codes, list(records)::BIGINT[] AS records,
          {people} AS people, [{MEMORY_LIMIT}] AS memory
        FROM reid_distinct {encode_values(columns_read, "reid_distinct")}
        WHERE (SELECT {fits_memory(CODE * len(columns) + COUNTS, what)} FROM reid_distinct)"""
    return check_people(tbl, "columns", columns, entity, nulls, body)


def _of_all_columns(tbl: Source, nulls: str, entity: str | None) -> str:
    """The same of all columns of the table, whose names only the query knows."""
    # EXCLUDE would not bind a missing name, and for a lambda DuckDB calls list_filter by its bare name.
    pattern = "*" if entity is None else text(pattern_of_others(entity))
    complete = f"WHERE COLUMNS({pattern}) IS NOT NULL" if nulls == "drop" else ""
    person = "" if entity is None else f", {SORT_KEY.format(name(entity))} AS reid_person"
    codes, people = "reid_codes", "[]"
    if entity is not None:  # whose codes come last
        codes, people = "list_slice(reid_codes, 1, -2)", "list_extract(reid_codes, -1)"
    fits = fits_memory(CODE + COUNTS, " distinct records")
    # A window for each column would keep all columns in memory once more: their values are numbered together.
    body = f"""
        WITH reid_keys AS (
          SELECT {SORT_KEY.format(f"COLUMNS({pattern})")}{person} FROM {tbl.items()} {complete}
        ),
        reid_distinct AS MATERIALIZED (
          SELECT *, row_number() OVER () AS reid_id
          FROM (
            SELECT list_value(*COLUMNS(*)) AS reid_row, count(*) AS reid_records
            FROM reid_keys GROUP BY ALL
          )
        ),
        reid_cells AS (
          SELECT reid_id, unnest(reid_row) AS reid_key,
            unnest(range(1, len(reid_row) + 1)) AS reid_place
          FROM reid_distinct
          WHERE (SELECT {fits} FROM reid_distinct) AND {tbl.is_identified()}
        ),
        reid_values AS (
          SELECT *, row_number() OVER (PARTITION BY reid_place) AS reid_code
          FROM (SELECT DISTINCT reid_place, reid_key FROM reid_cells)
        ),
        reid_lists AS (
          SELECT reid_place, list(reid_code::INTEGER ORDER BY reid_id ASC) AS reid_list
          FROM reid_cells JOIN reid_values USING (reid_place, reid_key)
          GROUP BY reid_place
        ),
        reid_all AS (
          SELECT coalesce(list(reid_list ORDER BY reid_place ASC), []) AS reid_codes FROM reid_lists
        ),
        reid_counts AS (
          SELECT count(*) AS reid_read FROM {tbl.items()}
        ),
        reid_sizes AS (
          SELECT coalesce(list(reid_records ORDER BY reid_id ASC), [])::BIGINT[] AS reid_records
          FROM reid_distinct
        )
        SELECT ({_names_of_others(tbl, entity)}) AS names,
          {codes} AS codes, reid_records AS records, {people}::BIGINT[] AS people,
          [{MEMORY_LIMIT}] AS memory,
          reid_read - coalesce(list_aggregate(reid_records, 'sum'), 0)::BIGINT AS records_dropped,
          {text(nulls)} AS nulls
        FROM reid_all, reid_counts, reid_sizes"""
    return tbl.check_columns(label_with_entity("columns", entity), [entity] if entity else [], body)


def pattern_of_others(name: str) -> str:
    r"""Write the regular expression of all names but one, in any case of its letters.

    It is empty, or begins otherwise, or begins alike and goes on otherwise.

    >>> print(pattern_of_others("i"))
    (?s)^(?:|[^\x{69}\x{49}].*|[\x{69}\x{49}].+)$
    """
    pattern = ".+"
    for letter in reversed(name):
        cases = dict.fromkeys(
            (letter, letter.lower(), letter.upper()) if letter.isascii() else letter
        )
        either = "".join(rf"\x{{{ord(each):x}}}" for each in cases)
        pattern = f"(?:|[^{either}].*|[{either}]{pattern})"
    return f"(?s)^{pattern}$"


def _names_of_others(tbl: Source, entity: str | None) -> str:
    other = (
        "true"
        if entity is None
        else f"{fold_case_in_sql('column_name')} <> {text(fold_case(entity))}"
    )
    return list_described("column_name", tbl.items(), other)


def texts(tbl: Source, qi: ColumnNames, by: ColumnNames | None, nulls: str) -> str:
    """List the distinct records as texts, below a line with the names of the columns."""
    if by is not None:
        groups = prefix(group_aliases(qi, by))
        sized = f"""reid_sized AS (
          SELECT DISTINCT {groups}{NAMES}::BIGINT AS line, {sql_text.texts(qi)} AS texts, 0::BIGINT AS records
          FROM reid_divided WHERE complete
          UNION ALL
          SELECT {groups}row_number() OVER () AS line, {value_texts(qi)} AS texts, records
          FROM reid_divided WHERE complete
        )"""
        counts = "line, texts, coalesce(s.records, 0)::BIGINT AS records"
        return count_by_group(tbl, "quasi-identifiers", qi, by, None, nulls, counts, sized)
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


def saved(tbl: Source) -> str:
    """List the models, each as a name and a JSON text."""
    body = f"""
        SELECT row_number() OVER () AS line, q1::VARCHAR AS model, q2::VARCHAR AS json
        FROM {tbl.rows(SAVED_COLUMNS, is_checked=False)}"""
    reported = with_null_report(tbl, SAVED_COLUMNS, "value", body)
    return tbl.check_columns(LABEL_SAVED, SAVED_COLUMNS, reported)
