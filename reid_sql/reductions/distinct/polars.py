"""Polars: distinct records as small numbers, one for each value."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.codes import dense_codes
from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    count_distinct,
    drop_nulls,
    map_whole,
    null_report,
    schema,
    with_aliases,
)
from reid_sql.engines.polars.groups import COLUMNS_AND_ENTITY
from reid_sql.models.classes.class_keys import require_memory
from reid_sql.models.classes.identifying_sets import NO_PEOPLE
from reid_sql.reduction import refuse_entity
from reid_sql.reductions.distinct import CODE, COUNTS, DISTINCT_CODES, SOME_COLUMNS


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
