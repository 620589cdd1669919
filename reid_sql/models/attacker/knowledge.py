"""The subjects of a scenario, and what an attacker knows of them that is unique in the population."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Final, Protocol

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError, UnknownNameError, count_values, suggestion
from reid_sql.models.attacker.inclusion import Alike, Inclusion, Partition, Relation, relate_values
from reid_sql.models.attacker.scenario import Group, Scenario
from reid_sql.models.classes.disclosure import OK, Histogram
from reid_sql.models.fitted_model import FittedModel, doubts_at
from reid_sql.models.population import pitman
from reid_sql.models.population.subset_uniqueness import UniqueShare, unique_share_by_subset
from reid_sql.parameters import Flags, Floats, Integers, Number

# Which groups of attributes the attacker knows: every set with its probability, or sets drawn by chance.
# A walk decides group by group; what is left to it is split at each group into the cases without it and
# those with it. `weight` is the probability of what was decided so far, for each profile: a way in which
# subjects' probabilities differ.

# knowledge sets up to which each is counted; beyond, they are drawn
MAX_ENUMERATED_SETS: Final = 65_536
MAX_DRAWS_IN_MEMORY: Final = 50_000_000  # trials times profiles times groups in memory at once
TRIALS: Final = Number(
    "a whole number of trials from 100 to 1000000",
    "pass how many sets to draw, such as 10000",
    100.0,
    1e6,
    whole=True,
)
SEED: Final = Number(
    "a whole number from 0 to 4294967295",
    "pass any such number, such as 0",
    0.0,
    2.0**32 - 1,
    whole=True,
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
        probability = self.probabilities[group]
        return replace(self, weight=self.weight * (1 - probability)), replace(
            self, weight=self.weight * probability
        )


@dataclass(frozen=True)
class DrawnSets:
    """Trials in which each group was drawn as known or not, for every profile by the same chances."""

    drawn: Flags  # (groups, trials × profiles)
    # (cases,) those that agree with what was decided, as trial × profiles + profile
    cases: Integers
    trials: int
    profiles: int

    @property
    def weight(self) -> Floats:
        """Share of the trials."""
        return np.asarray(
            np.bincount(self.cases % self.profiles, minlength=self.profiles) / self.trials
        )

    def split(self, group: int) -> "tuple[DrawnSets, DrawnSets]":
        """Sort the cases by whether the group was drawn."""
        drawn = self.drawn[group][self.cases]
        return replace(self, cases=self.cases[~drawn]), replace(self, cases=self.cases[drawn])


def count_sets(probabilities: Floats) -> int:
    """How many sets of groups have, at most, a positive probability for somebody.

    Probabilities are (groups, profiles).
    """
    undecided = (probabilities > 0) & (probabilities < 1)
    together = undecided.any(axis=1) | (np.ptp(probabilities, axis=1) > 0)
    profiles = np.unique(undecided.sum(axis=0), return_counts=True)
    one_by_one = sum(
        2**groups * count
        for groups, count in zip(*(part.tolist() for part in profiles), strict=True)
    )
    return int(min(2 ** int(together.sum()), one_by_one))


def enumerate_sets(probabilities: Floats) -> EverySet:
    """Give every set with its exact probability, for probabilities (groups, profiles)."""
    return EverySet(probabilities, np.ones(probabilities.shape[1]))


def draw_sets(probabilities: Floats, trials: int, seed: int) -> DrawnSets:
    """Draw the sets; refuses more than fit in memory."""
    groups, profiles = probabilities.shape
    if groups * profiles * trials > MAX_DRAWS_IN_MEMORY:
        raise OutOfDomainError(
            f"trials × groups × kinds of subject must be at most {MAX_DRAWS_IN_MEMORY}, "
            f"got {trials} × {groups} × {profiles}; "
            "pass fewer trials, or probabilities that differ between fewer kinds of subject"
        )
    chances = np.random.default_rng(seed).random((groups, trials, 1))
    drawn = (chances < probabilities[:, None, :]).reshape(groups, trials * profiles)
    return DrawnSets(drawn, np.arange(trials * profiles), trials, profiles)


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
STATUS_MODEL: Final = "model_uniqueness: journalist and overall risk rest on a model, whose error standard_error leaves out"
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
    shares: dict[tuple[int, ...], float] = field(default_factory=dict)

    def share(self, _: Histogram, groups: Sequence[int]) -> float | None:
        """Ξ on the columns of the groups, worked out once for each choice of columns."""
        columns = tuple(sorted({place for group in groups for place in self.places[group]}))
        if columns not in self.shares:
            self.shares[columns] = self.unique(columns)
        return self.shares[columns]


def choose_uniqueness(attacker: Scenario, model: FittedModel | None) -> Unique:
    """Give Pitman's estimate, or the model's; refuses a model that lacks a column of the scenario."""
    if model is None:
        return ByPitman(attacker.population)
    place = {column: _find_column(column, model.columns) for column in attacker.columns}
    places = [[place[column] for column in group.columns] for group in attacker.groups]
    words = "; ".join([STATUS_MODEL, *doubts_at(model.doubts, attacker.population)])
    return ByModel(unique_share_by_subset(model, attacker.population), places, words)


def _find_column(column: str, columns: Sequence[str]) -> int:
    """Number of the scenario's column in the model, whose letters may be of another case, as in SQL."""
    folded = [each.lower() for each in columns]
    if column not in columns and column.lower() not in folded:
        raise UnknownNameError(
            f"columns of the scenario must be columns of the model, got '{column}'; "
            f"{suggestion(column, columns)}, or fit a model to all of them"
        )
    return columns.index(column) if column in columns else folded.index(column.lower())


