"""Spark: columns as codes; executors count, and find unique records."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

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
from reid_sql.engines.spark.frames import column, fetch, read_rows, resolve_columns
from reid_sql.engines.spark.people import (
    COLUMNS_AND_ENTITY,
    count_people,
    count_people_of_masks,
    read_people,
)
from reid_sql.models.classes.class_keys import SUM_DECIMALS
from reid_sql.models.classes.minimal_uniques import EngineCodes, SinglingSets
from reid_sql.models.classes.quasi_identifiers import Integers, Numbers, RemoteCodes
from reid_sql.models.classes.rare_combinations import Places
from reid_sql.parameters import COLUMNS, COLUMNS_AND_KEY
from reid_sql.reduction import refuse_key_with_entity

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
            tbl,
            columns,
            COLUMNS,
            record=column(resolve_columns(COLUMNS_AND_KEY, [str(key)], tbl)[0]),
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
        singled_out = fetch(
            list_rare(records, rows.names, sets, k), "records that columns single out"
        )
        known = singled_out["record"].combine_chunks().dictionary_encode("encode")
        keys.append(known.dictionary)
        return known.indices.to_numpy().astype(np.int64), singled_out["place"].to_numpy()

    total = int(treated["records"][0].as_py())
    return RemoteColumns(
        EngineCodes(list(columns), [], [], np.arange(0), total, singled), treated, keys
    )
