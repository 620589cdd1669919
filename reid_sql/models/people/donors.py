"""A kernel model: each person resembles one of some records of the sample, the donors, column by column.

    q_donor(x) = (1/m) Σ_i Π_j [a_j 1(x_j = X_ij) + b_j W_j(X_ij, x_j) + (1 − a_j − b_j) p_j(x_j)]

Column j of donor i is copied with probability a_j, replaced by a neighbour with b_j (0 without an order), and
else drawn from the column's shares p_j. Source: Aitchison & Aitken 1976; Li & Racine 2003 (kernels for
categories). Donors are records of persons, so no file contains them.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.interruption import checkpoint
from reid_sql.models.marginals.column import Column
from reid_sql.models.people.evidence import row_keys
from reid_sql.parameters import Floats, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_DONORS: Final = 1000
MAX_QUERIES: Final = 600  # records whose likelihood EM maximises
EM_ROUNDS: Final = 15
START: Final = (0.5, 0.2)  # a, b
MIN_CHANCE: Final = 1e-4  # of copying and of a neighbour
MAX_COPIED: Final = 0.999  # a + b
BLOCK: Final = 1 << 16  # records times donors of one block, which stays in a cache
MAX_CELLS: Final = 1 << 22  # values times donors of tables that stay, and as many of others: 32 MB each
MAX_JOINT_VALUES: Final = 1024  # of columns whose values are looked up together
MAX_RATIO: Final = 1e30  # of a chance to a share in single precision, which ends at 3e38
LOG_ZERO: Final = -1e30  # ln of no donor
Reals = npt.NDArray[np.floating[Any]]  # in double or in single precision


@dataclass(frozen=True)
class Similarity:
    """Chance of values of a column given each donor, relative to the values' shares.

    The factor of a column over p(x) is a 1(x = X_i)/p(x) + b W(X_i, x)/p(x) + 1 − a − b: only the donors that
    have the value differ from a dense matrix of kernel weights, or from a constant.
    """

    shape: tuple[int, int]  # (values, donors)
    equal: tuple[
        Integers, Integers
    ]  # (donors with one of the values,): places of their values, their numbers
    inverse_share: Reals  # (donors with one of the values,)
    kernel: Reals | None  # (values, donors), W(X_i, x)/p(x); None where the column has no order

    def mix(self, copied: float, neighbour: float) -> Reals:
        """The factors for these chances a and b, (values, donors)."""
        a, b = float(copied), float(neighbour)  # NumPy's own scalars would widen single precision
        factors = np.full(self.shape, 1 - a - b, self.inverse_share.dtype)
        if self.kernel is not None:
            factors += b * self.kernel
        factors[self.equal] += a * self.inverse_share
        return factors

    def to_single_precision(self) -> "Similarity":
        """The same in half the memory, which EM reads in half the time: a and b keep five digits."""
        kernel = None if self.kernel is None else _round_to_single(self.kernel)
        return Similarity(self.shape, self.equal, _round_to_single(self.inverse_share), kernel)


def _round_to_single(values: Reals) -> Reals:
    return np.minimum(values, MAX_RATIO).astype(np.float32)


def compare_values(column: Column, values: Integers, donors: Integers, *, left_out: bool) -> Similarity:
    """Compare distinct ascending values of a column with those of the donors.

    If they are `left_out`, shares of values, also within their bins, are without the record that has them: a
    value that a single record has would else look frequent among its neighbours.
    """
    log_share = column.log_left_out if left_out else column.log_share
    log_within = column.log_within_left_out if left_out else column.log_within
    place = np.minimum(np.searchsorted(values, donors), len(values) - 1)
    equal = np.flatnonzero(values[place] == donors)
    kernel: Floats | None = None
    if column.kernel is not None:
        scale = np.exp(log_within[values] - log_share[values])
        kernel = column.kernel.T[np.ix_(column.bins[values], column.bins[donors])] * scale[:, None]
    inverse_share = np.exp(-log_share[donors[equal]])
    return Similarity((len(values), len(donors)), (place[equal], equal), inverse_share, kernel)


@dataclass(frozen=True)
class Donors:
    """Distinct donors, how many records each represents, and the chances a and b of each column."""

    columns: tuple[Column, ...]
    codes: Integers  # (donors, columns)
    count: Floats  # (donors,)
    copied: Floats  # (columns,), a
    neighbour: Floats  # (columns,), b

    def log_q(self, codes: Integers, log_evidence: Floats | None = None) -> Floats:
        """Ln q of coded records, (records, columns).

        `log_evidence` is what else is known of them: ln P(known | donor), (records, donors).
        """
        return self._log_mean(codes, None, log_evidence)

    def log_q_left_out(self, donor: Integers) -> Floats:
        """Ln q of the donors of these numbers, each with its count reduced by one."""
        return self._log_mean(self.codes[donor], donor)

    @cached_property
    def log_q_each_left_out(self) -> Floats:
        """Ln q of every donor, with its count reduced by one."""
        return self.log_q_left_out(np.arange(len(self.codes)))

    def log_q_of_sample(self, codes: Integers) -> Floats:
        """Ln q of records of the sample; those that are donors are left out of them."""
        key = row_keys(np.concatenate([self.codes, codes]))
        donor = np.full(int(key.max(initial=0)) + 1, -1)
        donor[key[: len(self.codes)]] = np.arange(len(self.codes))
        own = donor[key[len(self.codes) :]]
        log_q = np.empty(len(codes))
        log_q[own >= 0] = self.log_q_each_left_out[own[own >= 0]]
        log_q[own < 0] = self.log_q(codes[own < 0])
        return log_q

    def log_mean_chance(self, j: int, chance: Floats) -> Floats:
        """Ln of the mean of a chance over the categories of column j given each donor."""
        column, own = self.columns[j], self.codes[:, j]
        mean = self.copied[j] * chance[own]
        mean = mean + (1 - self.copied[j] - self.neighbour[j]) * float(column.mass @ chance)
        if column.kernel is not None:
            of_bins = np.bincount(column.bins, column.mass * chance) / column.bin_mass
            mean = mean + self.neighbour[j] * (column.kernel @ of_bins)[column.bins[own]]
        return np.asarray(np.log(np.maximum(mean, 1e-300)))

    def draw(self, count: int, rng: np.random.Generator) -> Integers:
        """Draw codes of records."""
        donor = rng.choice(len(self.codes), count, p=self.count / self.count.sum())
        codes = self.codes[donor].copy()
        for j, column in enumerate(self.columns):
            chance = rng.random(count)
            fresh = chance >= self.copied[j] + self.neighbour[j]
            shares = column.mass / column.mass.sum()
            codes[fresh, j] = rng.choice(len(column.mass), int(fresh.sum()), p=shares)
            near = (chance >= self.copied[j]) & ~fresh
            if near.any() and column.kernel is not None:
                codes[near, j] = _draw_neighbours(column, codes[near, j], rng)
        return codes

    def _log_mean(self, codes: Integers, own: Integers | None, log_evidence: Floats | None = None) -> Floats:
        """Ln of the mean over donors of the product over columns: Σ ln p_j + ln mean Π (factor / p_j)."""
        log_q = np.zeros(len(codes))
        for j, column in enumerate(self.columns):
            log_q += (column.log_share if own is None else column.log_left_out)[codes[:, j]]
        others = self.count.sum() - (own is not None)
        if others == 0:  # the only donor is left out: the shares remain
            return log_q
        for rows, terms in self._blocks(codes, own):
            if log_evidence is not None:
                np.add(terms, log_evidence[rows], out=terms)
            top = terms.max(axis=1)
            np.subtract(terms, top[:, None], out=terms)
            log_q[rows] += np.log(np.exp(terms, out=terms).sum(axis=1) / others) + top
        return log_q

    def _blocks(self, codes: Integers, own: Integers | None) -> Iterator[tuple[slice, Floats]]:
        """Rows of codes, and ln of each donor's count times its factors in all columns: (rows, donors).

        A record's terms are sums of rows of tables by value and donor. The tables of few values are computed
        once for the model, the others for each chunk of records.
        """
        step, joint = max(BLOCK // len(self.codes), 1), self.tables if own is None else {}
        single = sorted({*range(len(self.columns))} - {j for group in joint for j in group})
        chunk = max(MAX_CELLS // (len(self.codes) * max(len(single), 1)), step)
        for first in range(0, len(codes), chunk):
            some = codes[first : first + chunk]
            tables = [(table, self._joint_places(group, some)) for group, table in joint.items()]
            tables += [self._table_of(j, some[:, j], left_out=own is not None) for j in single]
            for start in range(0, len(some), step):
                checkpoint()
                rows = slice(first + start, first + min(start + step, len(some)))
                terms = log_counts(self.count, rows.stop - rows.start, None if own is None else own[rows])
                for table, places in tables:
                    terms += table[places[start : start + step]]
                yield rows, terms

    def _table_of(self, j: int, codes: Integers, *, left_out: bool) -> tuple[Floats, Integers]:
        """Ln of the factors of column j for the distinct values among these codes, and each code's row."""
        values, places = np.unique(codes, return_inverse=True)
        return self._log_factors(j, values, left_out=left_out), places

    def _joint_places(self, group: tuple[int, ...], codes: Integers) -> Integers:
        """Row of each record's values in the table of a group of columns."""
        sizes = [len(self.columns[j].mass) for j in group]
        return np.ravel_multi_index(tuple(codes[:, j] for j in group), sizes)

    @cached_property
    def tables(self) -> dict[tuple[int, ...], Floats]:
        """Ln of the factors of all values that groups of columns have together, within the memory allowed."""
        sizes = [len(column.mass) for column in self.columns]
        tables, rows_left = dict[tuple[int, ...], Floats](), MAX_CELLS // len(self.codes)
        for group in group_columns(sizes, MAX_JOINT_VALUES):
            rows = math.prod(sizes[j] for j in group)
            if rows > rows_left:
                continue
            rows_left -= rows
            table = np.zeros((1, len(self.codes)))
            for j in group:
                checkpoint()
                own = self._log_factors(j, np.arange(sizes[j]), left_out=False)
                table = (table[:, None] + own).reshape(-1, len(self.codes))
            tables[group] = table
        return tables

    def _log_factors(self, j: int, values: Integers, *, left_out: bool) -> Floats:
        similarity = compare_values(self.columns[j], values, self.codes[:, j], left_out=left_out)
        factors = similarity.mix(self.copied[j], self.neighbour[j])
        return np.log(factors, out=factors)


