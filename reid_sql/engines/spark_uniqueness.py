"""Spark: what risk in the population is estimated from. Spark counts classes; their counts, not their values, come to the driver.

The classes stay on the executors under numbers, `place`, so that answers find back to the records by them.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.arrow import answer_columns, arrays_of
from reid_sql.engines.polars_uniqueness import COPULA, INDEPENDENT
from reid_sql.engines.spark_copula import counts_of_pairs, has_text, refuse_without_text
from reid_sql.engines.spark_frames import (
    alike,
    arrow_type,
    as_number,
    collected,
    column,
    keyed,
    places,
    resolved,
    to_spark,
)
from reid_sql.engines.spark_records import refuse_no_key
from reid_sql.engines.spark_reductions import counted, how_nulls, missing
from reid_sql.function import Function
from reid_sql.reductions.pairs import PAIRS
from reid_sql.reductions.records import KEYED_QI

NO_PAIRS: Final = pa.schema(
    [(name, arrow_type(kind)) for name, kind in PAIRS.columns.items() if name != "cell"]
)
WHOLE: Final = ["class_size", "classes", "first", "second", "records", "mass"]
WORDS: Final = "the counts of the distinct records"


def evidence(frames: Sequence[DataFrame], given: Sequence[str], method: str, nulls: str) -> DataFrame:
    """Classes by size, and by what independent columns would hold, and pairs of values, where the method asks for these."""
    rows, names = frames[0], places(given)
    held = counted(rows, names, nulls)
    held = _placed(held) if method in (*INDEPENDENT, *COPULA) else held
    told = _sizes(held, names, independent=method in INDEPENDENT)
    plain = all(
        has_text(field.dataType) for field in rows.schema
    )  # else there are all methods but the copula's
    if method in COPULA and method != "all":
        refuse_without_text(rows, given)
    if method in COPULA and plain:
        pairs = counts_of_pairs(held.withColumn("mass", F.col("records").cast("double")), given, alone=True)
    else:
        pairs = to_spark(rows.sparkSession, NO_PAIRS.empty_table())
    both = told.unionByName(pairs, allowMissingColumns=True).fillna(0, WHOLE)
    return how_nulls(rows, names, nulls, both.withColumn("place", F.monotonically_increasing_id()))


def _sizes(held: DataFrame, names: Sequence[str], *, independent: bool) -> DataFrame:
    log = F.round(F.col("log_expected") * 1000) / 1000 if independent else F.lit(None).cast("double")
    found = _fitted(held, names) if independent else held
    lines = found.select(F.col("records").alias("class_size"), log.alias("log_expected"))
    return lines.groupBy("class_size", "log_expected").agg(F.count(F.lit(1)).alias("classes"))


def answered_classes(
    declared: Function, frame: DataFrame, columns: Sequence[str], options: dict[str, Any]
) -> DataFrame:
    """Give the body's answer for its class to every record, told by its key."""
    refuse_no_key(options)
    nulls, found = options["nulls"], resolved(KEYED_QI, columns, frame)
    names = places(found)
    rows = frame.select(
        _own(frame, options["key"]).alias("record"),
        _number(frame, options.get("weight")).alias("weight"),
        *(column(name).alias(place) for name, place in zip(found, names, strict=True)),
    )
    kept = rows.filter(~missing(names)) if nulls == "drop" else rows
    mass = F.sum(F.when(F.col("weight") > 0, F.col("weight")).otherwise(float("nan"))).alias("mass")
    classes = _placed(kept.groupBy(*names).agg(F.count(F.lit(1)).alias("records"), mass))
    answers = _answers(declared, classes, names, options)
    right = keyed(classes.select("place", *names).join(answers, "place").drop("place"), names)
    joined = kept.select("record", *names).join(right, alike([F.col(name) for name in names], right))
    return how_nulls(rows, names, nulls, joined.select("record", *declared.columns))


def _own(frame: DataFrame, name: str) -> Column:
    return column(resolved(KEYED_QI, [name], frame)[0])


def _number(frame: DataFrame, weight: str | None) -> Column:
    if weight is None:
        return F.lit(1.0)
    return as_number(frame, resolved(KEYED_QI, [weight], frame)[0])


def _placed(classes: DataFrame) -> DataFrame:
    """Number the classes and keep them on the executors: counted anew, they could get other numbers."""
    return classes.withColumn("place", F.monotonically_increasing_id()).localCheckpoint()


def _answers(
    declared: Function, classes: DataFrame, names: Sequence[str], options: dict[str, Any]
) -> DataFrame:
    """Answer for the classes, by their numbers."""
    fitted = "interactions" in options
    codes = (
        [f"code{place}" for place in range(1, len(names) + 1)] if fitted and options["interactions"] else []
    )
    told = ["log_expected", *codes] if fitted else ["mass"]
    counts = _fitted(classes, names) if fitted else classes
    table = collected(counts.select("place", "records", *told), WORDS).sort_by("place")
    arrays = arrays_of(table)
    if fitted:
        listed = [arrays.pop(code) for code in codes]
        arrays["codes"] = np.stack(listed, axis=1) if listed else np.empty((len(table), 0), dtype=np.int64)
    own = {parameter.name: options[parameter.name] for parameter in declared.own_parameters}
    place = arrays.pop("place")
    found = answer_columns(declared, arrays, own)
    columns = {name: pa.array(found[name], arrow_type(kind)) for name, kind in declared.columns.items()}
    return to_spark(classes.sparkSession, pa.table({"place": place, **columns}))


def _fitted(classes: DataFrame, names: Sequence[str]) -> DataFrame:
    """Put beside the classes the logarithm of the count that independent columns would hold, and a code for each value.

    Each column's values are counted from the classes, and joined back to them NULL-safe.
    """
    total = classes.agg(F.sum("records").cast("double").alias("total"))
    found, logs = classes.crossJoin(F.broadcast(total)), []
    for place, name in enumerate(names, 1):
        held, code = (
            F.sum("records").cast("double").alias(f"held{place}"),
            F.min("place").alias(f"code{place}"),
        )
        right = keyed(classes.groupBy(name).agg(held, code), [name])
        found = found.join(right, alike([F.col(name)], right)).drop("reid_key", "reid_hash")
        logs.append(F.log(f"held{place}"))
    independent = sum(logs, F.lit(0.0)) - (len(names) - 1) * F.log("total")
    return found.withColumn("log_expected", independent)
