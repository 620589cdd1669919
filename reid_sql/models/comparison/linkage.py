"""An attack on a release, measured: each original record is linked to the likeliest released record.

The attacker knows the quasi-identifiers of every person, and how values were changed, but not whose. A record
of values o becomes one of class r with P(r | o) = Π P(r_j | o_j) over the columns j, and is one of the n_r
records there: the attacker takes a record of the class where P(r | o) / n_r is greatest. A match among m such
records is correct with probability 1/m. Source: Fellegi & Sunter 1969; Domingo-Ferrer & Torra 2001.

Simpler attackers are always measured too: exact matches, and the nearest numbers. What they know is less, and
where the law of the changes is another than the one fitted, they can be right more often.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import fsum
from typing import Annotated, Final

import numpy as np

from reid_sql.models.classes.class_keys import number_columns
from reid_sql.models.comparison.disturbed_numbers import (
    BY_DISTANCE,
    NO_IMAGE,
    ColumnLaw,
    DisturbedNumbers,
    Frequencies,
    classify_column,
)
from reid_sql.models.comparison.nearest_records import Nearness, nearest_attackers
from reid_sql.models.comparison.paired_records import (
    EqualRecords,
    PairedColumn,
    PairedRecords,
    common_codes,
    sum_records,
)
from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.parameters import Flags, Floats, Integers, Number


@dataclass(frozen=True)
class AttackResult:
    """Results of an attack, as shares of the records that are in both tables."""

    attack: str
    correct: float
    certain: float
    highest: float
    candidates: float
    targets: int
    drawn: bool

    def interval(self, share: float) -> tuple[float, float]:
        """The 95 % interval of a share; the share itself where all records were linked."""
        return wilson_interval(share, self.targets) if self.drawn else (share, share)


def wilson_interval(
    share: float, records: float, quantile: float = NORMAL_95
) -> tuple[float, float]:
    """The interval of a mean of chances among so many records, of 95 % or by another quantile: Wilson 1927.

    A mean of chances varies no more than a share of hits that has the same expectation.

    >>> low, high = wilson_interval(0.1, 100)
    >>> round(low, 4), round(high, 4)
    (0.0552, 0.1744)
    """
    squared = quantile**2 / records
    middle = share + squared / 2
    half = float(np.sqrt(squared * (share * (1 - share) + squared / 4)))
    return max(0.0, (middle - half) / (1 + squared)), min(1.0, (middle + half) / (1 + squared))


def newcombe_interval(
    one: tuple[float, float], other: tuple[float, float], quantile: float = NORMAL_95
) -> tuple[float, float]:
    """The 95 % interval of the difference of two shares of so many records: Newcombe 1998, method 10.

    >>> low, high = newcombe_interval((56 / 70, 70), (48 / 80, 80))
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """
    (p, _), (q, _) = one, other
    (p_low, p_high), (q_low, q_high) = (wilson_interval(*each, quantile) for each in (one, other))
    low = p - q - float(((p - p_low) ** 2 + (q_high - q) ** 2) ** 0.5)
    high = p - q + float(((p_high - p) ** 2 + (q - q_low) ** 2) ** 0.5)
    return low, high


@dataclass
class Tally:
    """Sums over the targets linked so far."""

    attack: str
    targets: int = 0
    certain: int = 0
    highest: float = 0.0
    # Records by chance: the sum of chances is then the same in any order of the pairs.
    correct: Counter[float] = field(default_factory=Counter)
    candidates: Counter[float] = field(default_factory=Counter)

    def add(self, records: Integers, nearest: Integers, hit: Floats, possible: Integers) -> None:
        """Add pairs: their records, how many are likeliest, 1 where their own is, how many are possible.

        A person without a likely record is linked to none.
        """
        correct = hit / np.maximum(nearest, 1)
        self.targets += int(records.sum())
        _add_chances(self.correct, records, correct)
        self.certain += int(records[correct == 1].sum())
        self.highest = max(self.highest, float(correct.max(initial=0)))
        _add_chances(self.candidates, records, 1 / np.maximum(possible, 1))

    def result(self, *, drawn: bool) -> AttackResult:
        """The sums as shares of the targets."""
        correct, candidates = (
            fsum(chance * records for chance, records in each.items()) / self.targets
            for each in (self.correct, self.candidates)
        )
        certain = self.certain / self.targets
        return AttackResult(
            self.attack, correct, certain, self.highest, candidates, self.targets, drawn=drawn
        )


def _add_chances(counts: Counter[float], records: Integers, chances: Floats) -> None:
    values, places = np.unique(chances, return_inverse=True)
    totals = sum_records(places.ravel(), records)
    for value, number in zip(values.tolist(), totals.tolist(), strict=True):
        counts[value] += number


TARGETS: Final = Number(
    "a whole number of records from 1 to 1e+9",
    "pass how many records to link where all would take too long, such as 10000",
    1.0,
    1e9,
    whole=True,
)
Targets = Annotated[int, TARGETS]
# of distinct records that are all compared, by all attackers together
MAX_PAIRS: Final = 1_000_000_000
BLOCK: Final = 4_000_000  # of them at once
LOG_TOLERANCE: Final = 1e-9  # within which logarithms are equal
LIKELIHOOD: Final = "likelihood"
WITHIN_TOLERANCE: Final = "match within the tolerance"


class Likelihood:
    """The attacker who knows the law of each column's changes."""

    name = LIKELIHOOD

    def __init__(
        self,
        columns: list[PairedColumn],
        laws: list[ColumnLaw],
        original: EqualRecords,
        released: EqualRecords,
    ) -> None:
        self.original, self.released = original, released
        # ln(1/n_r) by the columns whose changes are counted; the weights of the others are shares already
        self.weights: Floats = np.zeros(len(released.sizes))
        counted = [
            codes
            for codes, law in zip(released.codes, laws, strict=True)
            if law.kind != BY_DISTANCE
        ]
        if counted:
            ids = number_columns(np.stack(counted))
            self.weights = -np.log(sum_records(ids, released.sizes)[ids])
        self.scorers = [
            (
                at,
                DisturbedNumbers(columns[at])
                if law.kind == BY_DISTANCE
                else Frequencies(columns[at]),
            )
            for at, law in enumerate(laws)
            if law.image is None
        ]
        self.width = max(scorer.width for _, scorer in self.scorers)

    def scores(self, original: Integers, released: Integers) -> Floats:
        """Log P(r | o) / n_r of some classes, by the columns without an image, (original, released)."""
        total = np.tile(self.weights[released], (len(original), 1))
        for at, scorer in self.scorers:
            total += scorer.scores(
                self.original.codes[at][original], self.released.codes[at][released]
            )
        return total