def group_columns(sizes: Sequence[int], max_values: int) -> list[tuple[int, ...]]:
    """Group columns, those of fewest values first, as long as a group has at most so many joint values.

    >>> group_columns([3, 50, 4, 2], 30)
    [(3, 0, 2), (1,)]
    """
    groups: list[tuple[int, ...]] = []
    for j in sorted(range(len(sizes)), key=lambda j: sizes[j]):
        if groups and math.prod(sizes[k] for k in groups[-1]) * sizes[j] <= max_values:
            groups[-1] += (j,)
        else:
            groups.append((j,))
    return groups


def log_counts(count: Floats, records: int, own: Integers | None) -> Floats:
    """Ln of the donors' counts for so many records, reduced by one for a record's own: (records, donors).

    >>> log_counts(np.array([1.0, 3.0]), 2, np.array([0, 1])).round(2).tolist()
    [[-1e+30, 1.1], [0.0, 0.69]]
    """
    log = np.tile(np.log(count), (records, 1))
    if own is not None:
        left = count[own] - 1
        log[np.arange(records), own] = np.where(left > 0, np.log(np.maximum(left, 1)), LOG_ZERO)
    return log


def _draw_neighbours(column: Column, codes: Integers, rng: np.random.Generator) -> Integers:
    """Draw a category in a neighbouring bin of each of these."""
    assert column.kernel is not None  # noqa: S101  # the caller checks it
    cumulated = np.cumsum(column.kernel, axis=1)
    cumulated = cumulated / cumulated[:, -1:] + np.arange(len(cumulated))[:, None]
    cumulated[:, -1] = np.arange(len(cumulated)) + 1.0
    rows = column.bins[codes]
    bins = np.searchsorted(cumulated.ravel(), rows + rng.random(len(rows)), side="right")
    return column.draw_in_bins(bins - rows * len(cumulated), rng)


