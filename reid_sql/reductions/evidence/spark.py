"""Spark: what uniqueness in the population is estimated from; counts are told, not values.

Classes are counted.
"""

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.domains import QUASI_IDENTIFIERS
from reid_sql.engines.spark.counting import counted, how_nulls, placed
from reid_sql.engines.spark.frames import Rows, arrow_type, rows_of, to_spark
from reid_sql.engines.spark.independence import fitted
from reid_sql.engines.spark.texts import counts_of_pairs, has_text, refuse_without_text
from reid_sql.reductions.evidence import OF_COPULAS, OF_INDEPENDENCE
from reid_sql.reductions.pairs import PAIRS

WHOLE: Final = ["class_size", "classes", "first", "second", "records", "mass"]


def evidence(tbl: DataFrame, qi: Sequence[str], method: str, nulls: str) -> DataFrame:
    """Classes by size, and by what independent columns would hold, and pairs of values, where asked for.

    The method asks for them.
    """
    rows = rows_of(tbl, qi, QUASI_IDENTIFIERS)
    held = counted(rows, nulls)
    held = placed(held) if method in {*OF_INDEPENDENCE, *OF_COPULAS} else held
    if method in OF_COPULAS and method != "all":
        refuse_without_text(rows)
    told = _sizes(held, rows.names, independent=method in OF_INDEPENDENCE)
    pairs = _pairs(rows, held) if method in OF_COPULAS else _no_pairs(rows)
    both = told.unionByName(pairs, allowMissingColumns=True).fillna(0, WHOLE)
    return how_nulls(rows, nulls, both.withColumn("place", F.monotonically_increasing_id()))


def _sizes(held: DataFrame, names: Sequence[str], *, independent: bool) -> DataFrame:
    """How many classes have each size, and each expected count, to a thousandth of its logarithm."""
    log = F.round(F.col("log_expected") * 1000) / 1000 if independent else F.lit(None).cast("double")
    found = fitted(held, names) if independent else held
    lines = found.select(F.col("records").alias("class_size"), log.alias("log_expected"))
    return lines.groupBy("class_size", "log_expected").agg(F.count(F.lit(1)).alias("classes"))


def _pairs(rows: Rows, held: DataFrame) -> DataFrame:
    """Pairs of values; where values have no text there are all methods but the copula's."""
    if not all(has_text(field.dataType) for field in rows.frame.schema):
        return _no_pairs(rows)
    return counts_of_pairs(held.withColumn("mass", F.col("records").cast("double")), rows.given, alone=True)


def _no_pairs(rows: Rows) -> DataFrame:
    columns = [(name, arrow_type(kind)) for name, kind in PAIRS.columns.items() if name != "cell"]
    return to_spark(rows.frame.sparkSession, pa.schema(columns).empty_table())
