"""An attack on a release, measured: each original record is linked to the likeliest released record.

The attacker knows the quasi-identifiers of every person, and how values were changed, but not whose. A record
of values o becomes one of class r with P(r | o) = Π P(r_j | o_j) over the columns j, and is one of the n_r
records there: the attacker takes a record of the class where P(r | o) / n_r is greatest. A match among m such
records is correct with probability 1/m. Source: Fellegi & Sunter 1969; Domingo-Ferrer & Torra 2001.
"""

from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.comparison.paired_records import (
    EqualRecords,
    PairedColumn,
    PairedRecords,
    number_columns,
    sum_records,
)
from reid_sql.parameters import Floats, Integers, Number

TARGETS: Final = Number(
    "a whole number of records from 1 to 1e+9",
    "pass how many records to link where all would take too long, such as 10000",
    1.0,
    1e9,
    whole=True,
)
Targets = Annotated[int, TARGETS]
MAX_PAIRS: Final = 1_000_000_000  # of distinct records that are all compared
BLOCK: Final = 4_000_000  # of them at once
LOG_TOLERANCE: Final = 1e-9  # within which logarithms are equal
MAX_RECORDS_PER_PAIR: Final = 5  # of values, up to which pairs of disturbed numbers would identify people
NO_IMAGE: Final = -2
UNCHANGED: Final = "unchanged"
RECODED: Final = "recoded"
BY_FREQUENCY: Final = "by frequency"
BY_DISTANCE: Final = "by distance"


@dataclass(frozen=True)
class ColumnLaw:
    """What the attacker knows of a column's changes; `image` is what each value became, if always one."""

    kind: str
    image: Integers | None  # (values of the original,), NO_IMAGE where the release has none


def classify_column(column: PairedColumn) -> ColumnLaw:
    """Decide whether a column is unchanged, recoded value by value, changed at random, or disturbed."""
    remains = column.changes.released >= 0
    own, released = column.changes.original[remains], column.changes.released[remains]
    if _is_disturbed(column, own, released):
        return ColumnLaw(BY_DISTANCE, None)
    image = np.full(len(column.original_values) + 1, NO_IMAGE)
    image[own] = released
    if len(np.unique(own)) < len(own):
        return ColumnLaw(BY_FREQUENCY, None)
    return ColumnLaw(RECODED if column.differs.any() else UNCHANGED, image)


def _is_disturbed(column: PairedColumn, own: Integers, released: Integers) -> bool:
    """Whether numbers became others out of order, and hardly a pair of them repeats.

    The shares of such pairs would say whose values they are: the attacker knows the disturbance alone.
    """
    records = column.changes.records[column.changes.released >= 0]
    if records.sum() >= MAX_RECORDS_PER_PAIR * len(own):
        return False
    before, after = column.as_numbers(column.original_values), column.as_numbers(column.released_values)
    if before is None or after is None:
        return False
    known = ~(np.isnan(before[own]) | np.isnan(after[released]))
    left, right = before[own][known], after[released][known]
    order = np.lexsort([right, left])
    left, right = left[order], right[order]
    falls = right[1:] < right[:-1]
    return bool((falls | ((left[1:] == left[:-1]) & (right[1:] > right[:-1]))).any())


