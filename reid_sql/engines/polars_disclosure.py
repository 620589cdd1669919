"""Polars: what each class gives away about a sensitive column; the words of DuckDB's `reid_plan_disclosure`."""

from collections.abc import Mapping
from math import inf
from typing import Any, Final

import polars as pl

from reid_sql.errors import OutOfDomainError
from reid_sql.models.sensitive import SLACK

COUNT: Final = pl.col("n")
SIZE: Final = COUNT.sum()
RATIO: Final = COUNT / pl.col("held")  # of a value's records, how many this class holds
GAIN: Final = pl.max_horizontal(0.0, RATIO.max() * pl.col("total").first() / SIZE - 1)
LOSS: Final = RATIO * pl.col("total").first() / SIZE
SURPRISE: Final = pl.max_horizontal(0.0, LOSS.max().log(), -LOSS.min().log())
ALLOWED: Final = COUNT * pl.col("total") / (pl.col("held") * (1 - (pl.col("held") / pl.col("total")).log()))
THRESHOLDS: Final = {
    "l_diversity": "l",
    "t_closeness": "t",
    "alpha_k_anonymity": "alpha",
    "beta_likeness": "beta",
    "delta_disclosure": "delta",
}
EVEN: Final = COUNT.max() * pl.len().cast(pl.Int64) == SIZE


def disclosed(
    rows: pl.LazyFrame, names: Mapping[str, str], sensitive: str, measure: str, options: Mapping[str, Any]
) -> pl.LazyFrame:
    """Measure the classes by q1, q2, … whose sensitive value stands last; list the offending ones by their own names.

    Or count the classes of each size and value, where the measure does not ask for classes.
    """
    summary = measure.removesuffix("_classes")
    keys = list(names)
    cells = rows.rename({f"q{len(keys) + 1}": "s"}).group_by(*keys, "s").agg(pl.len().cast(pl.Int64).alias("n"))
    found = _measured(cells, keys, sensitive, summary, options).with_columns(pl.col("value").cast(pl.Float64))
    if summary == measure:
        counted = found.group_by("class_size", "value").agg(pl.len().cast(pl.Int64).alias("classes"))
        return counted.sort("class_size", "value")
    shown = found.filter(pl.col("value").is_null() | _offending(summary, options))
    return shown.select(*(pl.col(key).alias(name) for key, name in names.items()), "class_size", "value")


def _offending(measure: str, options: Mapping[str, Any]) -> pl.Expr:
    threshold = float(options[THRESHOLDS[measure]])
    if measure == "l_diversity":
        return pl.col("value").lt(threshold * (1 - SLACK))
    small = pl.col("class_size").lt(int(options.get("k", 1)))
    return pl.col("value").gt(threshold * (1 + SLACK)).or_(small)


def _measured(cells: pl.LazyFrame, keys: list[str], sensitive: str, measure: str, options: Mapping[str, Any]) -> pl.LazyFrame:
    """Give the keys, class_size and value of every class."""
    variant = options.get("variant")
    if measure == "t_closeness" and variant != "equal":
        return _along_a_line(cells, keys, sensitive, str(variant))
    if measure == "l_diversity":
        value = _diversity(str(variant), options["c"])
    elif measure == "alpha_k_anonymity":
        value = COUNT.max() / SIZE
    else:
        cells = cells.with_columns(SIZE.over("s").alias("held"), SIZE.alias("total"), pl.col("s").n_unique().alias("kinds"))
        value = _against_the_table(measure, str(variant))
    return cells.group_by(keys).agg(SIZE.alias("class_size"), value.alias("value"))


def _diversity(variant: str, c: float) -> pl.Expr:
    distinct = pl.len().cast(pl.Float64)
    if variant == "distinct":
        return distinct
    if variant == "entropy":
        entropy = SIZE.log() - (COUNT * COUNT.log()).sum() / SIZE
        return pl.when(EVEN).then(distinct).otherwise(entropy.exp())
    ascending = COUNT.sort()
    return (ascending.cum_sum() * c > COUNT.max()).sum()


