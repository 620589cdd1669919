"""The subjects of a scenario: codes of what can be known of them, and with which probability it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import UnknownNameError
from reid_sql.models.attacker.inclusion import Inclusion, Relation, relation
from reid_sql.models.attacker.partition import Alike, Partition
from reid_sql.models.attacker.scenario import Group, Scenario
from reid_sql.models.classes.disclosure import Integers
from reid_sql.parameters import Floats
from reid_sql.suggestion import suggestion

Texts = npt.NDArray[np.object_]
Blank = npt.NDArray[np.bool_]
NO_VALUE: Final = "hierarchies.{0} speaks of none of the values that '{0}' has here"
NOBODY: Final = "groups[{}] tells a probability for '{}', a value of '{}' that no record has here"


@dataclass(frozen=True)
class Matching:
    """By what distinct records match: codes of each group, by which a partition is refined, or relations.

    Relations of a group's columns say which of their values include which, and refine an inclusion.
    """

    groups: "list[Integers] | list[list[Relation]]"  # (groups,)
    by_inclusion: bool
    blank: Blank | None = (
        None  # (distinct,) records of which every column is missing, where NULL matches anything
    )

    def start(self, records: Integers, people: Integers | None = None) -> tuple[Alike, Integers]:
        """Give where nothing is known yet; `people` are how many of a population hold each record."""
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
    order: list[int]  # groups, those that tell apart most first
    notes: tuple[str, ...] = ()  # what the scenario speaks of and the records lack


def subjects(
    codes: Integers, texts: Sequence[Sequence[str | None]], attacker: Scenario, nulls: str
) -> Subjects:
    """Read the records as the scenario says; refuses a value that has no probability or looks misspelt.

    Values that only dropped records may have, and hierarchies kept for other tables, are noted.
    """
    told = _told(texts, attacker)
    notes = [*_absent(attacker, told, dropped=nulls == "drop"), *_idle_hierarchies(attacker, told)]
    probabilities, profile = _profiles(attacker, told, len(codes))
    fixed = ((probabilities == 0) | (probabilities == 1)).all(axis=1)
    kinds = [int(group.max(initial=0)) for group in _groups(_columns(codes, attacker), attacker)]
    order = sorted(range(len(kinds)), key=lambda group: (not fixed[group], -kinds[group]))
    return Subjects(matching(codes, texts, attacker, nulls), probabilities, profile, order, tuple(notes))


def matching(
    codes: Integers, texts: Sequence[Sequence[str | None]], attacker: Scenario, nulls: str
) -> Matching:
    """Say by what the records match: by equal values, or where a value may include others by that."""
    columns = _columns(codes, attacker)
    if nulls != "wildcard" and not attacker.hierarchies:
        return Matching(_groups(columns, attacker), by_inclusion=False)
    missing = (
        {column: codes[:, place] == 0 for place, column in enumerate(attacker.columns)}
        if nulls == "wildcard"
        else {}
    )
    told = _told(texts, attacker)
    related = {
        column: relation(values, attacker.hierarchies.get(column), told.get(column), missing.get(column))
        for column, values in columns.items()
    }
    return Matching(
        [[related[c] for c in g.columns] for g in attacker.groups],
        by_inclusion=True,
        blank=(codes[:, : len(attacker.columns)] == 0).all(axis=1) if nulls == "wildcard" else None,
    )


def _columns(codes: Integers, attacker: Scenario) -> dict[str, Integers]:
    """Codes of each column, without gaps."""
    return {column: dense(codes[:, place]) for place, column in enumerate(attacker.columns)}


def _groups(columns: dict[str, Integers], attacker: Scenario) -> list[Integers]:
    """Codes of each group's values together."""
    return [_combined([columns[column] for column in group.columns]) for group in attacker.groups]


def _told(texts: Sequence[Sequence[str | None]], attacker: Scenario) -> dict[str, Texts]:
    """Values of the columns that the scenario speaks of."""
    return {
        column: np.array([row[place] for row in texts], dtype=object)
        for place, column in enumerate(attacker.told)
    }


def dense(codes: Integers) -> Integers:
    """Number codes anew without gaps, from 0."""
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _combined(columns: list[Integers]) -> Integers:
    """One code for the values of several columns together."""
    found = columns[0]
    for column in columns[1:]:
        found = dense(found * (int(column.max(initial=0)) + 1) + column)
    return found


def _profiles(given: Scenario, told: dict[str, Texts], rows: int) -> tuple[Floats, Integers]:
    """Probabilities of the groups for every kind of subject, and each record's kind."""
    by = list(dict.fromkeys(group.by for group in given.groups if group.by is not None))
    kind = _combined([_numbered(told[column]) for column in by]) if by else np.zeros(rows, dtype=np.int64)
    first = np.unique(kind, return_index=True)[1]
    by_kind = np.empty((len(given.groups), len(first)))
    for place, group in enumerate(given.groups):
        by_kind[place] = (
            group.probability if group.by is None else _by_value(place + 1, group, told[group.by][first])
        )
    found, profile = np.unique(by_kind, axis=1, return_inverse=True)
    return found, profile.ravel()[kind].astype(np.int64)


def _numbered(values: Texts) -> Integers:
    """Number the texts in the order in which they appear."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return np.fromiter((places[value] for value in values), dtype=np.int64, count=len(values))


def _by_value(number: int, group: Group, values: Texts) -> Floats:
    """Probability of each record by its value of the column; a value without one takes `otherwise`."""
    present = dict.fromkeys(values)
    if group.otherwise is None:
        for each in present:
            if each not in group.probabilities:
                raise UnknownNameError(
                    f"scenario groups[{number}] must tell a probability for every value of '{group.by}', got "
                    f"none for {'NULL' if each is None else repr(each)}; add it, or write otherwise = the "
                    "probability of all others"
                )
    found = {each: group.probabilities.get(each, group.otherwise) for each in present if each is not None}
    found[None] = group.otherwise
    return np.array([found[value] for value in values], dtype=np.float64)


def _absent(given: Scenario, told: dict[str, Texts], *, dropped: bool) -> list[str]:
    """Refuse probabilities for values that no record has, as misspelt.

    Where records were dropped, such values are noted instead.
    """
    notes = []
    for number, group in enumerate(given.groups, 1):
        if group.by is None or group.values_may_be_absent:
            continue
        present = dict.fromkeys(told[group.by])
        for value in group.probabilities:
            if value not in present and not dropped:
                known = [text for text in present if text is not None]
                raise UnknownNameError(
                    f"scenario groups[{number}] must tell probabilities for values of '{group.by}', got "
                    f"'{value}'; {suggestion(value, known, 'values')}, or write values_may_be_absent = true"
                )
            if value not in present:
                notes.append(NOBODY.format(number, value, group.by))
    return notes


def _idle_hierarchies(given: Scenario, told: dict[str, Texts]) -> list[str]:
    """Note each hierarchy that includes nobody here: it is kept for other tables, or misspelt."""
    notes = []
    for column, hierarchy in given.hierarchies.items():
        steps = hierarchy.broader
        named = {*steps, *hierarchy.includes_all, *(value for values in steps.values() for value in values)}
        if named and not named & set(told[column]):
            notes.append(NO_VALUE.format(column))
    return notes
