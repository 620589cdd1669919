"""Fit the shares of one column: with an order by smoothing over neighbours, without one by Good–Turing."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np

from reid_sql.models.copula.marginals import marginal_from_shares, price_heaps, propose_heaps
from reid_sql.models.interruption import checkpoint
from reid_sql.models.marginals.column import EQUALLY_RARE, Column, Rarity, positions, scale_step
from reid_sql.models.numerics.special_functions import gammainc, gammaln
from reid_sql.parameters import Flags, Floats, Integers

# Values never seen
# records of unseen values where no value was seen just once
UNSEEN_RECORDS_WITHOUT_SINGLETONS: Final = 0.25
MAX_RECORDS_OF_ONE_UNSEEN: Final = 0.5
MIN_RECORDS_SEEN: Final = 0.5  # of the values seen
MAX_COUNT_IN_TAIL: Final = 8  # records of a value whose count informs the tail
# r
TAIL_EXPONENTS: Final = np.concatenate(
    [np.arange(-0.95, 0, 0.1), [0.05, 0.25, 0.5, 1, 2, 4, 8, 16]]
)
# θ
TAIL_RATIOS: Final = np.exp(
    -np.array([0, 0.01, 0.03, 0.1, 0.3, 0.6, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9.0])
)
MIN_CLASS_WEIGHT: Final = 1e-6  # of a class of unseen values
# of these classes: records that such a value would have
EDGES: Final = 10.0 ** np.arange(-9, 1.1, 0.5)
CENSUS_RECORDS: Final = 1e9  # that known shares count as, which leaves hardly a value unseen

# Values with an order
BANDWIDTHS: Final = (0.5, 1.0, 1.5, 2.5, 4.0, 7.0, 12.0, 25.0, 50.0, 100.0, 200.0, 300.0)  # steps
SMALL_BANDWIDTH: Final = 12.0  # steps; wider ones are tried up to a share of the lattice
MAX_BANDWIDTH_SHARE: Final = 0.1
SMOOTHED_SHARES: Final = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0)  # w
MIN_POSITIONS: Final = 4  # of a column that is smoothed
MAX_LATTICE_POINTS: Final = 4096  # beyond, cells of several points replace them
MAX_POINTS_OF_CELL: Final = 1e12
MAX_CELLS: Final = 256
RECORDS_PER_CELL: Final = 4


@dataclass(frozen=True)
class UnseenValues:
    """Values never seen: their mass, the share of each if they are equally rare, their rarity if not."""

    mass: float
    share: float
    rarity: Rarity


def estimate_unseen(counts: Floats) -> UnseenValues:
    """Estimate mass and shares of values never seen from how many values were seen how often.

    The mass is s₁/n (Good 1953). If all were equally rare, there would be s₁(s₁ − 1)/(2(s₂ + 1)) of them
    (Chao 1984).

    >>> few = estimate_unseen(np.array([60.0, 40.0]))
    >>> few.mass, few.share
    (0.0025, 0.0025)
    """
    records = float(counts.sum())
    times_seen = np.clip(np.ceil(counts), 1, MAX_COUNT_IN_TAIL + 1).astype(np.int64)
    times = np.bincount(times_seen, minlength=MAX_COUNT_IN_TAIL + 2)
    tail = times[1 : MAX_COUNT_IN_TAIL + 1].astype(np.float64)  # s₁, s₂, …
    if not tail[0]:
        share = UNSEEN_RECORDS_WITHOUT_SINGLETONS / records
        return UnseenValues(share, share, EQUALLY_RARE)
    mass = min(float(tail[0]) / records, 1 - MIN_RECORDS_SEEN / (records + 1))
    cumulated = _unseen_distribution(tail)
    parts = np.diff(cumulated, prepend=0.0)
    parts[-1] += 1 - cumulated[-1]
    some = parts > MIN_CLASS_WEIGHT
    weight = parts[some] / parts[some].sum()
    shares = np.minimum(EDGES[some] / 10**0.25 / records, mass)
    values = max(1.0, tail[0] * (tail[0] - 1) / (2 * (tail[1] + 1)))
    share = min(mass / values, MAX_RECORDS_OF_ONE_UNSEEN / records)
    return UnseenValues(mass, share, Rarity(weight, np.log(shares / share)))


def _unseen_distribution(tail: Floats) -> Floats:
    """Distribution function, at EDGES, of the count expected of a person's unseen value."""
    # If the values' intensities p have the density p^(r−1) e^(−λp), r > −1 (Fisher, Corbet & Williams 1943;
    # Engen 1974), the number of values seen j times is proportional to Γ(r + j)/j! θ^j with θ = n/(n + λ).
    # The likelihood of (r, θ) is multinomial in s₁ … s₈.
    r, theta = TAIL_EXPONENTS[:, None], TAIL_RATIOS[None, :]
    times = np.arange(1, MAX_COUNT_IN_TAIL + 1)
    log = gammaln(r[..., None] + times) - gammaln(times + 1.0) + times * np.log(theta)[..., None]
    log -= np.log(
        np.exp(log - log.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True)
    ) + log.max(axis=-1, keepdims=True)
    log_likelihood = log @ tail
    weight = np.exp(log_likelihood - log_likelihood.max())
    weight /= weight.sum()
    # A person with an unseen value has a value of intensity p with density ∝ p p^(r−1) e^(−(λ+n)p): its
    # count n p is Gamma(r + 1) with rate 1/θ. Averaged over (r, θ) by their likelihood.
    return np.asarray(
        np.einsum("rt,rte->e", weight, gammainc(r[..., None] + 1, EDGES / theta[..., None]))
    )


