"""People with several records: classes count people, and whole people are removed.

A record is distinct by its values and its person, which is the last column of the lattice. A person is
removed with all records if one of them is in a class of fewer than k people. This makes other classes
smaller, so it is repeated until all classes are large enough.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reid_sql.models.release.lattice import DistinctRecords, Node, combine_codes
from reid_sql.models.release.suppression import MAX_ROUNDS, Outcome, Requirement
from reid_sql.parameters import Integers


@dataclass(frozen=True)
class PeopleRules:
    """The least number of people in a class, and how many people may be removed.

    In a finer form of the table, every class is a part of one here. By induction over the rounds, whoever is
    removed here is removed there, too: what must go here bounds all finer forms.

    >>> codes = np.array([[0, 0, 1, 1], [0, 1, 1, 2]])
    >>> records = DistinctRecords(codes, np.array([5, 1, 1, 1]))
    >>> PeopleRules(3, 1).judge((0, 0), records, Outcome(1), Requirement(8)).hopeless
    True
    >>> PeopleRules(2, 0).judge((0, 0), records, Outcome(1), Requirement(8)).suppressed
    0
    """

    k: int
    removable: int  # people

    def judge(
        self,
        node: Node,  # noqa: ARG002 - as rules of sensitive values
        classes: DistinctRecords,
        outcome: Outcome,  # noqa: ARG002 - same
        asked: Requirement,  # noqa: ARG002 - same
    ) -> Outcome:
        """Judge a node: whether few enough people are removed."""
        gone, rounds = self._gone(classes, MAX_ROUNDS)
        if self.count_people(classes, gone) > self.removable or gone.all():
            return Outcome(None, hopeless=True)
        if rounds > MAX_ROUNDS:
            return Outcome(None)
        return Outcome(self.k, int(classes.counts[gone].sum()), rounds=rounds)

    def gone(self, node: Node, classes: DistinctRecords, outcome: Outcome) -> NDArray[np.bool_]:  # noqa: ARG002 - same
        """Which records are removed."""
        return self._gone(classes, outcome.rounds)[0]

    def unsavable(self, node: Node, classes: DistinctRecords, asked: Requirement) -> NDArray[np.bool_]:  # noqa: ARG002 - same
        """Which records cannot remain in any finer form."""
        return self._gone(classes, MAX_ROUNDS)[0]

    def count_small(self, classes: DistinctRecords, asked: Requirement) -> int:  # noqa: ARG002 - same
        """Count the records in classes of fewer than k people, at least 2."""
        place = _classes(classes)
        return int(classes.counts[np.bincount(place)[place] < max(2, self.k)].sum())

    @staticmethod
    def count_people(classes: DistinctRecords, which: NDArray[np.bool_]) -> int:
        """Count the people of some records."""
        return len(np.unique(classes.codes[-1][which]))

    def _gone(self, classes: DistinctRecords, rounds: int) -> tuple[NDArray[np.bool_], int]:
        """Remove people with a record in a small class; count rounds, one more than allowed if endless."""
        place, person = _classes(classes), classes.codes[-1]
        stays = np.ones(len(place), dtype=np.bool_)
        for number in range(rounds + 1):
            people = np.bincount(place, stays)
            small = stays & (people[place] < self.k)
            if not small.any():
                return ~stays, number
            if number < rounds:
                removed = np.bincount(person, small) > 0
                stays &= ~removed[person]
        return ~stays, rounds + 1


def _classes(classes: DistinctRecords) -> Integers:
    """Number the class of each record, by all columns but the person."""
    codes = classes.codes[:-1]
    key = combine_codes(list(codes), [int(each.max()) + 1 for each in codes])
    return np.unique(key, return_inverse=True)[1].ravel().astype(np.int64)


def without_people(classes: DistinctRecords) -> DistinctRecords:
    """Merge the records of the people in a class."""
    place = _classes(classes)
    _, first = np.unique(place, return_index=True)
    counts = np.bincount(place, classes.counts, len(first)).astype(np.int64)
    return DistinctRecords(classes.codes[:-1, first], counts)