class Frequencies:
    """Log P(r | o): the share of the records of value o that became r."""

    def __init__(self, column: PairedColumn) -> None:
        changes = column.changes
        remaining = np.flatnonzero(changes.released >= 0)
        order = remaining[np.argsort(changes.original[remaining], kind="stable")]
        self.own, self.released = changes.original[order], changes.released[order]
        records = changes.records[order]
        values = len(column.original_values) + 1
        totals = np.bincount(self.own, weights=records, minlength=values)
        self.log_share = np.log(records / totals[self.own])
        self.starts = np.searchsorted(self.own, np.arange(values + 1))
        self.width = len(column.released_values) + 1

    def scores(self, own: Integers, released: Integers) -> Floats:
        """The logarithms of some original values, (own, released)."""
        counts = self.starts[own + 1] - self.starts[own]
        rows = np.repeat(np.arange(len(own)), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        places = np.repeat(self.starts[own], counts) + within
        of_all_values = np.full((len(own), self.width), -np.inf)
        of_all_values[rows, self.released[places]] = self.log_share[places]
        scores: Floats = of_all_values[:, released]
        return scores


class Distances:
    """Log f(r | o) / f(r) where r is o plus a normal disturbance: the weight of agreement.

    With d = r − o − shift, s² the variance of d and v² that of r around m: ½ (ln v²/s² + (r − m)²/v² −
    d²/s²). It is 0, no information, where either value is suppressed. Source: Fellegi & Sunter 1969.
    """

    def __init__(self, column: PairedColumn) -> None:
        own, released = (column.as_numbers(each) for each in (column.original_values, column.released_values))
        self.own, self.released = np.asarray(own), np.asarray(released)
        changes = column.changes
        known = (changes.released >= 0) & ~np.isnan(self.own[changes.original])
        known[known] = ~np.isnan(self.released[changes.released[known]])
        weights = changes.records[known].astype(np.float64)
        values = self.released[changes.released[known]]
        self.mean, self.variance = _moments(values, weights)
        self.shift, self.noise = _moments(values - self.own[changes.original[known]], weights)

    def scores(self, own: Integers, released: Integers) -> Floats:
        """The weights of some original values, (own, released)."""
        values = self.released[released]
        deviation = values - self.own[own][:, None] - self.shift
        exponent = (values - self.mean) ** 2 / self.variance - deviation**2 / self.noise
        weight = (np.log(self.variance / self.noise) + exponent) / 2
        scores: Floats = np.where(np.isnan(weight), 0.0, weight)
        return scores


def _moments(values: Floats, weights: Floats) -> tuple[float, float]:
    """The mean, and a variance that is not 0."""
    mean = float(np.average(values, weights=weights))
    variance = float(np.average((values - mean) ** 2, weights=weights))
    return mean, max(variance, np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Linkage:
    """Results of the attack, as shares of the records that are in both tables."""

    correct_links: float
    certain_links: float
    highest_link: float
    correct_candidates: float
    targets: int
    drawn: bool


@dataclass
class Tally:
    """Sums over the targets linked so far."""

    targets: int = 0
    correct: float = 0.0
    certain: float = 0.0
    highest: float = 0.0
    candidates: float = 0.0

    def add(self, records: Integers, nearest: Integers, hit: Floats, possible: Integers) -> None:
        """Add pairs: their records, how many are likeliest, 1 where their own is, how many are possible."""
        correct = hit / nearest
        self.targets += int(records.sum())
        self.correct += float(records @ correct)
        self.certain += float(records @ (correct == 1))
        self.highest = max(self.highest, float(correct.max(initial=0)))
        self.candidates += float(records @ (1 / possible))

    def result(self, *, drawn: bool) -> Linkage:
        """The sums as shares of the targets."""
        whole = self.targets
        shares = (each / whole for each in (self.correct, self.certain, self.candidates))
        correct, certain, candidates = shares
        return Linkage(correct, certain, self.highest, candidates, whole, drawn)


@dataclass(frozen=True)
class Attack:
    """The classes of both tables, the pairs of classes of the same records, and the law of each column."""

    own: EqualRecords
    released: EqualRecords
    pair: Integers  # (2, pairs of classes): original, released
    records: Integers  # (pairs of classes,)
    laws: list[ColumnLaw]
    columns: list[PairedColumn]
    scored: list[tuple[int, Frequencies | Distances]]  # places of columns without an image, and their scores


def prepare_attack(paired: PairedRecords, own: EqualRecords, released: EqualRecords) -> Attack | None:
    """Collect what the attacker knows; None where no record is in both tables."""
    both = np.flatnonzero(paired.in_original & paired.in_release)
    if not len(both):
        return None
    classes = np.stack([own.class_of_pair[both], released.class_of_pair[both]])
    ids = number_columns(classes)
    pair = classes[:, np.unique(ids, return_index=True)[1]]
    records = sum_records(ids, paired.records[both])
    columns = paired.columns()
    laws = [classify_column(column) for column in columns]
    scored = [
        (at, Distances(columns[at]) if law.kind == BY_DISTANCE else Frequencies(columns[at]))
        for at, law in enumerate(laws)
        if law.image is None
    ]
    return Attack(own, released, pair, records, laws, columns, scored)


def link_records(attack: Attack, targets: int, seed: int) -> Linkage:
    """Link all records, or a seeded draw of so many targets where all would take too long."""
    tally = Tally()
    own, released = _blocks(attack)
    if not attack.scored:  # each block is one class of the release
        sizes = attack.released.sizes[attack.pair[1]]
        tally.add(attack.records, sizes, np.ones(len(sizes)), sizes)
        return tally.result(drawn=False)
    sizes_of_blocks = np.bincount(released, minlength=int(own.max()) + 1)
    drawn = int(sizes_of_blocks[own[np.unique(attack.pair[0])]].sum()) > MAX_PAIRS
    records = _draw_targets(attack, targets, seed) if drawn else attack.records
    weights, place = _log_weights(attack), np.zeros(len(attack.released.sizes), dtype=np.int64)
    order = np.argsort(released, kind="stable")
    ends = np.cumsum(sizes_of_blocks)
    chosen = np.flatnonzero(records)
    chosen = chosen[np.lexsort([attack.pair[0][chosen], own[attack.pair[0][chosen]]])]
    blocks = own[attack.pair[0][chosen]]
    for part in np.split(chosen, np.flatnonzero(np.diff(blocks)) + 1):
        block = int(own[attack.pair[0][part[0]]])
        classes = order[ends[block] - sizes_of_blocks[block] : ends[block]]
        place[classes] = np.arange(len(classes))
        _link_block(attack, np.stack([part, records[part]]), classes, (weights, place), tally)
    return tally.result(drawn=drawn)


def _blocks(attack: Attack) -> tuple[Integers, Integers]:
    """Block of each class of both tables: those whose values with an image agree, (classes,) each."""
    fixed = [(at, law.image) for at, law in enumerate(attack.laws) if law.image is not None]
    own = [image[attack.own.codes[at]] - NO_IMAGE for at, image in fixed]
    released = [attack.released.codes[at] - NO_IMAGE for at, _ in fixed]
    sides = len(attack.own.sizes), len(attack.released.sizes)
    if not fixed:
        return np.zeros(sides[0], dtype=np.int64), np.zeros(sides[1], dtype=np.int64)
    ids = number_columns(np.concatenate([np.stack(own), np.stack(released)], axis=1))
    return ids[: sides[0]], ids[sides[0] :]


def _log_weights(attack: Attack) -> Floats:
    """−log n_r by the columns whose changes are counted."""
    disturbed = {at for at, law in enumerate(attack.laws) if law.kind == BY_DISTANCE}
    counted = [codes for at, codes in enumerate(attack.released.codes) if at not in disturbed]
    if not counted:
        return np.zeros(len(attack.released.sizes))
    ids = number_columns(np.stack(counted))
    weights: Floats = -np.log(sum_records(ids, attack.released.sizes)[ids])
    return weights


def _draw_targets(attack: Attack, targets: int, seed: int) -> Integers:
    """Targets of each pair of classes in a seeded draw of records without replacement."""
    whole = int(attack.records.sum())
    order = _order_by_values(attack)
    chosen = np.random.default_rng(seed).choice(whole, min(targets, whole), replace=False)
    places = np.searchsorted(np.cumsum(attack.records[order]), chosen, side="right")
    return np.bincount(order[places], minlength=len(attack.records))


def _order_by_values(attack: Attack) -> Integers:
    """Order of the pairs of classes by the texts of their values: the same on every engine."""
    keys = []
    for at, column in enumerate(attack.columns):
        sides = (attack.own, column.original_values), (attack.released, column.released_values)
        for (side, values), classes in zip(sides, attack.pair, strict=True):
            rank = np.zeros(len(values) + 1, dtype=np.int64)
            rank[1 + np.argsort(np.array(values, dtype=str), kind="stable")] = np.arange(1, len(rank))
            keys.append(rank[side.codes[at]][classes])
    return np.lexsort(keys)


def _link_block(
    attack: Attack, targets: Integers, released: Integers, of_classes: tuple[Floats, Integers], tally: Tally
) -> None:
    """Link the targets of one block, (2, …): pairs in order of their original classes, and their records.

    `released` are the block's classes of the release; `of_classes` are the log weights of all classes, and
    the place of each in its block.
    """
    (pairs, records), (weights, place) = targets, of_classes
    widths = (scorer.width for _, scorer in attack.scored if isinstance(scorer, Frequencies))
    step = max(1, BLOCK // max(len(released), *widths, 1))
    own, of_pair = np.unique(attack.pair[0][pairs], return_inverse=True)
    sizes = attack.released.sizes[released]
    for start in range(0, len(own), step):
        checkpoint()
        some = own[start : start + step]
        scores = np.tile(weights[released], (len(some), 1))
        for at, scorer in attack.scored:
            scores += scorer.scores(attack.own.codes[at][some], attack.released.codes[at][released])
        near = scores >= scores.max(axis=1, keepdims=True) - LOG_TOLERANCE
        first, last = np.searchsorted(of_pair, [start, start + len(some)])
        rows, own_pairs = of_pair[first:last] - start, pairs[first:last]
        hit = near[rows, place[attack.pair[1][own_pairs]]].astype(np.float64)
        tally.add(records[first:last], (near @ sizes)[rows], hit, (np.isfinite(scores) @ sizes)[rows])
