"""The law nearest to a given one that meets measured averages, each as closely as it was measured."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.parameters import Floats

STEPS: Final = 200
SETTLED: Final = 1e-9
NEARLY: Final = 1e-6  # of the measured averages: what an unsettled search may leave
LARGEST: Final = 50.0  # |ln| of the factor by which a point of the lattice may be tilted
ENOUGH: Final = 1e-4  # of the fall that the slope promises (Armijo)
SHORTEST: Final = 1e-7


@dataclass(frozen=True)
class Tilted:
    """A law on a lattice, the multiplier of each measured average, and whether their search settled."""

    mass: Floats  # (lattice,)
    multipliers: Floats  # (measured,)
    settled: bool
    scaled: Floats  # (measured, lattice): what each average is made of, over the measured
    errors: Floats  # (measured,), relative

    @property
    def misfit(self) -> float:
        """Root mean square of the law's misses of measured averages, in standard errors: errors · λ."""
        return float(np.sqrt(np.mean((self.errors * self.multipliers) ** 2)))

    def influence(self, weights: Floats) -> Floats:
        """Give the change of the average of `weights` (…, lattice) with each measured average: (…, measured).

        By the implicit function theorem at the minimum of the dual, per relative change of the measured.
        """
        curvature = (self.scaled * self.mass) @ self.scaled.T + np.diag(self.errors**2)
        return np.asarray(_solved(curvature, self.scaled @ (self.mass * weights).T).T)


def tilt(base: Floats, kernel: Floats, measured: Floats, errors: Floats) -> Tilted:
    """Minimise KL(m‖base) + Σ (K m / measured − 1)² / 2 errors² over laws m.

    `kernel` is (measured, lattice), `errors` are relative. The minimum is m = base · exp(Aᵀλ), A = kernel /
    measured, where λ minimises the dual Σ m − Σ λ + Σ errors² λ² / 2: as many unknowns as there are measured
    averages, convex, found by Newton's method with halved steps.

    >>> found = tilt(np.full(3, 1 / 3), np.array([[1.0, 2.0, 3.0]]), np.array([2.5]), np.array([1e-6]))
    >>> float((found.mass @ [1.0, 2.0, 3.0]).round(4)), found.settled
    (2.5, True)
    """
    scaled, variance = kernel / measured[:, None], errors**2

    def law(place: Floats) -> Floats:
        return np.asarray(base * np.exp(np.clip(scaled.T @ place, -LARGEST, LARGEST)))

    def dual(place: Floats) -> float:
        return float(law(place).sum() - place.sum() + variance @ place**2 / 2)

    place, mass = np.zeros(measured.size), base
    slope = scaled @ mass - 1
    for _ in range(STEPS):
        checkpoint()
        if np.abs(slope).max() < SETTLED:
            break
        curvature = (scaled * mass) @ scaled.T + np.diag(variance)
        step = _solved(curvature, -slope)
        length, here, fall = 1.0, dual(place), ENOUGH * float(slope @ step)
        while length > SHORTEST and dual(place + length * step) > here + length * fall:
            length /= 2
        place = place + length * step
        mass = law(place)
        slope = scaled @ mass - 1 + variance * place
    return Tilted(mass, place, bool(np.abs(slope).max() < NEARLY), scaled, errors)


def _solved(curvature: Floats, right: Floats) -> Floats:
    """Solve for the least step: with no law near the points the curvature is singular to rounding."""
    scale = np.sqrt(np.diag(curvature))
    found = np.linalg.lstsq(curvature / np.outer(scale, scale), (right.T / scale).T, rcond=None)[0]
    return np.asarray((found.T / scale).T)
