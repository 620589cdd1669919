"""The subjects of a scenario: codes of what can be known of them, and with which probability it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import UnknownNameError
from reid_sql.models.attacker.inclusion import Alike, Inclusion, Partition, Relation, relate_values
from reid_sql.models.attacker.scenario import Group, Scenario
from reid_sql.parameters import Floats, Integers
from reid_sql.suggestion import count_values

Texts = npt.NDArray[np.object_]
Blank = npt.NDArray[np.bool_]
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
    blank: Blank | None = (
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
    codes: Integers, texts: Sequence[Sequence[str | None]], attacker: Scenario, nulls: str
) -> Subjects:
    """Read the records by the scenario; refuses a value that has no probability or looks misspelt.

    Values that only dropped records may have, and hierarchies for other tables, are noted.
    """
    texts_by_column = _name_texts(texts, attacker)
    notes = [
        *_describe_absent(attacker, texts_by_column, dropped=nulls == "drop"),
        *_describe_idle_hierarchies(attacker, texts_by_column),
    ]
    probabilities, profile = _knowledge_profiles(attacker, texts_by_column, len(codes))
    fixed = ((probabilities == 0) | (probabilities == 1)).all(axis=1)
    kinds = [int(group.max(initial=0)) for group in _group_codes(_name_columns(codes, attacker), attacker)]
    order = sorted(range(len(kinds)), key=lambda group: (not fixed[group], -kinds[group]))
    return Subjects(match_records(codes, texts, attacker, nulls), probabilities, profile, order, tuple(notes))


def match_records(
    codes: Integers, texts: Sequence[Sequence[str | None]], attacker: Scenario, nulls: str
) -> Matching:
    """Say by what the records match: by equal values, or where a value may include others by that."""
    columns = _name_columns(codes, attacker)
    if nulls != "wildcard" and not attacker.hierarchies:
        return Matching(_group_codes(columns, attacker), by_inclusion=False)
    missing = (
        {column: codes[:, place] == 0 for place, column in enumerate(attacker.columns)}
        if nulls == "wildcard"
        else {}
    )
    texts_by_column = _name_texts(texts, attacker)
    related = {
        column: relate_values(
            values, attacker.hierarchies.get(column), texts_by_column.get(column), missing.get(column)
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


def _group_codes(columns: dict[str, Integers], attacker: Scenario) -> list[Integers]:
    """Codes of each group's values together."""
    return [_combine_columns([columns[column] for column in group.columns]) for group in attacker.groups]


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


def _knowledge_profiles(
    given: Scenario, texts_by_column: dict[str, Texts], rows: int
) -> tuple[Floats, Integers]:
    """Probabilities of the groups for every kind of subject, and each record's kind."""
    by = list(dict.fromkeys(group.by for group in given.groups if group.by is not None))
    kind = (
        _combine_columns([_number_values(texts_by_column[column]) for column in by])
        if by
        else np.zeros(rows, dtype=np.int64)
    )
    first = np.unique(kind, return_index=True)[1]
    by_kind = np.empty((len(given.groups), len(first)))
    for place, group in enumerate(given.groups):
        by_kind[place] = (
            group.probability
            if group.by is None
            else _probabilities_by_value(place + 1, group, texts_by_column[group.by][first])
        )
    profiles, profile = np.unique(by_kind, axis=1, return_inverse=True)
    return profiles, profile.ravel()[kind].astype(np.int64)


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
    by_value = {each: group.probabilities.get(each, group.otherwise) for each in present if each is not None}
    by_value[None] = group.otherwise
    return np.array([by_value[value] for value in values], dtype=np.float64)


def _describe_absent(given: Scenario, texts_by_column: dict[str, Texts], *, dropped: bool) -> list[str]:
    """Refuse probabilities for values that no record has, as misspelt.

    Where records were dropped, such values are noted instead.
    """
    notes = []
    for number, group in enumerate(given.groups, 1):
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


def _describe_idle_hierarchies(given: Scenario, texts_by_column: dict[str, Texts]) -> list[str]:
    """Note each hierarchy that includes no record here: it is for other tables, or misspelt."""
    notes = []
    for column, hierarchy in given.hierarchies.items():
        steps = hierarchy.broader
        named = {*steps, *hierarchy.includes_all, *(value for values in steps.values() for value in values)}
        if named and not named & set(texts_by_column[column]):
            notes.append(STATUS_NO_VALUE.format(column))
    return notes
