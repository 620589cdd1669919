"""What an attack comes to: shares of right links, with an interval where the targets were drawn."""

from dataclasses import dataclass

import numpy as np

from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.parameters import Floats, Integers


@dataclass(frozen=True)
class AttackResult:
    """Results of an attack, as shares of the records that are in both tables."""

    attack: str
    correct: float
    certain: float
    highest: float
    candidates: float
    targets: int
    drawn: bool

    def interval(self, share: float) -> tuple[float, float]:
        """The 95 % interval of a share; the share itself where all records were linked."""
        return wilson_interval(share, self.targets) if self.drawn else (share, share)


def wilson_interval(share: float, records: int) -> tuple[float, float]:
    """The 95 % interval of a mean of chances among so many records: Wilson 1927.

    A mean of chances varies no more than a share of hits that has the same expectation.

    >>> low, high = wilson_interval(0.1, 100)
    >>> round(low, 4), round(high, 4)
    (0.0552, 0.1744)
    """
    squared = NORMAL_95**2 / records
    middle = share + squared / 2
    half = float(np.sqrt(squared * (share * (1 - share) + squared / 4)))
    return max(0.0, (middle - half) / (1 + squared)), min(1.0, (middle + half) / (1 + squared))


@dataclass
class Tally:
    """Sums over the targets linked so far."""

    attack: str
    targets: int = 0
    correct: float = 0.0
    certain: float = 0.0
    highest: float = 0.0
    candidates: float = 0.0

    def add(self, records: Integers, nearest: Integers, hit: Floats, possible: Integers) -> None:
        """Add pairs: their records, how many are likeliest, 1 where their own is, how many are possible.

        A person without a likely record is linked to none.
        """
        correct = hit / np.maximum(nearest, 1)
        self.targets += int(records.sum())
        self.correct += float(records @ correct)
        self.certain += float(records @ (correct == 1))
        self.highest = max(self.highest, float(correct.max(initial=0)))
        self.candidates += float(records @ (1 / np.maximum(possible, 1)))

    def result(self, *, drawn: bool) -> AttackResult:
        """The sums as shares of the targets."""
        correct, certain = self.correct / self.targets, self.certain / self.targets
        candidates = self.candidates / self.targets
        return AttackResult(
            self.attack, correct, certain, self.highest, candidates, self.targets, drawn=drawn
        )
