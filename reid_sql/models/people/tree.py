"""A tree of pairs: each column depends on one other, such that the gains add up to the most; latent classes.

    q_tree(x) = Π_j p(x_j | x_parent(j))

is normalized and can be drawn from in one pass from the roots on. Source: Chow & Liu 1968, with gains by
leave-one-out likelihood in place of mutual information.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.interruption import checkpoint
from reid_sql.models.marginals.column import Column
from reid_sql.models.people.conditional import (
    MIN_CHANCE,
    Conditional,
    NeighbourSums,
    PairBins,
    Smoothing,
    bin_pairs,
    choose_smoothing,
    cumulate_rows,
    fit_conditional,
    sum_neighbours,
)
from reid_sql.models.people.evidence import PeopleEvidence
from reid_sql.parameters import Floats, Integers

MAX_BINS: Final = 256
MAX_CELLS_OF_ALL_PAIRS: Final = 1 << 26  # shared equally by the pairs, so that memory stays bounded
ROOT: Final = -1
RAKING_ROUNDS: Final = 200
RAKING_TOLERANCE: Final = 1e-10


@dataclass(frozen=True)
class ChanceTable:
    """Chances without the counts that they were fitted to: raked, or read from a file."""

    log_chance: Floats  # (parent bins, child bins)

    @cached_property
    def cumulated(self) -> Floats:
        """Chances as `cumulate_rows` gives them."""
        return cumulate_rows(self.log_chance)


@dataclass(frozen=True)
class Tree:
    """Columns, the parent of each (−1: none), an order from the roots on, and chances given the parent."""

    columns: tuple[Column, ...]
    parents: tuple[int, ...]
    order: tuple[int, ...]
    chances: Mapping[int, Conditional | ChanceTable]  # by child

    def log_q(self, codes: Integers) -> Floats:
        """Ln q of records of codes, (records, columns)."""
        log_q = np.zeros(len(codes))
        for j, column in enumerate(self.columns):
            if self.parents[j] == ROOT:
                log_q += column.log_share[codes[:, j]]
            else:
                log_q += self.chances[j].log_chance[
                    self._bins(self.parents[j], codes), self._bins(j, codes)
                ]
                log_q += column.log_within[codes[:, j]]
        return log_q

    def log_q_left_out(self, codes: Integers, size: Integers | int = 1) -> Floats:
        """Ln q of records of the sample, each without itself, or without the `size` records of its class."""
        log_q = np.zeros(len(codes))
        for j, column in enumerate(self.columns):
            if self.parents[j] == ROOT:
                log_q += column.log_left_out[codes[:, j]]
            else:
                fitted = self.chances[j]
                cells = (self._bins(self.parents[j], codes), self._bins(j, codes))
                assert isinstance(fitted, Conditional)  # noqa: S101  # a table has no counts to leave out
                log_q += fitted.log_left_out(*cells, size) + column.log_within_left_out[codes[:, j]]
        return log_q

    def draw(self, count: int, rng: np.random.Generator) -> Integers:
        """Draw codes of records, (count, columns)."""
        codes = np.zeros((count, len(self.columns)), dtype=np.int64)
        for j in self.order:
            column, parent = self.columns[j], self.parents[j]
            chance = rng.random(count)
            if parent == ROOT:
                cumulated = np.cumsum(column.bin_mass)
                cumulated[-1] = np.inf
                bins = np.searchsorted(cumulated, chance, side="right")
            else:
                rows = self._bins(parent, codes)
                bins = np.searchsorted(self.chances[j].cumulated, rows + chance, side="right")
                bins = bins - rows * len(column.bin_mass)
            codes[:, j] = column.draw_in_bins(bins, rng)
        return codes

    def draw_log_q(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw ln q of records; that of values without a category includes a drawn rarity."""
        codes = self.draw(count, rng)
        return self.log_q(codes) + draw_log_rarity(self.columns, codes, rng)

    def reorder(self, places: Sequence[int]) -> "Tree":
        """The same tree with its columns in the order of these places."""
        new = {place: at for at, place in enumerate(places)} | {ROOT: ROOT}
        return Tree(
            tuple(self.columns[place] for place in places),
            tuple(new[self.parents[place]] for place in places),
            tuple(new[place] for place in self.order),
            {new[place]: chances for place, chances in self.chances.items()},
        )

    def _bins(self, column: int, codes: Integers) -> Integers:
        return np.asarray(self.columns[column].bins[codes[:, column]])


def draw_log_rarity(columns: Sequence[Column], codes: Integers, rng: np.random.Generator) -> Floats:
    """Draw ln of how rare the values of records are relative to their categories' shares."""
    return np.asarray(
        sum(
            column.draw_log_rarity(column_codes, rng)
            for column, column_codes in zip(columns, codes.T, strict=True)
        )
    )


