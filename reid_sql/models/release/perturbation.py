"""PRAM and rank swapping: values that are drawn anew, and values that change places with near ones."""

from math import floor
from typing import Final

import numpy as np

from reid_sql.parameters import Integers

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
