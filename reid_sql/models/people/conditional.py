"""Chances of one column's bins given another's, shrunken as far as foretells left-out records.

p(x | y) = (C + τ p(x)) / (C(y) + τ). Counts of ordered columns are smoothed over neighbouring bins first. τ,
and whether to smooth, have the best leave-one-out likelihood; the gain is that likelihood less that of p(x)
alone.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.marginals.column import Column
from reid_sql.parameters import Floats

PRIORS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 1000.0)  # τ
OWN_CHILD: Final = 0.4  # share of a count that smoothing over the child's bins leaves where it is
OWN_PARENT: Final = 0.3
TINY: Final = 1e-300


@dataclass(frozen=True)
class PairBins:
    """How many records have each pair of bins of a parent and a child, for those pairs that occur."""

    parent: Integers  # (pairs,)
    child: Integers  # (pairs,)
    count: Floats  # (pairs,)

    @property
    def turned(self) -> "PairBins":
        """The same with parent and child exchanged."""
        return PairBins(self.child, self.parent, self.count)


def pair_bins(parent: Column, child: Column, codes: tuple[Integers, Integers], counts: Floats) -> PairBins:
    """Add the counts of pairs of values up to pairs of bins."""
    wide = len(child.bin_mass)
    found, place = np.unique(parent.bins[codes[0]] * wide + child.bins[codes[1]], return_inverse=True)
    return PairBins(found // wide, found % wide, np.bincount(place.ravel(), counts).astype(np.float64))


@dataclass(frozen=True)
class Smoothed:
    """Counts after smoothing, and what a single record adds to its own cell and to its own row."""

    counts: Floats  # (parent bins, child bins)
    own: Floats  # (parent bins, child bins) where needed, by broadcasting
    own_row: Floats  # (parent bins,)

    @cached_property
    def rows(self) -> Floats:
        """Counts of each parent bin."""
        return np.asarray(self.counts.sum(axis=1))


@dataclass(frozen=True)
class Conditional:
    """A fitted table of chances, its shrinkage τ, which of child and parent are smooth, its gain in nats."""

    smoothed: Smoothed
    prior: Floats  # (child bins,)
    prior_left_out: Floats  # (child bins,)
    strength: float
    over: tuple[bool, bool]  # child, parent
    gain: float

    @cached_property
    def log_chance(self) -> Floats:
        """Ln p(child bin | parent bin), (parent bins, child bins)."""
        held = self.smoothed
        chance = (held.counts + self.strength * self.prior) / (held.rows[:, None] + self.strength)
        return np.log(np.maximum(chance, TINY))

    def log_left_out(self, parent: Integers, child: Integers, size: Integers | int = 1) -> Floats:
        """The same for records of the sample, each as if it, or its class of this size, were not in it."""
        held = self.smoothed
        counts = held.counts[parent, child] - size * _at(held.own, parent, child)
        rows = held.rows[parent] - size * held.own_row[parent]
        top = np.maximum(counts, 0) + self.strength * self.prior_left_out[child]
        return np.log(np.maximum(top / (np.maximum(rows, 0) + self.strength), TINY))


def fit_conditional(parent: Column, child: Column, pairs: PairBins) -> Conditional:
    """Choose smoothing and shrinkage by leave-one-out likelihood.

    Sums of products, as BLAS keeps other threads busy between dot products that are as short.
    """
    prior, left_out = child.bin_mass, child.bin_left_out
    alone = float((pairs.count * np.log(left_out[pairs.child])).sum())
    best: Conditional | None = None
    options = [(False, True) if column.kernel is not None else (False,) for column in (child, parent)]
    for over in product(options[0], options[1]):
        held = smoothed(parent, child, pairs, over)
        at = held.counts[pairs.parent, pairs.child] - _at(held.own, pairs.parent, pairs.child)
        rows = held.rows[pairs.parent] - held.own_row[pairs.parent]
        at, rows, base = np.maximum(at, 0), np.maximum(rows, 0), left_out[pairs.child]
        for strength in PRIORS:
            checkpoint()
            gain = float((pairs.count * np.log((at + strength * base) / (rows + strength))).sum()) - alone
            if best is None or gain > best.gain:
                best = Conditional(held, prior, left_out, strength, over, gain)
    assert best is not None  # noqa: S101  # PRIORS are some
    return best


def smoothed(parent: Column, child: Column, pairs: PairBins, over: tuple[bool, bool]) -> Smoothed:
    """Smooth the counts over neighbouring bins of child and parent, as asked for."""
    from scipy import sparse  # noqa: PLC0415 - as numerics/search says

    checkpoint()
    shape = len(parent.bin_mass), len(child.bin_mass)
    raw = sparse.coo_array((pairs.count, (pairs.parent, pairs.child)), shape=shape).tocsr()
    counts, own_child, own_parent = raw.toarray(), np.ones(shape[1]), np.ones(shape[0])
    if over[0] and child.kernel is not None:
        counts = OWN_CHILD * counts + (1 - OWN_CHILD) * (raw @ child.kernel)
        own_child = OWN_CHILD + (1 - OWN_CHILD) * np.diag(child.kernel)
    if over[1] and parent.kernel is not None:
        counts = OWN_PARENT * counts + (1 - OWN_PARENT) * (parent.kernel.T @ counts)
        own_parent = OWN_PARENT + (1 - OWN_PARENT) * np.diag(parent.kernel)
    return Smoothed(counts, own_parent[:, None] * own_child, own_parent)


def _at(own: Floats, parent: Integers, child: Integers) -> Floats:
    return np.asarray(own[parent, child])