# Attackers who link each person to the released records of the greatest score; `width` is of the numbers that
# a row of scores takes, besides one for each released class.
Attacker = Likelihood | Nearness


@dataclass(frozen=True)
class Attack:
    """The classes of both tables, the pairs of classes of the same records, and the law of each column."""

    original: EqualRecords
    released: EqualRecords
    pair: Integers  # (2, pairs of classes): original, released
    records: Integers  # (pairs of classes,)
    laws: list[ColumnLaw]
    columns: list[PairedColumn]
    attackers: list[Attacker]  # who rank records; none where each value has one image


def prepare_attack(
    paired: PairedRecords, original: EqualRecords, released: EqualRecords
) -> Attack | None:
    """Collect what the attacker knows; None where no record is in both tables."""
    both = np.flatnonzero(paired.in_original & paired.in_release)
    if not len(both):
        return None
    classes = np.stack([original.class_of_pair[both], released.class_of_pair[both]])
    ids = number_columns(classes)
    pair = classes[:, np.unique(ids, return_index=True)[1]]
    records = sum_records(ids, paired.records[both])
    columns = paired.columns()
    laws = [classify_column(column) for column in columns]
    places = [at for at, law in enumerate(laws) if law.image is None]
    attackers: list[Attacker] = [Likelihood(columns, laws, original, released)] if places else []
    attackers.extend(nearest_attackers(columns, original, released, places))
    return Attack(original, released, pair, records, laws, columns, attackers)


