"""Spark: columns and distinct records as codes or texts; executors count, and find unique records."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.codes import dense_codes
from reid_sql.engines.spark.counting import (
    RemoteColumns,
    count_masks,
    count_records,
    counts_in_order,
    drop_nulls,
    list_rare,
    masks_frame,
    null_report,
    refuse_no_key,
    refuse_repeated_keys,
)
from reid_sql.engines.spark.frames import (
    Rows,
    arrow_type,
    column,
    fetch,
    read_rows,
    refuse_without_text,
    resolve_columns,
    to_spark,
)
from reid_sql.engines.spark.people import (
    COLUMNS_AND_ENTITY,
    count_groups,
    count_people,
    count_people_of_masks,
    read_groups,
    read_people,
)
from reid_sql.models.classes.class_keys import SUM_DECIMALS, require_memory
from reid_sql.models.classes.identifying_sets import NO_PEOPLE, DistinctCodes
from reid_sql.models.classes.minimal_uniques import EngineCodes, SinglingSets
from reid_sql.models.classes.quasi_identifiers import Integers, Numbers, RemoteCodes
from reid_sql.models.classes.rare_combinations import Places
from reid_sql.parameters import COLUMNS, COLUMNS_AND_KEY, QUASI_IDENTIFIERS
from reid_sql.reduction import refuse_key_with_entity
from reid_sql.reductions.codes import CODE, COUNTS, NAMES, SOME_COLUMNS, TEXTS

AT_ONCE: Final = 1000  # choices counted in one query: each repeats the distinct records once


def codes(
    tbl: DataFrame,
    columns: Sequence[str],
    memory_mb: int,  # noqa: ARG001 - no codes come to this process
    nulls: str,
    entity: str | None = None,
) -> RemoteColumns:
    """The columns, with the count of distinct values of every choice of some of them."""
    of_masks = count_masks if entity is None else count_people_of_masks
    if entity is None:
        rows = read_rows(tbl, columns, COLUMNS)
        distinct = count_records(rows, nulls).localCheckpoint()
        whole = distinct.agg(F.coalesce(F.sum("records"), F.lit(0)).alias("records"))
    else:
        rows = read_people(tbl, columns, entity, nulls, COLUMNS_AND_ENTITY)
        distinct = count_people(rows, nulls).localCheckpoint()
        whole = distinct.select("entity").distinct().agg(F.count(F.lit(1)).alias("records"))
    treated = fetch(null_report(rows, nulls, whole), "one row")

    def count(chosen: Integers) -> tuple[Integers, Numbers]:
        values: list[int] = []
        matches: list[float] = []
        for start in range(0, len(chosen), AT_ONCE):
            part = chosen[start : start + AT_ONCE].tolist()
            counts = of_masks(distinct, rows.names, masks_frame(distinct, part), drop=False)
            more, expected = counts_in_order(counts, part)
            values += more
            matches += expected
        codes_read = np.array(values, dtype=np.int64)
        return codes_read, codes_read if entity is None else np.round(matches, SUM_DECIMALS)

    total = int(treated["records"][0].as_py())
    return RemoteColumns(RemoteCodes(list(columns), [], [], np.arange(0), total, count), treated)


def uniques(
    tbl: DataFrame,
    columns: Sequence[str],
    memory_mb: int,  # noqa: ARG001 - no codes come to this process
    key: str | None,
    nulls: str,
    entity: str | None = None,
) -> RemoteColumns:
    """The columns, with the keys of the records, or the people, that sets of them single out."""
    if entity is None:
        refuse_no_key(key)
        rows = read_rows(
            tbl, columns, COLUMNS, record=column(resolve_columns(COLUMNS_AND_KEY, [str(key)], tbl)[0])
        )
        records = drop_nulls(rows, nulls)
        refuse_repeated_keys(records)
    else:
        refuse_key_with_entity(key)
        rows = read_people(tbl, columns, entity, nulls, COLUMNS_AND_ENTITY)
        records = drop_nulls(rows, nulls).withColumnRenamed("entity", "record").distinct()
    whole = records.agg(F.count(F.lit(1)).alias("records"))
    treated = fetch(null_report(rows, nulls, whole), "one row")
    keys: list[Any] = []  # as Arrow has them, once asked for

    def singled(sets: Sequence[Places], k: int) -> SinglingSets:
        singled_out = fetch(list_rare(records, rows.names, sets, k), "records that columns single out")
        known = singled_out["record"].combine_chunks().dictionary_encode("encode")
        keys.append(known.dictionary)
        return known.indices.to_numpy().astype(np.int64), singled_out["place"].to_numpy()

    total = int(treated["records"][0].as_py())
    return RemoteColumns(EngineCodes(list(columns), [], [], np.arange(0), total, singled), treated, keys)


def distinct_codes(
    tbl: DataFrame, columns: Sequence[str] | None, memory_mb: int, nulls: str, entity: str | None = None
) -> RemoteColumns:
    """The distinct records as codes, 0 for NULL, and those of people if any."""
    folded = None if entity is None else entity.lower()
    asked = columns or [name for name in tbl.columns if name.lower() != folded]
    if entity is None:
        rows = read_rows(tbl, asked, SOME_COLUMNS)
        counted = count_records(rows, nulls)
    else:
        rows = read_people(tbl, asked, entity, "value", COLUMNS_AND_ENTITY)
        counted = count_people(rows, nulls)
    fetched = fetch(counted, "the distinct records")
    need = fetched.num_rows * (CODE * len(asked) + COUNTS)
    require_memory(need, memory_mb, f"{fetched.num_rows} distinct records of {len(asked)} columns")
    frame = pl.DataFrame(pl.from_arrow(fetched))
    codes = [dense_codes(frame, name) for name in rows.names]
    people = NO_PEOPLE if entity is None else dense_codes(frame, "entity").astype(np.int64)
    table = DistinctCodes(list(rows.given), codes, fetched["records"].to_numpy(), people)
    nothing = tbl.sparkSession.range(1).select()
    return RemoteColumns(table, fetch(null_report(rows, nulls, nothing), "one row"))


def texts(tbl: DataFrame, qi: Sequence[str], nulls: str, by: Sequence[str] | None = None) -> DataFrame:
    """Distinct records, after a line with the names of the columns."""
    if by is not None:
        divided = read_groups(tbl, qi, by, None, nulls)
        every = count_groups(divided, by, nulls)
        return every.report(_lines(divided, every.complete, every.groups))
    rows = read_rows(tbl, qi, QUASI_IDENTIFIERS)
    return null_report(rows, nulls, _lines(rows, count_records(rows, nulls), ()))


def _lines(rows: Rows, distinct: DataFrame, groups: Sequence[str]) -> DataFrame:
    refuse_without_text(rows)
    types = pa.schema([(name, arrow_type(kind)) for name, kind in TEXTS.columns.items()])
    named = pa.Table.from_pylist([{"line": NAMES, "texts": list(rows.given), "records": 0}], schema=types)
    values = F.array(*(F.col(name).cast("string") for name in rows.names)).alias("texts")
    line = (F.monotonically_increasing_id() + NAMES + 1).alias("line")
    names = to_spark(rows.frame.sparkSession, named)
    of_groups = distinct.select(*groups).distinct().crossJoin(names) if groups else names
    lines = of_groups.unionByName(distinct.select(*groups, line, values, "records"))
    return lines.select("line", *(name for name in lines.columns if name != "line"))
