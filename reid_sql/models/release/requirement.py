"""What class sizes must be like, and how many records it takes away to have them so."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from reid_sql.parameters import Floats, Integers

ROUNDING: Final = 1e-9  # as a verdict takes it


@dataclass(frozen=True)
class Outcome:
    """Whether a node meets the requirement once the classes below `cut` are taken away.

    `cut` is None where it does not. `hopeless` says that no finer form of the table can meet it, either.
    `rounds` are those in which classes go for their sensitive values.
    """

    cut: int | None
    suppressed: int = 0
    hopeless: bool = False
    rounds: int = 0


@dataclass(frozen=True)
class Requirement:
    """Limits on class sizes of a table of so many records, of which `suppressible` may be taken away.

    `shares` bound the share of records whose risk 1/size is above a threshold: (threshold, most). The limits
    hold for what stays. Taking away the smallest classes first, whole classes by their size.
    """

    records: int
    suppressible: int = 0
    k: int = 1
    shares: tuple[tuple[float, float], ...] = ()
    unique: float = float("inf")  # most records that are the only one of their kind
    average: float = 1.0  # most classes per record

    @property
    def takes_nothing(self) -> bool:
        """Whether no record is ever taken away, as nothing is asked of class sizes."""
        return self.k <= 1 and not self.shares and self.unique == float("inf") and self.average >= 1

    def of(self, counts: Integers) -> Outcome:
        """Judge the class sizes of a node.

        >>> sizes = np.array([1, 1, 4, 6])
        >>> Requirement(12, suppressible=2, k=4).of(sizes)
        Outcome(cut=4, suppressed=2, hopeless=False, rounds=0)
        >>> Requirement(12, suppressible=1, k=4).of(sizes).hopeless
        True
        """
        sizes, classes = np.unique(counts, return_counts=True)
        records = sizes * classes
        gone = np.concatenate(([0], np.cumsum(records)[:-1]))  # before each size
        left = self.records - gone
        met = (gone <= self.suppressible) & (sizes >= self.k)
        met &= _left(np.where(sizes == 1, records, 0)) <= self.unique
        met &= _within(_left(classes) / left, self.average)
        for threshold, most in self.shares:
            met &= _within(_left(np.where(1.0 / sizes > threshold, records, 0)) / left, most)
        found = np.flatnonzero(met)
        if not len(found):
            return Outcome(None, hopeless=self._hopeless(sizes, classes))
        at = int(found[0])
        cut = max(self.k, int(sizes[at - 1]) + 1 if at else 1)
        return Outcome(cut, int(gone[at]))

    def _hopeless(self, sizes: Integers, classes: Integers) -> bool:
        """Whether a limit is broken even if the very records that break it were taken away one by one.

        What breaks it here breaks it in every finer form, as a finer form parts classes.
        """
        records, left = sizes * classes, self.records - self.suppressible
        if left <= 0:
            return False
        bad = [
            (int(records[sizes < self.k].sum()), 0.0),
            (int(records[sizes == 1].sum()), self.unique),
            (int(classes.sum()), self.average * left),
            *((int(records[1.0 / sizes > threshold].sum()), most * left) for threshold, most in self.shares),
        ]
        return any(found - self.suppressible > most * (1 + ROUNDING) for found, most in bad)


def _left(parts: Integers) -> Integers:
    """Add what is at each size and above."""
    return np.cumsum(parts[::-1])[::-1]


def _within(values: Floats, most: float) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = values <= most * (1 + ROUNDING)
    return found
