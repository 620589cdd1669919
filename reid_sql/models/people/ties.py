"""Columns that follow from others, within a model: they add nothing to their source, and stand for it alone.

A model of pairs cannot know that a city follows from its postal code, so it is fitted without the city. With
the code, a city costs next to nothing: P(city | code) is 1 − s for the city that goes with the code, and s p
for others. Where the code is not known, a city says which codes it may be: Σ over the codes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.marginals.column import Column
from reid_sql.models.people.following import Dependence
from reid_sql.models.people.people_evidence import PeopleEvidence
from reid_sql.parameters import Floats

UNTOLD: Final = -1


@dataclass(frozen=True)
class Tie:
    """A column that follows from its source, both by number among all columns, and what goes with what."""

    column: int
    source: int
    goes: Integers  # (categories of the source,): code of the column, UNTOLD where the sample does not say
    slip: float  # chance s of another value than the one that goes

    def chance(self, share: Floats | float, told: Integers, code: Integers | int) -> Floats:
        """P(value | value of the source): `share` is that of the value, `told` what goes with the source.

        >>> tie = Tie(1, 0, np.array([0, 0, 1]), 0.1)
        >>> tie.chance(0.5, tie.goes, 1).round(2).tolist()
        [0.05, 0.05, 0.95]
        """
        matched = self.slip * share + (1 - self.slip) * (told == code)
        return np.asarray(np.where(told == UNTOLD, share, matched))

    def of_source(self, columns: Sequence[Column], code: int) -> Floats:
        """P(value of this code | each category of the source)."""
        share = float(np.exp(columns[self.column].log_share[code]))
        return self.chance(share, self.goes, code)

    def log_chance(self, columns: Sequence[Column], codes: Integers) -> Floats:
        """Ln P(value | value of the source) of records of codes of all columns."""
        share = np.exp(columns[self.column].log_share[codes[:, self.column]])
        told = self.goes[codes[:, self.source]]
        return np.log(self.chance(share, told, codes[:, self.column]))


@dataclass(frozen=True)
class Clue:
    """Of an unknown source: P(the known columns that follow from it | each of its categories)."""

    source: int
    rows: npt.NDArray[np.bool_]  # to which it applies
    chance: Floats  # (categories,)

    def of_bins(self, column: Column) -> Floats:
        """The same given each bin of the source."""
        return np.asarray(np.bincount(column.bins, column.mass * self.chance) / column.bin_mass)


def clues(
    ties: Sequence[Tie], columns: Sequence[Column], codes: Integers, chosen: npt.NDArray[np.bool_]
) -> Iterator[Clue]:
    """What columns that follow say of sources that are not chosen: one for each source and kind of row.

    `codes` and `chosen` are (rows, columns); where one of them has a single row, it stands for all.
    """
    codes, chosen = np.broadcast_arrays(codes, chosen)
    for source in dict.fromkeys(tie.source for tie in ties):
        own = [tie for tie in ties if tie.source == source]
        places = [tie.column for tie in own]
        asked = chosen[:, places] & ~chosen[:, [source]]
        kind = np.where(asked, codes[:, places], UNTOLD)
        found, inverse = np.unique(kind, axis=0, return_inverse=True)
        for place, each in enumerate(found.tolist()):
            known = [(tie, code) for tie, code in zip(own, each, strict=True) if code != UNTOLD]
            if known:
                chance = np.prod([tie.of_source(columns, code) for tie, code in known], axis=0)
                yield Clue(source, inverse.ravel() == place, chance)


def ties_of(
    evidence: PeopleEvidence, left: Sequence[Dependence], columns: Sequence[Column]
) -> tuple[Tie, ...]:
    """Tie each column that was left out to the one that it follows from in the end.

    A state that follows from a city, and that from a postal code, is tied to the code.
    """
    follows = {one.follows: one for one in left}
    found = []
    for column, one in sorted(follows.items()):
        source = one.other
        while source in follows:
            source = follows[source].other
        first, second, counts = evidence.pairs[min(column, source), max(column, source)]
        of_column, of_source = (second, first) if source < column else (first, second)
        goes = np.full(len(columns[source].mass), UNTOLD)
        order = np.argsort(counts, kind="stable")  # the most frequent is written last
        goes[of_source[order]] = of_column[order]
        found.append(Tie(column, source, goes, 1 / (one.agreeing + 2)))
    return tuple(found)