def fit_nominal(
    name: str, values: Sequence[str | None], counts: Floats, max_bins: int, *, ordered: bool = False
) -> Column:
    """Give the values seen what the unseen ones leave; if there are too many, the rarest share a bin.

    >>> fit_nominal("sex", ["F", "M"], np.array([60.0, 40.0]), 8).mass.round(4).tolist()
    [0.5985, 0.399, 0.0025]
    """
    unseen = estimate_unseen(counts)
    seen = (1 - unseen.mass) * counts / counts.sum()
    bins = np.arange(len(seen) + 1)
    if len(bins) > max_bins:
        rank = np.argsort(np.argsort(-counts, kind="stable"))
        bins = np.append(np.minimum(rank, max_bins - 1), max_bins - 1)
    return Column(
        name,
        tuple(values),
        ordered,
        np.append(seen, unseen.mass),
        np.append(np.ones(len(seen)), unseen.mass / unseen.share),
        bins,
        None,
        np.maximum((1 - unseen.mass) * (counts - 1) / counts.sum(), unseen.share),
        rarity=unseen.rarity,
    )


def column_from_shares(
    name: str,
    values: Sequence[str | None],
    known_values: Sequence[str | None],
    shares: Floats,
    max_bins: int,
) -> Column:
    """Take the shares from outside, such as a census; refuses a share of 0 for a value of the sample."""
    marginal = marginal_from_shares(known_values, shares.tolist(), seen=values)
    share = dict(zip(marginal.values, marginal.shares.tolist(), strict=True))
    names = [
        *values,
        *(value for value in marginal.values if value not in set(values) and share[value] > 0),
    ]
    counts = np.array([share[value] for value in names]) * CENSUS_RECORDS
    return fit_nominal(name, names, counts, max_bins)


@dataclass(frozen=True)
class _Lattice:
    """Cells of the scale in order: the points of each, its middle, and the cell of each value seen."""

    points: Floats  # (cells,)
    middle: Floats  # (cells,)
    cell: Integers  # (values,)


@dataclass(frozen=True)
class _SmoothedShares:
    """Shares on a lattice by the likeliest smoothing; those of values without a record of their own."""

    seen: Floats  # (values,)
    unseen: Floats  # (cells,), of all points of a cell that no value takes
    left_out: Floats  # (values,)
    bandwidth: float
    log_likelihood: float


@dataclass(frozen=True)
class _Scale:
    """Which values are smoothed, on which lattice, and their shares."""

    on_scale: Flags  # (values,)
    lattice: _Lattice
    shares: _SmoothedShares