class PairTables:
    """The counts of every two columns by bin, how chances are fitted in both directions, and their gains."""

    def __init__(self, columns: Sequence[Column], evidence: PeopleEvidence) -> None:
        self.columns = tuple(columns)
        self.gains = np.zeros((len(columns), len(columns)))  # (parent, child)
        self._pairs: dict[tuple[int, int], PairBins] = {}
        self._smoothings: dict[tuple[int, int], Smoothing] = {}
        self._cache: dict[tuple[int, int], Conditional] = {}
        self._cached_cells = 0
        for (i, j), (first, second, counts) in evidence.pairs.items():
            pairs = bin_pairs(columns[i], columns[j], (first, second), counts)
            sums = sum_neighbours(columns[i], columns[j], pairs)
            # above 1 where only the drawn records were counted
            sampling = evidence.records / counts.sum()
            self._choose(i, j, pairs, sums, sampling)
            self._choose(j, i, pairs.transposed, sums.transposed, sampling)

    def _choose(
        self, parent: int, child: int, pairs: PairBins, sums: NeighbourSums, sampling: float
    ) -> None:
        chosen = choose_smoothing(self.columns[parent], self.columns[child], pairs, sums)
        self._pairs[parent, child], self._smoothings[parent, child] = pairs, chosen
        self.gains[parent, child] = chosen.gain * sampling

    def conditional(self, parent: int, child: int) -> Conditional:
        """Fit the chances of the child given the parent, once where memory allows."""
        place = parent, child
        if place in self._cache:
            return self._cache[place]
        columns = self.columns[parent], self.columns[child]
        fitted = fit_conditional(*columns, self._pairs[place], self._smoothings[place])
        if self._cached_cells < MAX_CELLS_OF_ALL_PAIRS // 4:
            self._cache[place] = fitted
            self._cached_cells += fitted.smoothed.counts.size
        return fitted

    def spanning_tree(self, among: Sequence[int] | None = None) -> Tree:
        """Span the tree over these columns, or all, by edges with a gain."""
        places = list(range(len(self.columns)) if among is None else among)
        gains = self.gains[np.ix_(places, places)]
        chances: dict[int, Conditional] = {}
        parents = [ROOT] * len(places)
        edges = maximum_spanning_tree((gains + gains.T) / 2)
        for parent, child in edges:
            if parent != ROOT and gains[parent, child] > 0:
                parents[child] = parent
                chances[child] = self.conditional(places[parent], places[child])
        columns = tuple(self.columns[place] for place in places)
        return Tree(columns, tuple(parents), tuple(child for _, child in edges), chances)


def maximum_spanning_tree(gains: Floats) -> list[tuple[int, int]]:
    """Edges (parent, child) of the spanning tree of the greatest gain, by Prim's algorithm.

    It starts at the column of the greatest total gain, whose own parent is −1.

    >>> maximum_spanning_tree(np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 2.0], [1.0, 2.0, 0.0]]))
    [(-1, 1), (1, 0), (1, 2)]
    """
    root = int(np.argmax(gains.sum(axis=1)))
    edges, best, source = [(ROOT, root)], gains[root].copy(), np.full(len(gains), root)
    best[root] = -np.inf
    for _ in range(len(gains) - 1):
        child = int(np.argmax(best))
        edges.append((int(source[child]), child))
        better = (gains[child] > best) & (best > -np.inf)
        source[better], best[better] = child, gains[child][better]
        best[child] = -np.inf
    return edges


