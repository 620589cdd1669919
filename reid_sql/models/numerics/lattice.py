"""Randomly shifted lattice points in the unit cube: they fill it far more evenly than random points do.

Source: Korobov 1959 (rank-1 lattices); Hickernell 2002 (folding). A generator is the odd number whose lattice
has the least mean square error for smooth integrands over 16 coordinates of falling weight.
"""

from typing import Final

import numpy as np

from reid_sql.parameters import Floats

REPLICATES: Final = (
    8  # parts of a lattice, each a lattice of its own: their spread bounds the error of the whole
)
GENERATORS: Final = {
    128: 61,
    256: 43,
    512: 227,
    1024: 43,
    2048: 1289,
    4096: 2473,
    8192: 5499,
    16384: 7401,
    32768: 557,
    65536: 9929,
}
EDGE: Final = 1e-15  # no point lies on the faces of the cube


def lattice(dimensions: int, points: int, seed: int) -> Floats:
    """Points of one randomly shifted lattice, its REPLICATES parts each together: (dimensions, points).

    `points` is a power of two from 128 to 65,536. The parts are lattices shifted against each other, so that
    the whole is nearer to the integral than their spread says.

    >>> lattice(2, 256, seed=0).shape
    (2, 256)
    """
    steps = np.array([pow(GENERATORS[points], power, points) for power in range(dimensions)])[:, None]
    places = np.arange(points).reshape(-1, REPLICATES).T.ravel()
    shifts = np.random.default_rng([seed, points]).random((dimensions, 1))
    folded = np.abs(2 * ((steps * places / points + shifts) % 1) - 1)
    return np.clip(folded, EDGE, 1 - EDGE)
