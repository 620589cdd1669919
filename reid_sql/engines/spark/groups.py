"""Spark: groups of a table, by the values of columns, each counted for itself in one pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import missing
from reid_sql.engines.spark.frames import Rows, column, resolved, rows_of, same
from reid_sql.engines.spark.people import WORDS
from reid_sql.parameters import QUASI_IDENTIFIERS, Columns
from reid_sql.reduction import DIVIDING, group_names, refuse_entity, refuse_groups

COUNTS: Final = ("classes", "records", "uncovered")  # 0 of a group of which every record was dropped


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
        told = group_names(self.by)
        own = (F.col(group).alias(name) for group, name in zip(self.groups, told, strict=True))
        counts = [name for name in sized.columns if name not in self.groups]
        filled = met.fillna(0, [name for name in counts if name in COUNTS])
        return filled.select(*own, *counts, "records_dropped", F.lit(self.nulls).alias("nulls"))


def by_own_names(reduced: DataFrame, by: Sequence[str]) -> DataFrame:
    """Give the columns of the groups their own names, where nothing of ours can meet them any more."""
    own = dict(zip(group_names(by), by, strict=True))
    return reduced.select(*(column(name).alias(own.get(name, name)) for name in reduced.columns))


def dividing(tbl: DataFrame, by: Sequence[str], nulls: str) -> list[str]:
    """The columns whose values divide the table, as it spells them, or a refusal."""
    found = resolved(DIVIDING, by, tbl)
    refuse_groups(nulls)
    return found


def rows_by_group(  # noqa: PLR0917 - a table, what is counted of it, and how
    tbl: DataFrame,
    columns: Sequence[str],
    by: Sequence[str],
    entity: str | None,
    nulls: str,
    words: Columns = QUASI_IDENTIFIERS,
) -> Rows:
    """The columns under numbers beside those of the groups, and of people where a column tells them apart."""
    refuse_entity(columns, entity, nulls)
    found = dividing(tbl, by, nulls)
    groups = {place: column(name) for place, name in zip(_groups(by), found, strict=True)}
    people = {} if entity is None else {"entity": column(resolved(WORDS, [*columns, entity], tbl)[-1])}
    return rows_of(tbl, columns, words, **groups, **people)


def counted_by_group(rows: Rows, by: Sequence[str], nulls: str) -> Counted:
    """Count the rows by all of their columns."""
    counted = rows.frame.groupBy(*rows.frame.columns).agg(F.count(F.lit(1)).alias("records"))
    kept = ~missing(rows.names) if nulls == "drop" else F.lit(True)  # noqa: FBT003 - a literal
    return Counted(counted.withColumn("kept", kept), rows.names, _groups(by), by, nulls)


def _groups(by: Sequence[str]) -> list[str]:
    return [f"g{place}" for place in range(1, len(by) + 1)]
