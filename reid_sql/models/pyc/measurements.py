"""Shares measured in galleries of some sizes, and how closely they are known."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import COUNT, Floats, Number, plain

MEASURED: Final = Number(
    "a share of right matches above 0 and at most 1",
    "pass measured shares such as 0.8, and leave out sizes at which no match was right",
    float(np.nextafter(0.0, 1.0)),
    1.0,
)
STANDARD_ERROR: Final = Number(
    "a standard error of at least 0 and at most 1",
    "pass how far a measured share may be off, such as 0.01, or 0 for one that is exact",
    0.0,
    1.0,
)
LEAST_SIZES: Final = 2  # t ≥ 2 in the paper
EXACT: Final = 1e-5  # relative error of a share that is as good as exact
AS_GOOD_AS_EXACT: Final = 1e-4
DECIMALS: Final = 4  # a share of so few decimals was rounded


@dataclass(frozen=True)
class Measurements:
    """Mean share at distinct ascending sizes above 1, the weights of equation 4, and standard errors."""

    sizes: Floats  # (sizes,)
    shares: Floats  # (sizes,)
    weights: Floats  # (sizes,)
    errors: Floats  # (sizes,)
    told: bool = True  # whether the caller said the errors

    @property
    def relative(self) -> Floats:
        """Standard errors as shares of the measured, never below what passes for exact."""
        return np.asarray(np.maximum(self.errors / self.shares, EXACT))

    @property
    def exact(self) -> bool:
        """Whether every share is as good as exact."""
        return bool(self.relative.max() <= AS_GOOD_AS_EXACT)

    @property
    def falls(self) -> bool:
        """Whether the weighted line through the shares over ln n falls; exact if points are all alike."""
        rise, run = self.shares - self.shares[0], np.log(self.sizes / self.sizes[0])
        return bool(self.weights @ (rise * (run - np.average(run, weights=self.weights))) < 0)

    @property
    def rises_somewhere(self) -> bool:
        """Whether a larger gallery was measured with a larger share, which only noise can do."""
        return bool((np.diff(self.shares) > 0).any())


def measurements(
    sizes: npt.ArrayLike, shares: npt.ArrayLike, standard_errors: npt.ArrayLike | None = None
) -> Measurements:
    """Check and order the points; a size measured more than once counts as its mean with the weight of all.

    Without standard errors a share is as exact as it is written: 0.98 and 0.85 are known to half a hundredth.

    >>> points = measurements([100, 10, 1], [0.85, 0.98, 1])
    >>> points.sizes.tolist(), points.errors.round(4).tolist()
    ([10.0, 100.0], [0.0029, 0.0029])
    """
    n, kappa = COUNT.check("sizes", sizes).ravel(), MEASURED.check("correctness", shares).ravel()
    if n.size != kappa.size:
        got = f"got {n.size} sizes and {kappa.size} shares"
        raise OutOfDomainError(f"sizes and correctness must be as many, {got}; pass one share a size")
    errors = _errors(kappa, standard_errors)
    distinct, place, times = np.unique(n, return_inverse=True, return_counts=True)
    mean = np.bincount(place, kappa, distinct.size) / times
    spread = np.sqrt(np.bincount(place, errors**2, distinct.size)) / times
    above = distinct > 1  # among one person every match is right: size 1 has weight ln 1 = 0 in equation 4
    if above.sum() < LEAST_SIZES:
        got = ", ".join(plain(size) for size in distinct) or "none"
        raise OutOfDomainError(
            f"sizes must hold at least two distinct sizes above 1, got {got}; measure at a further size"
        )
    weights = np.asarray(times * np.log(distinct), dtype=np.float64)
    return Measurements(
        distinct[above], mean[above], weights[above], spread[above], told=standard_errors is not None
    )


def _errors(shares: Floats, told: npt.ArrayLike | None) -> Floats:
    if told is None:
        return np.full(shares.size, _rounding(shares))
    errors = STANDARD_ERROR.check("standard_errors", told).ravel()
    if errors.size not in (1, shares.size):
        got = f"got {errors.size} for {shares.size} shares"
        raise OutOfDomainError(
            f"standard_errors must be one, or one a share, {got}; pass [0.01] for all alike"
        )
    return np.asarray(np.broadcast_to(errors, shares.shape), dtype=np.float64)


def _rounding(shares: Floats) -> float:
    """Standard error of shares rounded to the decimals that all fit in; 0 where they have many."""
    for decimals in range(1, DECIMALS + 1):
        if (np.round(shares, decimals) == shares).all():
            return float(10.0**-decimals / np.sqrt(12))
    return 0.0
