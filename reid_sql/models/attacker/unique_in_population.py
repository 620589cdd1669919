"""u(S): how likely a record that is alone in the sample on what is known is alone in the population, too.

u(S) = n_s Ξ(S) / s_1(S), at most 1: those of the n_s records that are unique in the population, all of which
are alone in the sample, over those that are alone. Ξ(S) is estimated from the sample's classes by Pitman's
model, or from the columns of S by a fitted model. A population table leaves nothing to estimate: each record
is looked up. Source: Xia et al. 2021; Rocher, Hendrickx & de Montjoye 2019, eq. 15 for a fitted model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.fitted_model import FittedModel
from reid_sql.models.attacker.scenario import Scenario
from reid_sql.models.classes.disclosure import OK, Histogram
from reid_sql.models.population import pitman_uniqueness
from reid_sql.models.profile.subset_uniqueness import UniqueShare, unique_share_by_subset
from reid_sql.suggestion import suggestion

PITMAN: Final = (
    "journalist and overall risk rest on Pitman's estimate of uniqueness in the population, whose error "
    "standard_error does not hold"
)
MODEL: Final = (
    "journalist and overall risk rest on a fitted model's estimate of uniqueness in the population, whose "
    "error standard_error does not hold"
)
BOTH: Final = (
    "population_tbl and model must not both be given, got both; pass the population table, which leaves "
    "nothing to estimate, or the model"
)


class Unique(Protocol):
    """How Ξ(S) is known, and what is said of measures that rest on it."""

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
    words: str = PITMAN
    by_columns: bool = False

    def share(self, histogram: Histogram, _: Sequence[int]) -> float | None:
        """Ξ from the classes; None where all records are alone."""
        found = pitman_uniqueness.uniqueness(histogram, self.population)
        return found.uniqueness if found.status == OK else None


@dataclass(frozen=True)
class ByModel:
    """Ξ by a fitted model, from its part on the columns that are known."""

    unique: UniqueShare
    places: Sequence[Sequence[int]]  # (groups,) their columns' numbers in the model
    words: str = MODEL
    by_columns: bool = True
    known: dict[tuple[int, ...], float] = field(default_factory=dict)

    def share(self, _: Histogram, groups: Sequence[int]) -> float | None:
        """Ξ on the columns of the groups, worked out once for each choice of columns."""
        columns = tuple(sorted({place for group in groups for place in self.places[group]}))
        if columns not in self.known:
            self.known[columns] = self.unique(columns)
        return self.known[columns]


def estimate(attacker: Scenario, model: FittedModel | None) -> Unique:
    """Give Pitman's estimate, or the model's; refuses a model that lacks a column of the scenario."""
    if model is None:
        return ByPitman(attacker.population)
    place = {column: _place(column, model.columns) for column in attacker.columns}
    places = [[place[column] for column in group.columns] for group in attacker.groups]
    return ByModel(unique_share_by_subset(model, attacker.population), places)


def _place(column: str, known: Sequence[str]) -> int:
    """Number of the scenario's column in the model, whose letters may be of another case, as in SQL."""
    folded = [each.lower() for each in known]
    if column not in known and column.lower() not in folded:
        rule = f"columns of the scenario must be columns of the model, got '{column}'"
        raise UnknownNameError(f"{rule}; {suggestion(column, known)}, or fit a model to all of them")
    return known.index(column) if column in known else folded.index(column.lower())


def refuse_both(*, people: bool, model: bool) -> None:
    """Refuse a population table beside a model: only one of them can say who is unique."""
    if people and model:
        raise OutOfDomainError(BOTH)
