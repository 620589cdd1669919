"""Spark: what an implementation may return where it is no relation that comes to the driver as it is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
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
    """Distinct records, of which only the counts come to the driver; records find answers by values.

    Every record finds its answer back. Either the values come to the driver among the counts, or `classes`
    hold them on the executors under numbers, `place`, which the counts then have too.
    """

    rows: Rows  # every record, with `record`, by which it is told where there is a key
    nulls: str
    names: Sequence[str]  # the columns that tell distinct records apart, those that NULLs count in and others
    counts: DataFrame
    words: str  # what a refusal calls the counts
    arrays: Callable[[pa.Table], dict[str, Any]]
    classes: DataFrame | None = None

    @property
    def by(self) -> list[str]:
        """The columns by which answers find back to the distinct records."""
        return list(self.names) if self.classes is None else ["place"]

    def fetch(self) -> pa.Table:
        """Bring the counts to the driver."""
        table = fetch(self.counts, self.words)
        return table if self.classes is None else table.sort_by("place")

    def treated(self) -> pa.Table:
        """How NULLs were treated, in one row."""
        nothing = self.rows.frame.sparkSession.range(1).select()
        return fetch(null_report(self.rows, self.nulls, nothing), "one row")


NO_POSITION = (
    "must name the column by which records are told apart, got None: "
    "a Spark table has no order; pass key='id'"
)


def refuse_no_key(key: str | None) -> None:
    """Refuse to answer for each record where nothing tells one from the others."""
    if key is None:
        raise OutOfDomainError(f"key {NO_POSITION}")


def refuse_repeated_keys(records: DataFrame) -> None:
    """Refuse a key with a value that several records have, NULL like any value."""
    shared = records.groupBy("record").agg(F.count(F.lit(1)).alias("n")).filter("n > 1")
    values = shared.agg(F.count(F.lit(1)).alias("values"))
    refuse_repeated_key(is_repeated=fetch(values, "one row")["values"][0].as_py() > 0)


def answer_records(declared: Function, held: DistinctRecords, parameters: Mapping[str, Any]) -> DataFrame:
    """Give the body's answer for its distinct record to every record, told by its key."""
    records = drop_nulls(held.rows, held.nulls)
    refuse_repeated_keys(records)
    table = held.fetch()
    found = answer_columns(declared, held.arrays(table), parameters)
    answers = table.select(held.by)
    for name, kind in declared.columns.items():
        answers = answers.append_column(name, pa.array(found[name], arrow_type(kind)))
    classes = to_spark(held.rows.frame.sparkSession, answers)
    if held.classes is not None:
        classes = held.classes.select("place", *held.names).join(classes, "place").drop("place")
    right = with_key(classes, held.names)
    joined = records.join(right, same_key([F.col(name) for name in held.names], right))
    return null_report(held.rows, held.nulls, joined.select("record", *declared.columns))
