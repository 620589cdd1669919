"""Partial least squares regression of one response, by its factors."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from reid_sql.parameters import Floats


def predict(columns: Sequence[npt.ArrayLike], response: npt.ArrayLike, factors: int = 3) -> Floats:
    """Give the response as the factors of the standardised columns foresee it (PLS1, NIPALS).

    Each factor is the direction of the columns' covariance with what is left of the response.

    >>> x = np.arange(5)
    >>> predict([x, x * x], 2 * x + 3, 2).round(6).tolist()
    [3.0, 5.0, 7.0, 9.0, 11.0]
    """
    left = np.stack(
        [_standard(np.asarray(column, dtype=np.float64)) for column in columns], axis=1
    )  # (records, columns)
    y = np.asarray(response, dtype=np.float64)
    answer = np.full(len(y), y.mean())
    rest = y - y.mean()
    for _ in range(min(factors, left.shape[1])):
        weights = left.T @ rest
        scores = left @ weights
        power = scores @ scores
        if power <= np.finfo(np.float64).tiny:
            break
        answer += scores * (scores @ rest) / power
        rest = rest - scores * (scores @ rest) / power
        left = left - np.outer(scores, scores @ left) / power
    return answer


def _standard(column: Floats) -> Floats:
    spread = column.std()
    centred: Floats = column - column.mean()
    return centred / spread if spread > 0 else centred
