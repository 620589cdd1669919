"""PRAM, rank swapping and MDAV: values drawn anew, swapped with near ones, or replaced by means of groups."""

from math import floor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from reid_sql.errors import OutOfDomainError
from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import Floats, Integers

TRIES: Final = 32  # draws of a partner before those that are left are listed


def draw_anew(codes: Integers, retained: float, rng: np.random.Generator) -> Integers:
    """Retain each value with this probability; else draw one by the shares of all values (PRAM).

    The matrix of probabilities is P = r I + (1 - r) 1 p', so that p'P = p': it leaves the expected shares p
    as they are (invariant PRAM; Gouweleeuw, Kooiman, Willenborg & de Wolf 1998, section 3). A value that is
    drawn may be the record's own.

    >>> draw_anew(np.array([0, 1, 1, 2]), 1.0, np.random.default_rng(0)).tolist()
    [0, 1, 1, 2]
    """
    drawn = rng.random(len(codes)) >= retained
    others = rng.integers(0, max(len(codes), 1), len(codes))
    return np.where(drawn, codes[others] if len(codes) else codes, codes)


def swap_ranks(ranks: Integers, share: float, rng: np.random.Generator) -> Integers:
    """Give the place whose value each place receives, by swapping values of near ranks.

    `ranks` are a permutation of 0 to n - 1. In the order of ranks, each value that has not changed places yet
    does so with a random one that has not either, at most floor(share n) ranks above. Every value is retained
    in the column. Source: Moore 1996; Domingo-Ferrer & Torra 2001, section 2.1.

    >>> swap_ranks(np.array([0, 1, 2, 3]), 0.25, np.random.default_rng(1)).tolist()
    [1, 0, 3, 2]
    """
    records = len(ranks)
    place_of = np.empty(records, dtype=np.int64)
    place_of[ranks] = np.arange(records)
    partner = np.arange(records)
    free = np.ones(records, dtype=np.bool_)
    width = floor(share * records + 1e-9)
    for rank in range(records):
        if not free[rank]:
            continue
        free[rank] = False
        other = _draw(free, rank + 1, min(rank + width, records - 1), rng)
        if other is not None:
            free[other] = False
            partner[rank], partner[other] = other, rank
    source = np.empty(records, dtype=np.int64)
    source[place_of] = place_of[partner]
    return source


def _draw(free: np.ndarray, first: int, last: int, rng: np.random.Generator) -> int | None:
    """Draw one of the free ranks from first to last, each as likely; None if there is none."""
    if first > last:
        return None
    for _ in range(TRIES):
        rank = int(rng.integers(first, last + 1))
        if free[rank]:
            return rank
    left = np.flatnonzero(free[first : last + 1])
    return first + int(rng.choice(left)) if len(left) else None


# Microaggregation by MDAV: groups of at least k near records, each of which shows the mean of its group.
#
# MDAV (maximum distance to average vector) forms two groups at a time, around the record farthest from
# the centroid and around the record farthest from that one. Every group has k to 2k - 1 records. Source:
# Domingo-Ferrer & Mateo-Sanz 2002; Domingo-Ferrer & Torra 2005, algorithm 1.


MAX_RECORDS: Final = 200_000  # the time is that of n²/k distances


def mdav_groups(values: Floats, k: int) -> Integers:
    """Give the group of each record, from values of shape (records, columns).

    Of equally far or near records, the first one counts. Refuses fewer than k records.

    >>> mdav_groups(np.array([[1.0], [9.0], [2.0], [8.0], [1.5]]), 2).tolist()
    [1, 0, 1, 0, 1]
    """
    _refuse(values, k)
    group = np.full(len(values), -1, dtype=np.int64)
    left = np.arange(len(values))
    groups = 0
    while len(left) >= 2 * k:
        checkpoint()
        first = _farthest(values[left], values[left].mean(axis=0))
        anchors = [values[left][first]]
        if len(left) >= 3 * k:
            anchors.append(values[left][_farthest(values[left], anchors[0])])
        for anchor in anchors:
            nearest = _nearest(values[left], anchor, k)
            group[left[nearest]] = groups
            groups += 1
            left = np.delete(left, nearest)
    group[left] = groups
    return group


def microaggregate(values: Floats, k: int) -> Floats:
    """Replace each record by the mean of its group; columns count alike, as they are standardized first.

    A missing value (NaN) stays missing. Records that lack the same columns are grouped by the others; if they
    are fewer than k, their values become missing.

    >>> microaggregate(np.array([[1.0], [9.0], [2.0], [8.0], [1.5]]), 2)[:, 0].tolist()
    [1.5, 8.5, 1.5, 8.5, 1.5]
    """
    released = np.full(values.shape, np.nan)
    patterns, inverse = np.unique(np.isnan(values), axis=0, return_inverse=True)
    for number, missing in enumerate(patterns):
        rows = np.flatnonzero(inverse.ravel() == number)
        if missing.all() or len(rows) < k:
            continue
        known = values[np.ix_(rows, ~missing)]
        group = mdav_groups(_standardize(known), k)
        sizes = np.bincount(group)
        means = np.array([np.bincount(group, column) / sizes for column in known.T]).T
        released[np.ix_(rows, ~missing)] = means[group]
    return released


def _refuse(values: Floats, k: int) -> None:
    if len(values) < k:
        rule = f"microaggregation must have at least {k:,} records, the size of a group"
        raise OutOfDomainError(f"{rule}, got {len(values):,}; pass a smaller group_size")
    if len(values) > MAX_RECORDS:
        rule = f"microaggregation must have at most {MAX_RECORDS:,} records"
        raise OutOfDomainError(f"{rule}, got {len(values):,}; divide the table by a column first")


def _standardize(values: Floats) -> Floats:
    spread = values.std(axis=0)
    scaled: Floats = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled


def _distances(values: Floats, point: Floats) -> Floats:
    return np.asarray(((values - point) ** 2).sum(axis=1), dtype=np.float64)


def _farthest(values: Floats, point: Floats) -> int:
    return int(_distances(values, point).argmax())


def _nearest(values: Floats, point: Floats, k: int) -> NDArray[np.int64]:
    """Places of the k nearest records, the first ones of equally near."""
    distances = _distances(values, point)
    limit = np.partition(distances, k - 1)[k - 1]
    inside = np.flatnonzero(distances < limit)
    equal = np.flatnonzero(distances == limit)[: k - len(inside)]
    return np.concatenate((inside, equal)).astype(np.int64)
