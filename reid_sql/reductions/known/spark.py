"""Spark: distinct records on a scenario's columns; they come to the driver, which matches them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import DistinctRecords, drop_nulls, encode_values
from reid_sql.engines.spark.frames import Rows, aliases, cast_alike, column, fetch, read_rows, resolve_columns
from reid_sql.reduction import refuse_entity, refuse_key_with_entity, refuse_records
from reid_sql.reductions.known import KEYED_COLUMNS, NO_POPULATION, OF_PEOPLE, SCENARIO_COLUMNS

WORDS: Final = "the distinct records on the scenario's columns"


def known_records(
    tbl: DataFrame,
    scenario: str,
    population_tbl: DataFrame | None,
    key: str | None,
    nulls: str,
    entity: str | None = None,
) -> DistinctRecords:
    """Distinct records; columns that the scenario only speaks of come after those that are matched on."""
    document = json.loads(scenario)
    columns, known = document["columns"], document["text_columns"]
    every = [*columns, *(name for name in known if name not in columns)]
    label = SCENARIO_COLUMNS if key is None else KEYED_COLUMNS
    if entity is not None:
        refuse_key_with_entity(key)
        refuse_entity(every, entity, nulls)
        key, label = entity, OF_PEOPLE
    columns_read = [resolve_columns(label, [name], tbl)[0] for name in every]
    own = [] if key is None else [column(resolve_columns(label, [key], tbl)[0]).alias("record")]
    names = aliases(every)
    frame = tbl.select(
        *own, *(column(one).alias(name) for one, name in zip(columns_read, names, strict=True))
    )
    rows = Rows(frame, columns, columns_read[: len(columns)])
    rows = rows if entity is None else _distinct_rows(rows, nulls)
    if population_tbl is None:
        counts = drop_nulls(rows, nulls).groupBy(*names).agg(F.count(F.lit(1)).alias("records"))
    else:
        rows, counts = _join_null_report(rows, population_tbl, names, nulls)
    spoken = [names[every.index(name)] for name in known]
    return DistinctRecords(rows, nulls, names, counts, WORDS, partial(_arrays, rows.names, spoken))


def _distinct_rows(rows: Rows, nulls: str) -> Rows:
    """The rows, each of a person's once; refuses people of several."""
    once = replace(rows, frame=rows.frame.distinct())
    several = drop_nulls(once, nulls).groupBy("record").agg(F.count(F.lit(1)).alias("n")).filter("n > 1")
    refuse_records(fetch(several.limit(1), "people of several records").num_rows)
    return once


def _join_null_report(
    rows: Rows, population_tbl: DataFrame, names: Sequence[str], nulls: str
) -> tuple[Rows, DataFrame]:
    """Both tables' distinct records, with how many of each have them; the rows in the types of both.

    Of the population table the columns alone are asked, no other that the scenario speaks of.
    """
    rows, population = cast_alike(rows, read_rows(population_tbl, rows.given, SCENARIO_COLUMNS))
    nothing = (F.lit(None).cast(rows.frame.schema[name].dataType) for name in names[len(rows.names) :])
    others = drop_nulls(population, nulls).select(
        *rows.names, *(each.alias(name) for each, name in zip(nothing, names[len(rows.names) :], strict=True))
    )
    own = drop_nulls(rows, nulls).select(*names, F.lit(1).alias("records"), F.lit(0).alias("people"))
    both = own.unionByName(others.select("*", F.lit(0).alias("records"), F.lit(1).alias("people")))
    return rows, both.groupBy(*names).agg(F.sum("records").alias("records"), F.sum("people").alias("people"))


def _arrays(columns: Sequence[str], spoken: Sequence[str], distinct: pa.Table) -> dict[str, Any]:
    """Counts, codes of the columns that are matched on, texts of those that the scenario speaks of."""
    frame = pl.DataFrame(pl.from_arrow(distinct.select(list(spoken))))
    texts = frame.select(pl.all().cast(pl.String)).rows() if spoken else [()] * len(distinct)
    codes = encode_values(distinct, names=columns)
    records = distinct["records"].to_numpy()
    has_population = "people" in distinct.column_names
    people = distinct["people"].to_numpy() if has_population else np.full(len(records), NO_POPULATION)
    return {"records": records, "codes": codes, "texts": [list(row) for row in texts], "people": people}
