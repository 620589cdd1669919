"""What an attacker knows of a subject, and whether that is unique in the population."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Final, Protocol

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.fitted_model import FittedModel
from reid_sql.models.attacker.scenario import Scenario
from reid_sql.models.classes.disclosure import OK, Histogram
from reid_sql.models.population import pitman
from reid_sql.models.profile.subset_uniqueness import UniqueShare, unique_share_by_subset
from reid_sql.parameters import Floats, Integers, Number
from reid_sql.suggestion import suggestion

# Which groups of attributes the attacker knows: every set with its probability, or sets drawn by chance.
# A walk decides group by group; what is left to it is split at each group into the cases without it and
# those with it. `weight` is the probability of what was decided so far, for each profile: a way in which
# subjects' probabilities differ.

MAX_ENUMERATED_SETS: Final = 65_536  # knowledge sets up to which each is counted; beyond, they are drawn
MAX_DRAWS_IN_MEMORY: Final = 50_000_000  # trials times profiles times groups in memory at once
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


def count_sets(probabilities: Floats) -> int:
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


def enumerate_sets(probabilities: Floats) -> EverySet:
    """Give every set with its exact probability, for probabilities (groups, profiles)."""
    return EverySet(probabilities, np.ones(probabilities.shape[1]))


def draw_sets(probabilities: Floats, trials: int, seed: int) -> DrawnSets:
    """Draw the sets; refuses more than fit in memory."""
    groups, profiles = probabilities.shape
    if groups * profiles * trials > MAX_DRAWS_IN_MEMORY:
        rule = (
            f"trials × groups × kinds of subject must be at most {MAX_DRAWS_IN_MEMORY}, "
            f"got {trials} × {groups} × {profiles}"
        )
        raise OutOfDomainError(
            f"{rule}; pass fewer trials, or probabilities that differ between fewer kinds of subject"
        )
    chances = np.random.default_rng(seed).random((groups, trials, 1))
    known = (chances < probabilities[:, None, :]).reshape(groups, trials * profiles)
    return DrawnSets(known, np.arange(trials * profiles), trials, profiles)


# u(S): how likely a record that is alone in the sample on what is known is alone in the population, too.
# u(S) = n_s Ξ(S) / s_1(S), at most 1: those of the n_s records that are unique in the population, all of
# which are alone in the sample, over those that are alone. Ξ(S) is estimated from the sample's classes by
# Pitman's model, or from the columns of S by a fitted model. A population table leaves nothing to estimate:
# each record is looked up. Source: Xia et al. 2021; Rocher, Hendrickx & de Montjoye 2019, eq. 15 for a
# fitted model.

STATUS_PITMAN: Final = (
    "pitman_uniqueness: journalist and overall risk rest on Pitman's estimate, "
    "whose error standard_error leaves out"
)
STATUS_MODEL: Final = (
    "model_uniqueness: journalist and overall risk rest on a model, whose error standard_error leaves out"
)
REFUSAL_BOTH: Final = (
    "population_tbl and model must not both be given, got both; pass the population table, which leaves "
    "nothing to estimate, or the model"
)


class Unique(Protocol):
    """How Ξ(S) is known, and the status of measures that rest on it."""

    @property
    def words(self) -> str:
        """What the reader must know of an estimate of this kind."""

    @property
    def by_columns(self) -> bool:
        """Whether it hangs on which groups are known, not on the sample's classes alone."""

    def share(self, histogram: Histogram, groups: Sequence[int]) -> float | None:
        """Ξ where these groups are known, by their numbers from 0; None where there is no estimate."""


@dataclass(frozen=True)
class ByPitman:
    """Ξ by Pitman's model, from the classes that the sample has on what is known."""

    population: float
    words: str = STATUS_PITMAN
    by_columns: bool = False

    def share(self, histogram: Histogram, _: Sequence[int]) -> float | None:
        """Ξ from the classes; None where all records are alone."""
        uniqueness = pitman.pitman_uniqueness(histogram, self.population)
        return uniqueness.uniqueness if uniqueness.status == OK else None


@dataclass(frozen=True)
class ByModel:
    """Ξ by a fitted model, from its part on the columns that are known."""

    unique: UniqueShare
    places: Sequence[Sequence[int]]  # (groups,) their columns' numbers in the model
    words: str = STATUS_MODEL
    by_columns: bool = True
    known: dict[tuple[int, ...], float] = field(default_factory=dict)

    def share(self, _: Histogram, groups: Sequence[int]) -> float | None:
        """Ξ on the columns of the groups, worked out once for each choice of columns."""
        columns = tuple(sorted({place for group in groups for place in self.places[group]}))
        if columns not in self.known:
            self.known[columns] = self.unique(columns)
        return self.known[columns]


def choose_uniqueness(attacker: Scenario, model: FittedModel | None) -> Unique:
    """Give Pitman's estimate, or the model's; refuses a model that lacks a column of the scenario."""
    if model is None:
        return ByPitman(attacker.population)
    place = {column: _find_column(column, model.columns) for column in attacker.columns}
    places = [[place[column] for column in group.columns] for group in attacker.groups]
    return ByModel(unique_share_by_subset(model, attacker.population), places)


def _find_column(column: str, known: Sequence[str]) -> int:
    """Number of the scenario's column in the model, whose letters may be of another case, as in SQL."""
    folded = [each.lower() for each in known]
    if column not in known and column.lower() not in folded:
        rule = f"columns of the scenario must be columns of the model, got '{column}'"
        raise UnknownNameError(f"{rule}; {suggestion(column, known)}, or fit a model to all of them")
    return known.index(column) if column in known else folded.index(column.lower())


def refuse_both(*, people: bool, model: bool) -> None:
    """Refuse a population table together with a model: only one of them decides who is unique."""
    if people and model:
        raise OutOfDomainError(REFUSAL_BOTH)