def fit_donors(columns: Sequence[Column], codes: Integers) -> Donors:
    """Fit a and b by EM of the leave-one-out likelihood; the distinct records of codes are the donors."""
    distinct, count = np.unique(codes, axis=0, return_counts=True)
    copied = np.full(len(columns), START[0])
    neighbour = np.array([START[1] if column.kernel is not None else 0.0 for column in columns])
    start = Donors(tuple(columns), distinct, count.astype(np.float64), copied, neighbour)
    if count.sum() < 2:  # noqa: PLR2004  # there is no other record to resemble
        return start
    queries = np.linspace(0, len(distinct) - 1, min(MAX_QUERIES, len(distinct))).astype(np.int64)
    return _maximise_likelihood(start, queries)


@dataclass(frozen=True)
class QueryColumn:
    """The distinct values of a column among the queries: their similarity to donors, and who has which."""

    similarity: Similarity
    places: Integers  # (queries,), of values
    sums: "csr_array"  # (values, queries), 1 where the query has the value


def query_column(column: Column, codes: Integers, donors: Integers) -> QueryColumn:
    """One column of queries, each of which is itself a donor; equal values are computed once."""
    from scipy import sparse  # noqa: PLC0415 - see numerics/special_functions

    checkpoint()
    values, places = np.unique(codes, return_inverse=True)
    sums = sparse.csr_array((np.ones(len(codes), np.float32), (places, np.arange(len(codes)))))
    similarity = compare_values(column, values, donors, left_out=True).to_single_precision()
    return QueryColumn(similarity, places, sums)


