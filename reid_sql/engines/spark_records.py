"""Spark: answers for each record. Spark counts the distinct records, the driver answers for these, Spark joins back."""

import json
from collections.abc import Sequence
from typing import Any

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.domains import Columns
from reid_sql.engines.arrow import answer_columns
from reid_sql.engines.polars_codes import coded
from reid_sql.engines.spark_frames import (
    alike,
    arrow_type,
    collected,
    column,
    keyed,
    numbered,
    places,
    resolved,
    to_spark,
)
from reid_sql.engines.spark_reductions import counted, how_nulls, missing
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Function
from reid_sql.reductions.known import KEYED_COLUMNS, SCENARIO_COLUMNS

NO_POSITION = "must name the column by which records are told apart, got None: a Spark table has no order; pass key='id'"
WORDS = "the distinct records on the scenario's columns"


def counted_records(
    frame: DataFrame, scenario: str, nulls: str, record: str | None = None
) -> tuple[DataFrame, DataFrame, int]:
    """Rows of the scenario's columns, numbered, with the key as `record`; their distinct records; how many are matched on.

    Columns that the scenario only speaks of come after those that are matched on.
    """
    document = json.loads(scenario)
    columns, told = document["columns"], document["told"]
    every = [*columns, *(name for name in told if name not in columns)]
    words = SCENARIO_COLUMNS if record is None else KEYED_COLUMNS
    named = [_resolved(words, [name], frame)[0] for name in every]
    rows = numbered(frame, named)
    if record is not None:
        own = column(_resolved(words, [record], frame)[0]).alias("record")
        rows = frame.select(
            own, *(column(name).alias(q) for name, q in zip(named, places(named), strict=True))
        )
    return rows, _distinct(rows, places(named), places(columns), nulls), len(columns)


def _resolved(words: Columns, names: list[str], frame: DataFrame) -> list[str]:
    return resolved(words, names, frame)


def _distinct(rows: DataFrame, names: list[str], matched: list[str], nulls: str) -> DataFrame:
    kept = rows.filter(~missing(matched)) if nulls == "drop" else rows
    return counted(kept, names, "value")


def known_arrays(distinct: pa.Table, scenario: str) -> dict[str, Any]:
    """The distinct records as a body takes them: counts, codes of the columns, texts of those the scenario speaks of."""
    document = json.loads(scenario)
    columns, told = document["columns"], document["told"]
    every = [*columns, *(name for name in told if name not in columns)]
    frame = pl.DataFrame(pl.from_arrow(distinct)).lazy()
    found = coded(frame, places(columns), [f"q{every.index(name) + 1}" for name in told]).collect()
    codes = found["codes"].explode(empty_as_null=False).to_numpy().reshape(found.height, len(columns))
    return {"records": found["records"].to_numpy(), "codes": codes, "texts": found["texts"].to_list()}


def refuse_no_key(options: dict[str, Any]) -> None:
    """Refuse to answer for each record where nothing tells one from the others."""
    if options["key"] is None:
        raise OutOfDomainError(f"key {NO_POSITION}")


def answered_records(
    declared: Function, frame: DataFrame, _: Sequence[str] | None, options: dict[str, Any]
) -> DataFrame:
    """Give the body's answer for its distinct record to every record, told by its key; the scenario names the columns."""
    refuse_no_key(options)
    scenario, nulls = options["scenario"], options["nulls"]
    rows, distinct, width = counted_records(frame, scenario, nulls, options["key"])
    table = collected(distinct, WORDS)
    own = {parameter.name: options[parameter.name] for parameter in declared.own_parameters}
    found = answer_columns(declared, known_arrays(table, scenario), own)
    names = [name for name in table.column_names if name != "records"]
    answers = table.select(names)
    for name, kind in declared.columns.items():
        answers = answers.append_column(name, pa.array(found[name], arrow_type(kind)))
    back = keyed(to_spark(frame.sparkSession, answers), names)
    matched = names[:width]
    kept = rows.filter(~missing(matched)) if nulls == "drop" else rows
    joined = kept.join(back, alike([F.col(name) for name in names], back))
    return how_nulls(rows, matched, nulls, joined.select("record", *declared.columns))
