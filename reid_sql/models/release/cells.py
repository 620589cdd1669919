"""Single values instead of whole records: small classes that are large enough once few columns are blank.

Greedily: of the choices of columns, the smallest first, the one that rescues most records; again for those
that are left. Whole classes are rescued, so that a query can say it without naming a record.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from reid_sql.models.release.lattice import Folded, keyed

BLANKS: Final = 3  # columns that are blank in one record, at most
STAGES: Final = 12


@dataclass(frozen=True)
class Rescue:
    """The columns of each stage, by their places; which cells of classes are blank, and which classes go."""

    stages: tuple[tuple[int, ...], ...]
    blank: NDArray[np.bool_]  # (columns, classes)
    gone: NDArray[np.bool_]  # (classes,)


def rescue(found: Folded, cut: int) -> Rescue:
    """Blank values, stage by stage, in classes below the cut that this makes large; the others go.

    >>> codes = np.array([[0, 0, 0, 1], [0, 1, 2, 3]])
    >>> made = rescue(Folded(codes, np.array([1, 2, 9, 1])), cut=3)
    >>> made.stages, made.blank[1].tolist(), made.gone.tolist()
    (((1,),), [True, True, False, False], [False, False, False, True])
    """
    gone = found.counts < cut
    blank = np.zeros(found.codes.shape, dtype=np.bool_)
    stages: list[tuple[int, ...]] = []
    for size in range(1, min(BLANKS, len(found.codes)) + 1):
        while gone.any() and len(stages) < STAGES:
            left = Folded(found.codes[:, gone], found.counts[gone])
            choices = list(combinations(range(len(found.codes)), size))
            rescued = [_rescued(left, choice, cut) for choice in choices]
            best = int(np.argmax([left.counts[each].sum() for each in rescued]))
            if not rescued[best].any():
                break
            stages.append(choices[best])
            saved = np.flatnonzero(gone)[rescued[best]]
            blank[np.ix_(np.array(choices[best]), saved)] = True
            gone[saved] = False
    return Rescue(tuple(stages), blank, gone)


def blanked(found: Folded, made: Rescue) -> Folded:
    """Give the classes that stay, with blank values as a value of their own."""
    codes = np.where(made.blank, -1, found.codes)[:, ~made.gone]
    values, place = np.unique(codes, axis=1, return_inverse=True)
    held = np.bincount(place.ravel(), found.counts[~made.gone], values.shape[1])
    return Folded(values, held.astype(np.int64))


def _rescued(left: Folded, columns: tuple[int, ...], cut: int) -> NDArray[np.bool_]:
    """Which classes are large enough without the columns."""
    kept = [codes for at, codes in enumerate(left.codes) if at not in columns]
    if not kept:
        return np.full(len(left.counts), left.counts.sum() >= cut)
    key = keyed(kept, [int(codes.max()) + 1 for codes in kept])
    _, inverse = np.unique(key, return_inverse=True)
    found: NDArray[np.bool_] = np.bincount(inverse, left.counts)[inverse] >= cut
    return found