def _maximise_likelihood(start: Donors, queries: Integers) -> Donors:
    codes, count = start.codes[queries], start.count[queries].astype(np.float32)
    parts = [query_column(column, codes[:, j], start.codes[:, j]) for j, column in enumerate(start.columns)]
    others = log_counts(start.count, len(queries), queries).astype(np.float32)
    copied, neighbour = start.copied, start.neighbour
    for _ in range(EM_ROUNDS):
        copied, neighbour = _em_round(parts, others, count, copied, neighbour)
    return Donors(start.columns, start.codes, start.count, copied, neighbour)


def _em_round(
    parts: Sequence[QueryColumn], others: Reals, count: Reals, copied: Floats, neighbour: Floats
) -> tuple[Floats, Floats]:
    """One round of EM for a and b of all columns.

    With r_ui the expected number of records of query u that donor i generated, the expected number that
    copied column j is Σ_ui r_ui a_j 1(x_uj = X_ij)/p / factor_j(u, i), and likewise for neighbours. New
    chances are those numbers over Σ r, with half a record of prior on each of three outcomes.
    """
    generated = _expected_donors(parts, others, count, copied, neighbour)
    total = float(generated.sum(dtype=np.float64))
    new_copied, new_neighbour = copied.copy(), neighbour.copy()
    for j, part in enumerate(parts):
        checkpoint()
        ratio = (part.sums @ generated) / part.similarity.mix(copied[j], neighbour[j])  # (values, donors)
        by_copy = float((ratio[part.similarity.equal] * part.similarity.inverse_share).sum(dtype=np.float64))
        new_copied[j] = (copied[j] * by_copy + 0.5) / (total + 1.5)
        if part.similarity.kernel is not None:
            # Row by row, since BLAS keeps other threads busy between products that are as short
            by_neighbour = float(np.einsum("ij,ij->i", ratio, part.similarity.kernel).sum(dtype=np.float64))
            new_neighbour[j] = (neighbour[j] * by_neighbour + 0.5) / (total + 1.5)
    return _bound_chances(new_copied, new_neighbour, [part.similarity.kernel is not None for part in parts])


def _expected_donors(
    parts: Sequence[QueryColumn], others: Reals, count: Reals, copied: Floats, neighbour: Floats
) -> Reals:
    """Expected number of each query's records that each donor generated: (queries, donors)."""
    expected = others.copy()
    for j, part in enumerate(parts):
        checkpoint()
        log = np.log(part.similarity.mix(copied[j], neighbour[j]))
        for rows in _row_blocks(expected):
            expected[rows] += log[part.places[rows]]
    for rows in _row_blocks(expected):
        terms = expected[rows]
        terms -= terms.max(axis=1, keepdims=True)
        np.exp(terms, out=terms)
        terms *= (count[rows] / terms.sum(axis=1))[:, None]
    return expected


def _row_blocks(terms: Reals) -> Iterator[slice]:
    """Rows that stay in a cache together."""
    step = max(BLOCK // terms.shape[1], 1)
    return (slice(start, start + step) for start in range(0, len(terms), step))


def _bound_chances(copied: Floats, neighbour: Floats, ordered: list[bool]) -> tuple[Floats, Floats]:
    copied = np.maximum(copied, MIN_CHANCE)
    neighbour = np.where(ordered, np.maximum(neighbour, MIN_CHANCE), 0.0)
    scale = np.minimum(1.0, MAX_COPIED / (copied + neighbour))
    return copied * scale, neighbour * scale
