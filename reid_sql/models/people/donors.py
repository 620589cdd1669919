"""A kernel model: everyone resembles one of some records of the sample, column by column.

q(x) = (1/m) Σ_i Π_j [a_j 1(x_j = X_ij) + b_j W_j(X_ij, x_j) + (1 − a_j − b_j) p_j(x_j)], b_j where column j
is ordered. Donors are records of persons. Logarithms of the factors over p_j are worked out once by value and
donor, so that a record's terms are sums of rows of tables, in double precision. Source: Aitchison & Aitken
1976; Li & Racine 2003.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.marginals.column import Column
from reid_sql.models.people.likeness import likeness
from reid_sql.parameters import Floats

BLOCK: Final = 1 << 16  # records times donors that are worked on together, so that they stay in a cache
MOST_CELLS: Final = 1 << 22  # values times donors that are kept, and as many that are not: 32 MB each
TOGETHER: Final = 1024  # values that columns may have together
NONE: Final = -1e30  # ln of no donor


@dataclass(frozen=True)
class Donors:
    """Distinct donors, their numbers, and the chances that a column is kept (a) or taken from near by (b)."""

    columns: tuple[Column, ...]
    codes: Integers  # (donors, columns)
    count: Floats  # (donors,)
    kept: Floats  # (columns,)
    near: Floats  # (columns,)

    def log_q(self, codes: Integers, beside: Floats | None = None) -> Floats:
        """Ln q of coded records, (records, columns).

        `beside` is what else is known of them, as ln P(known | donor), (records, donors).
        """
        return self._log_mean(codes, None, beside)

    def log_chance(self, j: int, chance: Floats) -> Floats:
        """Ln of the mean of a chance of each category of column j, by each donor."""
        column = self.columns[j]
        found = self.kept[j] * chance[self.codes[:, j]]
        found = found + (1 - self.kept[j] - self.near[j]) * float(column.mass @ chance)
        if column.kernel is not None:
            of_bins = np.bincount(column.bins, column.mass * chance) / column.bin_mass
            found = found + self.near[j] * (column.kernel @ of_bins)[column.bins[self.codes[:, j]]]
        return np.asarray(np.log(np.maximum(found, 1e-300)))

    def log_q_left_out(self, donor: Integers) -> Floats:
        """Ln q of the donors of these numbers, each as if it were not among them once."""
        return self._log_mean(self.codes[donor], donor)

    def _log_mean(self, codes: Integers, own: Integers | None, beside: Floats | None = None) -> Floats:
        found = np.zeros(len(codes))
        for j, column in enumerate(self.columns):
            found += (column.log_share if own is None else column.log_left_out)[codes[:, j]]
        others = self.count.sum() - (own is not None)
        if others == 0:  # a lone donor is left out: only shares are known
            return found
        for rows, terms in self._blocks(codes, own):
            if beside is not None:
                np.add(terms, beside[rows], out=terms)
            top = terms.max(axis=1)
            np.subtract(terms, top[:, None], out=terms)
            found[rows] += np.log(np.exp(terms, out=terms).sum(axis=1) / others) + top
        return found

    def _blocks(self, codes: Integers, own: Integers | None) -> Iterator[tuple[slice, Floats]]:
        """Rows of codes, and ln of each donor's number times its likeness in all columns: (rows, donors)."""
        step, kept = max(BLOCK // len(self.codes), 1), self.tables if own is None else {}
        anew = sorted({*range(len(self.columns))} - {j for group in kept for j in group})
        many = max(MOST_CELLS // (len(self.codes) * max(len(anew), 1)), step)
        for first in range(0, len(codes), many):
            some = codes[first : first + many]
            tables = [(table, self._places(group, some)) for group, table in kept.items()]
            tables += [self._told_anew(j, some[:, j], left_out=own is not None) for j in anew]
            for start in range(0, len(some), step):
                checkpoint()
                rows = slice(first + start, first + min(start + step, len(some)))
                terms = log_counts(self.count, rows.stop - rows.start, None if own is None else own[rows])
                for table, places in tables:
                    terms += table[places[start : start + step]]
                yield rows, terms

    def _told_anew(self, j: int, codes: Integers, *, left_out: bool) -> tuple[Floats, Integers]:
        """Ln of the likeness of values of column j to each donor, and where in it each of these codes is."""
        values, places = np.unique(codes, return_inverse=True)
        return self._log_likeness(j, values, left_out=left_out), places

    def _places(self, group: tuple[int, ...], codes: Integers) -> Integers:
        """Where in its table each record's values of a group of columns are."""
        sizes = [len(self.columns[j].mass) for j in group]
        return np.ravel_multi_index(tuple(codes[:, j] for j in group), sizes)

    @cached_property
    def tables(self) -> dict[tuple[int, ...], Floats]:
        """Ln of the likeness of all values that columns have together, of as many as there is room for."""
        sizes = [len(column.mass) for column in self.columns]
        found, room = dict[tuple[int, ...], Floats](), MOST_CELLS // len(self.codes)
        for group in together(sizes, TOGETHER):
            rows = math.prod(sizes[j] for j in group)
            if rows > room:
                continue
            room -= rows
            table = np.zeros((1, len(self.codes)))
            for j in group:
                checkpoint()
                own = self._log_likeness(j, np.arange(sizes[j]), left_out=False)
                table = (table[:, None] + own).reshape(-1, len(self.codes))
            found[group] = table
        return found

    def _log_likeness(self, j: int, values: Integers, *, left_out: bool) -> Floats:
        column = self.columns[j]
        log_share = column.log_left_out if left_out else column.log_share
        found = likeness(column, values, self.codes[:, j], log_share).mixed(self.kept[j], self.near[j])
        return np.log(found, out=found)

    def draw(self, count: int, rng: np.random.Generator) -> Integers:
        """Codes of records drawn from the model."""
        donor = rng.choice(len(self.codes), count, p=self.count / self.count.sum())
        found = self.codes[donor].copy()
        for j, column in enumerate(self.columns):
            chance = rng.random(count)
            fresh = chance >= self.kept[j] + self.near[j]
            found[fresh, j] = rng.choice(
                len(column.mass), int(fresh.sum()), p=column.mass / column.mass.sum()
            )
            close = (chance >= self.kept[j]) & ~fresh
            if close.any() and column.kernel is not None:
                found[close, j] = _neighbours(column, found[close, j], rng)
        return found


def together(sizes: Sequence[int], most: int) -> list[tuple[int, ...]]:
    """Columns whose values are looked up together: those of few, as long as there are at most so many.

    >>> together([3, 50, 4, 2], 30)
    [(3, 0, 2), (1,)]
    """
    found: list[tuple[int, ...]] = []
    for j in sorted(range(len(sizes)), key=lambda j: sizes[j]):
        if found and math.prod(sizes[k] for k in found[-1]) * sizes[j] <= most:
            found[-1] += (j,)
        else:
            found.append((j,))
    return found


def log_counts(count: Floats, records: int, own: Integers | None) -> Floats:
    """Ln of the donors' numbers for so many records, each of which may be a donor itself: (records, donors).

    >>> log_counts(np.array([1.0, 3.0]), 2, np.array([0, 1])).round(2).tolist()
    [[-1e+30, 1.1], [0.0, 0.69]]
    """
    found = np.tile(np.log(count), (records, 1))
    if own is not None:
        left = count[own] - 1
        found[np.arange(records), own] = np.where(left > 0, np.log(np.maximum(left, 1)), NONE)
    return found


def _neighbours(column: Column, codes: Integers, rng: np.random.Generator) -> Integers:
    """Draw a category near each of these."""
    assert column.kernel is not None  # noqa: S101  # asked of ordered columns alone
    levels = np.cumsum(column.kernel, axis=1)
    levels = levels / levels[:, -1:] + np.arange(len(levels))[:, None]
    levels[:, -1] = np.arange(len(levels)) + 1.0
    rows = column.bins[codes]
    bins = np.searchsorted(levels.ravel(), rows + rng.random(len(rows)), side="right") - rows * len(levels)
    return column.of_bins(bins, rng)