def refuse_both(*, people: bool, model: bool) -> None:
    """Refuse a population table together with a model: only one of them decides who is unique."""
    if people and model:
        raise OutOfDomainError(REFUSAL_BOTH)


Texts = npt.NDArray[np.object_]
STATUS_NO_VALUE: Final = (
    "unused_hierarchy: hierarchies.{0} contains none of the values of '{0}' in this table"
)
STATUS_NO_RECORD: Final = (
    "unused_probability: groups[{}] has a probability for '{}', a value of '{}' that no record has"
)


@dataclass(frozen=True)
class Matching:
    """By what distinct records match: codes of each group, by which a partition is refined, or relations.

    Relations of a group's columns state which of their values include which, and refine an inclusion.
    """

    groups: "list[Integers] | list[list[Relation]]"  # (groups,)
    by_inclusion: bool
    blank: Flags | None = (
        None  # (distinct,) records of which every column is missing, where NULL matches anything
    )

    def start(self, records: Integers, people: Integers | None = None) -> tuple[Alike, Integers]:
        """Give where nothing is known yet; `people` are how many of a population table have each record."""
        if self.by_inclusion:
            return Inclusion.whole(records, self.blank, people)
        return Partition.whole(records, people)


@dataclass(frozen=True)
class Subjects:
    """Distinct records as the scenario sees them; a profile is a way in which probabilities differ.

    The probabilities are those of what is known of each subject.
    """

    matching: Matching
    probabilities: Floats  # (groups, profiles)
    profile: Integers  # (distinct,)
    order: list[int]  # groups, those that distinguish most first
    notes: tuple[str, ...] = ()  # what the scenario names and the records lack


def find_subjects(
    codes: Integers,
    texts: Sequence[Sequence[str | None]],
    attacker: Scenario,
    nulls: str,
    near: Integers | None = None,
) -> Subjects:
    """Read the records by the scenario; refuses a value that has no probability or looks misspelt.

    Values that only dropped records may have, and hierarchies for other tables, are noted.
    """
    texts_by_column = _name_texts(texts, attacker)
    notes = [
        *_describe_absent(attacker, texts_by_column, dropped=nulls == "drop"),
        *_describe_idle_hierarchies(attacker, texts_by_column),
    ]
    # Subjects with the same values of the columns that probabilities depend on are of one kind. Kinds for
    # which every group has the same probability share a profile.
    by = list(dict.fromkeys(group.by for group in attacker.groups if group.by is not None))
    kind = np.zeros(len(codes), dtype=np.int64)
    if by:
        kind = _combine_columns([_number_values(texts_by_column[column]) for column in by])
    first = np.unique(kind, return_index=True)[1]
    by_kind = np.empty((len(attacker.groups), len(first)))
    for place, each in enumerate(attacker.groups):
        by_kind[place] = (
            each.probability
            if each.by is None
            else _probabilities_by_value(place + 1, each, texts_by_column[each.by][first])
        )
    probabilities, profile_of_kind = np.unique(by_kind, axis=1, return_inverse=True)
    profile = profile_of_kind.ravel()[kind].astype(np.int64)
    fixed = ((probabilities == 0) | (probabilities == 1)).all(axis=1)
    values_of_groups = [
        int(group.max(initial=0))
        for group in _group_codes(_name_columns(codes, attacker), attacker)
    ]
    order = sorted(
        range(len(values_of_groups)),
        key=lambda group: (not fixed[group], -values_of_groups[group]),
    )
    matching = match_records(codes, texts, attacker, nulls, near)
    return Subjects(matching, probabilities, profile, order, tuple(notes))