def _against_the_table(measure: str, variant: str) -> pl.Expr:
    if measure == "t_closeness":
        return pl.max_horizontal(0.0, COUNT / SIZE - pl.col("held") / pl.col("total")).sum()
    if measure == "beta_likeness":
        return GAIN if variant == "basic" else pl.when(ALLOWED.max() <= SIZE).then(GAIN).otherwise(inf)
    everything = pl.len() == pl.col("kinds").first()
    return SURPRISE if variant == "present" else pl.when(everything).then(SURPRISE).otherwise(inf)


def _along_a_line(cells: pl.LazyFrame, keys: list[str], sensitive: str, variant: str) -> pl.LazyFrame:
    """Sum up, run by run between a class's own values, the area between its distribution and the table's."""
    line = _line(cells, sensitive, variant)
    ends = line.select(pl.col("g").max().alias("area"))
    placed = cells.join(line, on="s", how="left", nulls_equal=True).join(ends, how="cross").sort("f")
    size, mine = SIZE.over(keys), [pl.col("x"), pl.col("g")]
    runs = placed.with_columns(
        size.alias("size"),
        (COUNT.cum_sum().over(keys) / size).alias("reached"),
        (pl.int_range(pl.len()).over(keys) == 0).alias("first"),
        *(at.shift(-1).over(keys).alias(f"next_{at.meta.output_name()}") for at in mine),
    ).with_columns(pl.col("next_x").fill_null(1.0), pl.col("next_g").fill_null(pl.col("area")))
    crossing = line.select(pl.col("f").alias("reached"), pl.col("x").alias("found_x"), pl.col("g").alias("found_g"))
    crossed = runs.sort("reached").join_asof(
        crossing.sort("reached"), on="reached", strategy="forward", allow_exact_matches=False
    )
    found = pl.col("found_x").fill_null(pl.col("next_x"))
    before, beyond = found <= pl.col("x"), found >= pl.col("next_x")
    cross_x = pl.when(before).then("x").when(beyond).then("next_x").otherwise(found)
    cross_g = pl.when(before).then("g").when(beyond).then("next_g").otherwise("found_g")
    between = pl.col("reached") * (2 * cross_x - pl.col("x") - pl.col("next_x")) + pl.col("g") + pl.col("next_g") - 2 * cross_g
    area = pl.when("first").then("g").otherwise(0.0) + between
    total = pl.when(area.is_null().any()).then(None).otherwise(area.sum())
    return crossed.group_by(keys).agg(SIZE.alias("class_size"), total.alias("value"))


def _line(cells: pl.LazyFrame, sensitive: str, variant: str) -> pl.LazyFrame:
    """Place the sensitive values: x from 0 to 1, the share f of records up to it, the area g under f left of it."""
    kind = cells.collect_schema()["s"]
    ordered = kind.is_numeric() or kind.is_temporal() or isinstance(kind, pl.Enum | pl.Boolean)
    if variant == "numeric" and not kind.is_numeric():
        raise OutOfDomainError(
            f"sensitive must be a column of numbers for variant := 'numeric', got '{sensitive}'; "
            "cast it to a number, or pass variant := 'equal'"
        )
    if not ordered:
        raise OutOfDomainError(
            "sensitive must be a column of numbers, dates, times, booleans or ENUMs for variant := 'ordered', "
            f"got '{sensitive}'; cast it to one of them, or pass variant := 'equal'"
        )
    values = cells.group_by("s").agg(SIZE.alias("held")).sort("s", nulls_last=True)
    number = pl.col("s").cast(pl.Float64) if variant == "numeric" else pl.int_range(pl.len()).cast(pl.Float64)
    known = number.is_finite() if variant == "numeric" else pl.col("s").is_not_null()
    place = pl.col("place")
    span = place.max() / 2 - place.min() / 2
    x = pl.when(place.is_null().any()).then(None).when(span == 0).then(1.0).otherwise((place / 2 - place.min() / 2) / span)
    lined = values.with_columns(pl.when(known).then(number).alias("place")).with_columns(
        x.alias("x"), (pl.col("held").cum_sum() / SIZE_OF_TABLE).alias("f")
    )
    step = pl.col("x") - pl.col("x").shift(1, fill_value=0.0)
    return lined.select("s", "x", "f", (pl.col("f").shift(1, fill_value=0.0) * step).cum_sum().alias("g"))


SIZE_OF_TABLE: Final = pl.col("held").sum()
