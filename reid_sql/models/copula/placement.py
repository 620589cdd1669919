"""Where each value of a column lies on the latent normal scale.

Ordered columns have one place for each value. Nominal columns have no order: at every quasi-random point the
values lie in another random order, so that the integral over the points averages over orders (Rocher,
Hendrickx & de Montjoye 2019, "randomize their order").
"""

from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.copula.marginals import Marginal
from reid_sql.models.numerics.rectangle import MAX_SIGMAS
from reid_sql.models.numerics.scipy_functions import ndtri
from reid_sql.parameters import Floats

MANY: Final = 300  # values: beyond, each lies anywhere, whatever the others do
GOLDEN: Final = (5**0.5 - 1) / 2

Ends = tuple[Floats, Floats]


def ends(marginal: Marginal, codes: Integers, points: int, seed: list[int]) -> Ends:
    """Latent lower and upper ends of the codes' intervals: (codes, points), or (codes, 1) if ordered.

    A code beyond the values is a value never seen: the first of them stands for any in a nominal column; in
    an ordered one they are the gaps before the first value, between the first two, and so on.
    """
    if marginal.ordered:
        return _latent(*_ordered(marginal, codes))
    rng = np.random.default_rng([*seed, points])
    shares = np.append(marginal.shares, marginal.unseen)[codes][:, None]
    if len(marginal.values) > MANY:
        start = (codes[:, None] * GOLDEN + rng.random(points)) % 1 * (1 - shares)
    else:
        start = np.empty((len(codes), points))
        seen = codes < len(marginal.values)
        start[seen] = shuffled(marginal.shares, points, rng)[codes[seen]]
        start[~seen] = rng.random(points) * (1 - shares[~seen])
    return _latent(start, start + shares)


def shuffled(shares: Floats, points: int, rng: np.random.Generator) -> Floats:
    """What comes before each value where the values are put in a random order: (values, points)."""
    order = np.argsort(rng.random((len(shares), points)), axis=0)
    sorted_shares = shares[order]
    before = np.empty_like(sorted_shares)
    np.put_along_axis(before, order, np.cumsum(sorted_shares, axis=0) - sorted_shares, axis=0)
    return before


def _ordered(marginal: Marginal, codes: Integers) -> Ends:
    count = len(marginal.values)
    bounds = np.append(0.0, np.cumsum(marginal.shares))
    gaps = bounds - marginal.unseen / 2
    start = np.concatenate([bounds[:-1], gaps])[codes]
    width = np.where(codes < count, np.append(marginal.shares, 0)[np.minimum(codes, count)], marginal.unseen)
    return start[:, None], (start + width)[:, None]


def _latent(start: Floats, stop: Floats) -> Ends:
    return ndtri(start.clip(0, 1)).clip(-MAX_SIGMAS, MAX_SIGMAS), ndtri(stop.clip(0, 1)).clip(
        -MAX_SIGMAS, MAX_SIGMAS
    )
