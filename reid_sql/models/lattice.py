"""Randomly shifted lattice points in the unit cube: they fill it far more evenly than random points do.

Source: Korobov 1959 (rank-1 lattices); Hickernell 2002 (folding). A generator is the odd number whose lattice has the
least mean square error for smooth integrands over 16 coordinates of falling weight.
"""

from typing import Final

import numpy as np

from reid_sql.domains import Floats

REPLICATES: Final = 8  # independently shifted lattices: their spread is the error of the integral
GENERATORS: Final = {32: 13, 64: 19, 128: 61, 256: 43, 512: 227, 1024: 43, 2048: 1289, 4096: 2473, 8192: 5499}
EDGE: Final = 1e-15  # no point lies on the faces of the cube


def lattice(dimensions: int, points: int, seed: int) -> Floats:
    """REPLICATES lattices of points/REPLICATES points each, every one with a shift of its own: (dimensions, points).

    `points` is a power of two from 256 to 65,536. In each coordinate the shifts fall into different parts of the
    lattice's spacing, so that together the lattices see a step that each of them would miss alike.

    >>> lattice(2, 256, seed=0).shape
    (2, 256)
    """
    each = points // REPLICATES
    steps = np.array([pow(GENERATORS[each], power, each) for power in range(dimensions)])[:, None, None] / each
    rng = np.random.default_rng([seed, points])
    parts = rng.permuted(np.tile(np.arange(REPLICATES), (dimensions, 1)), axis=1) + rng.random((dimensions, REPLICATES))
    shifts = (parts / REPLICATES + rng.integers(0, each, (dimensions, REPLICATES)))[:, :, None] / each
    folded = np.abs(2 * ((steps * np.arange(each) + shifts) % 1) - 1)
    return np.clip(folded.reshape(dimensions, points), EDGE, 1 - EDGE)
