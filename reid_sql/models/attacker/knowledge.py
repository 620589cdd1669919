"""Which groups of attributes the attacker knows: every set with its probability, or sets drawn by chance.

A walk decides group by group; what is left to it is split at each group into the cases without it and those
with it. `weight` is the probability of what was decided so far, for each profile: a way in which subjects'
probabilities differ.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Final, Protocol

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.disclosure import Integers
from reid_sql.parameters import Floats, Number

LARGEST: Final = 65_536  # knowledge sets up to which each is counted; beyond, they are drawn
DRAWS: Final = 50_000_000  # trials times profiles times groups that are held at once
TRIALS: Final = Number(
    "a whole number of trials from 100 to 1000000",
    "pass how many sets to draw, such as 10000",
    100.0,
    1e6,
    whole=True,
)
SEED: Final = Number(
    "a whole number from 0 to 4294967295", "pass any such number, such as 0", 0.0, 2.0**32 - 1, whole=True
)

Trials = Annotated[int, TRIALS]
Seed = Annotated[int, SEED]


class Knowledge(Protocol):
    """What is still undecided."""

    @property
    def weight(self) -> Floats:
        """Probability of what was decided, (profiles,)."""

    def split(self, group: int) -> "tuple[Knowledge, Knowledge]":
        """Decide on a group: the cases in which it is not known, and those in which it is."""


@dataclass(frozen=True)
class EverySet:
    """Every set of groups, with its exact probability: the product over groups known and not known."""

    probabilities: Floats  # (groups, profiles)
    weight: Floats  # (profiles,)

    def split(self, group: int) -> "tuple[EverySet, EverySet]":
        """Multiply by what the group is known with, and by the rest."""
        known = self.probabilities[group]
        return replace(self, weight=self.weight * (1 - known)), replace(self, weight=self.weight * known)


@dataclass(frozen=True)
class DrawnSets:
    """Trials in which each group was drawn as known or not, for every profile by the same chances."""

    known: npt.NDArray[np.bool_]  # (groups, trials × profiles)
    cases: Integers  # (cases,) those that agree with what was decided, as trial × profiles + profile
    trials: int
    profiles: int

    @property
    def weight(self) -> Floats:
        """Share of the trials."""
        return np.asarray(np.bincount(self.cases % self.profiles, minlength=self.profiles) / self.trials)

    def split(self, group: int) -> "tuple[DrawnSets, DrawnSets]":
        """Sort the cases by whether the group was drawn."""
        known = self.known[group][self.cases]
        return replace(self, cases=self.cases[~known]), replace(self, cases=self.cases[known])


def sets_of(probabilities: Floats) -> int:
    """How many sets of groups have, at most, a positive probability for somebody.

    Probabilities are (groups, profiles).
    """
    undecided = (probabilities > 0) & (probabilities < 1)
    together = undecided.any(axis=1) | (np.ptp(probabilities, axis=1) > 0)
    profiles = np.unique(undecided.sum(axis=0), return_counts=True)
    one_by_one = sum(
        2**groups * count for groups, count in zip(*(part.tolist() for part in profiles), strict=True)
    )
    return int(min(2 ** int(together.sum()), one_by_one))


def every_set(probabilities: Floats) -> EverySet:
    """Give every set with its exact probability, for probabilities (groups, profiles)."""
    return EverySet(probabilities, np.ones(probabilities.shape[1]))


def drawn_sets(probabilities: Floats, trials: int, seed: int) -> DrawnSets:
    """Draw the sets; refuses more than fit in memory."""
    groups, profiles = probabilities.shape
    if groups * profiles * trials > DRAWS:
        rule = (
            f"trials × groups × kinds of subject must be at most {DRAWS}, "
            f"got {trials} × {groups} × {profiles}"
        )
        raise OutOfDomainError(
            f"{rule}; pass fewer trials, or probabilities that differ between fewer kinds of subject"
        )
    chances = np.random.default_rng(seed).random((groups, trials, 1))
    known = (chances < probabilities[:, None, :]).reshape(groups, trials * profiles)
    return DrawnSets(known, np.arange(trials * profiles), trials, profiles)
