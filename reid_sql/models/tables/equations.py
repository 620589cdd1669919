"""Equations between the cells of published tables, and the bounds that follow from each equation alone.

Every equation is a total less its parts: its coefficients are 1 and -1. A published cell is a constant, a
cell that is not published is a variable, a whole number between two bounds.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.interruption import checkpoint
from reid_sql.parameters import Floats, Integers

MAX_ROUNDS: Final = 200  # of bounds from bounds, which may approach a limit in ever smaller steps
REFUSAL_CONTRADICTION: Final = (
    "tables must be of counts that some table of people has, got totals that no such table has; check that "
    "they count the same people unrounded, or pass lowest := 0"
)


class ContradictionError(OutOfDomainError):
    """The published figures contradict each other."""


@dataclass(frozen=True)
class Equations:
    """Sums of variables that are known: for each equation i, the sum of sign x variable is right[i].

    `low` and `high` are the bounds of the variables, `high` infinite where there is none.
    """

    rows: Integers  # (terms,): the equation of each term
    columns: Integers  # (terms,): its variable
    signs: Integers  # (terms,): 1 or -1
    right: Floats  # (equations,)
    low: Floats  # (variables,)
    high: Floats  # (variables,)

    @property
    def variables(self) -> int:
        """How many variables there are."""
        return len(self.low)

    def with_bounds(self, low: Floats, high: Floats) -> "Equations":
        """The same equations with other bounds."""
        return replace(self, low=low, high=high)

    def among(self, chosen: Integers) -> "Equations":
        """The equations of some variables; all others must be known, as low equals high, and go to the right.

        Equations without any of the variables are left out.
        """
        number = np.full(self.variables, -1)
        number[chosen] = np.arange(len(chosen))
        is_chosen = number[self.columns] >= 0
        used, rows = np.unique(self.rows[is_chosen], return_inverse=True)
        known = np.zeros(len(self.right))
        fixed = ~is_chosen & (self.low == self.high)[self.columns]
        np.add.at(known, self.rows[fixed], (self.signs * self.low[self.columns])[fixed])
        return Equations(
            rows,
            number[self.columns[is_chosen]],
            self.signs[is_chosen],
            (self.right - known)[used],
            self.low[chosen],
            self.high[chosen],
        )


def propagate_bounds(equations: Equations) -> Equations:
    """Narrow the bounds of each variable by those of the others in each equation, until nothing changes.

    In an equation, x = right - rest for the sign 1, so x lies between right - max(rest) and
    right - min(rest). With signs of 1 and -1 and whole numbers, the bounds stay whole. Refuses equations
    that no variables within the bounds solve, where this shows it.

    >>> one, none = np.array([1, 1]), np.array([0.0, 0.0])
    >>> pair = Equations(0 * one, np.array([0, 1]), one, np.array([3.0]), none, np.array([2.0, np.inf]))
    >>> bounded = propagate_bounds(pair)
    >>> bounded.low.tolist(), bounded.high.tolist()
    ([0.0, 1.0], [2.0, 3.0])
    """
    low, high = equations.low.copy(), equations.high.copy()
    for _ in range(MAX_ROUNDS):
        checkpoint()
        before = low.copy(), high.copy()
        _narrow(equations, low, high)
        if (low > high).any():
            raise ContradictionError(REFUSAL_CONTRADICTION)
        if np.array_equal(before[0], low) and np.array_equal(before[1], high):
            break
    _refuse_unequal_sums(equations, low, high)
    return equations.with_bounds(low, high)


def _narrow(equations: Equations, low: Floats, high: Floats) -> None:
    """Narrow all bounds once, in place."""
    rows, columns, is_added = equations.rows, equations.columns, equations.signs > 0
    smallest = np.where(is_added, low[columns], -high[columns])  # (terms,)
    largest = np.where(is_added, high[columns], -low[columns])
    least = equations.right[rows] - _rest(rows, largest, len(equations.right))  # of sign x variable
    most = equations.right[rows] - _rest(rows, smallest, len(equations.right))
    np.maximum.at(low, columns, np.where(is_added, least, -most))
    np.minimum.at(high, columns, np.where(is_added, most, -least))


def _rest(rows: Integers, terms: Floats, equations: int) -> Floats:
    """Sum the other terms of the equation of each term, any of which may be infinite."""
    is_finite = np.isfinite(terms)
    finite = np.where(is_finite, terms, 0.0)
    sums = np.bincount(rows, finite, equations)[rows] - finite
    others = np.bincount(rows, ~is_finite, equations)[rows] - ~is_finite
    infinite = terms[~is_finite][0] if not is_finite.all() else 0.0
    return np.where(others > 0, infinite, sums)


def _refuse_unequal_sums(equations: Equations, low: Floats, high: Floats) -> None:
    """Refuse equations whose terms are all known and add up to something else."""
    known = low == high
    unknown = np.bincount(equations.rows, ~known[equations.columns], len(equations.right))
    terms = np.where(known[equations.columns], equations.signs * low[equations.columns], 0.0)
    sums = np.bincount(equations.rows, terms, len(equations.right))
    if ((unknown == 0) & (sums != equations.right)).any():
        raise ContradictionError(REFUSAL_CONTRADICTION)


def connected_variables(equations: Equations) -> list[Integers]:
    """The variables that are not known yet, in parts that no equation connects."""
    from scipy.sparse import coo_array  # noqa: PLC0415 - as numerics/scipy_functions says
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    unknown = np.flatnonzero(equations.low < equations.high)
    open_ones = equations.among(unknown)
    size = len(unknown) + len(open_ones.right)
    ends = (open_ones.columns, len(unknown) + open_ones.rows)
    links = coo_array((np.ones(len(open_ones.rows)), ends), shape=(size, size))
    _, parts = connected_components(links, directed=False)
    labels = parts[: len(unknown)]
    order = np.argsort(labels, kind="stable")
    cuts = np.flatnonzero(np.diff(labels[order])) + 1
    return np.split(unknown[order], cuts) if len(unknown) else []
