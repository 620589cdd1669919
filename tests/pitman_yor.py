"""Entropy and tail of a Pitman–Yor process of known parameters: the inverse of what the models compute."""

import numpy as np
import numpy.typing as npt

from reid_sql.models.numerics.special_functions import digamma_difference
from reid_sql.parameters import Floats


def entropy_and_tail(
    discount: npt.ArrayLike, concentration: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """Equation 2: h = ψ(1+α) − ψ(1−d), γ = (ψ(1) − ψ(1−d)) / h."""
    d, alpha = np.broadcast_arrays(
        np.asarray(discount, dtype=float), np.asarray(concentration, dtype=float)
    )
    entropy = digamma_difference(1 - d, alpha + d)
    return entropy, 0.0 - digamma_difference(1.0, -d) / entropy
