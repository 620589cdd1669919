"""How like a donor a value is: its chance given the donor, over the share that the value has anyway.

a 1(x = X_i)/p(x) + b W(X_i, x)/p(x) + 1 − a − b. Source: Aitchison & Aitken 1976; Li & Racine 2003.
"""

from dataclasses import dataclass

import numpy as np

from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.marginals.column import Column
from reid_sql.parameters import Floats


@dataclass(frozen=True)
class Likeness:
    """Distinct values of a column beside those of donors: each donor has at most one of them."""

    shape: tuple[int, int]  # (values, donors)
    own: tuple[Integers, Integers]  # (donors that have one,): places of their values, their numbers
    rarity: Floats  # (donors that have one,), 1 over the value's share
    near: Floats | None  # (values, donors), how near over the value's share; None where there is no order

    def mixed(self, kept: float, near: float) -> Floats:
        """The chances over the shares where so many are kept, and taken from near by: (values, donors)."""
        found = np.full(self.shape, 1 - kept - near)
        if self.near is not None:
            found += near * self.near
        found[self.own] += kept * self.rarity
        return found


def likeness(column: Column, values: Integers, donors: Integers, log_share: Floats) -> Likeness:
    """Hold distinct ascending values of a column against those of donors; shares are of all its values."""
    place = np.minimum(np.searchsorted(values, donors), len(values) - 1)
    has = np.flatnonzero(values[place] == donors)
    near: Floats | None = None
    if column.kernel is not None:
        scale = np.exp(column.log_within[values] - log_share[values])
        near = column.kernel.T[np.ix_(column.bins[values], column.bins[donors])] * scale[:, None]
    own = place[has], has
    return Likeness((len(values), len(donors)), own, np.exp(-log_share[donors[has]]), near)
