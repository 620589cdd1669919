"""Correctness in larger populations from measurements alone."""

from typing import Annotated, Literal

import numpy.typing as npt

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.pyc import extrapolation
from reid_sql.models.pyc.extrapolation import METHOD, Extrapolated
from reid_sql.models.pyc.measurements import STANDARD_ERROR, Measure
from reid_sql.models.pyc.pitman_yor import ClassSize
from reid_sql.parameters import COUNT, PROBABILITY, Numbers, Populations

Sizes = Annotated[npt.ArrayLike, Numbers(COUNT)]
Shares = Annotated[npt.ArrayLike, Numbers(PROBABILITY)]
Errors = Annotated[npt.ArrayLike | None, Numbers(STANDARD_ERROR, optional=True)]
Method = Annotated[Literal["tilted", "pyc", "ent", "exp", "pol", "rnd"], METHOD]


@table_function(
    "sizes, correctness, populations, method, measure, k, standard_errors",
    answer=Answer.ROWS,
    question=Question.CORRECTNESS,
    source="Rocher, Hendrickx & de Montjoye 2025, eq. 4, its rivals ENT, EXP, POL and RND; law tilted by "
    "maximum entropy",
)
def pyc_extrapolate(
    sizes: Sizes,
    correctness: Shares,
    populations: Populations,
    method: Method = "tilted",
    *,
    measure: Measure = "correctness",
    k: ClassSize = 5,
    standard_errors: Errors = None,
) -> list[Extrapolated]:
    """Forecast the share of right matches in larger populations from the shares measured at some sizes.

    Pass two or more points, in any order. `method` is 'tilted' (a distribution of the sets' shares that is
    fitted to the points), 'pyc' (Pitman–Yor, the paper's PYC-MB), 'ent' (equal sets), 'exp' (exponential
    decay), 'pol' (polynomial in the logarithm of the size) or 'rnd' (half of the last share). `measure` is
    what the shares measure: 'correctness', 'uniqueness', or 'k_violation' (people in sets smaller than `k`).
    `standard_errors` is one for each share or one for all, [0] for exact shares; without it a share is as
    exact as it is written.

    The interval from `_low` to `_high` contained the true value in 95 % of held-out tables, for exact shares
    or with their errors (docs/curves.md). The curve of a sample of n people, as correctness_curve gives it,
    has errors of about sqrt(share (1 - share) / n): without them the upper end was too low in 14 to 29 of 100
    cases. `entropy` (nats) and `tail` are those of the Pitman–Yor curve through the points, or NULL.

    >>> round(pyc_extrapolate([100, 1000], [0.99, 0.80], [10_000])[0].correctness, 2)
    0.21
    """
    forecast = extrapolation.extrapolate(
        sizes,
        correctness,
        populations,
        method,
        measure=measure,
        k=k,
        standard_errors=standard_errors,
    )
    return extrapolation.list_forecasts(forecast, populations)
