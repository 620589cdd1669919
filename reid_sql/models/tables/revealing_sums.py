"""The sum of published cells that reveals a hidden one: the shortest proof of its bound.

By the duality of linear programmes (von Neumann 1947), x_j <= u follows from equations A x = b and bounds
l <= x <= h exactly if there are factors y of the equations and p, q >= 0 of the bounds with
A^T y + p - q = e_j and b.y + h.p - l.q <= u. The factors with the least sum are a short proof; b.y is a sum
of published cells, and where p = q = 0 it is the count itself.
"""

from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.tables.equations import Equations, LinkedCells, Rest
from reid_sql.models.tables.published_tables import NULL, Key
from reid_sql.parameters import Floats, Integers

MAX_TERMS: Final = 12  # of a sum that is shown
TOLERANCE: Final = 1e-6
WEIGHT_OF_BOUNDS: Final = 1.01  # just above that of an equation: a proof by equations alone comes first


def find_sum(linked: LinkedCells, equations: Equations, part: Integers, variable: int, high: float) -> str:
    """Describe the published cells that show that a variable is at most `high`.

    `part` are the variables that equations connect with it. A count that is only a bound is marked by "at
    most": the other hidden counts are then at least their lower bounds.
    """
    factors, is_identity = _find_factors(equations, part, variable, high)
    if factors is None:
        return ""
    coefficients: dict[Key, float] = {}
    for equation in np.flatnonzero(np.abs(factors) > TOLERANCE):
        for key, sign in linked.constants[equation]:
            coefficients[key] = coefficients.get(key, 0.0) - sign * float(factors[equation])
    terms = [
        f"{'+' if value > 0 else '-'} {_times(value)}[{describe(linked, key)}]"
        for key, value in sorted(coefficients.items(), key=lambda each: (-each[1], repr(each[0])))
        if abs(value) > TOLERANCE
    ]
    more = f" and {len(terms) - MAX_TERMS} more cells" if len(terms) > MAX_TERMS else ""
    text = " ".join(terms[:MAX_TERMS]).removeprefix("+ ") + more
    return text if is_identity else f"at most {text}, as all hidden counts are within their bounds"


def _times(value: float) -> str:
    size = abs(value)
    return "" if abs(size - 1) < TOLERANCE else f"{size:.3g} x "


def _find_factors(
    equations: Equations, part: Integers, variable: int, high: float
) -> tuple[Floats | None, bool]:
    """The factors of all equations, zero outside the part, and whether bounds are not needed."""
    from scipy.optimize import linprog  # noqa: PLC0415 - as numerics/scipy_functions says
    from scipy.sparse import coo_array, eye_array, hstack  # noqa: PLC0415

    checkpoint()
    number = np.full(equations.variables, -1)
    number[part] = np.arange(len(part))
    inside = number[equations.columns] >= 0
    used, rows = np.unique(equations.rows[inside], return_inverse=True)
    shape = (len(part), len(used))
    transposed = coo_array(
        (equations.signs[inside].astype(float), (number[equations.columns[inside]], rows)), shape=shape
    )
    identity = eye_array(len(part))
    low, top, right = equations.low[part], equations.high[part], equations.right[used]
    cost = np.concatenate([right, -right, np.where(np.isfinite(top), top, 0.0), -low])
    upper = np.concatenate([np.full(2 * len(used), np.inf), np.where(np.isfinite(top), np.inf, 0.0)])
    solved = linprog(
        np.concatenate([np.ones(2 * len(used)), np.full(2 * len(part), WEIGHT_OF_BOUNDS)]),
        A_eq=hstack([transposed, -transposed, identity, -identity]).tocsr(),
        b_eq=(part == variable).astype(float),
        A_ub=cost[None, :],
        b_ub=[high + 1 - TOLERANCE * 10],  # whole numbers: below high + 1 is at most high
        bounds=np.stack([np.zeros(len(cost)), np.concatenate([upper, np.full(len(part), np.inf)])], axis=1),
        method="highs",
    )
    if solved.x is None:  # a bound that only whole numbers have, which no factors prove
        return None, False
    factors = np.zeros(len(equations.right))
    factors[used] = solved.x[: len(used)] - solved.x[len(used) : 2 * len(used)]
    return factors, bool((solved.x[2 * len(used) :] < TOLERANCE).all())


def describe(linked: LinkedCells, cell: Key | Rest) -> str:
    """The cell by its categories; a total is named by the columns that it is not a total of."""
    if isinstance(cell, Rest):
        columns = len(linked.columns)
        steps = [place - columns + 2 for place in cell.over if place >= columns]
        if steps:
            return f"{_words(linked, cell.total)}, in table {min(steps) - 1} and not in table {min(steps)}"
        over = ", ".join(linked.columns[place] for place in sorted(cell.over))
        return f"{_words(linked, cell.total)}, {over} not listed"
    step = 1 + sum(category is not None for category in cell[len(linked.columns) :])
    return _words(linked, cell) + (f", in table {step}" if step > 1 else "")


def _words(linked: LinkedCells, key: Key) -> str:
    named = zip(linked.columns, key, strict=False)
    listed = [f"{name} = {shown(category)}" for name, category in named if category is not None]
    return ", ".join(listed) or "total"


def shown(category: str) -> str:
    """The category as it is shown."""
    return "NULL" if category == NULL else category
