"""What a record's cell probability says of the person, in a population."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np
import numpy.typing as npt

from reid_sql.fitted_model import Scores
from reid_sql.models.classes.disclosure import Integers
from reid_sql.parameters import Choice, Floats

SAMPLE_USE: Final = Choice(("ignored", "known"))
SampleUse = Annotated[Literal["ignored", "known"], SAMPLE_USE]


@dataclass(frozen=True)
class RecordRisk:
    """Scores of records; the errors are standard errors of the integration, and of it alone."""

    class_size: Integers  # (records,)
    cell_probability: Floats
    cell_probability_error: Floats
    uniqueness_xi: Floats
    uniqueness_xi_error: Floats
    correctness_kappa: Floats


def record_risk(cell: Scores, class_size: Integers, population: npt.ArrayLike, sample: str) -> RecordRisk:
    """Score records; with the sample known, one that is not alone in it is not unique (supplement, eq. 17).

    >>> from reid_sql.models.numerics.rectangle import Estimates
    >>> pair = Estimates(np.array([0.25]), np.array([0.0]))
    >>> record_risk(pair, np.array([2]), 3, "known").uniqueness_xi
    array([0.])
    """
    SAMPLE_USE.check("sample", sample)
    n = np.asarray(population, dtype=np.float64)
    one = np.asarray(cell.uniqueness(n))
    slope = (n - 1) * one / np.maximum(1 - cell.probability, np.finfo(float).tiny)
    sizes = np.asarray(class_size)
    xi, kappa = cell.known(sizes, n) if sample == "known" else (one, cell.correctness(n))
    error = np.minimum(np.where(xi > 0, slope, 0) * cell.standard_error, 1)
    return RecordRisk(class_size, cell.probability, cell.standard_error, xi, error, kappa)
