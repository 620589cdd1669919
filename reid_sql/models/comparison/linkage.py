"""An attack on a release, measured: each original record is linked to the released record it most likely is.

A record of values o became one of class r with P(r | o) = Π P(r_j | o_j) over the columns j, and is one of
the n_r there: the attacker takes a record of the class where P(r | o) / n_r is greatest. A match among m such
records is right with 1/m.
"""

from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.comparison.paired_records import Alike, PairedColumn, PairedRecords, numbered, summed
from reid_sql.models.comparison.reading import BY_DISTANCE, Distances, Frequencies, Reading, reading
from reid_sql.parameters import Floats, Integers, Number

TARGETS: Final = Number(
    "a whole number of records from 1 to 1e+9",
    "pass how many records to link where all would take too long, such as 10000",
    1.0,
    1e9,
    whole=True,
)
Targets = Annotated[int, TARGETS]
EXACT: Final = 1_000_000_000  # pairs of distinct records up to which all are compared
BLOCK: Final = 4_000_000  # of them at once
TIED: Final = 1e-9  # of logarithms that are the same


@dataclass(frozen=True)
class Linkage:
    """What the attack finds, as shares of the records that stand in both tables."""

    correct_links: float
    certain_links: float
    highest_link: float
    correct_candidates: float
    targets: int
    drawn: bool


@dataclass
class Tally:
    """What was found of the targets so far."""

    targets: int = 0
    correct: float = 0.0
    certain: float = 0.0
    highest: float = 0.0
    candidates: float = 0.0

    def add(self, records: Integers, nearest: Integers, hit: Floats, possible: Integers) -> None:
        """Add pairs: their records, how many are nearest, 1 where theirs is one, how many it may be."""
        right = hit / nearest
        self.targets += int(records.sum())
        self.correct += float(records @ right)
        self.certain += float(records @ (right == 1))
        self.highest = max(self.highest, float(right.max(initial=0)))
        self.candidates += float(records @ (1 / possible))


@dataclass(frozen=True)
class Attack:
    """The classes of both tables, who belongs to whom, and what the attacker makes of each column."""

    own: Alike
    released: Alike
    pair: Integers  # (2, pairs of classes): original, released
    records: Integers  # (pairs of classes,)
    readings: list[Reading]
    columns: list[PairedColumn]
    free: list[tuple[int, Frequencies | Distances]]  # places of columns, how their forms are scored


def attack(paired: PairedRecords, own: Alike, released: Alike) -> Attack | None:
    """Set the attack up; None where no record stands in both tables."""
    both = np.flatnonzero(paired.in_original & paired.in_release)
    if not len(both):
        return None
    classes = np.stack([own.of_pair[both], released.of_pair[both]])
    ids, _ = numbered(classes)
    pair = classes[:, np.unique(ids, return_index=True)[1]]
    records = summed(ids, paired.records[both])
    columns = paired.columns()
    found = [reading(column) for column in columns]
    free = [
        (at, Distances(columns[at]) if told.words == BY_DISTANCE else Frequencies(columns[at]))
        for at, told in enumerate(found)
        if told.image is None
    ]
    return Attack(own, released, pair, records, found, columns, free)


def link(known: Attack, targets: int, seed: int) -> Linkage:
    """Carry the attack out, on a seeded draw of records where all would take too long."""
    tally = Tally()
    own, released = _blocks(known)
    if not known.free:  # each block is one class of the release
        sizes = known.released.sizes[known.pair[1]]
        tally.add(known.records, sizes, np.ones(len(sizes)), sizes)
        return _told(tally, drawn=False)
    here = np.bincount(released, minlength=int(own.max()) + 1)
    drawn = int(here[own[np.unique(known.pair[0])]].sum()) > EXACT
    records = _drawn(known, targets, seed) if drawn else known.records
    weights, place = _weights(known), np.zeros(len(known.released.sizes), dtype=np.int64)
    order = np.argsort(released, kind="stable")
    ends = np.cumsum(here)
    asked = np.flatnonzero(records)
    asked = asked[np.lexsort([known.pair[0][asked], own[known.pair[0][asked]]])]
    blocks = own[known.pair[0][asked]]
    for part in np.split(asked, np.flatnonzero(np.diff(blocks)) + 1):
        block = int(own[known.pair[0][part[0]]])
        classes = order[ends[block] - here[block] : ends[block]]
        place[classes] = np.arange(len(classes))
        _link_block(known, np.stack([part, records[part]]), classes, (weights, place), tally)
    return _told(tally, drawn=drawn)