def fit_ordered(name: str, values: Sequence[str | None], counts: Floats, max_bins: int) -> Column:
    """Smooth the shares of values with a position on a scale; heaps, and values such as NULL, are nominal.

    >>> column = fit_ordered("age", ["30", "31", "33", "34"], np.array([5.0, 6.0, 6.0, 5.0]), 64)
    >>> column.unseen_places.tolist()
    [29.0, 32.0, 35.0]
    """
    located = positions(values)
    scale = _choose_scale(located, counts)
    if scale is None:
        return fit_nominal(name, values, counts, max_bins, ordered=True)
    on_scale, lattice, shares = scale.on_scale, scale.lattice, scale.shares
    total, of_scale = float(counts.sum()), counts[on_scale].sum()
    # mass of values that have no place on the lattice
    rest = UNSEEN_RECORDS_WITHOUT_SINGLETONS / total
    mass = counts / total
    left_out = np.maximum(counts - 1, UNSEEN_RECORDS_WITHOUT_SINGLETONS) / total
    mass[on_scale] = shares.seen * of_scale / total
    left_out[on_scale] = shares.left_out * of_scale / total
    missed = lattice.points - np.bincount(lattice.cell, minlength=len(lattice.points))
    missed[_cells_of_heaps(lattice, located[~on_scale])] = 0
    has_unseen = (missed > 0.5) & (shares.unseen > 0)  # noqa: PLR2004  # a cell with a point that no value takes
    mass = np.concatenate([mass, shares.unseen[has_unseen] * of_scale / total])
    bins, kernel = _make_bins(
        lattice, on_scale, np.flatnonzero(has_unseen), mass, (max_bins, shares.bandwidth)
    )
    return Column(
        name,
        tuple(values),
        ordered=True,
        mass=np.append(mass / mass.sum() * (1 - rest), rest),
        multiplicity=np.concatenate([np.ones(len(values)), missed[has_unseen], [1.0]]),
        bins=bins,
        kernel=kernel,
        left_out=left_out,
        unseen_places=lattice.middle[has_unseen],
    )


def _choose_scale(located: Floats, counts: Floats) -> _Scale | None:
    """Smooth without each set of heaps, and choose the likeliest; None where few positions are left."""
    best, best_likelihood, total = None, -np.inf, float(counts.sum())
    for heaps in propose_heaps(located, counts):
        on_scale = ~np.isnan(located) & ~heaps
        if len(np.unique(located[on_scale])) < MIN_POSITIONS:
            break
        lattice = _make_lattice(located[on_scale], counts[on_scale])
        shares = _smooth_shares(lattice, counts[on_scale])
        of_scale = float(counts[on_scale].sum())
        likelihood = shares.log_likelihood + of_scale * np.log(of_scale / total)
        likelihood += price_heaps(counts[heaps], total)
        if likelihood > best_likelihood:
            best, best_likelihood = _Scale(on_scale, lattice, shares), likelihood
    return best


def _cells_of_heaps(lattice: _Lattice, at: Floats) -> Integers:
    """Cells of one point that are heaps: their point is a value seen, although no value takes it here."""
    heaps = np.sort(at[~np.isnan(at)])
    if not len(heaps):
        return np.empty(0, dtype=np.int64)
    place = np.searchsorted(heaps, lattice.middle)
    near = heaps[np.clip(np.stack([place - 1, place]), 0, len(heaps) - 1)]
    away = np.abs(near - lattice.middle).min(axis=0)
    step = np.diff(lattice.middle).min()
    return np.flatnonzero((lattice.points == 1) & (away < step / 2))


