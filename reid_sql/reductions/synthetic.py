"""An original table with a synthetic one and a holdout: the distinct records of all."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from reid_sql.models.synthetic.audited_tables import AuditedTables
from reid_sql.parameters import (
    QUASI_IDENTIFIERS,
    TABLE,
    ColumnNames,
    Columns,
    OptionalTable,
    fold_case,
    list_columns,
)
from reid_sql.reduction import ENTITY, QI, TBL, Argument, Reduction
from reid_sql.reductions.qar import is_ordinal
from reid_sql.sql.people import with_entity
from reid_sql.sql.records import encode_values, with_null_report
from reid_sql.sql.spelling import without_marks, without_writing
from reid_sql.sql.text import Source, aliases, numbered, texts, union

SENSITIVE_COLUMNS: Final = Columns("sensitive columns", optional=True)
AUDITED_COLUMNS: Final = Columns("quasi-identifiers and sensitive columns")
AUDITED_COLUMNS_AND_ENTITY: Final = Columns("quasi-identifiers, sensitive columns and entity")
TABLES: Final = ("original and synthetic", "original and holdout")  # whose types must be the same
AUDITED_TABLES: Final = Reduction(
    __name__,
    name="audited_tables",
    words="the distinct records of the original, the synthetic table and the holdout together, as codes, "
    "each with how many records, or people, of each table have its values",
    arguments=(
        Argument("original", TABLE),
        Argument("synthetic", TABLE),
        Argument("qi", QUASI_IDENTIFIERS),
        Argument("sensitive", SENSITIVE_COLUMNS, optional=True),
        Argument("holdout", OptionalTable(has_entity=True), optional=True),
        ENTITY,
    ),
    columns={
        "names": "VARCHAR[]",
        "is_sensitive": "BOOLEAN[]",
        "is_ordinal": "BOOLEAN[]",
        "codes": "INTEGER[][]",
        "originals": "BIGINT[]",
        "synthetics": "BIGINT[]",
        "controls": "BIGINT[]",
        "has_holdout": "BOOLEAN[]",
        "people": "BIGINT[]",
        "written_otherwise": "BIGINT[][]",
    },
    arrays=AuditedTables,
    whole=True,
    reasons={"by": "it compares tables as a whole"},
)
INFERENCE_TABLES: Final = replace(
    AUDITED_TABLES,
    name="inference_tables",
    words="the distinct records of a table and of people who are not in it, as codes, each with how many "
    "records, or people, of each have its values",
    arguments=(
        TBL,
        QI,
        Argument("sensitive", Columns("sensitive columns")),
        Argument("holdout", OptionalTable(has_entity=True), optional=True),
        ENTITY,
    ),
)


SIDES = ("originals", "synthetics", "controls")
Tables = Mapping[int, Source]  # by the place of each in SIDES


def audited_tables(
    original: Source,
    synthetic: Source,
    qi: ColumnNames,
    sensitive: Sequence[str] | None,
    holdout: Source | None,
    entity: str | None,
) -> str:
    """Group the records of all tables together, and list the distinct ones, or each person's, as codes."""
    columns = union(qi, sensitive or [])
    original, synthetic, *holdouts = original.guard_types(
        [synthetic, *([] if holdout is None else [holdout])], columns
    )
    tables = dict(enumerate([original, synthetic, *holdouts]))
    body = _list_records(tables, (0, 1, 2), qi, columns, entity)
    label, checked = _label(entity), with_entity(columns, entity, "value")
    names = ("the original", "the synthetic table")
    return original.check_columns_of_both(synthetic, names, label, checked, body)


def inference_tables(
    tbl: Source,
    qi: ColumnNames,
    sensitive: Sequence[str],
    holdout: Source | None,
    entity: str | None,
) -> str:
    """List the same of a released table, whose people are those of the original."""
    columns = list_columns(AUDITED_COLUMNS.words, [*qi, *sensitive], fold_case)
    tbl, *holdouts = tbl.guard_types([] if holdout is None else [holdout], columns)
    tables = {0: tbl} | ({2: holdouts[0]} if holdouts else {})
    body = _list_records(tables, (0, 0, 2), qi, columns, entity)
    return tbl.check_columns(_label(entity), with_entity(columns, entity, "value"), body)


