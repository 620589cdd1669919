"""Spark: answers for each record, which the driver gives for distinct ones.

Spark counts the distinct records, and joins the answers back.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.arrow import answer_columns
from reid_sql.engines.spark.counting import kept, null_report
from reid_sql.engines.spark.frames import alike, arrow_type, collected, keyed, to_spark
from reid_sql.engines.spark.reduced import Held
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Function
from reid_sql.reduction import refuse_repeated_key

NO_POSITION = (
    "must name the column by which records are told apart, got None: "
    "a Spark table has no order; pass key='id'"
)


def refuse_no_key(key: str | None) -> None:
    """Refuse to answer for each record where nothing tells one from the others."""
    if key is None:
        raise OutOfDomainError(f"key {NO_POSITION}")


def refuse_shared(records: DataFrame) -> None:
    """Refuse a key with a value that several records have, NULL like any value."""
    shared = records.groupBy("record").agg(F.count(F.lit(1)).alias("n")).filter("n > 1")
    values = shared.agg(F.count(F.lit(1)).alias("values"))
    refuse_repeated_key(is_repeated=collected(values, "one row")["values"][0].as_py() > 0)


def answered_records(declared: Function, held: Held, parameters: Mapping[str, Any]) -> DataFrame:
    """Give the body's answer for its distinct record to every record, told by its key."""
    records = kept(held.rows, held.nulls)
    refuse_shared(records)
    table = held.collected()
    found = answer_columns(declared, held.arrays(table), parameters)
    answers = table.select(held.by)
    for name, kind in declared.columns.items():
        answers = answers.append_column(name, pa.array(found[name], arrow_type(kind)))
    classes = to_spark(held.rows.frame.sparkSession, answers)
    if held.classes is not None:
        classes = held.classes.select("place", *held.names).join(classes, "place").drop("place")
    right = keyed(classes, held.names)
    joined = records.join(right, alike([F.col(name) for name in held.names], right))
    return null_report(held.rows, held.nulls, joined.select("record", *declared.columns))
