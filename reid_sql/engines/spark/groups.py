"""Spark: groups of a table, by the values of columns, each counted for itself in one pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.domains import QUASI_IDENTIFIERS
from reid_sql.engines.spark.counting import missing
from reid_sql.engines.spark.frames import column, resolved, rows_of
from reid_sql.engines.spark.people import WORDS
from reid_sql.reduction import DIVIDING, refuse_entity, refuse_groups


@dataclass(frozen=True)
class Counted:
    """The distinct rows with their counts, and which are kept; columns under numbers, people as `entity`."""

    rows: DataFrame
    names: Sequence[str]  # of the columns
    groups: Sequence[str]
    by: Sequence[str]  # the groups' own names
    nulls: str

    @property
    def kept(self) -> DataFrame:
        """The rows that are counted."""
        return self.rows.filter("kept")

    def told(self, sized: DataFrame) -> DataFrame:
        """What was counted of each group, all groups there, with how many records were dropped of each."""
        left_out = F.sum(F.when(F.col("kept"), 0).otherwise(F.col("records"))).alias("records_dropped")
        every = self.rows.groupBy(*self.groups).agg(left_out)
        met = every.join(*same(every, sized, self.groups), "left")
        own = (F.col(group).alias(name) for group, name in zip(self.groups, self.by, strict=True))
        counts = [name for name in sized.columns if name not in self.groups]
        filled = met.fillna(0, [name for name in counts if name != "class_size"])
        blank = F.lit(None).cast("bigint").alias("blank_records")  # where NULL is no wildcard, nobody asks
        return filled.select(*own, *counts, blank, "records_dropped", F.lit(self.nulls).alias("nulls"))


def counted_by_group(
    tbl: DataFrame, qi: Sequence[str], by: Sequence[str], entity: str | None, nulls: str
) -> Counted:
    """Count the rows by the columns and the groups, and by people where a column tells them apart."""
    refuse_entity(qi, entity, nulls)
    refuse_groups(by, nulls)
    groups = {f"g{place}": column(name) for place, name in enumerate(resolved(DIVIDING, by, tbl), 1)}
    people = {} if entity is None else {"entity": column(resolved(WORDS, [*qi, entity], tbl)[-1])}
    rows = rows_of(tbl, qi, QUASI_IDENTIFIERS, **groups, **people)
    counted = rows.frame.groupBy(*rows.frame.columns).agg(F.count(F.lit(1)).alias("records"))
    kept = ~missing(rows.names) if nulls == "drop" else F.lit(True)  # noqa: FBT003 - a literal
    return Counted(counted.withColumn("kept", kept), rows.names, list(groups), by, nulls)


def same(left: DataFrame, right: DataFrame, names: Sequence[str]) -> tuple[DataFrame, Column]:
    """The right side and the condition to join it by: the same values in the columns, NULL like NULL."""
    apart = {name: f"{name}_right" for name in names}
    renamed = right.withColumnsRenamed(apart)
    return renamed, reduce(and_, (left[name].eqNullSafe(renamed[other]) for name, other in apart.items()))
