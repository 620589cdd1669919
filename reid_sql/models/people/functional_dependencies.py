"""Functional dependencies: a postal code determines its city, so a city adds nothing to the postal code.

A model of pairs cannot represent this, so it is fitted without the determined columns. Each is then linked to
the column that determines it: given the postal code, P(city) is 1 − s for the city of that code and s p for
others; without the code, a city restricts the codes, and the model sums over them. Source: Kivinen & Mannila
1995 (functional dependencies inferred from relations).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.evidence import Text
from reid_sql.models.marginals.column import Column
from reid_sql.models.people.evidence import PeopleEvidence
from reid_sql.parameters import Flags, Floats, Integers

STATUS_DETERMINED: Final = "determined: {0} determines {1}, so {1} adds nothing"
MIN_REPEATED_RECORDS: Final = 10  # in values that repeat, for a dependency to be considered
MIN_NATS: Final = 10.0  # of evidence, above which a dependency is no chance
# of a certain one: at most 1 % of people differ, with 95 % confidence
MIN_AGREEING_RECORDS: Final = 300
# of records, in values that repeat: fewer do not show that the others' values determine anything
MIN_REPEATED_SHARE: Final = 0.6
UNKNOWN: Final = -1  # code determined by a value that the sample does not contain


@dataclass(frozen=True)
class Dependency:
    """A column that another one determines; the records that agree, and the evidence in nats."""

    determined: int
    by: int
    agreeing: float
    nats: float
    repeated_share: float = 1.0  # of the records, in values of `by` that repeat

    @property
    def is_shown(self) -> bool:
        """Whether most records show it, or so many that hardly anybody differs."""
        return self.is_certain or self.repeated_share >= MIN_REPEATED_SHARE

    @property
    def is_likely(self) -> bool:
        """Whether it is more than chance."""
        return self.nats >= MIN_NATS

    @property
    def is_certain(self) -> bool:
        """Whether hardly anybody differs."""
        return self.is_likely and self.agreeing >= MIN_AGREEING_RECORDS


def find_dependencies(evidence: PeopleEvidence) -> list[Dependency]:
    """Find pairs of columns where each value of one that repeats occurs with a single value of the other.

    Each record beyond a value's first would agree by chance with probability p, the share of the value that
    it agrees on: together they are evidence of −Σ ln p nats.

    >>> from reid_sql.models.people.evidence import count_records
    >>> codes = np.repeat([[0, 0], [1, 1], [2, 1]], 20, axis=0)
    >>> table = count_records(codes, ["zip", "state"], [["1", "2", "3"], ["A", "B"]], [False, False])
    >>> [(one.determined, one.by, one.agreeing, round(one.nats, 2)) for one in find_dependencies(table)]
    [(1, 0, 57.0, 36.28)]
    """
    dependencies = []
    for (i, j), (first, second, weight) in evidence.pairs.items():
        for determined, by, target, source in ((j, i, second, first), (i, j, first, second)):
            shares = evidence.counts[determined]
            # of the counted records
            counts = np.bincount(source, weight, minlength=len(evidence.counts[by]))
            partners = np.bincount(source, minlength=len(counts))
            repeated = counts > 1
            too_few = len(shares) < 2 or counts[repeated].sum() < MIN_REPEATED_RECORDS  # noqa: PLR2004
            if too_few or (partners[repeated] > 1).any():
                continue
            agreeing = np.maximum(counts[source] - 1, 0) * repeated[source]
            nats = -float(agreeing @ np.log(shares[target] / shares.sum()))
            share = float(counts[repeated].sum() / counts.sum())
            dependencies.append(Dependency(determined, by, float(agreeing.sum()), nats, share))
    return dependencies


def describe_dependencies(dependencies: Sequence[Dependency], columns: Sequence[str]) -> list[str]:
    """Sentences for a user.

    >>> describe_dependencies([Dependency(1, 0, 500, 50)], ["zip", "city"])
    ['determined: zip determines city, so city adds nothing']
    """
    named = [(columns[one.by], columns[one.determined]) for one in dependencies]
    return [STATUS_DETERMINED.format(by, determined) for by, determined in named]


def choose_dependencies(
    dependencies: Sequence[Dependency], values: Sequence[Sequence[Text]]
) -> list[Dependency]:
    """Choose the columns to leave out: each is likely determined by one that stays or is left out after it.

    Of two columns that determine each other the one of more values stays; `values` are those of each column.

    >>> both = [Dependency(1, 0, 500, 50), Dependency(0, 1, 500, 50)]
    >>> [one.determined for one in choose_dependencies(both, ["ab", "cd"])]
    [1]
    """

    def rank(one: Dependency) -> tuple[int, int, float]:
        return len(values[one.determined]), -one.determined, -one.agreeing

    chosen: dict[int, Dependency] = {}
    for one in sorted(dependencies, key=rank):
        if one.is_likely and one.determined not in chosen and one.by not in chosen:
            chosen[one.determined] = one
    return list(chosen.values())


def list_free_columns(evidence: PeopleEvidence, dropped: Sequence[Dependency]) -> list[int]:
    """Columns by number that none of these dependencies determines."""
    determined = {one.determined for one in dropped}
    return [j for j in range(len(evidence.columns)) if j not in determined]


@dataclass(frozen=True)
class DeterminedColumn:
    """A column that the model leaves out, and the one that determines it, by number among all columns."""

    column: int
    source: int
    code_of_source: Integers  # (categories of the source,): code of the column, or UNKNOWN
    exception_chance: float  # s, of another value than the one determined

    def chance(self, share: Floats | float, determined: Integers, code: Integers | int) -> Floats:
        """P(value | value of the source); `share` is that of the value, `determined` what the source implies.

        >>> city = DeterminedColumn(1, 0, np.array([0, 0, 1]), 0.1)
        >>> city.chance(0.5, city.code_of_source, 1).round(2).tolist()
        [0.05, 0.05, 0.95]
        """
        matched = self.exception_chance * share + (1 - self.exception_chance) * (determined == code)
        return np.asarray(np.where(determined == UNKNOWN, share, matched))

    def chance_by_source(self, columns: Sequence[Column], code: int) -> Floats:
        """P(value of this code | each category of the source)."""
        share = float(np.exp(columns[self.column].log_share[code]))
        return self.chance(share, self.code_of_source, code)

    def log_chance(self, columns: Sequence[Column], codes: Integers) -> Floats:
        """Ln P(value | value of the source) of records of codes of all columns."""
        share = np.exp(columns[self.column].log_share[codes[:, self.column]])
        determined = self.code_of_source[codes[:, self.source]]
        return np.log(self.chance(share, determined, codes[:, self.column]))


@dataclass(frozen=True)
class SourceEvidence:
    """P(the known columns that an unknown source determines | each category of the source)."""

    source: int
    rows: Flags  # to which it applies
    chance: Floats  # (categories,)

    def by_bin(self, column: Column) -> Floats:
        """The same chance given each bin of the source."""
        return np.asarray(np.bincount(column.bins, column.mass * self.chance) / column.bin_mass)


def infer_sources(
    determined: Sequence[DeterminedColumn],
    columns: Sequence[Column],
    codes: Integers,
    chosen: Flags,
) -> Iterator[SourceEvidence]:
    """Evidence on sources that are not chosen, by determined columns that are; equal rows are grouped.

    `codes` and `chosen` are (rows, columns) and are broadcast to each other.
    """
    codes, chosen = np.broadcast_arrays(codes, chosen)
    for source in dict.fromkeys(one.source for one in determined):
        linked = [one for one in determined if one.source == source]
        places = [one.column for one in linked]
        informative = chosen[:, places] & ~chosen[:, [source]]
        known_codes = np.where(informative, codes[:, places], UNKNOWN)
        distinct, inverse = np.unique(known_codes, axis=0, return_inverse=True)
        for place, each in enumerate(distinct.tolist()):
            chances = [
                one.chance_by_source(columns, code)
                for one, code in zip(linked, each, strict=True)
                if code != UNKNOWN
            ]
            if chances:
                yield SourceEvidence(source, inverse.ravel() == place, np.prod(chances, axis=0))


def link_columns(
    evidence: PeopleEvidence, dropped: Sequence[Dependency], columns: Sequence[Column]
) -> tuple[DeterminedColumn, ...]:
    """Link each column that was left out to the remaining one that determines it in the end.

    A state determined by a city that is determined by a postal code is linked to the postal code.
    """
    by = {one.determined: one for one in dropped}
    linked = []
    for column, one in sorted(by.items()):
        source = one.by
        while source in by:
            source = by[source].by
        first, second, counts = evidence.pairs[min(column, source), max(column, source)]
        of_column, of_source = (second, first) if source < column else (first, second)
        code_of_source = np.full(len(columns[source].mass), UNKNOWN)
        order = np.argsort(counts, kind="stable")  # the most frequent is written last
        code_of_source[of_source[order]] = of_column[order]
        # By Laplace's rule of succession, the chance of a first exception after so many agreeing records.
        linked.append(DeterminedColumn(column, source, code_of_source, 1 / (one.agreeing + 2)))
    return tuple(linked)