def link_records(attack: Attack, targets: int, seed: int) -> list[AttackResult]:
    """Link all records by every attack, or a seeded draw of so many targets where all would take too long.

    The first result is that of the likelihood. Exact matches take all records.
    """
    matches = ExactMatches(attack.columns, attack.original, attack.released, attack.pair)
    exact = matches.attack(attack.records)
    original, released = _blocks(attack)
    if not attack.attackers:  # each block is one class of the release
        sizes, tally = attack.released.sizes[attack.pair[1]], Tally(LIKELIHOOD)
        tally.add(attack.records, sizes, np.ones(len(sizes)), sizes)
        return [tally.result(drawn=False), *exact]
    sizes_of_blocks = np.bincount(released, minlength=int(original.max()) + 1)
    pairs = int(sizes_of_blocks[original[np.unique(attack.pair[0])]].sum())
    drawn = pairs * len(attack.attackers) > MAX_PAIRS
    records = _draw_targets(attack, targets, seed) if drawn else attack.records
    place = np.zeros(len(attack.released.sizes), dtype=np.int64)
    order = np.argsort(released, kind="stable")
    ends = np.cumsum(sizes_of_blocks)
    chosen = np.flatnonzero(records)
    chosen = chosen[np.lexsort([attack.pair[0][chosen], original[attack.pair[0][chosen]]])]
    blocks = original[attack.pair[0][chosen]]
    tallies = [Tally(attacker.name) for attacker in attack.attackers]
    for part in np.split(chosen, np.flatnonzero(np.diff(blocks)) + 1):
        block = int(original[attack.pair[0][part[0]]])
        classes = order[ends[block] - sizes_of_blocks[block] : ends[block]]
        place[classes] = np.arange(len(classes))
        for attacker, tally in zip(attack.attackers, tallies, strict=True):
            _link_block(attack, attacker, np.stack([part, records[part]]), (classes, place), tally)
    return [*(tally.result(drawn=drawn) for tally in tallies), *exact]


def link_within(paired: PairedRecords) -> Iterator[AttackResult]:
    """Link all records to those within the tolerance, where one is given."""
    if paired.within is None or paired.is_within is None or not len(paired.within):
        return
    both = np.flatnonzero(paired.in_original & paired.in_release)
    tally, matches = Tally(WITHIN_TOLERANCE), paired.within[both]
    tally.add(paired.records[both], matches, paired.is_within[both].astype(np.float64), matches)
    yield tally.result(drawn=False)


def _blocks(attack: Attack) -> tuple[Integers, Integers]:
    """Block of each class of both tables: those whose values with an image agree, (classes,) each."""
    fixed = [(at, law.image) for at, law in enumerate(attack.laws) if law.image is not None]
    original = [image[attack.original.codes[at]] - NO_IMAGE for at, image in fixed]
    released = [attack.released.codes[at] - NO_IMAGE for at, _ in fixed]
    sides = len(attack.original.sizes), len(attack.released.sizes)
    if not fixed:
        return np.zeros(sides[0], dtype=np.int64), np.zeros(sides[1], dtype=np.int64)
    ids = number_columns(np.concatenate([np.stack(original), np.stack(released)], axis=1))
    return ids[: sides[0]], ids[sides[0] :]


def _draw_targets(attack: Attack, targets: int, seed: int) -> Integers:
    """Targets of each pair of classes in a seeded draw of records without replacement.

    It draws in the order of the texts of the values, which is the same on every engine.
    """
    whole = int(attack.records.sum())
    keys = []
    for at, column in enumerate(attack.columns):
        sides = (attack.original, column.original), (attack.released, column.released)
        for (table, coded), classes in zip(sides, attack.pair, strict=True):
            rank = np.zeros(len(coded.values) + 1, dtype=np.int64)
            by_text = np.argsort(np.array(coded.values, dtype=str), kind="stable")
            rank[1 + by_text] = np.arange(1, len(rank))
            keys.append(rank[table.codes[at]][classes])
    order = np.lexsort(keys)
    chosen = np.random.default_rng(seed).choice(whole, min(targets, whole), replace=False)
    places = np.searchsorted(np.cumsum(attack.records[order]), chosen, side="right")
    return np.bincount(order[places], minlength=len(attack.records))