def max_bins(columns: int) -> int:
    """Bins that each of so many columns may have, so that all pairs' tables stay bounded.

    >>> max_bins(10), max_bins(64)
    (256, 182)
    """
    pairs = max(columns * (columns - 1) // 2, 1)
    return int(min(MAX_BINS, (MAX_CELLS_OF_ALL_PAIRS / pairs) ** 0.5))


def rake_tree(tree: Tree, known_columns: Sequence[int]) -> Tree:
    """Adjust the chances of columns of known shares, from the roots on, so that the tree has these shares.

    The share of a child's bins under the tree is Σ_y share(y) p(x | y). Counts of the sample make it the
    sample's share; raking makes it the known one.
    """
    shares: dict[int, Floats] = {}
    chances = dict(tree.chances)
    for j in tree.order if known_columns else ():
        if tree.parents[j] == ROOT:
            shares[j] = tree.columns[j].bin_mass
            continue
        of_parent, table = shares[tree.parents[j]], np.exp(chances[j].log_chance)
        if j in known_columns:
            table = rake(table, of_parent, tree.columns[j].bin_mass)
            chances[j] = ChanceTable(np.log(np.maximum(table, MIN_CHANCE)))
        shares[j] = of_parent @ table
    return replace(tree, chances=chances)


def rake(chances: Floats, rows: Floats, columns: Floats) -> Floats:
    """Scale chances given rows of these shares until the columns have their shares too.

    Iterative proportional fitting, which keeps the odds ratios. Source: Deming & Stephan 1940.

    >>> table = rake(np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    >>> (np.array([0.5, 0.5]) @ table).round(6).tolist()
    [0.5, 0.5]
    """
    table = chances
    for _ in range(RAKING_ROUNDS):
        checkpoint()
        table = table * (columns / np.maximum(rows @ table, MIN_CHANCE))
        table = table / table.sum(axis=1, keepdims=True)
        if np.abs(rows @ table - columns).max() < RAKING_TOLERANCE:
            break
    return np.asarray(table)


# Latent classes: one common cause of many columns of few values, such as how much a person buys or
# suffers.
#
# q_class(x) = Σ_c w_c Π_j p(x_j | c)
#
# Within a class, columns are independent. A tree of pairs cannot express a cause common to all columns:
# each column depends on one other. Chances are shrunk to the column's shares,
# p(x_j | c) = (C_cj(x_j) + τ p_j) / (C_c + τ), and fitted by EM; the number of classes is that of the best
# likelihood of records that were held out. Source: Lazarsfeld & Henry 1968; Dempster, Laird & Rubin 1977;
# Manrique-Vallier & Reiter 2012 (such models for uniqueness).


MIN_COLUMNS: Final = 10  # of few values, for a table to be a list
MAX_VALUES: Final = 3  # yes, no and NULL
CLASSES: Final = (2, 3, 4, 5)
MAX_RECORDS: Final = 4000  # that the classes are fitted to
ROUNDS: Final = 60
SHRINKAGE: Final = 2.0  # τ, in records
CLASS_RECORDS: Final = 0.5  # added to the records of each class
MIN_SHARE: Final = 1e-12


@dataclass(frozen=True)
class LatentClasses:
    """Classes with their shares, and ln of the chances of all bins of all columns, one after another."""

    columns: tuple[Column, ...]
    share: Floats  # (classes,), w
    log_chance: Floats  # (bins of all columns, classes)
    counts: Floats  # (bins of all columns, classes), expected records
    class_counts: Floats  # (classes,)

    @property
    def records(self) -> float:
        """Number of records that the classes were fitted to."""
        return float(self.class_counts.sum())

    def log_q(self, codes: Integers) -> Floats:
        """Ln q of records of codes, (records, columns)."""
        within = sum(
            column.log_within[column_codes]
            for column, column_codes in zip(self.columns, codes.T, strict=True)
        )
        return np.asarray(_log_sum(self._log_joint(codes, range(len(self.columns)))) + within)

    def log_q_left_out(self, codes: Integers, size: npt.ArrayLike = 1.0) -> Floats:
        """Ln q of records, each without its part of the counts of every class, or that of `size` such."""
        joint = self._log_joint(codes, range(len(self.columns)))
        # an array of shape (records, classes)
        member = np.exp(joint - _log_sum(joint)[:, None]) * np.reshape(size, (-1, 1))
        left = np.maximum(self.class_counts - member, 0.0)
        log = np.log((left + CLASS_RECORDS) / (left + CLASS_RECORDS).sum(axis=1, keepdims=True))
        within = np.zeros(len(codes))
        for j, (column, first) in enumerate(
            zip(self.columns, first_bins(self.columns), strict=True)
        ):
            bins = column.bins[codes[:, j]]
            share = column.bin_left_out[bins][:, None]
            count = np.maximum(self.counts[first + bins] - member, 0.0)
            log += np.log((count + SHRINKAGE * share) / (left + SHRINKAGE))
            within += column.log_within_left_out[codes[:, j]]
        return _log_sum(log) + within

    def draw(self, count: int, rng: np.random.Generator) -> Integers:
        """Draw codes of records, (count, columns)."""
        drawn_classes = rng.choice(len(self.share), count, p=self.share)
        codes = np.zeros((count, len(self.columns)), dtype=np.int64)
        for j, (column, first) in enumerate(
            zip(self.columns, first_bins(self.columns), strict=True)
        ):
            table = np.exp(self.log_chance[first : first + len(column.bin_mass)])
            cumulated = np.cumsum(table / table.sum(axis=0), axis=0)[:-1]
            bins = (rng.random(count) >= cumulated[:, drawn_classes]).sum(axis=0)
            codes[:, j] = column.draw_in_bins(bins, rng)
        return codes

    def draw_log_q_of(self, columns: Sequence[int], count: int, rng: np.random.Generator) -> Floats:
        """Draw ln q of records on some of the columns alone; the other columns are summed over."""
        codes = self.draw(count, rng)
        within = sum(self.columns[j].log_within[codes[:, j]] for j in columns)
        rarity = sum(self.columns[j].draw_log_rarity(codes[:, j], rng) for j in columns)
        return np.asarray(_log_sum(self._log_joint(codes, columns)) + within + rarity)

    def _log_joint(self, codes: Integers, columns: Sequence[int]) -> Floats:
        """Ln of w_c Π_j p(bin of x_j | c), (records, classes)."""
        log, first = np.tile(np.log(self.share), (len(codes), 1)), first_bins(self.columns)
        for j in columns:
            log += self.log_chance[first[j] + self.columns[j].bins[codes[:, j]]]
        return log


def is_list(columns: Sequence[Column]) -> bool:
    """Whether a table has many columns of few values, such as a list of items or of diagnoses."""
    return sum(len(column.seen) <= MAX_VALUES for column in columns) >= MIN_COLUMNS


def fit_classes(columns: Sequence[Column], codes: Integers) -> LatentClasses:
    """Fit 2 to 5 classes, as many as predict one half of the records best by the other half.

    >>> from reid_sql.models.marginals.fit_column import fit_nominal
    >>> column = fit_nominal("a", ("n", "y"), np.array([300.0, 300.0]), 8)
    >>> codes = np.repeat([[0] * 12, [1] * 12], 300, axis=0)
    >>> classes = fit_classes([column] * 12, codes)
    >>> np.exp(classes.log_q(codes[[0, -1]])).round(1).tolist()
    [0.5, 0.5]
    """
    bins = np.stack(
        [column.bins[column_codes] for column, column_codes in zip(columns, codes.T, strict=True)],
        axis=1,
    )
    some = (bins + first_bins(columns))[:MAX_RECORDS]
    best = max(CLASSES, key=lambda count: _score_held_out(columns, some, count))
    counts, class_counts = _maximise_likelihood(columns, some, best)
    chance, share = _chances(columns, counts, class_counts)
    return LatentClasses(tuple(columns), share, np.log(chance), counts, class_counts)


def first_bins(columns: Sequence[Column]) -> Integers:
    """Number of each column's first bin, where the bins of all columns are numbered one after another."""
    sizes = [len(column.bin_mass) for column in columns]
    return np.cumsum([0, *sizes[:-1]])


def _score_held_out(columns: Sequence[Column], some: Integers, count: int) -> float:
    half = len(some) // 2
    score = 0.0
    for fitted, held_out in ((some[:half], some[half:]), (some[half:], some[:half])):
        chance, share = _chances(columns, *_maximise_likelihood(columns, fitted, count))
        score += float(_log_sum(np.log(share) + np.log(chance)[held_out].sum(axis=1)).sum())
    return score


def _maximise_likelihood(
    columns: Sequence[Column], some: Integers, count: int
) -> tuple[Floats, Floats]:
    """EM from classes by how rare a record's values are together: counts of bins and of records by class."""
    from scipy import sparse  # noqa: PLC0415 - see numerics/special_functions

    shares = np.concatenate([column.bin_mass for column in columns])
    shape = len(some), len(shares)
    rows = np.repeat(np.arange(len(some)), some.shape[1])
    table = sparse.csr_array((np.ones(some.size), (rows, some.ravel())), shape=shape)
    rarity = -np.log(np.maximum(shares, MIN_SHARE))[some].sum(axis=1)
    rarity += np.random.default_rng(count).normal(0, 0.3 * rarity.std() + MIN_SHARE, len(some))
    rank = np.argsort(np.argsort(rarity))
    member = np.full((len(some), count), 0.2 / count)
    member[np.arange(len(some)), rank * count // max(len(some), 1)] += 0.8
    for _ in range(ROUNDS):
        checkpoint()
        counts, class_counts = np.asarray(table.T @ member), member.sum(axis=0)
        chance, share = _chances(columns, counts, class_counts)
        log = np.log(share) + table @ np.log(chance)
        member = np.exp(log - _log_sum(log)[:, None])
    return counts, class_counts


def _chances(
    columns: Sequence[Column], counts: Floats, class_counts: Floats
) -> tuple[Floats, Floats]:
    """Chances of all bins by class, and the classes' shares."""
    shares = np.concatenate([column.bin_mass for column in columns])[:, None]
    chance = (counts + SHRINKAGE * shares) / (class_counts + SHRINKAGE)
    share = (class_counts + CLASS_RECORDS) / (class_counts + CLASS_RECORDS).sum()
    return np.maximum(chance, MIN_SHARE), share


def _log_sum(log: Floats) -> Floats:
    """Ln of the sum of exp over the last axis."""
    top = log.max(axis=1)
    return np.asarray(np.log(np.exp(log - top[:, None]).sum(axis=1)) + top)
