"""Scores adjusted to what is known: to the sample's unique records, to a uniqueness, to a class size."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.classes.uniqueness import uniqueness_from_probability
from reid_sql.models.fitted_model import Scores
from reid_sql.models.numerics import special_functions
from reid_sql.parameters import Choice, Floats, Integers, TextColumn

# How much more often records repeat in a sample than its copula has them repeat. A copula models pairs of
# columns; if three or more are associated, records repeat more often than it expects, and people seem too
# unique. The sample shows by how much. Cell probabilities are multiplied by that factor a, so that ξ becomes
# ξ^a, the correction of Rocher, Hendrickx & de Montjoye 2019 (supplementary note 2, eq. 16), with a from the
# sample. Lone records are no evidence on cells of which the sample has many: there the factor fades, as
# a^(1/(1 + (n q/20)²)) for n records, and frequent cells retain their probability.

MAX_LOG_FACTOR: Final = 4.0  # of the logarithm of the factor
# so many repeated, or lone, records give the sample half its weight
HALF_WEIGHT_RECORDS: Final = 8.0
# expected records of a cell at which the logarithm of the factor is halved
HALF_EFFECT_COUNT: Final = 20.0
# difference from 1 that the sum over all cells may have unreported
MAX_UNREPORTED_EXCESS: Final = 0.1
STATUS_AT_BOUND: Final = "calibration_at_bound: records still repeat {1} often than in the model, at a factor of e^{0:+g}"
STATUS_BEYOND_ONE: Final = (
    "sum_not_one: cell probabilities of all combinations would add up to about {:.2g}, not 1"
)


@dataclass(frozen=True)
class Calibration:
    """The factor a, and what the reader must know of it."""

    factor: float
    status: str


def calibrate(cells: Floats, records: int, alone: int) -> Calibration:
    """Fit the factor by which as many records are alone as were counted, shrunk to 1 if these are few.

    The records are the sample's. `cells` are cell probabilities of records drawn from the model, whose mean ξ
    is that of the model. The status reports a factor at its bound, and cells that no longer add up to 1.

    >>> round(calibrate(np.full(100, 1e-4), records=1001, alone=820).factor, 2)
    1.92
    """
    low, high = (_excess(cells, records, alone, at) for at in (-MAX_LOG_FACTOR, MAX_LOG_FACTOR))
    bound = -MAX_LOG_FACTOR if low <= 0 else MAX_LOG_FACTOR if high >= 0 else 0.0
    log_factor = bound or special_functions.find_root(
        lambda at: _excess(cells, records, alone, at), -MAX_LOG_FACTOR, MAX_LOG_FACTOR, xtol=1e-6
    )
    repeated = records - alone
    weight = repeated / (repeated + HALF_WEIGHT_RECORDS) * alone / (alone + HALF_WEIGHT_RECORDS)
    factor = float(np.exp(log_factor * weight))
    total = float(np.mean(temper_cells(cells, factor, records) / cells))
    notes = []
    if bound and weight > 1 / 2:
        notes.append(STATUS_AT_BOUND.format(bound, "more" if bound > 0 else "less"))
    if abs(total - 1) > MAX_UNREPORTED_EXCESS:
        notes.append(STATUS_BEYOND_ONE.format(total))
    return Calibration(factor, "; ".join(notes) or OK)


def temper_cells(cells: Floats, factor: float, records: int) -> Floats:
    """Multiply cell probabilities by the factor where the sample can have but few such records.

    >>> temper_cells(np.array([1e-6, 0.5]), 2.0, records=1000).round(8).tolist()
    [2e-06, 0.50055394]
    """
    return np.asarray(cells * factor ** (1 / (1 + (records * cells / HALF_EFFECT_COUNT) ** 2)))


def _excess(cells: Floats, records: int, alone: int, at: float) -> float:
    xi = uniqueness_from_probability(
        np.minimum(temper_cells(cells, np.exp(at), records), 1), records
    )
    return float(xi.mean()) - alone / records


# Scores of a table's records brought in line with the uniqueness of the population under the same model.
# Source: Rocher, Hendrickx & de Montjoye 2019, supplementary note 2, eq. 16.

MAX_LOG_EXPONENT: Final = 9.0  # of the logarithm of the exponent


@dataclass(frozen=True)
class ScoredClasses:
    """Distinct records by their numbers of records, with ξ of each."""

    class_size: Integers
    uniqueness_xi: Floats


@dataclass(frozen=True)
class Correction:
    """Exponent a of ξ* = ξ^a, the mean ξ of the records before it, and the mean of ξ*, the uniqueness."""

    exponent: float
    mean_xi: float
    uniqueness: float
    status: str


def correct_scores(scored: ScoredClasses, uniqueness: float) -> Correction:
    """Find the exponent; 1, with the reason as status, where no exponent gives that mean.

    >>> scored = ScoredClasses(np.array([1, 1]), np.array([0.25, 1.0]))
    >>> round(correct_scores(scored, 0.75).exponent, 4)
    0.5
    """
    if not len(scored.class_size):
        raise NoRecordsError
    share = np.asarray(scored.class_size) / np.sum(scored.class_size)
    xi = np.asarray(scored.uniqueness_xi, dtype=np.float64)

    def excess(at: float) -> float:
        return float(share @ xi ** np.exp(at)) - uniqueness

    low, high, mean = -MAX_LOG_EXPONENT, MAX_LOG_EXPONENT, float(share @ xi)
    if not excess(low) > 0 > excess(high):
        status = "no exponent gives this uniqueness; scores are left as they are"
        return Correction(1.0, mean, uniqueness, status)
    exponent = float(np.exp(special_functions.find_root(excess, low, high, xtol=1e-12)))
    return Correction(exponent, mean, uniqueness, OK)


# A record's uniqueness and correctness by its cell probability, in a population.

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
    status: TextColumn


def record_risk(
    cell: Scores, class_size: Integers, population: npt.ArrayLike, sample: str
) -> RecordRisk:
    """Score records; with the sample known, one that is not alone in it is not unique (supplement, eq. 17).

    >>> from reid_sql.models.copula.gaussian_copula import CopulaCells
    >>> pair = CopulaCells(np.array([0.25]), np.array([0.0]), np.array(["ok"]), records=2)
    >>> record_risk(pair, np.array([2]), 3, "known").uniqueness_xi
    array([0.])
    """
    SAMPLE_USE.check("sample", sample)
    n, sizes = np.asarray(population, dtype=np.float64), np.asarray(class_size)
    if sample == "known":
        xi, kappa = cell.known(sizes, n)
    else:
        xi, kappa = cell.uniqueness(n), cell.correctness(n)
    # Standard error of ξ = (1 − q)^m from that of q: |dξ/dq| = m ξ/(1 − q), with m = ln ξ / ln(1 − q).
    inexact = (cell.standard_error > 0) & (cell.probability < 1) & (xi > 0)
    q, error = cell.probability[inexact], np.zeros(len(xi))
    other_people = np.log(xi[inexact]) / np.log1p(-q)
    error[inexact] = np.minimum(
        other_people * xi[inexact] / (1 - q) * cell.standard_error[inexact], 1
    )
    return RecordRisk(
        class_size, cell.probability, cell.standard_error, xi, error, kappa, cell.status_at(n)
    )
