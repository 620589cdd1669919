"""The interval of each unpublished cell that an attacker computes from all equations together.

First the bounds that single equations give; then linear programmes for each part that equations connect. A
bound of a linear programme is a bound of whole numbers too, rounded inwards; it is exact if the solution is
whole, or if an integer programme says so. In a table of two columns every solution at a corner is whole: its
equations are those of a flow (Heller & Tompkins 1956).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.interruption import checkpoint
from reid_sql.models.tables.equations import (
    REFUSAL_CONTRADICTION,
    ContradictionError,
    Equations,
    find_connected_variables,
    propagate_bounds,
)
from reid_sql.models.tables.programmes import PRIMAL_SIMPLEX, WHOLE, Programme, is_whole
from reid_sql.parameters import Flags, Floats, Integers

MAX_INTEGER_VARIABLES: Final = 300  # of a part up to which integer programmes prove its bounds


@dataclass(frozen=True)
class Bounds:
    """The smallest and largest value of each target; `is_exact` where whole numbers reach both."""

    low: Floats
    high: Floats
    is_exact: Flags


def bound_variables(equations: Equations, targets: Integers | None = None) -> Bounds:
    """Compute the interval of each variable, or of the targets, over all whole tables that fit.

    Refuses equations that nothing fits.

    >>> one = np.array([1, 1])
    >>> pair = Equations(0 * one, np.array([0, 1]), one, np.array([3.0]), 0.0 * one, np.inf * one)
    >>> bound_variables(pair).high.tolist()
    [3.0, 3.0]
    """
    chosen = np.arange(equations.variables) if targets is None else targets
    narrowed = propagate_bounds(equations)
    low, high = narrowed.low.copy(), narrowed.high.copy()
    is_exact = np.ones(equations.variables, dtype=bool)
    for part in find_connected_variables(narrowed):
        checkpoint()
        wanted = np.flatnonzero(np.isin(part, chosen, assume_unique=True))
        bounds = _bound_part(narrowed.among(part), wanted)
        variables = part[wanted]
        low[variables], high[variables] = bounds.low, bounds.high
        is_exact[variables] = bounds.is_exact
    return Bounds(low[chosen], high[chosen], is_exact[chosen])


class LinearProgrammes:
    """Linear programmes over one part: each begins at the solution of the one before."""

    def __init__(self, part: Equations) -> None:
        """Build the matrix once."""
        self.part, self.matrix = part, part.matrix()
        self.programme = self._programme(np.zeros(part.variables))

    def _programme(self, objective: Floats, *, is_whole: bool = False) -> Programme:
        bounds, right = (self.part.low, self.part.high), (self.part.right, self.part.right)
        return Programme(
            self.matrix, bounds, right, objective, whole=is_whole, strategy=PRIMAL_SIMPLEX
        )

    def minimize(self, objective: Floats) -> Floats | None:
        """The values that fit with the least objective; None where it has no least."""
        self.programme.cost_columns(np.arange(self.part.variables), objective)
        values = self.programme.solve()
        if values is None and self.programme.is_infeasible():
            raise ContradictionError(REFUSAL_CONTRADICTION)
        return values

    def find_fitting(self) -> Floats:
        """Any values that fit."""
        values = self.minimize(np.zeros(self.part.variables))
        return self.part.low if values is None else values

    def minimize_whole(self, objective: Floats) -> float | None:
        """The least objective of whole numbers that fit; None where the search is cut off before a proof."""
        values = self._programme(objective, is_whole=True).solve()
        return None if values is None else float(np.round(objective @ values))


def _bound_part(part: Equations, targets: Integers) -> Bounds:
    """Bound the targets of one part by linear programmes; a part without equations needs none.

    They share what they find: a whole solution shows what every cell may be, and a bound that some solution
    has reached needs no programme of its own.
    """
    low, high, is_exact = part.low[targets], part.high[targets], np.ones(len(targets), dtype=bool)
    if not len(part.right):
        return Bounds(low, high, is_exact)
    programmes = LinearProgrammes(part)
    reached = [np.full(part.variables, np.inf), np.full(part.variables, -np.inf)]
    _reach(reached, programmes.find_fitting())
    for direction in (1.0, -1.0, 1.0, -1.0):  # of all open bounds at once
        is_open = np.isin(np.arange(part.variables), targets)
        is_open &= (reached[0] > part.low) if direction > 0 else (reached[1] < part.high)
        if (
            is_open.any()
            and (values := programmes.minimize(np.where(is_open, direction, 0.0))) is not None
        ):
            _reach(reached, values)
    for place, target in enumerate(targets):
        if reached[0][target] > part.low[target]:
            low[place], is_low = _least(programmes, target, 1.0, reached)
            is_exact[place] &= is_low
        if reached[1][target] < part.high[target]:
            negative, is_high = _least(programmes, target, -1.0, reached)
            high[place] = -negative
            is_exact[place] &= is_high
    return Bounds(low, high, is_exact)


def _reach(reached: list[Floats], values: Floats) -> None:
    """Note what whole values show that each variable may be."""
    if is_whole(values):
        np.minimum(reached[0], np.round(values), out=reached[0])
        np.maximum(reached[1], np.round(values), out=reached[1])


def _least(
    programmes: LinearProgrammes, target: int, sign: float, reached: list[Floats]
) -> tuple[float, bool]:
    """The least of sign x target among whole numbers, and whether they reach it."""
    objective = np.zeros(programmes.part.variables)
    objective[target] = sign
    values = programmes.minimize(objective)
    if values is None:  # no least, or none that HiGHS finds: the bound of single equations
        end = float(sign * (programmes.part.low if sign > 0 else programmes.part.high)[target])
        return end, bool(np.isinf(end))
    _reach(reached, values)
    bound = float(np.ceil(sign * values[target] - WHOLE))
    if sign * (reached[0] if sign > 0 else reached[1])[target] <= bound:
        return bound, True
    if programmes.part.variables <= MAX_INTEGER_VARIABLES:
        whole = programmes.minimize_whole(objective)
        if whole is not None:
            return whole, True
    return bound, False
