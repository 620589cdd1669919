"""The interval of each unpublished cell that an attacker computes from all equations together.

First the bounds that single equations give; then, for each part that equations connect, flows where they are
exact, else linear programmes. A bound of a linear programme is a bound of whole numbers too, rounded inwards;
it is exact if the solution is whole, or if an integer programme says so.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.interruption import checkpoint
from reid_sql.models.tables.equations import (
    REFUSAL_CONTRADICTION,
    ContradictionError,
    Equations,
    find_connected_variables,
    propagate_bounds,
)
from reid_sql.models.tables.programmes import PRIMAL_SIMPLEX, WHOLE, Programme, is_whole
from reid_sql.parameters import Floats, Integers

MAX_INTEGER_VARIABLES: Final = 300  # of a part up to which integer programmes prove its bounds


@dataclass(frozen=True)
class Bounds:
    """The smallest and largest value of each target; `is_exact` where whole numbers reach both."""

    low: Floats
    high: Floats
    is_exact: npt.NDArray[np.bool_]


def bound_variables(equations: Equations, targets: Integers | None = None) -> Bounds:
    """Compute the interval of each variable, or of the targets, over all whole tables that fit.

    Refuses equations that nothing fits.

    >>> one = np.array([1, 1])
    >>> pair = Equations(0 * one, np.array([0, 1]), one, np.array([3.0]), 0.0 * one, np.inf * one)
    >>> bound_variables(pair).high.tolist()
    [3.0, 3.0]
    """
    asked = np.arange(equations.variables) if targets is None else targets
    narrowed = propagate_bounds(equations)
    low, high = narrowed.low.copy(), narrowed.high.copy()
    is_exact = np.ones(equations.variables, dtype=bool)
    for part in find_connected_variables(narrowed):
        checkpoint()
        wanted = np.flatnonzero(np.isin(part, asked, assume_unique=True))
        found = _bound_part(narrowed.among(part), wanted)
        low[part[wanted]], high[part[wanted]], is_exact[part[wanted]] = (
            found.low,
            found.high,
            found.is_exact,
        )
    return Bounds(low[asked], high[asked], is_exact[asked])


def _bound_part(part: Equations, targets: Integers) -> Bounds:
    """Bound the targets of one part; a part without equations is bounded by its bounds alone."""
    if not len(part.right):
        return Bounds(part.low[targets], part.high[targets], np.ones(len(targets), dtype=bool))
    arcs = find_arcs(part)
    programmes = LinearProgrammes(part)
    fitting = programmes.find_fitting()
    is_small = np.where(np.isfinite(part.high), part.high, 0.0).max(initial=0.0) < MAX_FLOW
    if (
        arcs is not None
        and is_small
        and fitting.max() < MAX_FLOW
        and _fits(part, np.round(fitting))
    ):
        low, high = bound_by_flows(part, arcs, np.round(fitting), targets)
        return Bounds(low, high, np.ones(len(targets), dtype=bool))
    return _bound_by_programmes(programmes, targets, fitting)


def _fits(part: Equations, values: Floats) -> bool:
    sums = np.bincount(part.rows, part.signs * values[part.columns], len(part.right))
    return bool(((values >= part.low) & (values <= part.high)).all() and (sums == part.right).all())


class LinearProgrammes:
    """Linear programmes over one part: each begins at the solution of the one before."""

    def __init__(self, part: Equations) -> None:
        """Build the matrix once."""
        from scipy.sparse import coo_array  # noqa: PLC0415 - see numerics/special_functions

        shape = (len(part.right), part.variables)
        self.part = part
        self.matrix = coo_array(
            (part.signs.astype(float), (part.rows, part.columns)), shape=shape
        ).tocsc()
        self.programme = self._programme(np.zeros(part.variables))

    def _programme(self, objective: Floats, *, is_whole: bool = False) -> Programme:
        bounds, right = (self.part.low, self.part.high), (self.part.right, self.part.right)
        return Programme(
            self.matrix, bounds, right, objective, is_whole=is_whole, strategy=PRIMAL_SIMPLEX
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


def _bound_by_programmes(
    programmes: LinearProgrammes, targets: Integers, fitting: Floats
) -> Bounds:
    """Bound by linear programmes, which share what they find: a whole solution shows what every cell may be.

    A bound that some solution has reached needs no programme of its own.
    """
    part = programmes.part
    reached = [np.full(part.variables, np.inf), np.full(part.variables, -np.inf)]
    _reach(reached, fitting)
    for direction in (1.0, -1.0, 1.0, -1.0):  # of all open bounds at once
        is_open = np.isin(np.arange(part.variables), targets)
        is_open &= (reached[0] > part.low) if direction > 0 else (reached[1] < part.high)
        if (
            is_open.any()
            and (values := programmes.minimize(np.where(is_open, direction, 0.0))) is not None
        ):
            _reach(reached, values)
    low, high = part.low[targets].copy(), part.high[targets].copy()
    is_exact = np.ones(len(targets), dtype=bool)
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
        own = float(sign * (programmes.part.low if sign > 0 else programmes.part.high)[target])
        return own, bool(np.isinf(own))
    _reach(reached, values)
    bound = float(np.ceil(sign * values[target] - WHOLE))
    if sign * (reached[0] if sign > 0 else reached[1])[target] <= bound:
        return bound, True
    if programmes.part.variables <= MAX_INTEGER_VARIABLES:
        whole = programmes.minimize_whole(objective)
        if whole is not None:
            return whole, True
    return bound, False


# Bounds of cells by flows: exact for a two-way table, and for all equations of that kind.
#
# Where each variable is in at most two equations, and the equations can be multiplied by 1 or -1 so that
# it is in one of them with 1 and in the other with -1, the equations are those of a flow: an equation is
# a node, a variable an arc. Such a matrix is totally unimodular (Heller & Tompkins 1956), so the largest
# and the smallest value of every variable are whole and are reached by whole numbers. From one table that
# fits, a variable can be increased by as much as flows back from the end of its arc to the start through
# the other arcs, within their bounds (Ford & Fulkerson 1956): a maximum flow for each bound in place of a
# linear programme.


# of scipy's flows, which are 32-bit integers; as much counts as without bound
MAX_FLOW: Final = 2**30
PAIR: Final = 2  # equations that a variable of a flow is in


@dataclass(frozen=True)
class Arcs:
    """A variable moves its value from node `start` to node `end`; the last node is outside all equations."""

    start: Integers  # (variables,)
    end: Integers  # (variables,)
    nodes: int


def find_arcs(equations: Equations) -> Arcs | None:
    """Read the equations as a flow; None where they are none.

    Two equations that share a variable get the same factor where its signs in them differ, else opposite
    ones. If a factor is settled twice, it must be the same.

    >>> square = Equations(
    ...     np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.array([0, 1, 2, 3, 0, 2, 1, 3]), np.ones(8, dtype=int),
    ...     np.array([3.0, 4.0, 5.0, 2.0]), np.zeros(4), np.full(4, np.inf))
    >>> find_arcs(square).nodes
    5
    """
    counts = np.bincount(equations.columns, minlength=equations.variables)
    if counts.max(initial=0) > PAIR:
        return None
    order = np.argsort(equations.columns, kind="stable")
    first = order[np.searchsorted(equations.columns[order], np.flatnonzero(counts))]
    second = order[np.searchsorted(equations.columns[order], np.flatnonzero(counts == PAIR)) + 1]
    pairs = first[counts[np.flatnonzero(counts)] == PAIR]
    factors = _find_factors(equations, pairs, second)
    if factors is None:
        return None
    outside = len(equations.right)
    start, end = (np.full(equations.variables, outside) for _ in range(2))
    for term in np.concatenate([first, second]):
        sign = equations.signs[term] * factors[equations.rows[term]]
        (end if sign > 0 else start)[equations.columns[term]] = equations.rows[term]
    return Arcs(start, end, outside + 1)


def _find_factors(equations: Equations, one: Integers, other: Integers) -> Integers | None:
    """Give each equation 1 or -1; the terms `one` and `other` are those of a variable in two equations."""
    neighbours: dict[int, list[tuple[int, int]]] = {}
    for left, right in zip(one, other, strict=True):
        relation = -int(equations.signs[left] * equations.signs[right])
        a, b = int(equations.rows[left]), int(equations.rows[right])
        neighbours.setdefault(a, []).append((b, relation))
        neighbours.setdefault(b, []).append((a, relation))
    factors = np.zeros(len(equations.right), dtype=int)
    for root in range(len(factors)):
        if factors[root]:
            continue
        factors[root], waiting = 1, [root]
        while waiting:
            node = waiting.pop()
            for other_node, relation in neighbours.get(node, []):
                wanted = factors[node] * relation
                if not factors[other_node]:
                    factors[other_node] = wanted
                    waiting.append(other_node)
                elif factors[other_node] != wanted:
                    return None
    return factors


def bound_by_flows(
    equations: Equations, arcs: Arcs, fitting: Floats, targets: Integers
) -> tuple[Floats, Floats]:
    """The smallest and largest value of each target, from whole numbers that fit the equations."""
    up = np.minimum(equations.high - fitting, MAX_FLOW).astype(np.int64)
    down = np.minimum(fitting - equations.low, MAX_FLOW).astype(np.int64)
    capacity = np.zeros((arcs.nodes, arcs.nodes), dtype=np.int64)
    np.add.at(capacity, (arcs.start, arcs.end), up)
    np.add.at(capacity, (arcs.end, arcs.start), down)
    low, high = fitting[targets].copy(), fitting[targets].copy()
    for place, target in enumerate(targets):
        checkpoint()
        start, end = arcs.start[target], arcs.end[target]
        capacity[start, end] -= up[target]
        capacity[end, start] -= down[target]
        more = min(up[target], _flow(capacity, end, start)) if up[target] else 0
        less = min(down[target], _flow(capacity, start, end)) if down[target] else 0
        capacity[start, end] += up[target]
        capacity[end, start] += down[target]
        high[place] += more if more < MAX_FLOW else np.inf
        low[place] -= less
    return low, high


def _flow(capacity: Integers, source: int, sink: int) -> int:
    """The most that flows from the source to the sink, at most MAX_FLOW."""
    if source == sink:
        return MAX_FLOW
    from scipy.sparse import csr_array  # noqa: PLC0415 - see numerics/special_functions
    from scipy.sparse.csgraph import maximum_flow  # noqa: PLC0415

    limited = np.minimum(capacity, MAX_FLOW)
    nodes = len(limited)
    # one more node, from which MAX_FLOW comes
    grown = np.zeros((nodes + 1, nodes + 1), dtype=np.int32)
    grown[:nodes, :nodes] = limited
    grown[nodes, source] = MAX_FLOW
    return int(maximum_flow(csr_array(grown), nodes, sink).flow_value)
