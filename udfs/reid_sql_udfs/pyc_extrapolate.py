"""Correctness in larger populations from measurements alone."""

from typing import Annotated, Literal

import numpy.typing as npt

from reid_sql.domains import PROBABILITY, Counts, Numbers
from reid_sql.function import Answer, table_function
from reid_sql.models.pyc import extrapolation
from reid_sql.models.pyc.extrapolation import METHOD, Extrapolated

Shares = Annotated[npt.ArrayLike, Numbers(PROBABILITY)]
Method = Annotated[Literal["pyc", "ent", "exp", "pol"], METHOD]


@table_function(
    "sizes, correctness, populations, method",
    answer=Answer.ROWS,
    source="Rocher, Hendrickx & de Montjoye 2025, eq. 4; its rivals ENT, EXP and POL",
)
def pyc_extrapolate(
    sizes: Counts, correctness: Shares, populations: Counts, method: Method = "pyc"
) -> list[Extrapolated]:
    """Forecast the share of right matches in larger populations from the shares measured at some sizes.

    Two or more points, in any order. `method` is 'pyc' (Pitman–Yor), 'ent' (equal sets), 'exp' (exponential
    decay) or 'pol' (polynomial in the logarithm of the size). `status` is ok, or says what stands against
    relying on the answer.

    >>> round(pyc_extrapolate([100, 1000], [0.99, 0.80], [10_000])[0].correctness, 2)
    0.21
    """
    return extrapolation.rows(sizes, correctness, populations, method)
