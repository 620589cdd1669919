"""The extreme risk as somebody works it out by hand: row by row, from the definitions."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import genpareto

from reid_sql.models.classes.quasi_identifiers import Codes

Rows = Sequence[Sequence[Any]]


def coded(table: Rows) -> Codes:
    """The table as codes; its values are whole numbers above 0."""
    columns = np.array(table, dtype=np.int32).T
    return Codes(
        [f"c{place}" for place in range(len(columns))],
        [True] * len(columns),
        list(columns),
        np.arange(len(table)),
    )


def within(table: Codes, megabytes: int) -> Codes:
    """The table, to be counted within so much memory."""
    return replace(table, memory=np.array([megabytes * 10**6]))


def draw(seed: int, records: int, columns: int, values: int) -> list[list[int]]:
    """A table of skewed values from 1."""
    generator = np.random.default_rng(seed)
    drawn = 1 + np.floor(values * generator.random((records, columns)) ** 2)
    return drawn.astype(int).tolist()  # type: ignore[no-any-return]


def frame(table: Rows) -> pl.DataFrame:
    return pl.DataFrame(np.array(table), schema=[f"c{place}" for place in range(len(table[0]))])


def cells(table: Rows, p: int) -> list[list[tuple[Any, ...]]]:
    """For every quasi-identifier, the value of each record."""
    width = len(table[0])
    return [
        [tuple(row[place] for place in places) for row in table]
        for places in combinations(range(width), p)
    ]


def distinct(table: Rows, p: int) -> list[int]:
    return [len(set(values)) for values in cells(table, p)]


def unique(table: Rows, p: int) -> list[list[bool]]:
    """U: one row a record."""
    counts = [(values, Counter(values)) for values in cells(table, p)]
    return [
        [count[values[record]] == 1 for values, count in counts] for record in range(len(table))
    ]


def threshold(values: Sequence[int], tail: float) -> Fraction:
    """Definition 8: the k-th of n ascending values stands at (k − 1/3)/(n + 1/3), lines in between."""
    ordered, count = sorted(values), len(values)
    places = [
        (Fraction(k) - Fraction(1, 3)) / (count + Fraction(1, 3)) for k in range(1, count + 1)
    ]
    asked = 1 - Fraction(str(tail))
    after = bisect_right(places, asked)
    if after in {0, count}:
        return Fraction(ordered[0] if after == 0 else ordered[-1])
    low, high = places[after - 1], places[after]
    return ordered[after - 1] + (asked - low) / (high - low) * (ordered[after] - ordered[after - 1])


def law(excesses: Sequence[float]) -> tuple[float, float]:
    """Shape and scale whose own moments β/(1 − ξ) and β/(2(2 − ξ)) are those of the excesses."""
    m = len(excesses)
    mean = sum(excesses) / m
    weighted = sum(x * (1 - (i - 0.35) / m) for i, x in enumerate(sorted(excesses), 1)) / m
    shape = brentq(
        lambda xi: mean * (1 - xi) - 2 * weighted * (2 - xi), -1e6, 1 - 1e-12, xtol=1e-14
    )
    return shape, mean * (1 - shape)


def risk(counts: Sequence[int], records: int, alpha: float, tail: float) -> float | None:
    """T; None where there is no fit."""
    if max(counts) == records:
        return 1.0
    u = threshold(counts, tail)
    base = float(logit(float(u) / records))
    excesses = [float(logit(count / records)) - base for count in counts if count > u]
    if len(excesses) < 5 or len({count for count in counts if count > u}) < 2:
        return None
    shape, scale = law(excesses)
    return float(expit(base + genpareto.ppf(1 - alpha / tail, shape, scale=scale)))


def table_risk(table: Rows, p: int, alpha: float, tail: float) -> float | None:
    return risk(distinct(table, p), len(table), alpha, tail)


def without(table: Rows, record: int) -> list[Sequence[Any]]:
    return [row for place, row in enumerate(table) if place != record]
