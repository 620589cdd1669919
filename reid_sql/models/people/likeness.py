"""How like a donor a value is: its chance given the donor, over the share that the value has anyway.

Source: Aitchison & Aitken 1976; Li & Racine 2003.
"""

import numpy as np

from reid_sql.domains import Floats
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.marginals.column import Column


def similarity(
    column: Column, values: Integers, donors: Integers, log_share: Floats
) -> tuple[Floats, Floats | None]:
    """Whether value and donor are the same, and how near, over the value's share: (values, donors)."""
    rarity = np.exp(-log_share[values])[:, None]
    same = np.where(values[:, None] == donors, rarity, 0.0)
    if column.kernel is None:
        return same, None
    within = np.exp(column.log_within[values])[:, None]
    return same, column.kernel.T[np.ix_(column.bins[values], column.bins[donors])] * (within * rarity)


def likeness(same: Floats, near: Floats | None, chance_same: float, chance_near: float) -> Floats:
    """Mix what is kept, what is taken from near by, and what is anybody's: (values, donors)."""
    found = chance_same * same
    found += 1 - chance_same - chance_near
    if near is not None:
        found += chance_near * near
    return found