def _make_lattice(at: Floats, counts: Floats) -> _Lattice:
    """All points from a step below the least position to one above the greatest, or cells of them."""
    step = scale_step(np.unique(at))
    least, points = at.min() - step, round((at.max() - at.min()) / step) + 3
    if points <= MAX_LATTICE_POINTS:
        cell = np.round((at - least) / step).astype(np.int64)
        return _Lattice(np.ones(points), least + step * np.arange(points), cell)
    order = np.argsort(at, kind="stable")
    cells = int(min(MAX_CELLS, max(2, len(at) // RECORDS_PER_CELL)))
    quantiles = np.cumsum(counts[order]) - counts[order] / 2
    split = np.unique(np.searchsorted(quantiles, counts.sum() * np.arange(1, cells) / cells))
    ascending = at[order]
    inner = [(ascending[i - 1] + ascending[i]) / 2 for i in split.tolist() if 0 < i < len(at)]
    edges = np.unique(np.concatenate([[least - step / 2], inner, [at.max() + 1.5 * step]]))
    cell = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, len(edges) - 2)
    values_of_cell = np.bincount(cell, minlength=len(edges) - 1)
    points_of_cell = np.clip(np.diff(edges) / step, values_of_cell, MAX_POINTS_OF_CELL)
    return _Lattice(points_of_cell, (edges[1:] + edges[:-1]) / 2, cell)


def _smooth_shares(lattice: _Lattice, counts: Floats) -> _SmoothedShares:
    """Smooth the shares of the values seen over the lattice.

    p = (1 − w) c/n + w (c ∗ Laplace_b)/n, with b and w of the greatest leave-one-out likelihood. Source:
    Aitchison & Aitken 1976; Li & Racine 2003.
    """
    cells, n = len(lattice.points), float(counts.sum())
    in_cell = np.bincount(lattice.cell, counts, minlength=cells).astype(np.float64)
    best = (-np.inf, 0.0, 1.0, in_cell, counts / n)
    widest = max(SMALL_BANDWIDTH, MAX_BANDWIDTH_SHARE * cells)
    for bandwidth in (width for width in BANDWIDTHS if width <= widest):
        checkpoint()
        # sums of the kernel, which is cut off at the ends
        rows = spread_laplace(np.ones(cells), bandwidth)
        smooth = spread_laplace(in_cell / rows, bandwidth)
        # without the record itself
        share_of_cell = (smooth - 1 / rows)[lattice.cell] / lattice.points[lattice.cell]
        for weight in SMOOTHED_SHARES:
            left_out = ((1 - weight) * np.maximum(counts - 1, 0) + weight * share_of_cell) / max(
                n - 1, 1.0
            )
            likelihood = float(counts @ np.log(np.maximum(left_out, 1e-300)))
            if likelihood > best[0]:
                best = (likelihood, weight, bandwidth, smooth, left_out)
    likelihood, weight, bandwidth, smooth, left_out = best
    share = weight * smooth / n / lattice.points  # of each point of a cell
    missed = lattice.points - np.bincount(lattice.cell, minlength=cells)
    seen = (1 - weight) * counts / n + share[lattice.cell]
    return _SmoothedShares(seen, share * missed, left_out, bandwidth, likelihood)


def spread_laplace(masses: Floats, bandwidth: float) -> Floats:
    """Spread masses on a line as exp(−distance/bandwidth), by one pass in each direction.

    >>> spread_laplace(np.array([0.0, 1.0, 0.0]), 1.0).round(4).tolist()
    [0.3679, 1.0, 0.3679]
    """
    decay = float(np.exp(-1 / bandwidth))
    return _decay_along(masses, decay) + _decay_along(masses[::-1], decay)[::-1] - masses


def _decay_along(masses: Floats, decay: float) -> Floats:
    # A loop: scipy's filter is faster by tenths of a millisecond and takes half a second to import.
    cumulated = accumulate(masses.tolist(), lambda before, mass: mass + decay * before)
    return np.fromiter(cumulated, np.float64, len(masses))


def _make_bins(
    lattice: _Lattice,
    on_scale: Flags,
    unseen_cells: Integers,
    mass: Floats,
    limits: tuple[int, float],
) -> tuple[Integers, Floats]:
    """Bins of the categories, and their kernel: cells or groups of neighbours of equal mass, then the rest.

    `limits` are the greatest number of bins and the bandwidth.
    """
    (max_bins, bandwidth), off_scale = limits, int((~on_scale).sum())
    max_groups = max(max_bins - min(off_scale, max_bins // 2) - 1, 2)
    values, cells = len(on_scale), len(lattice.points)
    place = np.concatenate([lattice.cell, unseen_cells])
    weight = np.bincount(
        place, np.concatenate([mass[:values][on_scale], mass[values:]]), minlength=cells
    )
    group = np.arange(cells)
    if cells > max_groups:
        middle = (np.cumsum(weight) - weight / 2) / weight.sum()
        group = np.minimum((middle * max_groups).astype(np.int64), max_groups - 1)
    # a cell without any category has no bin, such as that of a heap next to the least value
    occupied = np.unique(group[place])
    group, groups = np.searchsorted(occupied, group), len(occupied)
    bins = np.empty(len(mass) + 1, dtype=np.int64)
    bins[:values][on_scale] = group[lattice.cell]
    last = max_bins // 2 - 1 if off_scale > max_bins // 2 else off_scale
    bins[:values][~on_scale] = groups + np.minimum(np.arange(off_scale), last)
    bins[values:-1] = group[unseen_cells]
    bins[-1] = bins[:values][~on_scale].max() + 1 if off_scale else groups
    single = np.bincount(bins) == 1
    # Weights of a bin's neighbours: a bin of one value excludes itself, one off the scale has none.
    line = np.arange(groups)
    near = np.exp(-np.abs(line[:, None] - line) / max(bandwidth * groups / cells, 0.5))
    near[line, line] = np.where(single[:groups], 0.0, 1.0)
    kernel = np.eye(int(bins.max()) + 1)
    kernel[:groups, :groups] = near / near.sum(axis=1, keepdims=True)
    return bins, kernel
