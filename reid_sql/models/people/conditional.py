"""Chances of one column's bins given another column's, smoothed and shrunk by leave-one-out likelihood.

    p(x | y) = (C(y, x) + τ p(x)) / (C(y) + τ)

C are counts of pairs of bins. Where a column has an order, they are first smoothed over neighbouring bins.
τ, and which columns to smooth over, maximise the likelihood of the records, each left out of its own counts.
The gain of a pair of columns is that log-likelihood less the log-likelihood under p(x) alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.marginals.column import Column
from reid_sql.parameters import Floats

STRENGTHS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 1000.0)  # τ, in records
OWN_SHARE_CHILD: Final = 0.4  # of a count, which smoothing over the child's bins leaves in its cell
OWN_SHARE_PARENT: Final = 0.3
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


def bin_pairs(parent: Column, child: Column, codes: tuple[Integers, Integers], counts: Floats) -> PairBins:
    """Sum the counts of pairs of values to counts of pairs of bins."""
    width = len(child.bin_mass)
    pair, place = np.unique(parent.bins[codes[0]] * width + child.bins[codes[1]], return_inverse=True)
    return PairBins(pair // width, pair % width, np.bincount(place.ravel(), counts).astype(np.float64))


@dataclass(frozen=True)
class SmoothedCounts:
    """Counts after smoothing, and what one record adds to its own cell and to its own row."""

    counts: Floats  # (parent bins, child bins)
    own: Floats  # (parent bins, child bins)
    own_row: Floats  # (parent bins,)

    @cached_property
    def rows(self) -> Floats:
        """Counts of each parent bin."""
        return np.asarray(self.counts.sum(axis=1))


@dataclass(frozen=True)
class Conditional:
    """Fitted chances: smoothed counts, shares of the child without and with a record left out, τ and gain."""

    smoothed: SmoothedCounts
    prior: Floats  # (child bins,)
    prior_left_out: Floats  # (child bins,)
    strength: float  # τ
    smoothed_axes: tuple[bool, bool]  # over child, over parent
    gain: float  # nats

    @cached_property
    def log_chance(self) -> Floats:
        """Ln p(child bin | parent bin), (parent bins, child bins)."""
        smoothed = self.smoothed
        chance = (smoothed.counts + self.strength * self.prior) / (smoothed.rows[:, None] + self.strength)
        return np.log(np.maximum(chance, MIN_CHANCE))

    def log_left_out(self, parent: Integers, child: Integers, size: Integers | int = 1) -> Floats:
        """Ln p for records of the sample, each without itself, or without the `size` records of its class."""
        smoothed = self.smoothed
        counts = smoothed.counts[parent, child] - size * smoothed.own[parent, child]
        rows = smoothed.rows[parent] - size * smoothed.own_row[parent]
        numerator = np.maximum(counts, 0) + self.strength * self.prior_left_out[child]
        return np.log(np.maximum(numerator / (np.maximum(rows, 0) + self.strength), MIN_CHANCE))


def fit_conditional(parent: Column, child: Column, pairs: PairBins) -> Conditional:
    """Choose smoothing and shrinkage by leave-one-out likelihood."""
    prior, left_out = child.bin_mass, child.bin_left_out
    independent = float((pairs.count * np.log(left_out[pairs.child])).sum())
    strengths, base = np.array(STRENGTHS)[:, None], left_out[pairs.child]
    best: Conditional | None = None
    for axes, smoothed in smooth_by_axes(parent, child, pairs):
        checkpoint()
        cells = smoothed.counts[pairs.parent, pairs.child] - smoothed.own[pairs.parent, pairs.child]
        rows = smoothed.rows[pairs.parent] - smoothed.own_row[pairs.parent]
        cells, rows = np.maximum(cells, 0), np.maximum(rows, 0)
        # Sums of products: BLAS keeps other threads busy between dot products that are as short.
        logs = np.log((cells + strengths * base) / (rows + strengths))  # (strengths, pairs)
        gains = (pairs.count * logs).sum(axis=1) - independent
        place = int(gains.argmax())
        if best is None or gains[place] > best.gain:
            best = Conditional(smoothed, prior, left_out, STRENGTHS[place], axes, float(gains[place]))
    assert best is not None  # noqa: S101  # no smoothing is one way
    return best


def smooth_by_axes(
    parent: Column, child: Column, pairs: PairBins
) -> Iterator[tuple[tuple[bool, bool], SmoothedCounts]]:
    """Smooth the counts over neighbouring bins of none, parent, child or both, where they have an order."""
    from scipy import sparse  # noqa: PLC0415 - as numerics/scipy_functions says

    # C ← ρ C + (1 − ρ) C W over the child's bins, then C ← ρ' C + (1 − ρ') Wᵀ C over the parent's; rows of
    # W adding up to 1. A record adds ρ + (1 − ρ) W_xx to its own cell, and the same with ρ' to its row.
    shape = len(parent.bin_mass), len(child.bin_mass)
    place = pairs.parent * shape[1] + pairs.child
    raw = np.bincount(place, pairs.count, shape[0] * shape[1]).astype(np.float64).reshape(shape)
    by_child = [(False, raw, np.ones(shape[1]))]
    if child.kernel is not None:
        few = sparse.csr_array(raw)
        counts = OWN_SHARE_CHILD * raw + (1 - OWN_SHARE_CHILD) * (few @ child.kernel)
        own = OWN_SHARE_CHILD + (1 - OWN_SHARE_CHILD) * np.diag(child.kernel)
        by_child.append((True, counts, own))
    for over_child, counts, own_child in by_child:
        none = np.ones(shape[0])
        yield (over_child, False), SmoothedCounts(counts, none[:, None] * own_child, none)
        if parent.kernel is not None:
            spread = OWN_SHARE_PARENT * counts + (1 - OWN_SHARE_PARENT) * (parent.kernel.T @ counts)
            own_parent = OWN_SHARE_PARENT + (1 - OWN_SHARE_PARENT) * np.diag(parent.kernel)
            yield (over_child, True), SmoothedCounts(spread, own_parent[:, None] * own_child, own_parent)
