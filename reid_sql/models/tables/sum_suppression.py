"""Further cells that are hidden so that nobody estimates the sum of an unsafe cell too closely.

A rule of dominance, or of p %, asks for an upper protection: an attacker must find it possible that the sum
is larger by as much (Hundepool et al. 2012, section 4.2). An attacker knows the sums that are shown, that
totals add up, and that no sum is below 0, unless one is.
"""

from typing import Final

import numpy as np

from reid_sql.models.tables.deviations import Deviations, Flags, Sums
from reid_sql.models.tables.equations import Equations
from reid_sql.parameters import Floats, Integers

MARGIN: Final = 1e-4  # of the protection, by which more is hidden than the rule asks: solutions are not exact
NEGLIGIBLE: Final = 1e-7  # of the largest protection: a change that hides no cell
MAX_LOSS: Final = (
    100.0  # times the largest protection, by which a sum may be lower: larger numbers lose digits
)


def hide_for_sums(  # noqa: PLR0917 - arrays by variable
    sums: Sums, equations: Equations, values: Floats, protections: Floats, counts: Floats, is_hidden: Flags
) -> tuple[Flags, Integers]:
    """Hide the cells of fewest people, besides those that are hidden, that give each sum its protection.

    All arrays are by variable; `counts` are NaN, and `values` infinite, where no table shows one. The second
    answer are the variables that no choice protects.
    """
    scale = protections.max()
    losses = np.full(len(values), np.inf) if (values < 0).any() else np.minimum(values / scale, MAX_LOSS)
    unsafe = np.flatnonzero(protections > 0)
    deviations = Deviations(sums, equations, losses, counts, unsafe)
    deviations.hide(deviations.place[np.flatnonzero(is_hidden)])
    needs = np.maximum(protections[unsafe] / scale, MARGIN)
    order = np.lexsort((unsafe, -needs))
    asked = list(zip(deviations.place[unsafe[order]].tolist(), needs[order].tolist(), strict=True))
    for cell, need in asked:
        if _rise_of(deviations, cell, need) >= need:
            continue
        cheapest = deviations.find_cheapest(cell, need * (1 + MARGIN))
        if cheapest is not None:
            deviations.hide(np.flatnonzero(np.abs(cheapest) > NEGLIGIBLE))
    missed = [cell for cell, need in asked if _rise_of(deviations, cell, need) < need]
    hidden = (deviations.is_hidden & ~deviations.is_open)[deviations.place]
    return hidden, deviations.order[np.array(missed, dtype=np.int64)]


def _rise_of(deviations: Deviations, cell: int, need: float) -> float:
    """By how much a sum may be larger, as far as it is asked."""
    found = deviations.widen(np.array([cell]), 1, np.array([need * (1 + MARGIN / 2)]))
    return 0.0 if found is None else float(found[cell])
