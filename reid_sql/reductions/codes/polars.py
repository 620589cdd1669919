"""Polars: columns and distinct records as codes, one small number for each value, or as texts."""

from collections.abc import Mapping, Sequence

import polars as pl

from reid_sql.engines.codes import dense_codes, is_ordinal, rank_values, text_of
from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    count_distinct,
    drop_nulls,
    exact_column,
    map_whole,
    null_report,
    refuse_without_text,
    schema,
    with_aliases,
    with_row_numbers,
)
from reid_sql.engines.polars.groups import COLUMNS_AND_ENTITY, report_groups, rows_of_groups
from reid_sql.models.classes.class_keys import require_memory, require_memory_for_codes
from reid_sql.models.classes.identifying_sets import NO_PEOPLE
from reid_sql.parameters import COLUMNS, COLUMNS_AND_KEY, QUASI_IDENTIFIERS
from reid_sql.reduction import refuse_entity, refuse_key_with_entity
from reid_sql.reductions.codes import CODE, COLUMNS_AS_CODES, COUNTS, DISTINCT_CODES, SOME_COLUMNS, TEXTS


def codes(
    tbl: pl.LazyFrame, columns: Sequence[str], memory_mb: int, nulls: str, entity: str | None = None
) -> pl.LazyFrame:
    """Each column as codes."""
    if entity is not None:
        return _one_row_per_person(tbl, columns, memory_mb, nulls, entity)
    return _coded(tbl, check_columns(COLUMNS, columns, tbl), memory_mb, nulls, None)


def record_codes(
    tbl: pl.LazyFrame,
    columns: Sequence[str],
    memory_mb: int,
    nulls: str,
    key: str | None = None,
    entity: str | None = None,
) -> pl.LazyFrame:
    """Each column as codes, with the key of each record, else its place in the scan."""
    if entity is not None:
        refuse_key_with_entity(key)
    if key is None:
        return codes(tbl, columns, memory_mb, nulls, entity)
    check_columns(COLUMNS_AND_KEY, columns, tbl)
    COLUMNS_AND_KEY.known([key], tbl.collect_schema().names())
    return _coded(tbl, columns, memory_mb, nulls, key)


uniques = record_codes


def person_rows(
    *, tbl: pl.LazyFrame, entity: str, columns: Sequence[str], memory_mb: int, nulls: str
) -> pl.LazyFrame:
    """Each column as codes, with the person of each distinct row."""
    return _one_row_per_person(tbl, columns, memory_mb, nulls, entity)


def _coded(
    tbl: pl.LazyFrame, columns: Sequence[str], memory_mb: int, nulls: str, key: str | None
) -> pl.LazyFrame:
    """Code each column by the ranks of its values, NULL as 0; one row of whole columns."""
    kinds, names = tbl.collect_schema(), aliases(columns)
    ordinal = [is_ordinal(kinds[column]) for column in columns]
    keys = [] if key is None else [exact_column(key).alias("keys")]
    rows = with_row_numbers(with_aliases(tbl, columns, *keys), "position")
    keyed = "position" if key is None else "keys"
    types = schema(COLUMNS_AS_CODES) | {"keys": pl.List(rows.collect_schema()[keyed])}

    def code(table: pl.DataFrame) -> pl.DataFrame:
        require_memory_for_codes(table.height, len(columns), memory_mb)
        return _whole(table, columns, ordinal, table[keyed], types)

    return null_report(rows, names, nulls, map_whole(drop_nulls(rows, names, nulls), code, types))


def _whole(
    table: pl.DataFrame,
    columns: Sequence[str],
    ordinal: Sequence[bool],
    keys: pl.Series,
    types: Mapping[str, pl.DataType],
    *,
    people: pl.Series | None = None,
) -> pl.DataFrame:
    """One row of whole columns."""
    ranks = [rank_values(table[name]).cast(pl.Int32) for name in aliases(columns)]
    who: pl.Series | list[int] = [] if people is None else rank_values(people).cast(pl.Int64)
    whole = {"names": [list(columns)], "ordinal": [ordinal], "codes": [ranks], "people": [who]}
    return pl.DataFrame(whole | {"position": [table["position"]], "keys": [keys]}, schema=types)


