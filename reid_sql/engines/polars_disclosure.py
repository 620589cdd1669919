"""Polars: what each class gives away about a sensitive column; the words of DuckDB's `reid_plan_disclosure`."""

from collections.abc import Mapping
from math import inf
from typing import Any, Final

import polars as pl

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.sensitive import SLACK

THRESHOLDS: Final = {
    "l_diversity": "l",
    "t_closeness": "t",
    "alpha_k_anonymity": "alpha",
    "beta_likeness": "beta",
    "delta_disclosure": "delta",
}
COUNT: Final = pl.col("n")
SIZE: Final = pl.col("class_size")
PARTS: Final = pl.col("parts")
SHARE: Final = pl.col("held") / pl.col("total")  # of a value in the table
GAIN: Final = pl.max_horizontal(0.0, pl.col("most") * pl.col("total") / SIZE - 1)
SURPRISE: Final = pl.max_horizontal(
    0.0, (pl.col("most") * pl.col("total") / SIZE).log(), -(pl.col("least") * pl.col("total") / SIZE).log()
)
# What is aggregated of the cells of a class, and the measure from that: aggregates of plain columns are what
# Polars is fast at.
OF_CELLS: Final = {
    "largest": COUNT.max(),
    "bits": pl.col("n_log_n").sum(),
    "most": pl.col("ratio").max(),
    "least": pl.col("ratio").min(),
    "needed": pl.col("allowed").max(),
    "total": pl.col("total").first(),
    "kinds": pl.col("kinds").first(),
}
MEASURES: Final[dict[tuple[str, str | None], tuple[tuple[str, ...], pl.Expr]]] = {
    ("l_diversity", "distinct"): ((), PARTS),
    ("l_diversity", "entropy"): (
        ("largest", "bits"),
        pl.when(pl.col("largest") * PARTS == SIZE)
        .then(PARTS)
        .otherwise((SIZE.log() - pl.col("bits") / SIZE).exp()),
    ),
    ("alpha_k_anonymity", None): (("largest",), pl.col("largest") / SIZE),
    ("beta_likeness", "basic"): (("most", "total"), GAIN),
    ("beta_likeness", "enhanced"): (
        ("most", "total", "needed"),
        pl.when(pl.col("needed") <= SIZE).then(GAIN).otherwise(inf),
    ),
    ("delta_disclosure", "present"): (("most", "least", "total"), SURPRISE),
    ("delta_disclosure", "all"): (
        ("most", "least", "total", "kinds"),
        pl.when(pl.col("kinds") == PARTS).then(SURPRISE).otherwise(inf),
    ),
}


def disclosed(
    rows: pl.LazyFrame, names: Mapping[str, str], sensitive: str, measure: str, options: Mapping[str, Any]
) -> pl.LazyFrame:
    """Measure the classes by q1, q2, … whose sensitive value stands last; list the offending ones by their own names.

    Or count the classes of each size and value, where the measure does not ask for classes.
    """
    summary = measure.removesuffix("_classes")
    keys = list(names)
    cells = (
        rows.rename({f"q{len(keys) + 1}": "s"}).group_by(*keys, "s").agg(pl.len().cast(pl.Int64).alias("n"))
    )
    found = _measured(cells, keys, sensitive, summary, options)
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


def _measured(
    cells: pl.LazyFrame, keys: list[str], sensitive: str, measure: str, options: Mapping[str, Any]
) -> pl.LazyFrame:
    """Give the keys, class_size and value of every class."""
    variant = options.get("variant")
    if (measure, variant) not in MEASURES:
        return _twice(cells, keys, sensitive, str(variant), options)
    wanted, value = MEASURES[measure, variant]
    if measure == "l_diversity":
        cells = cells.with_columns((COUNT * COUNT.log()).alias("n_log_n"))
    elif measure != "alpha_k_anonymity":
        cells = _against_the_table(cells)
    found = [OF_CELLS[name].alias(name) for name in wanted]
    counted = cells.group_by(keys).agg(
        COUNT.sum().alias("class_size"), pl.len().cast(pl.Int64).alias("parts"), *found
    )
    return counted.select(*keys, "class_size", value.cast(pl.Float64).alias("value"))


def _against_the_table(cells: pl.LazyFrame) -> pl.LazyFrame:
    """Put beside each cell how many records of the table hold its value, how many of them this class holds, and what β allows."""
    held = cells.with_columns(
        COUNT.sum().over("s").alias("held"), COUNT.sum().alias("total"), pl.col("s").n_unique().alias("kinds")
    )
    allowed = COUNT * pl.col("total") / (pl.col("held") * (1 - SHARE.log()))
    return held.with_columns((COUNT / pl.col("held")).alias("ratio"), allowed.alias("allowed"))


