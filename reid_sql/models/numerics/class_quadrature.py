"""Sums over class sizes with as few terms as they need: Σ s_m g(m) for functions g that are smooth in ln m.

Small sizes stay as they are. The larger ones, in bins that double, are replaced by the nodes and weights of
the Gauss quadrature of the bin's own classes, which is exact for polynomials up to degree 15 (Stieltjes'
procedure; Golub & Welsch). A histogram of a billion records has tens of thousands of sizes, and then some two
hundred nodes.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.parameters import Floats

SMALL: Final = 32  # sizes up to here are kept one by one
NODES: Final = 8


def class_quadrature(sizes: npt.ArrayLike, counts: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Nodes and weights that stand for class sizes, ascending and distinct, and their numbers of classes.

    Right to 1e-12 for logarithms of gamma functions of the size, and their derivatives.

    >>> nodes, weights = class_quadrature(np.arange(1, 100_001), np.ones(100_000))
    >>> len(nodes), round(float(weights @ nodes))
    (128, 5000050000)
    >>> round(float(weights @ np.log(nodes)), 6)  # ln 100000!
    1051299.221899
    """
    size, count = np.asarray(sizes, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    bins = np.where(size <= SMALL, -1.0, np.floor(np.log2(np.maximum(size, 1.0) / SMALL)))
    starts = np.flatnonzero(np.diff(bins, prepend=-2.0))
    parts = [
        (size[low:high], count[low:high])
        if bins[low] < 0 or high - low <= NODES
        else _gauss(size[low:high], count[low:high])
        for low, high in zip(starts, np.append(starts, len(size))[1:], strict=True)
    ]
    return np.concatenate([size[:0], *(nodes for nodes, _ in parts)]), np.concatenate(
        [count[:0], *(share for _, share in parts)]
    )


def _gauss(size: Floats, count: Floats) -> tuple[Floats, Floats]:
    """Gauss quadrature of a discrete measure, from the recurrence of its orthogonal polynomials."""
    middle, half, total = (size[0] + size[-1]) / 2, (size[-1] - size[0]) / 2, count.sum()
    place, share = (size - middle) / half, count / total
    before, now, off = np.zeros_like(place), np.ones_like(place), 0.0
    jacobi = np.zeros((NODES, NODES))
    for row in range(NODES):
        jacobi[row, row] = share @ (place * now**2)
        following = (place - jacobi[row, row]) * now - off * before
        off = float(np.sqrt(share @ following**2))
        if row + 1 < NODES:
            jacobi[row, row + 1] = jacobi[row + 1, row] = off
        before, now = now, following / off
    nodes, vectors = np.linalg.eigh(jacobi)
    return middle + half * nodes, total * vectors[0] ** 2
