"""ln Γ(x + a) − ln Γ(x), where subtracting two log-gammas would lose what matters.

Source: NIST Digital Library of Mathematical Functions, 5.5.1 (recurrence) and 5.11.1 (Stirling's series).
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.parameters import Floats

SHIFT: Final = 12  # Stirling's series below is exact to 1e-17 from here on
SERIES: Final = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)


def log_gamma_ratio(x: npt.ArrayLike, a: npt.ArrayLike) -> Floats:
    """Logarithm of Γ(x + a)/Γ(x), the rising factorial of a factors where a is whole.

    For x > 0 and x + a > 0, which are not checked; the two broadcast.

    >>> float(np.exp(log_gamma_ratio(3.0, 2.0)).round(12))  # 3 · 4
    12.0
    """
    x, a = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(a, dtype=np.float64))
    low = np.zeros(x.shape)
    for step in range(SHIFT):  # Γ(x + 1) = x Γ(x)
        low = low + np.log1p(a / (x + step))
    near = x + SHIFT
    far = near + a
    stirling = (near - 0.5) * np.log1p(a / near) + a * np.log(far) - a
    return np.asarray(stirling + _series(far) - _series(near) - low)


def _series(z: Floats) -> Floats:
    total = np.zeros(z.shape)
    for coefficient in reversed(SERIES):
        total = total / z**2 + coefficient
    return total / z