def _label(entity: str | None) -> str:
    return (AUDITED_COLUMNS if entity is None else AUDITED_COLUMNS_AND_ENTITY).words


def _list_records(
    tables: Tables,
    sides: Sequence[int],
    qi: ColumnNames,
    columns: ColumnNames,
    entity: str | None,
) -> str:
    """List the distinct records of the tables, counted for each of SIDES in the table of this place."""
    original, holdout = tables[0], tables.get(2)
    rows = " UNION ALL ".join(_rows(table, side, columns, entity) for side, table in tables.items())
    counts = [_count(side, entity) for side in sides]
    counted = ", ".join(f"{count} AS {name}" for count, name in zip(counts, SIDES, strict=True))
    keys = numbered(columns) if entity is None else f"{numbered(columns)}, side, person"
    ordinal = ", ".join(f"coalesce({is_ordinal(alias)}, false)" for alias in aliases(len(columns)))
    flags = ", ".join(str(column not in qi).lower() for column in columns)
    codes = ", ".join(
        _list(f"coalesce(code{place}, 0)", "INTEGER") for place, _ in enumerate(columns, 1)
    )
    written = ", ".join(_count_other_writing(alias) for alias in aliases(len(columns)))
    body = f"""
        WITH reid_rows AS MATERIALIZED ({rows}),
        reid_distinct AS MATERIALIZED (
          SELECT {keys}, {counted} FROM reid_rows GROUP BY {keys}
        )
        SELECT {texts(columns)} AS names, [{flags}]::BOOLEAN[] AS is_sensitive,
          [{ordinal}] AS is_ordinal, [{codes}] AS codes,
          {", ".join(f"{_list(name, 'BIGINT')} AS {name}" for name in SIDES)},
          [{str(holdout is not None).lower()}] AS has_holdout,
          {"[]::BIGINT[]" if entity is None else _list("person", "BIGINT")} AS people,
          [{written}] AS written_otherwise
        FROM reid_distinct {encode_values(columns, "reid_distinct", in_order=True)}"""
    for other in list(tables.values())[1:]:
        body = original.check_types(other, columns, body)
    body = with_null_report(original, qi, "value", body)
    if holdout is not None:
        checked = with_entity(columns, entity, "value")
        body = holdout.check_columns(_label(entity), checked, body, "the holdout")
    return body


def _rows(table: Source, side: int, columns: ColumnNames, entity: str | None) -> str:
    """Read the records of one table, with the person of each; each table has people of its own."""
    if entity is None:
        return f"SELECT {side} AS side, {numbered(columns)} FROM {table.rows(columns)}"
    person = f"dense_rank() OVER (ORDER BY q{len(columns) + 1} ASC NULLS FIRST) AS person"
    return f"SELECT {side} AS side, {numbered(columns)}, {person} FROM {table.rows([*columns, entity])}"


def _count(side: int, entity: str | None) -> str:
    """Count the records of one table with the same values; a person has them once."""
    return f"count(*) FILTER (side = {side})" if entity is None else f"(side = {side})::BIGINT"


def _count_other_writing(alias: str) -> str:
    """Count the records of synthetic and holdout whose text original has only in another writing."""
    counts = ", ".join(f"sum({name}) AS {name}" for name in SIDES)
    is_other = "originals = 0 AND is_known AND form IS NOT NULL"
    counts_of_sides = ", ".join(
        f"coalesce(sum({name}) FILTER ({is_other}), 0)::BIGINT" for name in SIDES[1:]
    )
    return f"""(
            SELECT [{counts_of_sides}]
            FROM (
              SELECT *, max(originals) OVER (PARTITION BY form) > 0 AS is_known
              FROM (
                SELECT *, {without_writing("plain")} AS form
                FROM (
                  SELECT {counts}, CASE WHEN typeof({alias}) = 'VARCHAR' OR typeof({alias}) LIKE 'ENUM%'
                    THEN {without_marks(f"{alias}::VARCHAR")} END AS plain
                  FROM reid_distinct GROUP BY {alias}
                )
              )
            )
          )"""


def _list(value: str, kind: str) -> str:
    """List the values of all distinct records, an empty list if there is none."""
    return f"coalesce(list({value}::{kind}), []::{kind}[])"
