"""Spark: what an implementation may return where it is no relation that comes to the driver as it is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.arrow import answer_columns
from reid_sql.engines.spark.counting import drop_nulls, null_report
from reid_sql.engines.spark.frames import Rows, arrow_type, fetch, same_key, to_spark, with_key
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Function
from reid_sql.reduction import refuse_repeated_key


@dataclass(frozen=True)
class RemoteColumns:
    """Whole columns that stay on the executors: what a body asks in their place, and how NULLs were treated.

    The answer's `record` numbers `keys`, which are known only when the body has asked.
    """

    arrays: Any
    treated: pa.Table
    keys: Sequence[pa.Array] = ()


@dataclass(frozen=True)
class DistinctRecords:
    """Distinct records, of which only the counts come to the driver; records are joined to answers by values.

    Either the values come to the driver among the counts, or `classes` has them on the executors under
    numbers, `place`, which the counts then have too.
    """

    rows: Rows  # every record, with `record`, its key, where there is one
    nulls: str
    names: Sequence[str]  # the columns that distinguish records, those that NULLs count in and others
    counts: DataFrame
    label: str  # what a refusal calls the counts
    arrays: Callable[[pa.Table], dict[str, Any]]
    classes: DataFrame | None = None

    @property
    def by(self) -> list[str]:
        """The columns by which answers are joined to the distinct records."""
        return list(self.names) if self.classes is None else ["place"]

    def fetch(self) -> pa.Table:
        """Fetch the counts to the driver."""
        table = fetch(self.counts, self.label)
        return table if self.classes is None else table.sort_by("place")

    def treated(self) -> pa.Table:
        """How NULLs were treated, in one row."""
        nothing = self.rows.frame.sparkSession.range(1).select()
        return fetch(null_report(self.rows, self.nulls, nothing), "one row")


NO_POSITION = (
    "must name the column that distinguishes records, got None: a Spark table has no order; pass key='id'"
)


def refuse_no_key(key: str | None) -> None:
    """Refuse to answer for each record where no column distinguishes them."""
    if key is None:
        raise OutOfDomainError(f"key {NO_POSITION}")


def refuse_repeated_keys(records: DataFrame) -> None:
    """Refuse a key with a value that several records have, NULL like any value."""
    shared = records.groupBy("record").agg(F.count(F.lit(1)).alias("n")).filter("n > 1")
    values = shared.agg(F.count(F.lit(1)).alias("values"))
    refuse_repeated_key(is_repeated=fetch(values, "one row")["values"][0].as_py() > 0)


def _with_household_risk(members: DataFrame) -> DataFrame:
    """Combine the risks of each household's members; a record without a household is one of its own."""
    alone = F.when(F.col("household").isNull(), F.col("record"))
    members_of = Window.partitionBy("household", alone)
    return members.withColumn("household_risk", 1 - F.product(1 - F.col("risk")).over(members_of))


def answer_records(declared: Function, distinct: DistinctRecords, parameters: Mapping[str, Any]) -> DataFrame:
    """Join to the key of every record the body's answer for its distinct record."""
    records = drop_nulls(distinct.rows, distinct.nulls)
    refuse_repeated_keys(records)
    table = distinct.fetch()
    answer = answer_columns(declared, distinct.arrays(table), parameters)
    answers = table.select(distinct.by)
    for name, kind in declared.columns.items():
        answers = answers.append_column(name, pa.array(answer[name], arrow_type(kind)))
    classes = to_spark(distinct.rows.frame.sparkSession, answers)
    if distinct.classes is not None:
        classes = distinct.classes.select("place", *distinct.names).join(classes, "place").drop("place")
    right = with_key(classes, distinct.names)
    joined = records.join(right, same_key([F.col(name) for name in distinct.names], right))
    if "household" in records.columns:
        joined = _with_household_risk(joined)
    return null_report(distinct.rows, distinct.nulls, joined.select("record", *declared.columns))
