"""Where a function of one or more numbers is zero, or least: scipy's searches.

They are imported when the first search begins: `scipy.optimize` takes longer to import than all models
together, and most calls need none of it.
"""

from collections.abc import Callable
from typing import Any

from reid_sql.interruption import checkpoint
from reid_sql.parameters import Floats


def root(excess: Callable[[float], float], low: float, high: float, xtol: float = 2e-12) -> float:
    """Give the number between two ends of different signs at which the function is zero (Brent).

    >>> round(root(lambda x: x * x - 2, 0.0, 2.0), 9)
    1.414213562
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - the words above

    return float(brentq(_heeding(excess), low, high, xtol=xtol))


def least(loss: Callable[[float], float], low: float, high: float, xatol: float = 1e-5) -> float:
    """Give the number between two ends at which the function is least (Brent, bounded).

    >>> round(least(lambda x: (x - 1) ** 2, 0.0, 3.0), 4)
    1.0
    """
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 - the words above

    return float(
        minimize_scalar(_heeding(loss), bounds=(low, high), method="bounded", options={"xatol": xatol}).x
    )


def least_point(loss: Callable[[Floats], float], start: Floats) -> Floats:
    """Give the point near the start at which the function is least (Nelder & Mead).

    >>> import numpy as np
    >>> least_point(lambda point: float(((point - 1) ** 2).sum()), np.zeros(2)).round(4).tolist()
    [1.0, 1.0]
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - the words above

    ends = {"xatol": 1e-7, "fatol": 1e-9, "maxiter": 400}
    found: Floats = minimize(_heeding(loss), start, method="Nelder-Mead", options=ends).x
    return found


def _heeding(function: Callable[[Any], float]) -> Callable[[Any], float]:
    """The function with a checkpoint before each of its values."""

    def value(place: Any) -> float:  # noqa: ANN401 - a number, or an array of them
        checkpoint()
        return function(place)

    return value
