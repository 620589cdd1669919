"""Microaggregation by MDAV: groups of at least k near records, each of which shows the mean of its group.

MDAV (maximum distance to average vector) forms two groups at a time, around the record farthest from the
centroid and around the record farthest from that one. Every group has k to 2k - 1 records. Source:
Domingo-Ferrer & Mateo-Sanz 2002; Domingo-Ferrer & Torra 2005, algorithm 1.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from reid_sql.errors import OutOfDomainError
from reid_sql.interruption import checkpoint
from reid_sql.parameters import Floats, Integers

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
