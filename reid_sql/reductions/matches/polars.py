"""Polars: people who have all the items that an attacker knows of one of them."""

from functools import reduce

import polars as pl

from reid_sql.engines.polars.frames import aliases, check_columns, drop_nulls, null_report, with_aliases
from reid_sql.parameters import PERSON_OR_ITEM, Columns
from reid_sql.reductions.matches import PRIME


def matches(
    *,
    tbl: pl.LazyFrame,
    person: str,
    item: str,
    points: int,
    exact_up_to: int,
    samples: int,
    seed: int,
    nulls: str,
) -> pl.LazyFrame:
    """Of how many people the sets hold what an attacker knows of a target, with such targets' weight."""
    columns = check_columns(Columns(PERSON_OR_ITEM.words), [person, item], tbl)
    rows, names = with_aliases(tbl, columns), aliases(columns)
    taken = drop_nulls(rows, names, nulls).select(p="q1", i="q2")
    return null_report(rows, names, nulls, _matches(taken, points, exact_up_to, samples, seed))


def _matches(taken: pl.LazyFrame, points: int, exact_up_to: int, samples: int, seed: int) -> pl.LazyFrame:
    """Count the matches of every known combination of items; `taken` has a row p, i per person and item."""
    coded = _coded(taken.unique())
    sets = _sets(coded)
    total = sets.filter(pl.col("place") == 1).select(
        pl.len().cast(pl.Int64).alias("people"),
        (
            pl.col("size").map_batches(lambda size: _choose(size, points), return_dtype=pl.Float64).sum()
            <= exact_up_to
        ).alias("exact"),
    )
    exact = sets.join(total, how="cross").filter("exact").drop("people", "exact")
    drawn = sets.join(total, how="cross").filter(~pl.col("exact")).drop("exact")
    known = pl.concat([_all_of(exact, points), _some_of(exact, points), _drawn(drawn, points, samples, seed)])
    return (
        _counted(coded, known, points)
        .join(total, how="cross")
        .select(
            "matches",
            "weight",
            "people",
            pl.when("exact").then(0).otherwise(samples).cast(pl.Int64).alias("draws"),
        )
    )


def _coded(pairs: pl.LazyFrame) -> pl.LazyFrame:
    """Number the people and the items by their order, NULL last."""
    for column in ("p", "i"):
        values = (
            pairs.select(pl.col(column).unique())
            .sort(column, nulls_last=True)
            .with_row_index("code", offset=1)
        )
        numbered = pairs.join(values, on=column, nulls_equal=True)
        pairs = numbered.with_columns(pl.col("code").cast(pl.Int64).alias(column)).drop("code")
    return pairs


def _sets(coded: pl.LazyFrame) -> pl.LazyFrame:
    """Give each person's set its size, and each item its place in it, rarest first."""
    supported = coded.with_columns(pl.len().over("i").cast(pl.Int64).alias("support")).sort(
        "p", "support", "i"
    )
    size, place = pl.len().over("p").cast(pl.Int64), pl.int_range(1, pl.len() + 1).over("p").cast(pl.Int64)
    return supported.select("p", "i", size.alias("size"), place.alias("place"))


def _choose(size: pl.Series, points: int) -> pl.Series:
    """Combinations of so many points of each size, 1 where there are fewer."""
    number = size.cast(pl.Float64)
    chosen = reduce(lambda total, k: total * (number - (k - 1)) / k, range(1, points + 1), number * 0 + 1)
    return pl.select(pl.when(number >= points).then(chosen).otherwise(1.0)).to_series()


def _all_of(exact: pl.LazyFrame, points: int) -> pl.LazyFrame:
    small = exact.filter(pl.col("size") <= points).sort("p", "place")
    return small.group_by("p").agg(pl.col("i").alias("known")).select("known", pl.lit(1.0).alias("weight"))


def _some_of(exact: pl.LazyFrame, points: int) -> pl.LazyFrame:
    large = exact.filter(pl.col("size") > points)
    combined = large.select("p", "size", pl.col("place").alias("last"), pl.concat_list("i").alias("known"))
    for _ in range(points - 1):
        joined = combined.join(large.select("p", "i", "place"), on="p").filter(
            pl.col("place") > pl.col("last")
        )
        combined = joined.select(
            "p", "size", pl.col("place").alias("last"), pl.concat_list("known", "i").alias("known")
        )
    weight = 1 / pl.col("size").map_batches(lambda size: _choose(size, points), return_dtype=pl.Float64)
    return combined.select("known", weight.alias("weight"))


def _drawn(sets: pl.LazyFrame, points: int, samples: int, seed: int) -> pl.LazyFrame:
    rounds = (samples + pl.col("people") - 1) // pl.col("people")
    people = (
        sets.filter(pl.col("place") == 1)
        .select("p", pl.int_ranges(0, rounds).alias("turn"))
        .explode("turn", empty_as_null=False)
    )
    order = _mixed(_mixed(pl.lit(seed, dtype=pl.Int64), pl.lit(0, dtype=pl.Int64)), pl.col("p"))
    targets = people.sort(pl.col("turn"), order, pl.col("p")).head(samples)
    known = targets.join(sets.select("p", "i", "place"), on="p")
    chance = _mixed(
        _mixed(_mixed(pl.lit(seed, dtype=pl.Int64), pl.col("turn") + 1), pl.col("p")), pl.col("i")
    )
    ranked = known.sort("p", "turn", chance, "i").with_columns(
        pl.int_range(0, pl.len()).over("p", "turn").alias("rank")
    )
    chosen = ranked.filter(pl.col("rank") < points).sort("p", "turn", "place")
    return (
        chosen.group_by("p", "turn")
        .agg(pl.col("i").alias("known"))
        .select("known", pl.lit(1.0).alias("weight"))
    )


def _mixed(x: pl.Expr, y: pl.Expr) -> pl.Expr:
    first = (x * 48271 + y * 69621 + 11) % PRIME
    second = (first * first + first * 16807 + 7) % PRIME
    return (second * second + second * 48271 + 3) % PRIME


def _counted(coded: pl.LazyFrame, known: pl.LazyFrame, points: int) -> pl.LazyFrame:
    """Count each known combination once: those who have its rarest item, then of these who have the next."""
    distinct = known.group_by("known").agg(pl.col("weight").sum()).with_row_index("id")
    item = [
        pl.col("known").list.get(pl.min_horizontal(pl.lit(k), pl.col("known").list.len() - 1))
        for k in range(points)
    ]
    wanted = distinct.select(
        "id", "weight", *(expression.alias(f"k{place}") for place, expression in enumerate(item))
    )
    matched = wanted.join(coded, left_on="k0", right_on="i")
    for place in range(1, points):
        matched = matched.join(coded, left_on=["p", f"k{place}"], right_on=["p", "i"], how="semi")
    counted = matched.group_by("id").agg(pl.col("weight").first(), pl.len().cast(pl.Int64).alias("matches"))
    return counted.group_by("matches").agg(pl.col("weight").sum()).sort("matches")
