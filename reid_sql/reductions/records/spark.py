"""Spark: distinct records stay on the executors under numbers; only their counts come to the driver.

Their values do not.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.arrow import arrays_of
from reid_sql.engines.spark.counting import (
    class_columns,
    class_size,
    drop_nulls,
    number_classes,
    with_expected_counts,
)
from reid_sql.engines.spark.frames import Rows, as_number, column, read_rows, resolve_columns
from reid_sql.engines.spark.results import DistinctRecords
from reid_sql.reduction import CLASS_WEIGHT
from reid_sql.reductions.records import HOUSED_QI, KEYED_QI

WORDS: Final = "the counts of the distinct records"


def fitted_records(
    tbl: DataFrame, qi: Sequence[str], interactions: int, key: str, nulls: str
) -> DistinctRecords:
    """How many records each distinct one represents, and how many it would with independent columns."""
    rows = read_rows(tbl, qi, KEYED_QI, record=_column(tbl, key), **class_columns(tbl))
    classes = _classes(rows, nulls)
    codes = [f"code{place}" for place in range(1, len(qi) + 1)] if interactions else []
    counts = with_expected_counts(classes, rows.names).select(
        "place", "records", "class_size", "log_expected", *codes
    )
    return DistinctRecords(rows, nulls, rows.names, counts, WORDS, partial(_with_codes, codes), classes)


def weighted_records(
    tbl: DataFrame, qi: Sequence[str], weight: str | None, household: str | None, key: str, nulls: str
) -> DistinctRecords:
    """How many records each distinct one represents, and the sum of their class's weights.

    With a household, each record has its own beside its key.
    """
    number = F.lit(1.0) if weight is None else as_number(tbl, resolve_columns(KEYED_QI, [weight], tbl)[0])
    people = class_columns(tbl)
    weights = {"class_weight": column(CLASS_WEIGHT)} if CLASS_WEIGHT in tbl.columns else {}
    own = {"record": _column(tbl, key), "weight": number}
    if household is not None:
        own["household"] = column(resolve_columns(HOUSED_QI, [household, *qi], tbl)[0])
    rows = read_rows(tbl, qi, KEYED_QI, **own, **people, **weights)
    mass = F.sum(F.when(F.col("weight") > 0, F.col("weight")).otherwise(float("nan")))
    if people:  # whose classes have people who are in a smaller one, too
        mass = F.max("class_weight") if weights else mass * F.max("class_people") / F.count(F.lit(1))
    classes = _classes(rows, nulls, mass.alias("mass"))
    counts = classes.select("place", "records", "class_size", "mass")
    return DistinctRecords(rows, nulls, rows.names, counts, WORDS, _arrays, classes)


def _column(tbl: DataFrame, name: str) -> Column:
    return column(resolve_columns(KEYED_QI, [name], tbl)[0])


def _classes(rows: Rows, nulls: str, *more: Column) -> DataFrame:
    counts = F.count(F.lit(1)).alias("records"), class_size(rows.frame), *more
    return number_classes(drop_nulls(rows, nulls).groupBy(*rows.names).agg(*counts))


def _arrays(counts: pa.Table) -> dict[str, Any]:
    return arrays_of(counts.drop_columns("place"))


def _with_codes(codes: Sequence[str], counts: pa.Table) -> dict[str, Any]:
    """The counts as arrays, and the codes, each in a column of its own, as one matrix."""
    arrays = _arrays(counts)
    listed = [arrays.pop(code) for code in codes]
    none = np.empty((len(counts), 0), dtype=np.int64)
    return arrays | {"codes": np.stack(listed, axis=1) if listed else none}
