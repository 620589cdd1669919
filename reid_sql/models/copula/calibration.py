"""How much more often records repeat in a sample than its copula has them repeat.

A copula knows pairs of columns; where three or more go together, records repeat more often than it says, and
people seem too unique. The sample itself tells by how much. Cell probabilities are multiplied by that factor
a, so that ξ becomes ξ^a, the correction of Rocher, Hendrickx & de Montjoye 2019 (supplementary note 2, eq.
16), with a from the sample. The records that are alone say nothing of cells of which the sample holds many:
there the factor fades, as a^(1/(1 + (n q/20)²)) for n records, and frequent cells keep their probability.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.classes.uniqueness import uniqueness_from_probability
from reid_sql.models.numerics import scipy_functions
from reid_sql.parameters import Floats

FARTHEST: Final = 4.0  # of the logarithm of the factor
DOUBT: Final = 8.0  # records that repeat, or are alone, at which the sample's word counts for half
FADES: Final = 20.0  # expected records of a cell at which the logarithm of the factor is halved
SLACK: Final = 0.1  # of 1, by which the cells of all combinations may add up to something else unsaid
AT_BOUND: Final = (
    "the calibration met its bound of e^{:+g}: the sample's records still repeat {} often than the model's"
)
BEYOND_ONE: Final = (
    "cell probabilities are calibrated for combinations of values that occur: "
    "over all combinations they would add up to about {:.2g}"
)


@dataclass(frozen=True)
class Calibration:
    """The factor a, and what the reader must know of it."""

    factor: float
    status: str


def factor(cells: Floats, records: int, alone: int) -> float:
    """Factor under which as many records are alone as were counted, taken towards 1 where few tell.

    The records are the sample's. `cells` are cell probabilities of records drawn from the model, whose mean ξ
    is that of the model.

    >>> round(factor(np.full(100, 1e-4), records=1001, alone=820), 2)
    1.92
    """
    return calibration(cells, records, alone).factor


def calibration(cells: Floats, records: int, alone: int) -> Calibration:
    """Find the factor, and say where it met its bound, or where cells no longer add up to 1."""
    low, high = (_excess(cells, records, alone, at) for at in (-FARTHEST, FARTHEST))
    bound = -FARTHEST if low <= 0 else FARTHEST if high >= 0 else 0.0
    found = bound or scipy_functions.find_root(
        lambda at: _excess(cells, records, alone, at), -FARTHEST, FARTHEST, xtol=1e-6
    )
    repeated = records - alone
    told = repeated / (repeated + DOUBT) * alone / (alone + DOUBT)
    total = float(np.mean(tempered(cells, np.exp(found * told), records) / cells))
    notes = [
        *([AT_BOUND.format(bound, "more" if bound > 0 else "less")] if bound and told > 1 / 2 else []),
        *([BEYOND_ONE.format(total)] if abs(total - 1) > SLACK else []),
    ]
    return Calibration(float(np.exp(found * told)), "; ".join(notes) or OK)


def tempered(cells: Floats, factor: float, records: int) -> Floats:
    """Multiply cell probabilities by the factor where the sample can hold but few such records.

    >>> tempered(np.array([1e-6, 0.5]), 2.0, records=1000).round(8).tolist()
    [2e-06, 0.50055394]
    """
    return np.asarray(cells * factor ** (1 / (1 + (records * cells / FADES) ** 2)))


def _excess(cells: Floats, records: int, alone: int, at: float) -> float:
    xi = uniqueness_from_probability(np.minimum(tempered(cells, np.exp(at), records), 1), records)
    return float(xi.mean()) - alone / records
