"""Bounds of cells by flows: exact for a two-way table, and for all equations of that kind.

Where each variable is in at most two equations, and the equations can be multiplied by 1 or -1 so that it is
in one of them with 1 and in the other with -1, the equations are those of a flow: an equation is a node, a
variable an arc. Such a matrix is totally unimodular (Heller & Tompkins 1956), so the largest and the smallest
value of every variable are whole and are reached by whole numbers. From one table that fits, a variable can
be increased by as much as flows back from the end of its arc to the start through the other arcs, within
their bounds (Ford & Fulkerson 1956): a maximum flow for each bound in place of a linear programme.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.tables.equations import Equations
from reid_sql.parameters import Floats, Integers

MAX_FLOW: Final = 2**30  # of scipy's flows, which are 32-bit integers; as much counts as without bound
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
    from scipy.sparse import csr_array  # noqa: PLC0415 - as numerics/scipy_functions says
    from scipy.sparse.csgraph import maximum_flow  # noqa: PLC0415

    limited = np.minimum(capacity, MAX_FLOW)
    nodes = len(limited)
    grown = np.zeros((nodes + 1, nodes + 1), dtype=np.int32)  # one more node, from which MAX_FLOW comes
    grown[:nodes, :nodes] = limited
    grown[nodes, source] = MAX_FLOW
    return int(maximum_flow(csr_array(grown), nodes, sink).flow_value)
