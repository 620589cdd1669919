"""Spark: what uniqueness in the population is estimated from: counts, no values."""

from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import (
    class_columns,
    class_size,
    drop_nulls,
    null_report,
    number_classes,
    with_expected_counts,
)
from reid_sql.engines.spark.frames import Rows, arrow_type, read_rows, to_spark
from reid_sql.engines.spark.people import count_groups, read_groups
from reid_sql.engines.spark.values import count_pairs, has_text, refuse_without_text
from reid_sql.parameters import QUASI_IDENTIFIERS
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


def evidence(
    tbl: DataFrame, qi: Sequence[str], method: str, nulls: str, by: Sequence[str] | None = None
) -> DataFrame:
    """Classes by size and expected count under independence, pairs and drawn records, as asked."""
    if by is not None:
        divided = read_groups(tbl, qi, by, None, nulls)
        every = count_groups(divided, by, nulls)
        distinct = _distinct(divided, drop_nulls(divided, nulls), every.groups)
        return every.report(_lines(divided, distinct, method, every.groups))
    rows = read_rows(tbl, qi, QUASI_IDENTIFIERS, **class_columns(tbl))
    return null_report(rows, nulls, _lines(rows, _distinct(rows, drop_nulls(rows, nulls)), method))


def _distinct(rows: Rows, records: DataFrame, groups: Sequence[str] = ()) -> DataFrame:
    """The distinct records with their counts, and the sizes of their classes."""
    counts = F.count(F.lit(1)).alias("records"), class_size(records)
    return records.groupBy(*groups, *rows.names).agg(*counts)


def _lines(rows: Rows, distinct: DataFrame, method: str, groups: Sequence[str] = ()) -> DataFrame:
    """All counts of the distinct records, or of those of each group."""
    distinct = number_classes(distinct) if method in {*OF_INDEPENDENCE, *OF_PAIRS} else distinct
    if method in OF_PAIRS and method != "all":
        refuse_without_text(rows)
    lines = _sizes(distinct, rows.names, groups, independent=method in OF_INDEPENDENCE)
    texts = all(has_text(rows.frame.schema[name].dataType) for name in rows.names)
    for part in _parts(rows, distinct, method, groups) if texts else [_nothing(rows)]:
        lines = lines.unionByName(part, allowMissingColumns=True)
    return lines.fillna(0, WHOLE).select(F.monotonically_increasing_id().alias("place"), *lines.columns)


def _sizes(
    distinct: DataFrame, names: Sequence[str], groups: Sequence[str], *, independent: bool
) -> DataFrame:
    """How many classes have each size, and each expected count, to a thousandth of its logarithm."""
    log = F.round(F.col("log_expected") * 1000) / 1000 if independent else F.lit(None).cast("double")
    found = with_expected_counts(distinct, names, groups) if independent else distinct
    lines = found.select(*groups, "class_size", log.alias("log_expected"), "records")
    classes = (F.sum("records") / F.col("class_size")).alias("classes")
    return lines.groupBy(*groups, "class_size", "log_expected").agg(classes)


def _parts(rows: Rows, distinct: DataFrame, method: str, groups: Sequence[str]) -> Iterator[DataFrame]:
    """Pairs of values and records drawn, as population_risk draws them, where the method asks for them."""
    yield _nothing(rows)
    if method in OF_PAIRS:
        weighed = distinct.withColumn("mass", F.col("records").cast("double"))
        yield count_pairs(weighed, rows.given, alone=True, groups=groups)
    if method in OF_PEOPLE:
        second = F.lit(DRAWN).cast("bigint").alias("second")
        yield drawn(distinct, rows.names, SEED, groups).select("*", second)


def _nothing(rows: Rows) -> DataFrame:
    """All columns but those of the sizes, and no line."""
    others = [(name, arrow_type(EVIDENCE.columns[name])) for name in EVIDENCE.columns if name not in SIZED]
    return to_spark(rows.frame.sparkSession, pa.schema(others).empty_table())
