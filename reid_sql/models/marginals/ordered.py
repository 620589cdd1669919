"""A column whose values have an order: shares smoothed over neighbours by what foretells best.

They are smoothed by as much as foretells left-out records. The values lie on a lattice of the sample's own
steps, its gaps filled; NULL and other texts stand apart. A share is (1 − w) c/n + w (c ∗ Laplace)/n, its
bandwidth and w of the best leave-one-out likelihood. Where the lattice has too many points, cells of about as
many records take their place. Source: Aitchison & Aitken 1976; Li & Racine 2003.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.marginals import scale
from reid_sql.models.marginals.column import Column
from reid_sql.models.marginals.nominal import NONE_ONCE, nominal_column
from reid_sql.parameters import Floats

BANDWIDTHS: Final = (0.5, 1.0, 1.5, 2.5, 4.0, 7.0, 12.0, 25.0, 50.0, 100.0, 200.0, 300.0)  # steps
BANDWIDTHS_PER_LATTICE: Final = 0.1  # a bandwidth beyond 12 steps is at most this share of the lattice
WEIGHTS: Final = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0)
FEWEST: Final = 4  # places on the scale; fewer are as good as nominal
MOST_POINTS: Final = 4096  # of a lattice
MOST_ALIKE: Final = 1e12  # points of a cell
CELLS: Final = 256  # where the lattice has more points
RECORDS_A_CELL: Final = 4
SMALL_BANDWIDTH: Final = 12.0
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Lattice:
    """Cells of the scale in order: the points in each, where its middle is, the cell of each value."""

    points: Floats  # (cells,)
    middle: Floats  # (cells,)
    cell: Integers  # (values,)


def ordered_column(name: str, values: Sequence[str | None], counts: Floats, most_bins: int) -> Column:
    """Smooth the shares of values that lie on a scale; the others are nominal beside them.

    >>> found = ordered_column("age", ["30", "31", "33", "34"], np.array([5.0, 6.0, 6.0, 5.0]), 64)
    >>> found.unseen_places.tolist()
    [29.0, 32.0, 35.0]
    """
    places = scale.places(values)
    on = ~np.isnan(places)
    at = places[on]
    if len(np.unique(at)) < FEWEST:
        return nominal_column(name, values, counts, most_bins, ordered=True)
    lattice = _lattice(at, counts[on])
    seen, unseen, left, width = _smoothed(lattice, counts[on])
    total = float(counts.sum())
    mass, left_out = counts / total, np.maximum(counts - 1, NONE_ONCE) / total
    mass[on], left_out[on] = seen * counts[on].sum() / total, left * counts[on].sum() / total
    missed = lattice.points - np.bincount(lattice.cell, minlength=len(lattice.points))
    kept = (missed > 0.5) & (unseen > 0)  # noqa: PLR2004  # a cell with a point not taken
    beside = unseen[kept] * counts[on].sum() / total
    rest = NONE_ONCE / total
    bins, kernel = _bins(
        lattice, on, np.flatnonzero(kept), np.concatenate([mass, beside]), (most_bins, width)
    )
    mass = np.concatenate([mass, beside])
    return Column(
        name,
        tuple(values),
        ordered=True,
        mass=np.append(mass / mass.sum() * (1 - rest), rest),
        multiplicity=np.concatenate([np.ones(len(values)), missed[kept], [1.0]]),
        bins=bins,
        kernel=kernel,
        left_out=left_out,
        unseen_places=lattice.middle[kept],
    )


def _lattice(at: Floats, counts: Floats) -> _Lattice:
    """All points from a step below the least value to one above the greatest, or cells of them."""
    step = scale.step(np.unique(at))
    least, points = at.min() - step, round((at.max() - at.min()) / step) + 3
    if points <= MOST_POINTS:
        cell = np.round((at - least) / step).astype(np.int64)
        return _Lattice(np.ones(points), least + step * np.arange(points), cell)
    order = np.argsort(at, kind="stable")
    cells = int(min(CELLS, max(2, len(at) // RECORDS_A_CELL)))
    levels = np.cumsum(counts[order]) - counts[order] / 2
    split = np.unique(np.searchsorted(levels, counts.sum() * np.arange(1, cells) / cells))
    sorted_at = at[order]
    inner = [(sorted_at[i - 1] + sorted_at[i]) / 2 for i in split.tolist() if 0 < i < len(at)]
    edges = np.unique(np.concatenate([[least - step / 2], inner, [at.max() + 1.5 * step]]))
    cell = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, len(edges) - 2)
    own = np.bincount(cell, minlength=len(edges) - 1)
    return _Lattice(np.clip(np.diff(edges) / step, own, MOST_ALIKE), (edges[1:] + edges[:-1]) / 2, cell)


def _smoothed(lattice: _Lattice, counts: Floats) -> tuple[Floats, Floats, Floats, float]:
    """Shares of the values seen, of the unseen points of each cell, of left-out values, and the bandwidth."""
    cells, n = len(lattice.points), float(counts.sum())
    in_cell = np.bincount(lattice.cell, counts, minlength=cells).astype(np.float64)
    best = (-np.inf, 0.0, 1.0, in_cell, counts / n)
    for width in _bandwidths(cells):
        checkpoint()
        rows = laplace(np.ones(cells), width)
        smooth = laplace(in_cell / rows, width)
        left = (smooth - 1 / rows)[lattice.cell] / lattice.points[lattice.cell]  # less the record's own part
        for weight in WEIGHTS:
            rest = ((1 - weight) * np.maximum(counts - 1, 0) + weight * left) / max(n - 1, 1.0)
            likelihood = float(counts @ np.log(np.maximum(rest, 1e-300)))
            if likelihood > best[0]:
                best = (likelihood, weight, width, smooth, rest)
    _, weight, width, smooth, left_out = best
    share = weight * smooth / n / lattice.points  # of each point of a cell
    missed = lattice.points - np.bincount(lattice.cell, minlength=cells)
    return (1 - weight) * counts / n + share[lattice.cell], share * missed, left_out, width


def laplace(masses: Floats, width: float) -> Floats:
    """Spread masses on a line as exp(−distance/width), by one pass each way.

    >>> laplace(np.array([0.0, 1.0, 0.0]), 1.0).round(4).tolist()
    [0.3679, 1.0, 0.3679]
    """
    decay = float(np.exp(-1 / width))
    return _decayed(masses, decay) + _decayed(masses[::-1], decay)[::-1] - masses


def _decayed(masses: Floats, decay: float) -> Floats:
    """Each mass, and what has come along of those before it.

    A loop: scipy's filter is faster by tenths of a millisecond and takes half a second to import.
    """
    along = accumulate(masses.tolist(), lambda before, mass: mass + decay * before)
    return np.fromiter(along, np.float64, len(masses))


def _bandwidths(cells: int) -> list[float]:
    return [width for width in BANDWIDTHS if width <= max(SMALL_BANDWIDTH, BANDWIDTHS_PER_LATTICE * cells)]


def _bins(
    lattice: _Lattice, on: Flags, kept: Integers, mass: Floats, room_and_width: tuple[int, float]
) -> tuple[Integers, Floats]:
    """Bins of the categories: cells, or neighbours of about equal mass, then what is apart; their kernel."""
    (most, width), beside = room_and_width, int((~on).sum())
    room = max(most - min(beside, most // 2) - 1, 2)
    cells = len(lattice.points)
    place = np.concatenate([lattice.cell, kept])
    weight = np.bincount(place, np.concatenate([mass[: len(on)][on], mass[len(on) :]]), minlength=cells)
    group = np.arange(cells)
    if cells > room:
        middle = (np.cumsum(weight) - weight / 2) / weight.sum()
        group = np.unique(np.minimum((middle * room).astype(np.int64), room - 1), return_inverse=True)[1]
    else:  # cells without any category have no bin
        group = np.unique(np.cumsum(np.isin(group, place)) - 1, return_inverse=True)[1]
    groups = int(group.max()) + 1
    bins = np.empty(len(mass) + 1, dtype=np.int64)
    bins[: len(on)][on] = group[lattice.cell]
    bins[: len(on)][~on] = groups + np.minimum(
        np.arange(beside), most // 2 - 1 if beside > most // 2 else beside
    )
    bins[len(on) : -1] = group[kept]
    bins[-1] = bins[: len(on)][~on].max() + 1 if beside else groups
    single = np.bincount(bins) == 1
    return bins, _kernel(groups, int(bins.max()) + 1, single, max(width * groups / cells, 0.5))


def _kernel(groups: int, bins: int, single: Flags, width: float) -> Floats:
    """Weights of a bin's neighbours, its own only where it has several values.

    What stands apart keeps to itself.
    """
    line = np.arange(groups)
    near = np.exp(-np.abs(line[:, None] - line) / width)
    near[line, line] = np.where(single[:groups], 0.0, 1.0)
    kernel = np.eye(bins)
    kernel[:groups, :groups] = near / near.sum(axis=1, keepdims=True)
    return kernel