def match_records(
    codes: Integers,
    texts: Sequence[Sequence[str | None]],
    attacker: Scenario,
    nulls: str,
    near: Integers | None = None,
) -> Matching:
    """Say by what the records match: by equal values, or where a value may match others by that.

    `near` has for each column the first and the last code that a record's value matches, if not only its own.
    """
    columns = _name_columns(codes, attacker)
    spans = _name_spans(codes, near, attacker)
    if nulls != "wildcard" and not attacker.hierarchies and not spans:
        return Matching(_group_codes(columns, attacker), by_inclusion=False)
    missing = (
        {column: codes[:, place] == 0 for place, column in enumerate(attacker.columns)}
        if nulls == "wildcard"
        else {}
    )
    texts_by_column = _name_texts(texts, attacker)
    related = {
        column: relate_values(
            values,
            attacker.hierarchies.get(column),
            texts_by_column.get(column),
            missing.get(column),
            spans.get(column),
        )
        for column, values in columns.items()
    }
    return Matching(
        [[related[c] for c in g.columns] for g in attacker.groups],
        by_inclusion=True,
        blank=(codes[:, : len(attacker.columns)] == 0).all(axis=1) if nulls == "wildcard" else None,
    )


def _name_columns(codes: Integers, attacker: Scenario) -> dict[str, Integers]:
    """Codes of each column, without gaps."""
    return {column: renumber(codes[:, place]) for place, column in enumerate(attacker.columns)}


def _name_spans(codes: Integers, near: Integers | None, attacker: Scenario) -> dict[str, Integers]:
    """Per record, the first code without gaps that it matches in each column, and the one after the last."""
    if near is None or not near.size:
        return {}
    spans = {}
    for place, column in enumerate(attacker.columns):
        values, (first, last) = np.unique(codes[:, place]), near[:, 2 * place : 2 * place + 2].T
        spans[column] = np.stack(
            [np.searchsorted(values, first), np.searchsorted(values, last, side="right")]
        )
    return spans


def _group_codes(columns: dict[str, Integers], attacker: Scenario) -> list[Integers]:
    """Codes of each group's values together."""
    return [
        _combine_columns([columns[column] for column in group.columns]) for group in attacker.groups
    ]


def _name_texts(texts: Sequence[Sequence[str | None]], attacker: Scenario) -> dict[str, Texts]:
    """Give the texts of the columns whose values the scenario names."""
    return {
        column: np.array([row[place] for row in texts], dtype=object)
        for place, column in enumerate(attacker.named_columns)
    }


def renumber(codes: Integers) -> Integers:
    """Number codes anew without gaps, from 0."""
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _combine_columns(columns: list[Integers]) -> Integers:
    """One code for the values of several columns together."""
    combined = columns[0]
    for column in columns[1:]:
        combined = renumber(combined * (int(column.max(initial=0)) + 1) + column)
    return combined


def _number_values(values: Texts) -> Integers:
    """Number the texts in the order in which they appear."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return np.fromiter((places[value] for value in values), dtype=np.int64, count=len(values))


def _probabilities_by_value(number: int, group: Group, values: Texts) -> Floats:
    """Probability of each record by its value of the column; a value without one takes `otherwise`."""
    present = dict.fromkeys(values)
    if group.otherwise is None:
        lacking = [each for each in present if each not in group.probabilities]
        if lacking:
            raise UnknownNameError(
                f"scenario groups[{number}] must tell a probability for every value of '{group.by}', got "
                f"none for {count_values(lacking)}; add it, or write otherwise = the probability of all "
                "others"
            )
    by_value = {
        each: group.probabilities.get(each, group.otherwise) for each in present if each is not None
    }
    by_value[None] = group.otherwise
    return np.array([by_value[value] for value in values], dtype=np.float64)


def _describe_absent(
    attacker: Scenario, texts_by_column: dict[str, Texts], *, dropped: bool
) -> list[str]:
    """Refuse probabilities for values that no record has, as misspelt.

    Where records were dropped, such values are noted instead.
    """
    notes = []
    for number, group in enumerate(attacker.groups, 1):
        if group.by is None or group.values_may_be_absent:
            continue
        present = dict.fromkeys(texts_by_column[group.by])
        for value in group.probabilities:
            if value not in present and not dropped:
                raise UnknownNameError(  # which names none that the table has
                    f"scenario groups[{number}] must tell probabilities for values of '{group.by}', got "
                    f"'{value}', which no record has; correct it, or write values_may_be_absent = true"
                )
            if value not in present:
                notes.append(STATUS_NO_RECORD.format(number, value, group.by))
    return notes


def _describe_idle_hierarchies(attacker: Scenario, texts_by_column: dict[str, Texts]) -> list[str]:
    """Note each hierarchy that includes no record here: it is for other tables, or misspelt."""
    notes = []
    for column, hierarchy in attacker.hierarchies.items():
        steps = hierarchy.broader
        named = {
            *steps,
            *hierarchy.includes_all,
            *(value for values in steps.values() for value in values),
        }
        if named and not named & set(texts_by_column[column]):
            notes.append(STATUS_NO_VALUE.format(column))
    return notes
