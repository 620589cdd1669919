"""The four curves from their fitted parameters alone.

At the full size itself `extrapolate` answers no more than what was measured there; how well a curve fits
shows without that.
"""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from reid_sql.models.classes.uniqueness import correctness_from_probability
from reid_sql.models.pyc import pitman_yor

Parameters = Mapping[str, float]


def fitted(method: str, parameters: Parameters, size: int) -> float:
    """Correctness at this size by the fitted curve, kept within 0 and 1."""
    return float(np.clip(CURVES[method](parameters, size), 0, 1))


def _pyc(at: Parameters, size: int) -> float:
    return float(pitman_yor.correctness(at["entropy"], at["tail"], size))


def _ent(at: Parameters, size: int) -> float:
    return float(correctness_from_probability(np.exp(-at["entropy"]), size))


def _exp(at: Parameters, size: int) -> float:
    return at["floor"] + (1 - at["floor"]) * float(np.exp(-at["rate"] * (size - 1)))


def _pol(at: Parameters, size: int) -> float:
    return 1 - at["linear"] * float(np.log(size)) - at["quadratic"] * float(np.log(size)) ** 2


CURVES: Final[dict[str, Callable[[Parameters, int], float]]] = {
    "pyc": _pyc,
    "ent": _ent,
    "exp": _exp,
    "pol": _pol,
}
