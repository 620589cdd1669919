"""Spark: what uniqueness in the population is estimated from; counts are told, not values."""

from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.domains import QUASI_IDENTIFIERS
from reid_sql.engines.spark.counting import counted, how_nulls, placed
from reid_sql.engines.spark.frames import Rows, arrow_type, rows_of, to_spark
from reid_sql.engines.spark.independence import fitted
from reid_sql.engines.spark.texts import counts_of_pairs, has_text, refuse_without_text
from reid_sql.reductions.evidence import (
    DRAWN,
    EVIDENCE,
    OF_INDEPENDENCE,
    OF_PAIRS,
    OF_PEOPLE,
    SEED,
)
from reid_sql.reductions.people.spark import drawn

SIZED: Final = ("place", "class_size", "log_expected", "classes")
WHOLE: Final = ["class_size", "classes", "first", "second", "records", "mass"]


def evidence(tbl: DataFrame, qi: Sequence[str], method: str, nulls: str) -> DataFrame:
    """Classes by size and by what independent columns would hold, pairs and drawn records, as asked."""
    rows = rows_of(tbl, qi, QUASI_IDENTIFIERS)
    held = counted(rows, nulls)
    held = placed(held) if method in {*OF_INDEPENDENCE, *OF_PAIRS} else held
    if method in OF_PAIRS and method != "all":
        refuse_without_text(rows)
    told = _sizes(held, rows.names, independent=method in OF_INDEPENDENCE)
    texts = all(has_text(field.dataType) for field in rows.frame.schema)
    for part in _parts(rows, held, method) if texts else [_nothing(rows)]:
        told = told.unionByName(part, allowMissingColumns=True)
    numbered = told.fillna(0, WHOLE).withColumn("place", F.monotonically_increasing_id())
    return how_nulls(rows, nulls, numbered)


def _sizes(held: DataFrame, names: Sequence[str], *, independent: bool) -> DataFrame:
    """How many classes have each size, and each expected count, to a thousandth of its logarithm."""
    log = F.round(F.col("log_expected") * 1000) / 1000 if independent else F.lit(None).cast("double")
    found = fitted(held, names) if independent else held
    lines = found.select(F.col("records").alias("class_size"), log.alias("log_expected"))
    return lines.groupBy("class_size", "log_expected").agg(F.count(F.lit(1)).alias("classes"))


def _parts(rows: Rows, held: DataFrame, method: str) -> Iterator[DataFrame]:
    """Pairs of values and records drawn, as population_risk draws them, where the method asks for them."""
    yield _nothing(rows)
    if method in OF_PAIRS:
        weighed = held.withColumn("mass", F.col("records").cast("double"))
        yield counts_of_pairs(weighed, rows.given, alone=True)
    if method in OF_PEOPLE:
        second = F.lit(DRAWN).cast("bigint").alias("second")
        yield drawn(held, rows.names, SEED).select("*", second)


def _nothing(rows: Rows) -> DataFrame:
    """All columns beside the sizes', and no line."""
    beside = [(name, arrow_type(EVIDENCE.columns[name])) for name in EVIDENCE.columns if name not in SIZED]
    return to_spark(rows.frame.sparkSession, pa.schema(beside).empty_table())
