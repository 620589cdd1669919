"""Polars: people who have all the points that an attacker knows of one of them."""

from collections.abc import Sequence
from functools import partial, reduce

import numpy as np
import polars as pl

from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    drop_nulls,
    map_whole,
    null_report,
    schema,
    with_aliases,
)
from reid_sql.parameters import Columns, Integers
from reid_sql.reductions.matches import (
    ALL_POINTS,
    COLUMNS,
    MAX_JOINED,
    PRIME,
    implement,
)


def _count(
    *,
    tbl: pl.LazyFrame,
    label: Columns,
    columns: Sequence[str],
    points: Sequence[int],
    exact_up_to: int,
    samples: int,
    seed: int,
    nulls: str,
) -> pl.LazyFrame:
    """Count by each number of points; the first name is the person's column, the others make a point."""
    rows, names = with_aliases(tbl, check_columns(label, columns, tbl)), aliases(columns)
    count = partial(_count_rows, points=points, exact_up_to=exact_up_to, samples=samples, seed=seed)
    counted = map_whole(drop_nulls(rows, names, nulls), count, schema(COLUMNS))
    return null_report(rows, names, nulls, counted)


matches, row_matches = implement(_count)


def _count_rows(
    rows: pl.DataFrame, points: Sequence[int], exact_up_to: int, samples: int, seed: int
) -> pl.DataFrame:
    """Number the people and their points once, and count by each number of points."""
    names = rows.columns
    coded = _coded(_coded(rows.unique(), names[:1], "p"), names[1:], "i").select("p", "i")
    sets = _sets(coded)
    return pl.concat(_matches(coded, sets, each, exact_up_to, samples, seed) for each in points)


def _matches(
    coded: pl.DataFrame, sets: pl.DataFrame, points: int, exact_up_to: int, samples: int, seed: int
) -> pl.DataFrame:
    """Count the matches of every known combination of so many points."""
    size = sets.filter(pl.col("place") == 1).get_column("size")
    people, fewer = len(size), 0 if points == ALL_POINTS else int((size < points).sum())
    exact = _choices(size, points).sum() <= exact_up_to
    if exact:
        large = sets.clear() if points == ALL_POINTS else sets
        known = pl.concat([_all_of(sets, points), _some_of(large, points)])
    else:
        known = _drawn(sets, people, points, samples, seed)
    numbers = {
        "points": points % ALL_POINTS,
        "people": people,
        "people_with_fewer": fewer,
        "draws": 0 if exact else samples,
    }
    constants = (pl.lit(number, dtype=pl.Int64).alias(name) for name, number in numbers.items())
    return _counted(coded, known, points).with_columns(*constants).select(*COLUMNS)


def _coded(pairs: pl.DataFrame, names: list[str], code: str) -> pl.DataFrame:
    """Number the values of columns by their order, NULL last."""
    values = pairs.select(names).unique().sort(names, nulls_last=True).with_row_index(code, offset=1)
    return pairs.join(values.cast({code: pl.Int64}), on=names, nulls_equal=True)


def _sets(coded: pl.DataFrame) -> pl.DataFrame:
    """Give each person's set its size, and each point its place in it, rarest first."""
    supported = coded.with_columns(pl.len().over("i").cast(pl.Int64).alias("support")).sort(
        "p", "support", "i"
    )
    size, place = pl.len().over("p").cast(pl.Int64), pl.int_range(1, pl.len() + 1).over("p").cast(pl.Int64)
    return supported.select("p", "i", size.alias("size"), place.alias("place"))


def _choices(size: pl.Series, points: int) -> pl.Series:
    """Combinations of so many points of each size, 1 where there are fewer."""
    number = size.cast(pl.Float64)
    if points == ALL_POINTS:
        return number * 0 + 1
    chosen = reduce(lambda total, k: total * (number - (k - 1)) / k, range(1, points + 1), number * 0 + 1)
    return pl.select(pl.when(number >= points).then(chosen).otherwise(1.0)).to_series()


def _all_of(exact: pl.DataFrame, points: int) -> pl.DataFrame:
    small = exact.filter(pl.col("size") <= points).sort("p", "place")
    known = small.group_by("p").agg(pl.col("i").alias("known"))
    return known.select("known", pl.lit(1.0).alias("weight"))


