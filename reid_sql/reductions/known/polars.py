"""Polars: distinct records on the columns that a scenario speaks of."""

import json
from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.distinct import distinct, told_by
from reid_sql.engines.polars.frames import how_nulls, kept, numbered, places, resolved
from reid_sql.reduction import refuse_entity, refuse_key, refuse_records
from reid_sql.reductions.known import KEYED_COLUMNS, OF_PEOPLE, SCENARIO_COLUMNS


def known_records(
    tbl: pl.LazyFrame, scenario: str, nulls: str, key: str | None = None, entity: str | None = None
) -> pl.LazyFrame:
    """Distinct records as codes; the records that hold each by the key, else by their place in the scan."""
    document = json.loads(scenario)
    columns, told = document["columns"], document["told"]
    every = [*columns, *(column for column in told if column not in columns)]
    words = SCENARIO_COLUMNS if key is None else KEYED_COLUMNS
    for names in (columns, *([column] for column in told), *([] if key is None else [[key]])):
        resolved(words, names, tbl)
    if entity is not None:
        refuse_key(key)
        refuse_entity(every, entity, nulls)
        resolved(OF_PEOPLE, [entity], tbl)
    rows, matched = numbered(tbl, every, told_by(entity or key)), places(columns)
    held = kept(rows, matched, nulls)
    found = distinct(held if entity is None else _once(held), places(every), "members")
    texts = [f"q{every.index(column) + 1}" for column in told]
    return how_nulls(rows, matched, nulls, _coded(found, matched, texts))


def _once(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows, each of a person's once; refuses people of several."""

    def check(people: pl.DataFrame) -> pl.DataFrame:
        refuse_records(people.height - people["members"].n_unique())
        return people

    columns = rows.collect_schema()
    return rows.group_by(columns.names()).agg().map_batches(check, schema=columns)


def _coded(found: pl.LazyFrame, names: Sequence[str], told: Sequence[str]) -> pl.LazyFrame:
    """The distinct records with a code for each value (0 for NULL), and the told values as texts."""
    first = pl.col("place").first() + 1
    codes = [pl.when(pl.col(q).is_null()).then(0).otherwise(first.over(q)) for q in names]
    texts = [pl.col(q).cast(pl.String) for q in told]
    return found.select(
        "place",
        "records",
        pl.concat_list(codes).alias("codes"),
        (pl.concat_list(texts) if texts else pl.lit([], dtype=pl.List(pl.String))).alias("texts"),
        "members",
    )
