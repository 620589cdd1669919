"""Chances of one column's bins given another column's, smoothed and shrunk by leave-one-out likelihood.

    p(x | y) = (C(y, x) + τ p(x)) / (C(y) + τ)

C are counts of pairs of bins. Where a column has an order, they are first smoothed over neighbouring bins.
τ, and which columns to smooth over, maximise the likelihood of the records, each left out of its own counts.
The gain of a pair of columns is that log-likelihood less the log-likelihood under p(x) alone.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from reid_sql.models.interruption import checkpoint
from reid_sql.models.marginals.column import Column
from reid_sql.parameters import Floats, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

STRENGTHS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 1000.0)  # τ, in records
OWN_SHARE_CHILD: Final = 0.4  # of a count, which smoothing over the child's bins leaves in its cell
OWN_SHARE_PARENT: Final = 0.3
# smoothed: child, parent
AXES: Final = ((False, False), (False, True), (True, False), (True, True))
# cells for which a product of matrices takes the time of one gathered sum
PAIRS_PER_CELL: Final = 10
MIN_CHANCE: Final = 1e-300


@dataclass(frozen=True)
class PairBins:
    """Number of records with each pair of bins of a parent and a child, for pairs that occur."""

    parent: Integers  # (pairs,)
    child: Integers  # (pairs,)
    count: Floats  # (pairs,)

    @property
    def transposed(self) -> "PairBins":
        """The same counts with parent and child exchanged."""
        return PairBins(self.child, self.parent, self.count)


def bin_pairs(
    parent: Column, child: Column, codes: tuple[Integers, Integers], counts: Floats
) -> PairBins:
    """Sum the counts of pairs of values to counts of pairs of bins."""
    width = len(child.bin_mass)
    pair, place = np.unique(
        parent.bins[codes[0]] * width + child.bins[codes[1]], return_inverse=True
    )
    return PairBins(
        pair // width, pair % width, np.bincount(place.ravel(), counts).astype(np.float64)
    )


@dataclass(frozen=True)
class NeighbourSums:
    """Counts of the pairs that occur, and their sums over neighbouring bins, where the columns have an order.

    With kernels K of the parent and W of the child, these are C, KᵀC, CW and KᵀCW at the pairs: all that the
    likelihood of the records needs, for one column given the other as for the reverse.
    """

    counts: Floats  # (pairs,)
    over_parent: Floats | None
    over_child: Floats | None
    over_both: Floats | None

    @property
    def transposed(self) -> "NeighbourSums":
        """The same sums with parent and child exchanged."""
        return NeighbourSums(self.counts, self.over_child, self.over_parent, self.over_both)

    def mix(self, *, over_child: bool, over_parent: bool) -> Floats | None:
        """Smooth the counts over these columns; None where one of them has no order.

        C ← ρ C + (1 − ρ) C W over the child's bins, then C ← ρ' C + (1 − ρ') Kᵀ C over the parent's.
        """
        counts, spread = self.counts, self.over_parent
        if over_child:
            if self.over_child is None:
                return None
            counts = OWN_SHARE_CHILD * counts + (1 - OWN_SHARE_CHILD) * self.over_child
            if self.over_both is not None and spread is not None:
                spread = OWN_SHARE_CHILD * spread + (1 - OWN_SHARE_CHILD) * self.over_both
        if not over_parent:
            return counts
        return (
            None if spread is None else OWN_SHARE_PARENT * counts + (1 - OWN_SHARE_PARENT) * spread
        )


def sum_neighbours(parent: Column, child: Column, pairs: PairBins) -> NeighbourSums:
    """Sum the counts over neighbouring bins, at the pairs that occur."""
    if parent.kernel is None and child.kernel is None:
        return NeighbourSums(pairs.count, None, None, None)
    table, at = _count_table(parent, child, pairs), (pairs.parent, pairs.child)
    over_parent = None if parent.kernel is None else np.asarray(table.T @ parent.kernel).T[at]
    if child.kernel is None:
        return NeighbourSums(pairs.count, over_parent, None, None)
    spread: Floats = np.asarray(table @ child.kernel)
    if parent.kernel is None:
        return NeighbourSums(pairs.count, None, spread[at], None)
    if PAIRS_PER_CELL * len(pairs.count) < spread.size:  # few cells occur: only theirs are summed
        by_parent, by_child = np.ascontiguousarray(parent.kernel.T), np.ascontiguousarray(spread.T)
        over_both = np.einsum("ij,ij->i", by_parent[pairs.parent], by_child[pairs.child])
    else:
        over_both = (parent.kernel.T @ spread)[at]
    return NeighbourSums(pairs.count, over_parent, spread[at], over_both)


def _count_table(parent: Column, child: Column, pairs: PairBins) -> "csr_array":
    from scipy import sparse  # noqa: PLC0415 - see numerics/special_functions

    shape = len(parent.bin_mass), len(child.bin_mass)
    return sparse.csr_array((pairs.count, (pairs.parent, pairs.child)), shape=shape)


@dataclass(frozen=True)
class Smoothing:
    """How chances are fitted: which axes are smoothed, the shrinkage τ, and what it gains."""

    axes: tuple[bool, bool]  # over child, over parent
    strength: float  # τ
    gain: float  # nats


def choose_smoothing(
    parent: Column, child: Column, pairs: PairBins, sums: NeighbourSums
) -> Smoothing:
    """Choose smoothing and shrinkage by leave-one-out likelihood."""
    base = child.bin_left_out[pairs.child]
    independent = float((pairs.count * np.log(base)).sum())
    strengths = np.array(STRENGTHS)[:, None]
    rows = np.bincount(pairs.parent, pairs.count, len(parent.bin_mass)).astype(np.float64)
    best: Smoothing | None = None
    smoothed_rows = rows
    if parent.kernel is not None:
        # smoothing over the child leaves the counts of the parent's bins, since rows of W add up to 1
        smoothed_rows = OWN_SHARE_PARENT * rows + (1 - OWN_SHARE_PARENT) * (rows @ parent.kernel)
    for over_child, over_parent in AXES:
        checkpoint()
        cells = sums.mix(over_child=over_child, over_parent=over_parent)
        if cells is None:
            continue
        own_row, own_child = own_shares(parent, child, (over_child, over_parent))
        removed = own_row[pairs.parent]
        cells = np.maximum(cells - removed * own_child[pairs.child], 0)
        all_rows = smoothed_rows if over_parent else rows
        remaining = np.maximum(all_rows[pairs.parent] - removed, 0)
        # Sums of products: BLAS keeps other threads busy between dot products that are as short.
        logs = np.log((cells + strengths * base) / (remaining + strengths))  # (strengths, pairs)
        gains = (pairs.count * logs).sum(axis=1) - independent
        place = int(gains.argmax())
        if best is None or gains[place] > best.gain:
            best = Smoothing((over_child, over_parent), STRENGTHS[place], float(gains[place]))
    assert best is not None  # noqa: S101  # no smoothing is one way
    return best


def own_shares(parent: Column, child: Column, axes: tuple[bool, bool]) -> tuple[Floats, Floats]:
    """What a record adds to the row of its parent bin, and which share of that to its own cell."""
    over_child, over_parent = axes
    own_row, own_child = np.ones(len(parent.bin_mass)), np.ones(len(child.bin_mass))
    if over_parent and parent.kernel is not None:
        own_row = OWN_SHARE_PARENT + (1 - OWN_SHARE_PARENT) * np.diag(parent.kernel)
    if over_child and child.kernel is not None:
        own_child = OWN_SHARE_CHILD + (1 - OWN_SHARE_CHILD) * np.diag(child.kernel)
    return own_row, own_child


@dataclass(frozen=True)
class SmoothedCounts:
    """Counts after smoothing, and what one record adds to its own row and of that to its own cell."""

    counts: Floats  # (parent bins, child bins)
    own_row: Floats  # (parent bins,)
    own_child: Floats  # (child bins,)

    @cached_property
    def rows(self) -> Floats:
        """Counts of each parent bin."""
        return np.asarray(self.counts.sum(axis=1))


@dataclass(frozen=True)
class Conditional:
    """Fitted chances: smoothed counts, and shares of the child without and with a record left out."""

    smoothed: SmoothedCounts
    prior: Floats  # (child bins,)
    prior_left_out: Floats  # (child bins,)
    smoothing: Smoothing

    @cached_property
    def log_chance(self) -> Floats:
        """Ln p(child bin | parent bin), (parent bins, child bins)."""
        smoothed, strength = self.smoothed, self.smoothing.strength
        chance = (smoothed.counts + strength * self.prior) / (smoothed.rows[:, None] + strength)
        return np.log(np.maximum(chance, MIN_CHANCE))

    @cached_property
    def cumulated(self) -> Floats:
        """Chances as `cumulate_rows` gives them."""
        return cumulate_rows(self.log_chance)

    def log_left_out(self, parent: Integers, child: Integers, size: Integers | int = 1) -> Floats:
        """Ln p for records of the sample, each without itself, or without the `size` records of its class."""
        smoothed, strength = self.smoothed, self.smoothing.strength
        removed = size * smoothed.own_row[parent]
        counts = smoothed.counts[parent, child] - removed * smoothed.own_child[child]
        numerator = np.maximum(counts, 0) + strength * self.prior_left_out[child]
        denominator = np.maximum(smoothed.rows[parent] - removed, 0) + strength
        return np.log(np.maximum(numerator / denominator, MIN_CHANCE))


def cumulate_rows(log_chance: Floats) -> Floats:
    """Cumulated chances, row r between r and r + 1: one search finds a bin in any row.

    >>> cumulate_rows(np.log([[0.5, 0.5], [0.25, 0.75]])).tolist()
    [0.5, 1.0, 1.25, 2.0]
    """
    rows = np.cumsum(np.exp(log_chance), axis=1)
    rows = np.minimum(rows / rows[:, -1:], 1.0)
    rows[:, -1] = 1.0
    return np.asarray((rows + np.arange(len(rows))[:, None]).ravel())


def fit_conditional(
    parent: Column, child: Column, pairs: PairBins, smoothing: Smoothing | None = None
) -> Conditional:
    """Fit the chances, with the likeliest smoothing unless one is given."""
    chosen = smoothing or choose_smoothing(
        parent, child, pairs, sum_neighbours(parent, child, pairs)
    )
    over_child, over_parent = chosen.axes
    table = _count_table(parent, child, pairs)
    counts: Floats = table.toarray()
    if over_child and child.kernel is not None:
        counts = OWN_SHARE_CHILD * counts + (1 - OWN_SHARE_CHILD) * np.asarray(table @ child.kernel)
    if over_parent and parent.kernel is not None:
        counts = OWN_SHARE_PARENT * counts + (1 - OWN_SHARE_PARENT) * (parent.kernel.T @ counts)
    smoothed = SmoothedCounts(counts, *own_shares(parent, child, chosen.axes))
    return Conditional(smoothed, child.bin_mass, child.bin_left_out, chosen)