def _some_of(exact: pl.DataFrame, points: int) -> pl.DataFrame:
    large = exact.filter(pl.col("size") > points)
    combined = large.select("p", "size", pl.col("place").alias("last"), pl.concat_list("i").alias("known"))
    for _ in range(0 if large.is_empty() else points - 1):
        joined = combined.lazy().join(large.select("p", "i", "place").lazy(), on="p")
        combined = (
            joined.filter(pl.col("place") > pl.col("last"))
            .select("p", "size", pl.col("place").alias("last"), pl.concat_list("known", "i").alias("known"))
            .collect()
        )
    return combined.select("known", (1 / _choices(combined.get_column("size"), points)).alias("weight"))


def _drawn(sets: pl.DataFrame, people: int, points: int, samples: int, seed: int) -> pl.DataFrame:
    rounds = -(-samples // people)
    each = (
        sets.filter(pl.col("place") == 1)
        .select("p")
        .join(pl.DataFrame({"turn": range(rounds)}, schema={"turn": pl.Int64}), how="cross")
    )
    chance = _mixed(
        _mixed(np.array(seed, dtype=np.int64), np.array(0, dtype=np.int64)), each.get_column("p").to_numpy()
    )
    targets = each.with_columns(chance=chance).sort("turn", "chance", "p").head(samples).drop("chance")
    known = targets.join(sets.select("p", "i", "place"), on="p")
    turn, who, point = (known.get_column(name).to_numpy() for name in ("turn", "p", "i"))
    chances = _mixed(_mixed(_mixed(np.array(seed, dtype=np.int64), turn + 1), who), point)
    ranked = (
        known.with_columns(chance=chances)
        .sort("p", "turn", "chance", "i")
        .with_columns(pl.int_range(0, pl.len()).over("p", "turn").alias("rank"))
    )
    chosen = ranked.filter(pl.col("rank") < points).sort("p", "turn", "place")
    listed = chosen.group_by("p", "turn").agg(pl.col("i").alias("known"))
    return listed.select("known", pl.lit(1.0).alias("weight"))


def _mixed(x: Integers, y: Integers) -> Integers:
    """Scramble whole numbers below 2^31 - 1, as every engine does: no product leaves 63 bits."""
    first = (x * 48271 + y * 69621 + 11) % PRIME
    second = (first * first + first * 16807 + 7) % PRIME
    scrambled: Integers = (second * second + second * 48271 + 3) % PRIME
    return scrambled


def _counted(coded: pl.DataFrame, known: pl.DataFrame, points: int) -> pl.DataFrame:
    """Count each known combination once: those who have its rarest point, then of these who have the next."""
    distinct = known.group_by("known").agg(pl.col("weight").sum()).with_row_index("id")
    joined = min(points, MAX_JOINED)
    item = [
        pl.col("known").list.get(pl.min_horizontal(pl.lit(k), pl.col("known").list.len() - 1))
        for k in range(joined)
    ]
    wanted = distinct.select("id", "weight", *(each.alias(f"k{place}") for place, each in enumerate(item)))
    matched = wanted.join(coded, left_on="k0", right_on="i")
    for place in range(1, joined):
        matched = matched.join(coded, left_on=["p", f"k{place}"], right_on=["p", "i"], how="semi")
    if points > MAX_JOINED:
        matched = _with_others(coded, distinct, matched)
    counted = matched.group_by("id").agg(pl.col("weight").first(), pl.len().cast(pl.Int64).alias("matches"))
    return counted.group_by("matches").agg(pl.col("weight").sum()).sort("matches")


def _with_others(coded: pl.DataFrame, distinct: pl.DataFrame, matched: pl.DataFrame) -> pl.DataFrame:
    """Of the people who have the rarest points, those who have all of the others."""
    others = distinct.select("id", pl.col("known").list.slice(MAX_JOINED).alias("i"))
    wanted = others.with_columns(pl.col("i").list.len().alias("wanted"))
    each = matched.select("id", "weight", "p").join(wanted, on="id")
    many = each.filter(pl.col("wanted") > 0).explode("i").join(coded, on=["p", "i"], how="semi")
    agreeing = many.group_by("id", "p").agg(pl.col("weight").first(), pl.len() == pl.col("wanted").first())
    return pl.concat(
        [
            each.filter(pl.col("wanted") == 0).select("id", "weight"),
            agreeing.filter("len").select("id", "weight"),
        ]
    )