def _link_block(
    attack: Attack,
    attacker: Attacker,
    targets: Integers,
    classes: tuple[Integers, Integers],
    tally: Tally,
) -> None:
    """Link the targets of one block, (2, …): pairs in order of their original classes, and their records.

    `classes` are the block's classes of the release, and the place of each class in its block.
    """
    (pairs, records), (released, place) = targets, classes
    step = max(1, BLOCK // max(len(released), attacker.width))
    original, of_pair = np.unique(attack.pair[0][pairs], return_inverse=True)
    sizes = attack.released.sizes[released]
    for start in range(0, len(original), step):
        checkpoint()
        some = original[start : start + step]
        scores = attacker.scores(some, released)
        near = scores >= scores.max(axis=1, keepdims=True) - LOG_TOLERANCE
        first, last = np.searchsorted(of_pair, [start, start + len(some)])
        rows, linked = of_pair[first:last] - start, pairs[first:last]
        hit = near[rows, place[attack.pair[1][linked]]].astype(np.float64)
        tally.add(
            records[first:last], (near @ sizes)[rows], hit, (np.isfinite(scores) @ sizes)[rows]
        )


# The simplest attackers: each person is linked to the records with the same values in some columns.

ALL_COLUMNS: Final = "exact match on all columns"
SOME_COLUMNS: Final = "exact match on "
MAX_SUBSET_COLUMNS: Final = 6  # of which all sets are tried: those that agree most often
MAX_GROUPED: Final = 30_000_000  # classes that are grouped by all of these sets together


class ExactMatches:
    """Values of both tables as codes that are equal where the values are."""

    def __init__(
        self,
        columns: Sequence[PairedColumn],
        original: EqualRecords,
        released: EqualRecords,
        pair: Integers,
    ) -> None:
        self.names = [column.name for column in columns]
        codes = [common_codes(column) for column in columns]
        self.original = np.stack([mine[original.codes[at]] for at, (mine, _) in enumerate(codes)])
        self.released = np.stack(
            [theirs[released.codes[at]] for at, (_, theirs) in enumerate(codes)]
        )
        self.sizes, self.pair = released.sizes, pair
        self.agree: Flags = self.original[:, pair[0]] == self.released[:, pair[1]]

    def attack(self, records: Integers) -> Iterator[AttackResult]:
        """Match on all columns, then on the set of columns that is right most often."""
        everything = tuple(range(len(self.names)))
        on_all = self._match(ALL_COLUMNS, everything, records)
        yield on_all
        best = on_all
        for subset in self._subsets(records):
            # No more people can be right than agree.
            if records @ self.agree[list(subset)].all(axis=0) > best.correct * records.sum():
                name = SOME_COLUMNS + ", ".join(sorted(self.names[at] for at in subset))
                best = max(best, self._match(name, subset, records), key=lambda each: each.correct)
        if best is not on_all:
            yield best

    def _subsets(self, records: Integers) -> Iterator[tuple[int, ...]]:
        """Sets from which the least agreeing column is left out in turn, then all sets of a few columns."""
        agreeing = self.agree @ records
        ranked = sorted(range(len(agreeing)), key=lambda at: (-agreeing[at], self.names[at]))
        order = [at for at in ranked if agreeing[at]]
        for count in range(len(order), 0, -1):
            yield tuple(sorted(order[:count]))
        classes = len(self.sizes) + self.original.shape[1]
        few = min(len(order), MAX_SUBSET_COLUMNS, int(np.log2(max(2, MAX_GROUPED // classes))))
        for count in range(few - 1, 0, -1):
            yield from (tuple(sorted(each)) for each in combinations(order[:few], count))

    def _match(self, name: str, subset: tuple[int, ...], records: Integers) -> AttackResult:
        checkpoint()
        at = list(subset)
        ids = number_columns(np.concatenate([self.original[at], self.released[at]], axis=1))
        classes = self.original.shape[1]
        sums = sum_records(ids, np.concatenate([np.zeros(classes, dtype=np.int64), self.sizes]))
        alike = sums[ids[:classes]][self.pair[0]]
        tally = Tally(name)
        hit = np.asarray(self.agree[at].all(axis=0), dtype=np.float64)
        tally.add(records, alike, hit, alike)
        return tally.result(drawn=False)
