"""How much more often records repeat in a sample than its copula has them repeat.

A copula knows pairs of columns; where three or more go together, records repeat more often than it says, and
people seem too unique. The sample itself tells by how much. Cell probabilities are multiplied by that factor
a, so that ξ becomes ξ^a, the correction of Rocher, Hendrickx & de Montjoye 2019 (supplementary note 2, eq.
16), with a from the sample.
"""

from typing import Final

import numpy as np
from scipy.optimize import brentq

from reid_sql.domains import Floats
from reid_sql.models.classes.uniqueness import uniqueness_from_probability

FARTHEST: Final = 4.0  # of the logarithm of the factor
DOUBT: Final = 8.0  # records that repeat, at which the sample's word counts for half


def factor(cells: Floats, records: int, alone: int) -> float:
    """Factor under which as many of the sample's records are alone as were counted, taken towards 1 where few repeat.

    `cells` are cell probabilities of records drawn from the model, whose mean ξ is that of the model.

    >>> round(factor(np.full(100, 1e-4), records=1001, alone=820), 2)
    1.94
    """
    low, high = (_excess(cells, records, alone, at) for at in (-FARTHEST, FARTHEST))
    if low <= 0 or high >= 0:
        found = -FARTHEST if low <= 0 else FARTHEST
    else:
        found = float(brentq(lambda at: _excess(cells, records, alone, at), -FARTHEST, FARTHEST, xtol=1e-6))
    repeated = records - alone
    return float(np.exp(found * repeated / (repeated + DOUBT)))


def _excess(cells: Floats, records: int, alone: int, at: float) -> float:
    xi = uniqueness_from_probability(np.minimum(cells * np.exp(at), 1), records)
    return float(xi.mean()) - alone / records