def _twice(
    cells: pl.LazyFrame, keys: list[str], sensitive: str, variant: str, options: Mapping[str, Any]
) -> pl.LazyFrame:
    """Measure what needs a class's size at each of its cells: at once for classes of one value, from the cells of the others."""
    if variant == "recursive":
        single = pl.lit(1.0 if options["c"] > 1 else 0.0)
    elif variant == "equal":
        cells, single = _against_the_table(cells), 1 - SHARE
    else:
        line = _line(cells, sensitive, variant)
        cells = cells.join(line.with_columns(pl.col("g").max().alias("area")), on="s", nulls_equal=True)
        single = 2 * pl.col("g") - pl.col("area") + 1 - pl.col("x")
    found = [
        COUNT.sum().alias("class_size"),
        pl.len().alias("parts"),
        pl.col("single").first().alias("value"),
    ]
    counted = cells.with_columns(single.alias("single")).group_by(keys).agg(found)
    several = cells.join(counted.filter(PARTS > 1).select(*keys, "class_size"), on=keys, nulls_equal=True)
    if variant == "recursive":
        value = _recursive(several, keys, options["c"])
    elif variant == "equal":
        further = pl.max_horizontal(0.0, COUNT / SIZE - SHARE).alias("value")
        value = several.with_columns(further).group_by(keys).agg(SIZE.first(), pl.col("value").sum())
    else:
        value = _along_a_line(several, line, keys)
    alone = counted.filter(PARTS == 1).select(*keys, "class_size", "value")
    return pl.concat([alone, value.select(*keys, "class_size", "value").cast({"value": pl.Float64})])


def _recursive(several: pl.LazyFrame, keys: list[str], c: float) -> pl.LazyFrame:
    """Count the places from which on all values together, c times, are more than the most frequent one."""
    rising = several.sort("n").with_columns(
        COUNT.cum_sum().over(keys).alias("tail"), COUNT.max().over(keys).alias("largest")
    )
    return rising.group_by(keys).agg(
        SIZE.first(), (pl.col("largest") < c * pl.col("tail")).sum().alias("value")
    )


def _along_a_line(several: pl.LazyFrame, line: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """Sum up, run by run between a class's own values, the area between its distribution and the table's."""
    runs = several.sort("f").with_columns(
        (COUNT.cum_sum().over(keys) / SIZE).alias("reached"),
        (pl.int_range(pl.len()).over(keys) == 0).alias("first"),
        pl.col("x").shift(-1).over(keys).fill_null(1.0).alias("next_x"),
        pl.col("g").shift(-1).over(keys).fill_null(pl.col("area")).alias("next_g"),
    )
    crossing = line.select(
        pl.col("f").alias("reached"), pl.col("x").alias("found_x"), pl.col("g").alias("found_g")
    )
    crossed = runs.sort("reached").join_asof(
        crossing.sort("reached"), on="reached", strategy="forward", allow_exact_matches=False
    )
    found = pl.col("found_x").fill_null(pl.col("next_x"))
    before, beyond = found <= pl.col("x"), found >= pl.col("next_x")
    cross_x = pl.when(before).then("x").when(beyond).then("next_x").otherwise(found)
    cross_g = pl.when(before).then("g").when(beyond).then("next_g").otherwise("found_g")
    between = (
        pl.col("reached") * (2 * cross_x - pl.col("x") - pl.col("next_x"))
        + pl.col("g")
        + pl.col("next_g")
        - 2 * cross_g
    )
    area = pl.when("first").then("g").otherwise(0.0) + between
    known = pl.when(pl.col("value").is_null().any()).then(None).otherwise(pl.col("value").sum())
    return crossed.with_columns(area.alias("value")).group_by(keys).agg(SIZE.first(), known.alias("value"))


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
    values = cells.group_by("s").agg(COUNT.sum().alias("held")).sort("s", nulls_last=True)
    number = pl.col("s").cast(pl.Float64) if variant == "numeric" else pl.int_range(pl.len()).cast(pl.Float64)
    known = number.is_finite() if variant == "numeric" else pl.col("s").is_not_null()
    place = pl.col("place")
    span = place.max() / 2 - place.min() / 2
    x = (
        pl.when(place.is_null().any())
        .then(None)
        .when(span == 0)
        .then(1.0)
        .otherwise((place / 2 - place.min() / 2) / span)
    )
    lined = values.with_columns(pl.when(known).then(number).alias("place")).with_columns(
        x.alias("x"), (pl.col("held").cum_sum() / SIZE_OF_TABLE).alias("f")
    )
    step = pl.col("x") - pl.col("x").shift(1, fill_value=0.0)
    return lined.select("s", "x", "f", (pl.col("f").shift(1, fill_value=0.0) * step).cum_sum().alias("g"))


SIZE_OF_TABLE: Final = pl.col("held").sum()