def _one_row_per_person(
    tbl: pl.LazyFrame, columns: Sequence[str], memory_mb: int, nulls: str, entity: str
) -> pl.LazyFrame:
    """The same with a record for each combination of values that a person has, and people as the keys."""
    refuse_entity(columns, entity, nulls)
    chosen = tbl.select(
        exact_column(name) for name in check_columns(COLUMNS_AND_ENTITY, [*columns, entity], tbl)
    )
    names = aliases(columns)
    rows = with_aliases(chosen, columns, exact_column(entity).alias("keys"))
    held_by = with_row_numbers(drop_nulls(rows, names, nulls), "position").group_by([*names, "keys"])
    first = held_by.agg(pl.col("position").min())
    types = schema(COLUMNS_AS_CODES) | {"keys": pl.List(rows.collect_schema()["keys"])}
    ordinal = [is_ordinal(chosen.collect_schema()[column]) for column in columns]

    def code(table: pl.DataFrame) -> pl.DataFrame:
        require_memory_for_codes(table.height, len(columns), memory_mb, people=True)
        ordered = table.sort("position")
        return _whole(ordered, columns, ordinal, ordered["keys"], types, people=ordered["keys"])

    return null_report(rows, names, nulls, map_whole(first, code, types))


def distinct_codes(
    tbl: pl.LazyFrame, columns: Sequence[str] | None, memory_mb: int, nulls: str, entity: str | None = None
) -> pl.LazyFrame:
    """The distinct records as codes, 0 for NULL, and those of people if any."""
    asked = columns
    if asked is None:
        asked = [name for name in tbl.collect_schema().names() if name != entity]
    refuse_entity(asked, entity, nulls)
    every = [*asked] if entity is None else check_columns(COLUMNS_AND_ENTITY, [*asked, entity], tbl)
    names = aliases(asked if columns is None else check_columns(SOME_COLUMNS, asked, tbl))
    rows = with_aliases(tbl, every)
    types = schema(DISTINCT_CODES.columns)

    def code(distinct: pl.DataFrame) -> pl.DataFrame:
        need = distinct.height * (CODE * len(names) + COUNTS)
        require_memory(need, memory_mb, f"{distinct.height} distinct records of {len(names)} columns")
        codes = [pl.Series(dense_codes(distinct, name)) for name in names]
        people = NO_PEOPLE if entity is None else dense_codes(distinct, aliases(every)[-1])
        whole = {"names": [list(asked)], "codes": [codes], "people": [pl.Series(people, dtype=pl.Int64)]}
        return pl.DataFrame(whole | {"records": [distinct["records"]]}, schema=types)

    distinct = drop_nulls(count_distinct(rows, aliases(every), "value"), names, nulls)
    return null_report(rows, names, nulls, map_whole(distinct, code, types))


def texts(tbl: pl.LazyFrame, qi: Sequence[str], nulls: str, by: Sequence[str] | None = None) -> pl.LazyFrame:
    """Distinct records, after a line with the names of the columns."""
    if by is not None:
        return _of_groups(tbl, qi, nulls, by)
    rows, names = with_aliases(tbl, check_columns(QUASI_IDENTIFIERS, qi, tbl)), aliases(qi)
    refuse_without_text(rows, qi)
    distinct = count_distinct(rows, names, nulls).select(_empty_answer(names), "records")
    return null_report(rows, names, nulls, with_row_numbers(pl.concat([_named(qi), distinct]), "line"))


def _of_groups(tbl: pl.LazyFrame, qi: Sequence[str], nulls: str, by: Sequence[str]) -> pl.LazyFrame:
    """The same of each group."""
    rows, names, groups = rows_of_groups(tbl, qi, by, None, nulls)
    refuse_without_text(rows, qi)
    taken = rows.filter("complete")
    named = taken.select(groups).unique().join(_named(qi), how="cross")
    lines = pl.concat([named, taken.select(*groups, _empty_answer(names), "records")])
    return report_groups(rows, with_row_numbers(lines, "line"), groups, by, nulls)


def _named(qi: Sequence[str]) -> pl.LazyFrame:
    return pl.LazyFrame({"texts": [list(qi)], "records": [0]}, schema=_types())


def _empty_answer(names: Sequence[str]) -> pl.Expr:
    return pl.concat_list(text_of(pl.col(name)) for name in names).alias("texts")


def _types() -> dict[str, pl.DataType]:
    types = schema(TEXTS.columns)
    del types["line"]
    return types
