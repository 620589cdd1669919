"""A column whose values have no order: shares with room for values never seen.

How many records have values never seen tells s₁/n; how rare these are tells the tail of the counts: where
values have a gamma law of intensity p^(r−1) e^(−λp), those with counts of 1 to 8 are as Γ(r + j)/j! θ^j,
θ = n/(n + λ), and the share of an unseen value, to one who has it, is Gamma(r + 1, n/θ). All (r, θ) of a grid
are weighed. Source: Good 1953 (mass of values never seen); Chao 1984 (how many there are, if they are alike);
Fisher, Corbet & Williams 1943 and Engen 1974 (the tail, r > −1).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.copula.marginals import given_marginal
from reid_sql.models.marginals.column import ALIKE, Column, Rarity
from reid_sql.models.numerics.scipy_functions import gammainc, gammaln
from reid_sql.parameters import Floats

NONE_ONCE: Final = 0.25  # records that values never seen stand for where no value was seen once alone
MOST_OF_ONE: Final = 0.5  # records that one value never seen stands for at most
LEAST_SEEN: Final = 0.5  # records that the values seen stand for at least
MOST_COUNTED: Final = 8  # records of a value of the tail
SHAPES: Final = np.concatenate([np.arange(-0.95, 0, 0.1), [0.05, 0.25, 0.5, 1, 2, 4, 8, 16]])  # r
THETAS: Final = np.exp(-np.array([0, 0.01, 0.03, 0.1, 0.3, 0.6, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9.0]))
LEAST_PART: Final = 1e-6  # of their mass that a class of unseen values has
EDGES: Final = 10.0 ** np.arange(-9, 1.1, 0.5)  # records that an unseen value would stand for
AS_MANY: Final = 1e9  # records of a census, which leaves hardly a value unseen


@dataclass(frozen=True)
class Unseen:
    """Values never seen: their mass, the share of one if they are alike, and how that scatters if not."""

    mass: float
    share: float
    rarity: Rarity


def unseen(counts: Floats) -> Unseen:
    """Tell mass and shares of values never seen from how many were seen how often.

    >>> few = unseen(np.array([60.0, 40.0]))
    >>> few.mass, few.share
    (0.0025, 0.0025)
    """
    records = float(counts.sum())
    often = np.clip(np.ceil(counts), 1, MOST_COUNTED + 1).astype(np.int64)
    tail = np.bincount(often, minlength=MOST_COUNTED + 2)[1 : MOST_COUNTED + 1].astype(np.float64)
    if not tail[0]:
        return Unseen(NONE_ONCE / records, NONE_ONCE / records, ALIKE)
    mass = min(float(tail[0]) / records, 1 - LEAST_SEEN / (records + 1))
    levels = _levels(tail)
    parts = np.diff(levels, prepend=0.0)
    parts[-1] += 1 - levels[-1]
    some = parts > LEAST_PART
    weight = parts[some] / parts[some].sum()
    shares = np.minimum(EDGES[some] / 10**0.25 / records, mass)
    values = max(1.0, tail[0] * (tail[0] - 1) / (2 * (tail[1] + 1)))
    share = min(mass / values, MOST_OF_ONE / records)
    return Unseen(mass, share, Rarity(weight, np.log(shares / share)))


def _levels(tail: Floats) -> Floats:
    """Distribution function at EDGES of the records that an unseen value stands for, to one who has it."""
    r, theta = SHAPES[:, None], THETAS[None, :]
    often = np.arange(1, MOST_COUNTED + 1)
    log = gammaln(r[..., None] + often) - gammaln(often + 1.0) + often * np.log(theta)[..., None]
    log -= np.log(np.exp(log - log.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True)) + log.max(
        axis=-1, keepdims=True
    )
    told = log @ tail
    weight = np.exp(told - told.max())
    weight /= weight.sum()
    return np.asarray(np.einsum("rt,rte->e", weight, gammainc(r[..., None] + 1, EDGES / theta[..., None])))


def nominal_column(
    name: str, values: Sequence[str | None], counts: Floats, most_bins: int, *, ordered: bool = False
) -> Column:
    """Share the records' mass out among the values; the rarest share a bin where there are too many.

    >>> nominal_column("sex", ["F", "M"], np.array([60.0, 40.0]), 8).mass.round(4).tolist()
    [0.5985, 0.399, 0.0025]
    """
    beyond = unseen(counts)
    seen = (1 - beyond.mass) * counts / counts.sum()
    bins = np.arange(len(seen) + 1)
    if len(bins) > most_bins:
        rank = np.argsort(np.argsort(-counts, kind="stable"))
        bins = np.append(np.minimum(rank, most_bins - 1), most_bins - 1)
    return Column(
        name,
        tuple(values),
        ordered,
        np.append(seen, beyond.mass),
        np.append(np.ones(len(seen)), beyond.mass / beyond.share),
        bins,
        None,
        np.maximum((1 - beyond.mass) * (counts - 1) / counts.sum(), beyond.share),
        rarity=beyond.rarity,
    )


def given_column(
    name: str, values: Sequence[str | None], told: Sequence[str | None], shares: Floats, most_bins: int
) -> Column:
    """Take the shares from outside, such as a census; refuses none for a value of the sample."""
    known = given_marginal(told, shares.tolist(), seen=values)
    share = dict(zip(known.values, known.shares.tolist(), strict=True))
    names = [*values, *(value for value in known.values if value not in set(values) and share[value] > 0)]
    counts = np.array([share[value] for value in names]) * AS_MANY
    return nominal_column(name, names, counts, most_bins)
