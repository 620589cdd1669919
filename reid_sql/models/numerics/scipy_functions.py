"""scipy's special functions and searches, imported at the first call.

`scipy.special` takes a tenth of a second to import, `scipy.optimize` longer than all models together, and
most calls need neither.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from reid_sql.interruption import checkpoint
from reid_sql.parameters import Floats

Special = Callable[..., Any]


@cache
def _import_function(name: str) -> Special:
    from scipy import special  # noqa: PLC0415 - as the module says

    return getattr(special, name)  # type: ignore[no-any-return]


def _lazy(name: str) -> Special:
    """Give a function that imports scipy's function of this name at the first call.

    >>> round(float(_lazy("expit")(0.0)), 3)
    0.5
    """

    def call(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - those of scipy's function
        return _import_function(name)(*arguments, **options)

    call.__name__ = name
    return call


betainc: Final = _lazy("betainc")
betaincc: Final = _lazy("betaincc")
betaincinv: Final = _lazy("betaincinv")
digamma: Final = _lazy("digamma")
expit: Final = _lazy("expit")
gammainc: Final = _lazy("gammainc")
gammaincinv: Final = _lazy("gammaincinv")
gammaln: Final = _lazy("gammaln")
log_expit: Final = _lazy("log_expit")
logit: Final = _lazy("logit")
ndtr: Final = _lazy("ndtr")
ndtri: Final = _lazy("ndtri")
psi: Final = _lazy("psi")
xlogy: Final = _lazy("xlogy")
zeta: Final = _lazy("zeta")


def find_root(excess: Callable[[float], float], low: float, high: float, xtol: float = 2e-12) -> float:
    """Find where the function is zero, between two ends at which its signs differ (Brent).

    >>> round(find_root(lambda x: x * x - 2, 0.0, 2.0), 9)
    1.414213562
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - as the module says

    return float(brentq(_with_checkpoints(excess), low, high, xtol=xtol))


def minimize(loss: Callable[[float], float], low: float, high: float, xatol: float = 1e-5) -> float:
    """Find where the function is least between two ends (Brent, bounded).

    >>> round(minimize(lambda x: (x - 1) ** 2, 0.0, 3.0), 4)
    1.0
    """
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 - as the module says

    return float(
        minimize_scalar(
            _with_checkpoints(loss), bounds=(low, high), method="bounded", options={"xatol": xatol}
        ).x
    )


def minimize_point(loss: Callable[[Floats], float], start: Floats) -> Floats:
    """Find the point near the start at which the function is least (Nelder & Mead).

    >>> import numpy as np
    >>> minimize_point(lambda point: float(((point - 1) ** 2).sum()), np.zeros(2)).round(4).tolist()
    [1.0, 1.0]
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - as the module says

    ends = {"xatol": 1e-7, "fatol": 1e-9, "maxiter": 400}
    point: Floats = minimize(_with_checkpoints(loss), start, method="Nelder-Mead", options=ends).x
    return point


def _with_checkpoints(function: Callable[[Any], float]) -> Callable[[Any], float]:
    """Make the function interruptible: a checkpoint comes before each of its values."""

    def value(place: Any) -> float:  # noqa: ANN401 - a number, or an array of them
        checkpoint()
        return function(place)

    return value
