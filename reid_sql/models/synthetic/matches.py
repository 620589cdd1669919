"""Released people who agree with a record, and their most frequent value: what an attacker can be sure of.

A rule is a share of these people who have the value and a least number of them. People who are in the release
are matched without their own records, too.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.synthetic.attacks import UNITS, rank_positions
from reid_sql.models.synthetic.audited_tables import Flags, Holders, OrderedTables
from reid_sql.parameters import Integers

# She is sure if so many percent of the people who agree have the value, and so many people agree. The first
# share means more than half.
SHARES: Final = (100, 95, 90, 80, 70, 60, 50)
PEOPLE: Final = (50, 20, 10, 5, 3, 2, 1)
# the strictest first
RULES: Final = tuple((share, people) for share in SHARES for people in PEOPLE)
BINS: Final = 20  # of ranks, in which a number of more values is inferred


class Release:
    """The released people: how many of them have each value."""

    def __init__(self, tables: OrderedTables) -> None:
        self.people = tables.synthetic_people
        self.records = tables.synthetics
        self.has_several = len(self.people) < len(self.people.rows)

    def count(self, numbers: Integers, size: int) -> Integers:
        """Count the released people who have each number, where each distinct record has one, (size,)."""
        if not self.has_several:
            return np.bincount(numbers, self.records, size).astype(np.int64)
        pairs = np.unique(self.people.numbers * size + numbers[self.people.rows])
        return np.bincount(pairs % size, minlength=size)


@dataclass(frozen=True)
class Matches:
    """Released people who agree with a record on the known columns, (records,)."""

    people: Integers
    modal: Integers  # of them with the most frequent value; 0 if there are several such values
    is_right: Flags  # whether it is the record's own value
    missing: int = 0  # records that were taken out

    def attacked(self) -> Flags:
        """Whether each rule attacks each record: so many percent, and more than half, of so many people.

        A record that was taken out counts as one more that agrees, if others are left. Otherwise, a class at
        the limit of a rule would be attacked with the record and not without it, for all of its people.
        """
        modal, agreeing = self.modal + self.missing, self.people + self.missing
        is_sure = 100 * modal >= np.multiply.outer(SHARES, agreeing)
        is_sure &= 2 * self.modal > self.people
        are_many = agreeing >= np.array(PEOPLE)[:, None]
        return (is_sure[:, None] & are_many).reshape(len(RULES), -1)  # (rules, records)


class Cells:
    """Released people by class, values of the known columns, and by cell, a class and an inferred value."""

    def __init__(self, release: Release, classes: Integers, values: Integers) -> None:
        width = int(values.max(initial=0)) + 1
        cells, self.cell = np.unique(classes * width + values, return_inverse=True)
        self.class_of_record = classes
        self.count = release.count(self.cell, len(cells))
        class_of_cell = cells // width
        starts = np.flatnonzero(np.diff(class_of_cell, prepend=-1))
        self.people = release.count(classes, len(starts))
        self.most = np.maximum.reduceat(self.count, starts)
        most = self.most[class_of_cell]
        self.is_first = self.count == most
        self.is_second = (self.count == most - 1) & (self.count > 0)
        self.firsts = np.add.reduceat(self.is_first, starts, dtype=np.int64)
        self.seconds = np.add.reduceat(self.is_second, starts, dtype=np.int64)

    def match(self, rows: Integers) -> Matches:
        """Match these distinct records with the release."""
        classes, cell = self.class_of_record[rows], self.cell[rows]
        is_one = self.firsts[classes] == 1
        modal = np.where(is_one, self.most[classes], 0)
        return Matches(self.people[classes], modal, is_one & self.is_first[cell])

    def match_without_own(self, holders: Holders, *, has_several: bool) -> Matches:
        """Match each person's records with the release without this person.

        A value of the person's then has one person less. So the most frequent value is the only one of the
        first ones that the person lacks; or the only first one, if it is theirs and nobody else's value has
        as many people as are left.
        """
        classes, cell = self.class_of_record[holders.rows], self.cell[holders.rows]
        first, second = self.is_first[cell].astype(np.int64), self.is_second[cell].astype(np.int64)
        if has_several:
            # how many first and second values of the class of each record its person has
            pairs, place = np.unique(holders.numbers * len(self.count) + cell, return_inverse=True)
            cell_of_pair = pairs % len(self.count)
            class_of_cell = np.empty(len(self.count), dtype=np.int64)
            class_of_cell[self.cell] = self.class_of_record
            class_of_pair = class_of_cell[cell_of_pair]
            person_and_class = pairs // len(self.count) * len(self.people) + class_of_pair
            group = np.unique(person_and_class, return_inverse=True)[1]
            first, second = (
                np.bincount(group, flags[cell_of_pair])[group[place]].astype(np.int64)
                for flags in (self.is_first, self.is_second)
            )
        firsts, most = self.firsts[classes], self.most[classes]
        is_other = firsts - first == 1
        is_same = (firsts == 1) & (first == 1) & (self.seconds[classes] == second)
        modal = np.where(is_other, most, np.where(is_same, most - 1, 0))
        return Matches(self.people[classes] - 1, modal, is_same & self.is_first[cell], missing=1)


def number_values(tables: OrderedTables, target: int) -> Integers:
    """Number the values of an inferred column: those of a number with many values by twentieths of ranks."""
    codes = tables.codes[target]
    if not tables.is_ordinal[target] or len(np.unique(codes)) <= BINS:
        return np.asarray(codes)
    ranks = rank_positions(codes, tables.originals + tables.synthetics + tables.controls).astype(
        np.int64
    )
    bins: Integers = np.where(codes == 0, 0, np.minimum(BINS * ranks // UNITS, BINS - 1) + 1)
    return bins
