"""Latent classes: one common cause of many columns of few values, such as how much a person buys or suffers.

    q_class(x) = Σ_c w_c Π_j p(x_j | c)

Within a class, columns are independent. A tree of pairs cannot express a cause common to all columns: each
column depends on one other. Chances are shrunk to the column's shares, p(x_j | c) = (C_cj(x_j) + τ p_j) /
(C_c + τ), and fitted by EM; the number of classes is that of the best likelihood of records that were held
out. Source: Lazarsfeld & Henry 1968; Dempster, Laird & Rubin 1977; Manrique-Vallier & Reiter 2012 (such
models for uniqueness).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.interruption import checkpoint
from reid_sql.models.marginals.column import Column
from reid_sql.parameters import Floats, Integers

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
        within = sum(column.log_within[own] for column, own in zip(self.columns, codes.T, strict=True))
        return np.asarray(_log_sum(self._log_joint(codes, range(len(self.columns)))) + within)

    def log_q_left_out(self, codes: Integers, size: npt.ArrayLike = 1.0) -> Floats:
        """Ln q of records, each without its part of the counts of every class, or that of `size` such."""
        joint = self._log_joint(codes, range(len(self.columns)))
        own = np.exp(joint - _log_sum(joint)[:, None]) * np.reshape(size, (-1, 1))  # (records, classes)
        left = np.maximum(self.class_counts - own, 0.0)
        log = np.log((left + CLASS_RECORDS) / (left + CLASS_RECORDS).sum(axis=1, keepdims=True))
        within = np.zeros(len(codes))
        for j, (column, first) in enumerate(zip(self.columns, first_bins(self.columns), strict=True)):
            bins = column.bins[codes[:, j]]
            share = column.bin_left_out[bins][:, None]
            count = np.maximum(self.counts[first + bins] - own, 0.0)
            log += np.log((count + SHRINKAGE * share) / (left + SHRINKAGE))
            within += column.log_within_left_out[codes[:, j]]
        return _log_sum(log) + within

    def draw(self, count: int, rng: np.random.Generator) -> Integers:
        """Draw codes of records, (count, columns)."""
        own = rng.choice(len(self.share), count, p=self.share)
        codes = np.zeros((count, len(self.columns)), dtype=np.int64)
        for j, (column, first) in enumerate(zip(self.columns, first_bins(self.columns), strict=True)):
            table = np.exp(self.log_chance[first : first + len(column.bin_mass)])
            cumulated = np.cumsum(table / table.sum(axis=0), axis=0)[:-1]
            bins = (rng.random(count) >= cumulated[:, own]).sum(axis=0)
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
    bins = np.stack([column.bins[own] for column, own in zip(columns, codes.T, strict=True)], axis=1)
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
    for known, held_out in ((some[:half], some[half:]), (some[half:], some[:half])):
        chance, share = _chances(columns, *_maximise_likelihood(columns, known, count))
        score += float(_log_sum(np.log(share) + np.log(chance)[held_out].sum(axis=1)).sum())
    return score


def _maximise_likelihood(columns: Sequence[Column], some: Integers, count: int) -> tuple[Floats, Floats]:
    """EM from classes by how rare a record's values are together: counts of bins and of records by class."""
    from scipy import sparse  # noqa: PLC0415 - as numerics/scipy_functions says

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


def _chances(columns: Sequence[Column], counts: Floats, class_counts: Floats) -> tuple[Floats, Floats]:
    """Chances of all bins by class, and the classes' shares."""
    shares = np.concatenate([column.bin_mass for column in columns])[:, None]
    chance = (counts + SHRINKAGE * shares) / (class_counts + SHRINKAGE)
    share = (class_counts + CLASS_RECORDS) / (class_counts + CLASS_RECORDS).sum()
    return np.maximum(chance, MIN_SHARE), share


def _log_sum(log: Floats) -> Floats:
    """Ln of the sum of exp over the last axis."""
    top = log.max(axis=1)
    return np.asarray(np.log(np.exp(log - top[:, None]).sum(axis=1)) + top)
