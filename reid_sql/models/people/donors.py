"""A kernel model: everyone resembles one of some records of the sample, column by column.

q(x) = (1/m) Σ_i Π_j [a_j 1(x_j = X_ij) + b_j W_j(X_ij, x_j) + (1 − a_j − b_j) p_j(x_j)], b_j where column j
is ordered. (a, b) by EM of the leave-one-out likelihood. Donors are records of persons. Source: Aitchison &
Aitken 1976; Li & Racine 2003.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.domains import Floats
from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.marginals.column import Column

MOST: Final = 1000  # donors
QUERIES: Final = 600  # records whose likelihood EM climbs
ROUNDS: Final = 15
START: Final = (0.5, 0.2)  # a, b
LEAST: Final = 1e-4
MOST_KEPT: Final = 0.999  # a + b
BLOCK: Final = 1 << 18  # records times donors that are worked on together
Singles = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Donors:
    """Distinct donors, their numbers, and the chances that a column is kept (a) or taken from near by (b)."""

    columns: tuple[Column, ...]
    codes: Integers  # (donors, columns)
    count: Floats  # (donors,)
    kept: Floats  # (columns,)
    near: Floats  # (columns,)

    def log_q(self, codes: Integers, beside: Floats | None = None) -> Floats:
        """Ln q of coded records, (records, columns), worked out by halves of the columns that many share.

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
        found = np.empty(len(codes))
        logs = [c.log_share if own is None else c.log_left_out for c in self.columns]
        base: Floats = np.zeros(len(codes))
        for j, log in enumerate(logs):
            base = base + log[codes[:, j]]
        step = max(BLOCK // len(self.codes), 1)
        cut = (len(self.columns) + 1) // 2
        order = np.lexsort([np.zeros(len(codes)), *codes.T])
        for start in range(0, len(codes), step):
            checkpoint()
            rows = order[start : start + step]
            ratio = self._half(codes[rows, :cut], logs, 0) + self._half(codes[rows, cut:], logs, cut)
            ratio = ratio if beside is None else ratio + beside[rows]
            weight = np.broadcast_to(self.count, ratio.shape)
            if own is not None:
                weight = weight.copy()
                weight[np.arange(len(rows)), own[rows]] -= 1
            top = ratio.max(axis=1)
            total = np.einsum("ik,ik->i", np.exp(ratio - top[:, None]), weight)
            some = weight.sum(axis=1)  # none where a lone donor is left out: then only shares are known
            mean = np.where(some > 0, np.maximum(total, 1e-300) / np.maximum(some, 1), np.exp(-top))
            found[rows] = np.log(mean) + top
        return found + base

    def _half(self, codes: Integers, logs: list[Floats], first: int) -> Singles:
        """Sum of the logarithms of the columns' ratios, worked out once for each distinct record."""
        if codes.shape[1] == 0:
            return np.zeros((len(codes), len(self.codes)), dtype=np.float32)
        distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
        total = np.zeros((len(distinct), len(self.codes)), dtype=np.float32)
        for place in range(codes.shape[1]):
            values, back = np.unique(distinct[:, place], return_inverse=True)
            total += np.log(self._ratio(first + place, values, logs[first + place]))[back.ravel()]
        return total[inverse.ravel()]

    def _ratio(self, j: int, values: Integers, log_share: Floats) -> Singles:
        """Chance of the values of column j given each donor, over their share: (values, donors)."""
        same, near = similarity(self.columns[j], values, self.codes[:, j], log_share)
        rest = 1 - self.kept[j] - self.near[j]
        ratio = rest + self.kept[j] * same
        return np.asarray(ratio if near is None else ratio + self.near[j] * near, dtype=np.float32)

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


def similarity(
    column: Column, values: Integers, donors: Integers, log_share: Floats
) -> tuple[Singles, Singles | None]:
    """Whether value and donor are the same, and how near, over the value's share: (values, donors)."""
    rarity = np.exp(-log_share[values])[:, None]
    same = ((values[:, None] == donors) * rarity).astype(np.float32)
    if column.kernel is None:
        return same, None
    within = np.exp(column.log_within[values])[:, None]
    near = column.kernel[column.bins[donors]][:, column.bins[values]].T * within * rarity
    return same, near.astype(np.float32)


def fit_donors(columns: Sequence[Column], codes: Integers) -> Donors:
    """Fit (a, b) to records of codes: those of them that are distinct are the donors."""
    distinct, count = np.unique(codes, axis=0, return_counts=True)
    kept = np.full(len(columns), START[0])
    near = np.array([START[1] if column.kernel is not None else 0.0 for column in columns])
    start = Donors(tuple(columns), distinct, count.astype(np.float64), kept, near)
    if count.sum() < 2:  # noqa: PLR2004  # nobody to resemble
        return start
    return _climbed(start, np.linspace(0, len(distinct) - 1, min(QUERIES, len(distinct))).astype(np.int64))


def _climbed(start: Donors, queries: Integers) -> Donors:
    parts = [
        similarity(column, start.codes[queries, j], start.codes[:, j], column.log_left_out)
        for j, column in enumerate(start.columns)
    ]
    weight = np.tile(start.count, (len(queries), 1))
    weight[np.arange(len(queries)), queries] -= 1
    log_weight = np.where(weight > 0, np.log(np.maximum(weight, 1e-300)), -1e30).astype(np.float32)
    kept, near = start.kept, start.near
    for _ in range(ROUNDS):
        checkpoint()
        kept, near = _round(parts, log_weight, start.count[queries], kept, near)
    return Donors(start.columns, start.codes, start.count, kept, near)


def _round(
    parts: list[tuple[Singles, Singles | None]],
    log_weight: Singles,
    count: Floats,
    kept: Floats,
    near: Floats,
) -> tuple[Floats, Floats]:
    """One round of EM: who may have given the record, and what of it was kept or taken from near by."""
    terms = []
    total = log_weight.copy()
    for j, (same, close) in enumerate(parts):
        checkpoint()
        term = np.float32(1 - kept[j] - near[j]) + np.float32(kept[j]) * same
        if close is not None:
            term += np.float32(near[j]) * close
        terms.append(term)
        total += np.log(term)
    total -= total.max(axis=1, keepdims=True)
    giver = np.exp(total)
    giver *= (count / giver.sum(axis=1))[:, None].astype(np.float32)
    whole = float(giver.sum())
    new_kept, new_near = kept.copy(), near.copy()
    for j, (same, close) in enumerate(parts):
        checkpoint()
        giving = giver / terms[j]
        new_kept[j] = (kept[j] * _product(giving, same) + 0.5) / (whole + 1.5)
        if close is not None:
            new_near[j] = (near[j] * _product(giving, close) + 0.5) / (whole + 1.5)
    return _bounded(new_kept, new_near, [close is not None for _, close in parts])


def _product(left: Singles, right: Singles) -> float:
    """Sum of the products: row by row, as BLAS keeps other threads busy between calls that are as short."""
    return float(np.einsum("ij,ij->i", left, right).sum(dtype=np.float64))


def _bounded(kept: Floats, near: Floats, ordered: list[bool]) -> tuple[Floats, Floats]:
    kept = np.maximum(kept, LEAST)
    near = np.where(ordered, np.maximum(near, LEAST), 0.0)
    scale = np.minimum(1.0, MOST_KEPT / (kept + near))
    return kept * scale, near * scale


def _neighbours(column: Column, codes: Integers, rng: np.random.Generator) -> Integers:
    """Draw a category near each of these."""
    assert column.kernel is not None  # noqa: S101  # asked of ordered columns alone
    levels = np.cumsum(column.kernel, axis=1)
    levels = levels / levels[:, -1:] + np.arange(len(levels))[:, None]
    levels[:, -1] = np.arange(len(levels)) + 1.0
    rows = column.bins[codes]
    bins = np.searchsorted(levels.ravel(), rows + rng.random(len(rows)), side="right") - rows * len(levels)
    return column.of_bins(bins, rng)
