"""What may stand for a record's contribution where columns are ordered: entropy, and a regression.

The regression is on the columns.
"""

from dataclasses import dataclass
from typing import Final

from reid_sql.models.extreme.quasi_identifiers import QuasiIdentifiers
from reid_sql.models.extreme.record_entropy import entropy, not_ordinal, too_wide
from reid_sql.models.numerics.partial_least_squares import predict
from reid_sql.parameters import Floats

FACTORS: Final = 3


@dataclass(frozen=True)
class OrderProxies:
    """Entropy, and the chance of a positive contribution by partial least squares.

    Either is None where the remarks say why.
    """

    entropy: Floats | None  # (records,)
    pls: Floats | None  # (records,)
    remarks: list[str]


def by_order(chosen: QuasiIdentifiers, contribution: Floats, memory_mb: int = 1024) -> OrderProxies:
    """Give both proxies, or say why not: all columns must be ordinal and without NULL.

    >>> import numpy as np
    >>> from reid_sql.models.extreme.quasi_identifiers import Codes, choose
    >>> zips = Codes(["zip"], [False], [np.array([1])], np.arange(1))
    >>> by_order(choose(zips, 1), np.zeros(1)).remarks[0][:44]
    "entropy and pls are not available: 'zip' has"
    """
    disorder = not_ordinal(chosen.table)
    if disorder:
        return OrderProxies(None, None, [f"entropy and pls are not available: {disorder}"])
    width = too_wide(chosen, memory_mb)
    remarks = [f"entropy is not available: {width}"] if width else []
    predicted = predict(chosen.table.codes, contribution > 0, FACTORS)
    return OrderProxies(None if width else entropy(chosen, memory_mb), predicted, remarks)
