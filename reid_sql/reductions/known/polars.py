"""Polars: distinct records on the columns that a scenario speaks of."""

import json
from collections.abc import Sequence

import polars as pl

from reid_sql.engines.codes import text_of
from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    drop_nulls,
    map_whole,
    null_report,
    record_label,
    unify_types,
    with_aliases,
    with_row_numbers,
)
from reid_sql.reduction import refuse_entity, refuse_key_with_entity, refuse_records
from reid_sql.reductions.known import KEYED_COLUMNS, NO_POPULATION, OF_PEOPLE, SCENARIO_COLUMNS

OTHER = pl.col("other")  # whether a row is the population table's


def known_records(
    tbl: pl.LazyFrame,
    scenario: str,
    nulls: str,
    key: str | None = None,
    population_tbl: pl.LazyFrame | None = None,
    entity: str | None = None,
) -> pl.LazyFrame:
    """Distinct records as codes; the records that hold each by the key, else by their place in the scan."""
    document = json.loads(scenario)
    columns, reported = document["columns"], document["text_columns"]
    every = [*columns, *(column for column in reported if column not in columns)]
    words = SCENARIO_COLUMNS if key is None else KEYED_COLUMNS
    for names in (columns, *([column] for column in reported), *([] if key is None else [[key]])):
        check_columns(words, names, tbl)
    if entity is not None:
        refuse_key_with_entity(key)
        refuse_entity(every, entity, nulls)
        check_columns(OF_PEOPLE, [entity], tbl)
    rows, matched = with_aliases(tbl, every, record_label(entity or key)), aliases(columns)
    rows = rows if entity is None else _once(rows, matched, nulls)
    both = _marked(rows, columns, population_tbl)
    counted = (
        drop_nulls(both, matched, nulls).group_by(aliases(every)).agg(*_counts(population_tbl is not None))
    )
    texts = [f"q{every.index(column) + 1}" for column in reported]
    return null_report(rows, matched, nulls, _coded(with_row_numbers(counted), matched, texts))


def _once(rows: pl.LazyFrame, names: Sequence[str], nulls: str) -> pl.LazyFrame:
    """The rows, each of a person's once; refuses people of several."""

    def check(people: pl.DataFrame) -> pl.DataFrame:
        whole = people.drop_nulls(names) if nulls == "drop" else people
        refuse_records(whole.height - whole["members"].n_unique())
        return people

    columns = rows.collect_schema()
    return map_whole(rows.group_by(columns.names()).agg(), check, columns)


def _marked(rows: pl.LazyFrame, columns: Sequence[str], population_tbl: pl.LazyFrame | None) -> pl.LazyFrame:
    """The table's rows, and those of the population table, which has only the columns."""
    own = rows.with_columns(pl.lit(value=False).alias("other"))
    if population_tbl is None:
        return own
    others = with_aliases(population_tbl, check_columns(SCENARIO_COLUMNS, columns, population_tbl))
    marked = others.with_columns(pl.lit(value=True).alias("other"))
    return pl.concat(unify_types([own, marked], columns), how="diagonal")


def _counts(population: bool) -> list[pl.Expr]:  # noqa: FBT001 - named by what it says
    """How many records hold each, which they are, and how many of the population table hold it."""
    people = OTHER.sum().cast(pl.Int64) if population else pl.lit(NO_POPULATION, dtype=pl.Int64)
    return [
        (~OTHER).sum().cast(pl.Int64).alias("records"),
        pl.col("members").filter(~OTHER),
        people.alias("people"),
    ]


def _coded(coded: pl.LazyFrame, names: Sequence[str], reported: Sequence[str]) -> pl.LazyFrame:
    """The distinct records with a code for each value (0 for NULL), and the reported values as texts."""
    first = pl.col("place").first() + 1
    codes = [pl.when(pl.col(q).is_null()).then(0).otherwise(first.over(q)) for q in names]
    texts = [text_of(pl.col(q)) for q in reported]
    return coded.select(
        "place",
        "records",
        pl.concat_list(codes).alias("codes"),
        (pl.concat_list(texts) if texts else pl.lit([], dtype=pl.List(pl.String))).alias("texts"),
        "people",
        "members",
    )
