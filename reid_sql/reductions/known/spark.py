"""Spark: distinct records on a scenario's columns; they come to the driver, which matches them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import kept
from reid_sql.engines.spark.frames import Rows, collected, column, places, resolved
from reid_sql.engines.spark.reduced import Held
from reid_sql.engines.spark.wildcard import coded
from reid_sql.reduction import refuse_entity, refuse_key, refuse_records
from reid_sql.reductions.known import KEYED_COLUMNS, OF_PEOPLE, SCENARIO_COLUMNS

WORDS: Final = "the distinct records on the scenario's columns"


def known_records(
    tbl: DataFrame, scenario: str, key: str | None, nulls: str, entity: str | None = None
) -> Held:
    """Distinct records; columns that the scenario only speaks of come after those that are matched on."""
    document = json.loads(scenario)
    columns, told = document["columns"], document["told"]
    every = [*columns, *(name for name in told if name not in columns)]
    words = SCENARIO_COLUMNS if key is None else KEYED_COLUMNS
    if entity is not None:
        refuse_key(key)
        refuse_entity(every, entity, nulls)
        key, words = entity, OF_PEOPLE
    found = [resolved(words, [name], tbl)[0] for name in every]
    own = [] if key is None else [column(resolved(words, [key], tbl)[0]).alias("record")]
    names = places(every)
    frame = tbl.select(*own, *(column(one).alias(name) for one, name in zip(found, names, strict=True)))
    rows = Rows(frame, columns, found[: len(columns)])
    if entity is not None:
        rows = _once(rows, nulls)
    counts = kept(rows, nulls).groupBy(*names).agg(F.count(F.lit(1)).alias("records"))
    spoken = [names[every.index(name)] for name in told]
    return Held(rows, nulls, names, counts, WORDS, partial(_arrays, rows.names, spoken))


def _once(rows: Rows, nulls: str) -> Rows:
    """The rows, each of a person's once; refuses people of several."""
    once = rows.frame.distinct()
    several = kept(replace(rows, frame=once), nulls).groupBy("record").agg(F.count(F.lit(1)).alias("n"))
    refuse_records(collected(several.filter("n > 1").limit(1), "people of several records").num_rows)
    return replace(rows, frame=once)


def _arrays(columns: Sequence[str], told: Sequence[str], distinct: pa.Table) -> dict[str, Any]:
    """Counts, codes of the columns that are matched on, texts of those that the scenario speaks of."""
    frame = pl.DataFrame(pl.from_arrow(distinct.select(list(told))))
    texts = frame.select(pl.all().cast(pl.String)).rows() if told else [()] * len(distinct)
    codes = coded(distinct, names=columns)
    return {"records": distinct["records"].to_numpy(), "codes": codes, "texts": [list(row) for row in texts]}