def _told(tally: Tally, *, drawn: bool) -> Linkage:
    whole = tally.targets
    correct, certain, candidates = (each / whole for each in (tally.correct, tally.certain, tally.candidates))
    return Linkage(correct, certain, tally.highest, candidates, whole, drawn)


def _blocks(known: Attack) -> tuple[Integers, Integers]:
    """Number what the columns of one form for each value leave of both tables, (classes,) each."""
    fixed = [(at, told.image) for at, told in enumerate(known.readings) if told.image is not None]
    own = [image[known.own.codes[at]] + 2 for at, image in fixed]
    released = [known.released.codes[at] + 2 for at, _ in fixed]
    sides = len(known.own.sizes), len(known.released.sizes)
    if not fixed:
        return np.zeros(sides[0], dtype=np.int64), np.zeros(sides[1], dtype=np.int64)
    ids, _ = numbered(np.concatenate([np.stack(own), np.stack(released)], axis=1))
    return ids[: sides[0]], ids[sides[0] :]


def _weights(known: Attack) -> Floats:
    """−log n_r, by the columns whose forms are counted."""
    spread = {at for at, told in enumerate(known.readings) if told.words == BY_DISTANCE}
    counted = [codes for at, codes in enumerate(known.released.codes) if at not in spread]
    if not counted:
        return np.zeros(len(known.released.sizes))
    ids, _ = numbered(np.stack(counted))
    found: Floats = -np.log(summed(ids, known.released.sizes)[ids])
    return found


def _drawn(known: Attack, targets: int, seed: int) -> Integers:
    """How many records of each pair of classes are targets of a seeded draw without replacement."""
    whole = int(known.records.sum())
    order = _by_values(known)
    chosen = np.random.default_rng(seed).choice(whole, min(targets, whole), replace=False)
    places = np.searchsorted(np.cumsum(known.records[order]), chosen, side="right")
    return np.bincount(order[places], minlength=len(known.records))


def _by_values(known: Attack) -> Integers:
    """The pairs of classes in the order of their values' texts, the same however an engine found them."""
    keys = []
    for at, column in enumerate(known.columns):
        sides = (known.own, column.original_values), (known.released, column.released_values)
        for (side, values), classes in zip(sides, known.pair, strict=True):
            rank = np.zeros(len(values) + 1, dtype=np.int64)
            rank[1 + np.argsort(np.array(values, dtype=str), kind="stable")] = np.arange(1, len(rank))
            keys.append(rank[side.codes[at]][classes])
    return np.lexsort(keys)


def _link_block(
    known: Attack, targets: Integers, released: Integers, forms: tuple[Floats, Integers], tally: Tally
) -> None:
    """Link the targets of one block, (2, …): pairs in order of their original classes, and their records.

    `released` are the block's classes of the release; `forms` are the weights of all, and the place of each
    in its block.
    """
    (pairs, records), (weights, place) = targets, forms
    width = max(
        len(released), *(scorer.width for _, scorer in known.free if isinstance(scorer, Frequencies)), 1
    )
    step = max(1, BLOCK // width)
    own, of_pair = np.unique(known.pair[0][pairs], return_inverse=True)
    sizes = known.released.sizes[released]
    for start in range(0, len(own), step):
        checkpoint()
        some = own[start : start + step]
        scores = np.tile(weights[released], (len(some), 1))
        for at, scorer in known.free:
            scores += scorer.scores(known.own.codes[at][some], known.released.codes[at][released])
        near = scores >= scores.max(axis=1, keepdims=True) - TIED
        first, last = np.searchsorted(of_pair, [start, start + len(some)])
        rows, mine = of_pair[first:last] - start, pairs[first:last]
        hit = near[rows, place[known.pair[1][mine]]].astype(np.float64)
        tally.add(records[first:last], (near @ sizes)[rows], hit, (np.isfinite(scores) @ sizes)[rows])
