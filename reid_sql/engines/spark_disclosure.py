"""Spark: what each class gives away about a sensitive column; the words of DuckDB's `reid_plan_disclosure`."""

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark_catalogue import EQUAL_ALONE
from reid_sql.engines.spark_frames import alike, keyed, places
from reid_sql.engines.spark_reductions import counted, how_nulls
from reid_sql.errors import UnavailableError
from reid_sql.models.classes.sensitive import SLACK
from reid_sql.reduction import refuse_own_names


def disclosure(measure: str, threshold: str) -> Callable[..., DataFrame]:
    """Make the reduction to how many classes have each size and value; or, by a threshold, to the classes that offend it.

    The sensitive column stands last.
    """

    def reduced(frames: Sequence[DataFrame], given: Sequence[str], nulls: str, **options: Any) -> DataFrame:  # noqa: ANN401
        listing = measure.endswith("_classes")
        if listing:
            refuse_own_names(given[:-1], ("class_size", "value"))
        rows, names = frames[0], places(given)
        cells = counted(rows, names, nulls).withColumnRenamed("records", "n")
        found = _measured(cells, names, measure.removesuffix("_classes"), options)
        if listing:
            kept = found.filter(
                F.col("value").isNull() | _offending(measure, float(options[threshold]), options)
            )
            renamed = (F.col(name).alias(column) for name, column in zip(names[:-1], given[:-1], strict=True))
            return how_nulls(rows, names, nulls, kept.select(*renamed, "class_size", "value"))
        kinds = found.groupBy("class_size", "value").agg(F.count(F.lit(1)).alias("classes"))
        return how_nulls(rows, names, nulls, kinds)

    return reduced


def _offending(measure: str, threshold: float, options: dict[str, Any]) -> Column:
    if measure == "l_diversity_classes":
        return F.col("value") < threshold * (1 - SLACK)
    return (F.col("value") > threshold * (1 + SLACK)) | (F.col("class_size") < int(options.get("k", 1)))


def _measured(cells: DataFrame, names: Sequence[str], measure: str, options: dict[str, Any]) -> DataFrame:
    """Give the keys, class_size and value of every class, from how many records hold each sensitive value."""
    variant, keys = options.get("variant"), list(names[:-1])
    if measure == "t_closeness" and variant != "equal":
        raise UnavailableError(
            f"t_closeness on Spark must have variant='equal', got '{variant}': {EQUAL_ALONE}; ask DuckDB"
        )
    parts = {"class_size": F.sum("n"), "kinds_here": F.count(F.lit(1)), "most": F.max("n")}
    if measure == "l_diversity":
        parts |= {"counts": F.sort_array(F.collect_list("n"))} if variant == "recursive" else {}
        parts |= {"n_log_n": F.sum(F.col("n") * F.log("n"))} if variant == "entropy" else {}
        value = _diversity(str(variant), float(options["c"]))
    elif measure == "alpha_k_anonymity":
        value = F.col("most") / F.col("class_size")
    else:
        cells, of_table, value = _against_the_table(cells, names[-1], measure, str(variant))
        parts |= of_table
    classes = cells.groupBy(*keys).agg(*(part.alias(name) for name, part in parts.items()))
    return classes.select(*keys, "class_size", value.cast("double").alias("value"))


def _diversity(variant: str, c: float) -> Column:
    size, distinct = F.col("class_size"), F.col("kinds_here").cast("double")
    if variant == "distinct":
        return distinct
    if variant == "entropy":
        even = F.col("most") * F.col("kinds_here") == size
        return F.when(even, distinct).otherwise(F.exp(F.log(size) - F.col("n_log_n") / size))
    start = F.struct(F.lit(0).cast("bigint").alias("sum"), F.lit(0).alias("hits"))

    def add(state: Column, count: Column) -> Column:
        reached = state["sum"] + count
        hit = (reached * F.lit(c) > F.col("most")).cast("int")
        return F.struct(reached.alias("sum"), (state["hits"] + hit).alias("hits"))

    return F.aggregate("counts", start, add, lambda state: state["hits"])


def _against_the_table(
    cells: DataFrame, sensitive: str, measure: str, variant: str
) -> tuple[DataFrame, dict[str, Column], Column]:
    """Cells with their value's records in the table; the parts of a class that the measure needs; the measure over them."""
    held = cells.groupBy(sensitive).agg(F.sum("n").alias("held"))
    totals = held.agg(F.sum("held").alias("total"), F.count(F.lit(1)).alias("kinds"))
    right = keyed(held.crossJoin(F.broadcast(totals)), [sensitive])
    beside = cells.join(right, alike([F.col(sensitive)], right)).drop("reid_key", "reid_hash")
    ratio, share = F.col("n") / F.col("held"), F.col("held") / F.col("total")
    size = F.col("class_size")
    if measure == "t_closeness":
        shares = F.collect_list(F.struct(F.col("n").alias("n"), share.alias("share")))
        above = F.aggregate(
            "shares",
            F.lit(0.0),
            lambda found, cell: found + F.greatest(F.lit(0.0), cell["n"] / size - cell["share"]),
        )
        return beside, {"shares": shares}, above
    ends = {
        "highest": F.max(ratio),
        "lowest": F.min(ratio),
        "total": F.first("total"),
        "kinds": F.first("kinds"),
    }
    loss, least = (F.col(end) * F.col("total") / size for end in ("highest", "lowest"))
    if measure == "beta_likeness":
        gain = F.greatest(F.lit(0.0), loss - 1)
        ends["allowed"] = F.max(F.col("n") * F.col("total") / (F.col("held") * (1 - F.log(share))))
        return (
            beside,
            ends,
            gain if variant == "basic" else F.when(F.col("allowed") <= size, gain).otherwise(inf),
        )
    surprise = F.greatest(F.lit(0.0), F.log(loss), -F.log(least))
    everything = F.col("kinds_here") == F.col("kinds")
    return beside, ends, surprise if variant == "present" else F.when(everything, surprise).otherwise(inf)
