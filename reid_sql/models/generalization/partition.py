"""Local recoding: a partition of the records into classes, each of which shows a box of its own.

From one class of all records, classes are divided by one column at a time as long as all parts meet the
requirement. `mondrian` divides the widest column at its median, or into all values of the next level
(LeFevre, DeWitt & Ramakrishnan 2006, strict). The greedy strategy divides where most bits are regained,
in all columns, for each bit by which a class is divided, and lets values of the next level that are too rare
remain together. All classes of a generation are divided at once, so that a table of a million records takes
as many steps as its tree is deep.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from reid_sql.models.generalization.boxes import (
    NONE,
    Boxes,
    ColumnLimit,
    PartitionColumn,
    bits_lost,
    bound_classes,
)
from reid_sql.models.generalization.criteria import Criterion, ValueCounts
from reid_sql.models.generalization.lattice import DistinctRecords
from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import Choice, Flags, Floats, Integers

METHOD: Final = Choice(("global", "local", "best"))
LOW: Final = 0  # the part of a range up to its cut
HIGH: Final = 1
MONDRIAN: Final = "mondrian"
STRATEGIES: Final = ("greedy", MONDRIAN)  # the one first that nearly always loses less


@dataclass(frozen=True)
class ClassRequirement:
    """What each class must meet: a size, and criteria on the values of sensitive columns.

    Each criterion has the code of its column for each distinct record, and the shares of these codes in the
    table.
    """

    least: int
    criteria: tuple[tuple[Criterion, Integers, Floats], ...] = ()

    def is_met(self, place: Integers, counts: Integers, rows: Integers, classes: int) -> Flags:
        """Which classes meet it; `rows` are the distinct records, `place` their classes."""
        sizes = np.bincount(place, counts, classes).astype(np.int64)
        met: Flags = sizes >= self.least
        for criterion, codes, shares in self.criteria:
            values = ValueCounts.count(place, codes[rows], counts, np.maximum(sizes, 1))
            met &= criterion.is_met(values, shares)
        return met


@dataclass(frozen=True)
class Generation:
    """The divisions of one depth: of each node its column, and the part that each code or range goes to.

    `level` is that of the codes, or NONE where the column is divided after the code `cut`. `rest` is the part
    of all codes that no edge names, or NONE.
    """

    node: Integers  # (nodes,)
    column: Integers
    level: Integers
    cut: Integers
    rest: Integers
    edge_node: Integers  # (edges,)
    edge_key: Integers
    edge_child: Integers

    @property
    def parts(self) -> int:
        """How many nodes it adds."""
        return len(self.edge_child) + int((self.rest != NONE).sum())


@dataclass(frozen=True)
class Partition:
    """Classes of distinct records, the boxes that they show, and the tree of divisions that leads to them."""

    strategy: str
    place: Integers  # (rows,) the class of each distinct record
    leaves: Integers  # (classes,) the node of each class
    sizes: Integers  # (classes,) records
    boxes: tuple[Boxes, ...]
    generations: tuple[Generation, ...]
    bits: Floats = field(default_factory=lambda: np.zeros(0))  # (columns,) lost


def divide(
    columns: Sequence[PartitionColumn],
    rows: DistinctRecords,
    requirement: ClassRequirement,
    strategy: str,
    stop: Callable[[], bool] = lambda: False,
) -> Partition | None:
    """Divide the records as long as every part meets the requirement; None if all of them together do not.

    Limits of columns divide all records first; None, too, if a part of these does not meet the requirement:
    as classes only become smaller, no partition within the limits does. `rows` may have more rows of codes
    than there are columns, which do not divide.

    >>> from reid_sql.models.generalization.lattice import LevelCodes
    >>> age = LevelCodes((np.arange(5), np.zeros(5, dtype=int)), np.array([0, 2, 1, 1, 2]))
    >>> rows = DistinctRecords(np.array([[1, 2, 3, 4]]), np.array([2, 1, 1, 2]))
    >>> partition = divide([PartitionColumn(age, ordered=True)], rows, ClassRequirement(2), MONDRIAN)
    >>> partition.place.tolist(), partition.sizes.tolist()
    ([0, 0, 1, 1], [3, 3])
    """
    return _Division(columns, rows, requirement, strategy).run(stop)


class _Division:
    """The state of a division: which node each distinct record has reached."""

    def __init__(
        self,
        columns: Sequence[PartitionColumn],
        rows: DistinctRecords,
        requirement: ClassRequirement,
        strategy: str,
    ) -> None:
        self.columns, self.rows = columns, rows
        self.requirement, self.strategy = requirement, strategy
        self.is_greedy = strategy != MONDRIAN
        self.node = np.zeros(len(rows.counts), dtype=np.int64)
        self.nodes = 1
        self.base = max(2, *(column.width for column in columns))  # above every key

    def run(self, stop: Callable[[], bool]) -> Partition | None:
        """Divide generation by generation; None if a part that limits make does not meet the requirement."""
        generations = [
            self._limit(at, limit)
            for at, column in enumerate(self.columns)
            for limit in column.limits
        ]
        current = np.arange(len(self.rows.counts))
        parts, place = np.unique(self.node, return_inverse=True)
        if not self.requirement.is_met(place.ravel(), self.rows.counts, current, len(parts)).all():
            return None
        while len(current) and not stop():
            checkpoint()
            generation = self._divide_classes(_Classes(self, current))
            if generation is None:
                break
            generations.append(generation)
            current = np.flatnonzero(self.node >= self.nodes - generation.parts)
        leaves, place = np.unique(self.node, return_inverse=True)
        place = place.ravel()
        sizes = np.bincount(place, self.rows.counts, len(leaves)).astype(np.int64)
        boxes = bound_classes(self.columns, self.rows, place)
        bits = bits_lost(self.columns, boxes, sizes)
        return Partition(self.strategy, place, leaves, sizes, boxes, tuple(generations), bits)

    def _limit(self, at: int, limit: ColumnLimit) -> Generation:
        """Divide every node by the limit of a column."""
        keys = limit.parts(self.columns[at], self.rows.codes[at])
        pairs, part = np.unique(self.node * self.base + keys, return_inverse=True)
        divided, edges = np.unique(self.node), len(pairs)
        children = self.nodes + np.arange(edges)
        self.node, self.nodes = children[part.ravel()], self.nodes + edges
        many = len(divided)
        return Generation(
            node=divided,
            column=np.full(many, at),
            level=np.full(many, limit.level),
            cut=np.full(many, limit.cut),
            rest=np.full(many, NONE),
            edge_node=pairs // self.base,
            edge_key=pairs % self.base,
            edge_child=children,
        )

    def _divide_classes(self, classes: "_Classes") -> Generation | None:
        """Divide each class by the first column of the highest score whose parts meet the requirement."""
        scores, cuts = self._score(classes)
        open_ = np.ones(classes.many, dtype=np.bool_)
        divisions: list[Generation] = []
        while True:
            chosen = scores.argmax(axis=0)
            open_ &= scores[chosen, np.arange(classes.many)] > -np.inf
            if not open_.any():
                break
            division, divided = self._divide(classes, open_, chosen, cuts)
            divisions += [division] if len(division.node) else []
            scores[chosen[open_], np.flatnonzero(open_)] = -np.inf
            open_ &= ~divided
        if not divisions:
            return None
        names = Generation.__dataclass_fields__
        return Generation(
            **{name: np.concatenate([getattr(each, name) for each in divisions]) for name in names}
        )

    def _score(self, classes: "_Classes") -> tuple[Floats, Integers]:
        """Score the division of each class by each column, and give where ranges would be cut."""
        scores = np.full((len(self.columns), classes.many), -np.inf)
        cuts = np.full((len(self.columns), classes.many), NONE, dtype=np.int64)
        for at, column in enumerate(self.columns):
            score = self._score_ranges if column.ordered else self._score_levels
            scores[at], cuts[at] = score(classes, at)
        return scores, cuts

    def _score_levels(self, classes: "_Classes", at: int) -> tuple[Floats, Integers]:
        """Score the division into the codes of the next level below the class's own."""
        column, boxes = self.columns[at], classes.boxes[at]
        level = np.maximum(boxes.level - 1, 0)
        keys = column.table[level[classes.local], classes.codes[at]]
        inverse, of, code, sizes = self._count_parts(classes, keys)
        large = sizes >= self.requirement.least
        within = column.records[level[of], code]
        regained = column.weight * sizes * np.log2(column.records_within(boxes)[of] / within)
        gain = np.where(large, regained, 0.0)
        spent = np.where(large, sizes * np.log2(classes.sizes[of] / sizes), 0.0)
        few = _sums(of, np.where(large, 0.0, sizes), classes.many)
        spent_by_class = _sums(of, spent, classes.many) + few * np.log2(
            classes.sizes / np.maximum(few, 1)
        )
        if self.is_greedy:
            gain += np.where(large, self._gain_elsewhere(classes, at, inverse, of, sizes), 0.0)
        score = self._score_columns(at, boxes, _sums(of, gain, classes.many), spent_by_class)
        possible = (boxes.level > 0) & (np.bincount(of, large, classes.many) > 0)
        if not self.is_greedy:
            possible &= few == 0
        return np.where(possible, score, -np.inf), boxes.level - 1

    def _count_parts(
        self, classes: "_Classes", keys: Integers
    ) -> tuple[Integers, Integers, Integers, Floats]:
        """Divide classes by keys: the part of each record, and the class, the key and the size of parts."""
        pairs, inverse = np.unique(classes.local * self.base + keys, return_inverse=True)
        sizes = np.bincount(inverse, classes.counts, len(pairs)).astype(np.float64)
        return inverse, pairs // self.base, pairs % self.base, sizes

    def _score_ranges(self, classes: "_Classes", at: int) -> tuple[Floats, Integers]:
        """Score the best cut of each range, or the one next to its median."""
        column, boxes = self.columns[at], classes.boxes[at]
        _, of, code, sizes = self._count_parts(classes, classes.codes[at])
        starts = np.searchsorted(of, np.arange(classes.many))
        total = np.cumsum(sizes)
        left = total - (total[starts] - sizes[starts])[of]
        right = classes.sizes[of] - left
        following = np.append(code[1:], 0)
        is_cut = (np.append(of[1:], NONE) == of) & (
            np.minimum(left, right) >= self.requirement.least
        )
        within = column.records_within(boxes)[of]
        high = np.maximum(boxes.high[of], following)
        lost = left * np.log2(column.within(boxes.low[of], code)) + np.where(
            is_cut,
            right * np.log2(np.maximum(column.within(np.where(is_cut, following, high), high), 1)),
            0.0,
        )
        gain = classes.sizes[of] * np.log2(within) - lost
        spent = left * np.log2(classes.sizes[of] / left) + right * np.log2(
            classes.sizes[of] / np.maximum(right, 1)
        )
        order = gain if self.is_greedy else -np.abs(left - right)
        # Give the place of the first largest value of each run.
        values = np.where(is_cut, order, -np.inf)
        largest = np.maximum.reduceat(values, starts)
        lengths = np.diff(np.append(starts, len(values)))
        equal = np.flatnonzero(values == np.repeat(largest, lengths))
        best = equal[np.searchsorted(equal, starts)]
        regained = column.weight * gain[best]
        if self.is_greedy:
            part = classes.local * 2 + (classes.codes[at] > code[best][classes.local])
            parts, inverse = np.unique(part, return_inverse=True)
            halves = np.bincount(inverse, classes.counts, len(parts)).astype(np.float64)
            elsewhere = self._gain_elsewhere(classes, at, inverse, parts // 2, halves)
            regained += _sums(parts // 2, elsewhere, classes.many)
        score = self._score_columns(at, boxes, regained, spent[best])
        return np.where(is_cut[best], score, -np.inf), code[best]

    def _gain_elsewhere(
        self, classes: "_Classes", at: int, part: Integers, of: Integers, sizes: Floats
    ) -> Floats:
        """Give the bits that the other columns regain in each part."""
        order = np.argsort(part, kind="stable")
        starts = np.searchsorted(part[order], np.arange(len(of)))
        gain = np.zeros(len(of))
        for other, column in enumerate(self.columns):
            if other != at:
                within = column.records_within(column.bound(classes.codes[other][order], starts))
                gain += (
                    column.weight
                    * sizes
                    * np.log2(column.records_within(classes.boxes[other])[of] / within)
                )
        return gain

    def _score_columns(self, at: int, boxes: Boxes, gain: Floats, spent: Floats) -> Floats:
        if self.is_greedy:
            return gain / np.maximum(spent, 1e-9)
        column = self.columns[at]
        return column.values_within(boxes) / max(int((column.levels.records > 0).sum()), 1)

    def _divide(
        self, classes: "_Classes", open_: Flags, chosen: Integers, cuts: Integers
    ) -> tuple[Generation, Flags]:
        """Divide the open classes by their chosen columns, where the parts meet the requirement."""
        rows = open_[classes.local]
        local, counts, current = classes.local[rows], classes.counts[rows], classes.current[rows]
        keys = self._keys(classes, rows, chosen, cuts)
        pairs, part = np.unique(local * self.base + keys, return_inverse=True)
        of, key = pairs // self.base, pairs % self.base
        parts = _Parts(part.ravel(), of, counts, current, self.requirement, classes.many)
        ordered = np.array([column.ordered for column in self.columns])
        pooled = parts.pool(~ordered[chosen] & self.is_greedy)
        divided = open_ & parts.is_divided(pooled)
        # Number the parts of the divided classes, and move their records there.
        target = np.where(pooled, len(parts.of) + parts.of, np.arange(len(parts.of)))
        taken = divided[parts.of]
        numbers, place = np.unique(target[taken], return_inverse=True)
        child = np.full(len(parts.of), NONE, dtype=np.int64)
        child[taken] = self.nodes + place.ravel()
        self.nodes += len(numbers)
        moved = taken[parts.part]
        self.node[parts.rows[moved]] = child[parts.part[moved]]
        at = np.flatnonzero(divided)
        rest = np.full(classes.many, NONE, dtype=np.int64)
        rest[parts.of[taken & pooled]] = child[taken & pooled]
        edges = taken & ~pooled
        column = chosen[at]
        where = cuts[column, at]
        generation = Generation(
            node=classes.nodes[at],
            column=column,
            level=np.where(ordered[column], NONE, where),
            cut=np.where(ordered[column], where, NONE),
            rest=rest[at],
            edge_node=classes.nodes[parts.of[edges]],
            edge_key=key[edges],
            edge_child=child[edges],
        )
        return generation, divided

    def _keys(self, classes: "_Classes", rows: Flags, chosen: Integers, cuts: Integers) -> Integers:
        """Give the key of each distinct record by the column that its class is divided by."""
        local = classes.local[rows]
        keys = np.zeros(len(local), dtype=np.int64)
        for at, column in enumerate(self.columns):
            mine = chosen[local] == at
            codes, where = classes.codes[at][rows][mine], cuts[at][local[mine]]
            keys[mine] = (
                np.where(codes > where, HIGH, LOW) if column.ordered else column.table[where, codes]
            )
        return keys


class _Classes:
    """The classes of one generation, with their distinct records sorted by class."""

    def __init__(self, division: _Division, current: Integers) -> None:
        node = division.node[current]
        order = np.argsort(node, kind="stable")
        self.current = current[order]
        self.nodes, local = np.unique(node[order], return_inverse=True)
        self.local, self.many = local.ravel(), len(self.nodes)
        self.counts = division.rows.counts[self.current]
        self.codes = [division.rows.codes[at][self.current] for at in range(len(division.columns))]
        starts = np.searchsorted(self.local, np.arange(self.many))
        self.sizes = np.bincount(self.local, self.counts, self.many)
        self.boxes = [
            column.bound(codes, starts)
            for column, codes in zip(division.columns, self.codes, strict=True)
        ]


@dataclass(frozen=True)
class _Parts:
    """The parts of classes: the part of each distinct record, and the class of each part."""

    part: Integers  # (rows,)
    of: Integers  # (parts,)
    counts: Integers  # (rows,)
    rows: Integers  # (rows,)
    requirement: ClassRequirement
    classes: int

    def pool(self, may: Flags) -> Flags:
        """Which parts remain together: those that fail, and a smallest other one if these alone fail."""
        failing = ~self._meet_requirement(self.part, len(self.of)) & may[self.of]
        together = failing.copy()
        lacks = ~self._pool_met(together) & (np.bincount(self.of, failing, self.classes) > 0)
        if lacks.any():
            sizes = np.bincount(self.part, self.counts, len(self.of))
            smallest = np.lexsort((sizes, failing, self.of))
            first = smallest[np.searchsorted(self.of[smallest], np.flatnonzero(lacks))]
            together[first] = True
        return together

    def is_divided(self, pooled: Flags) -> Flags:
        """Which classes have at least two parts, all of which meet the requirement."""
        alone = ~pooled
        failing = np.bincount(
            self.of, alone & ~self._meet_requirement(self.part, len(self.of)), self.classes
        )
        parts = np.bincount(self.of, alone, self.classes)
        pools = np.bincount(self.of, pooled, self.classes) > 0
        is_met = ~pools | self._pool_met(pooled)
        return np.asarray((failing == 0) & (parts + pools > 1) & is_met)

    def _pool_met(self, pooled: Flags) -> Flags:
        inside = pooled[self.part]
        return self._meet_requirement(self.of[self.part[inside]], self.classes, inside)

    def _meet_requirement(
        self, place: Integers, many: int, inside: Flags | slice = slice(None)
    ) -> Flags:
        return self.requirement.is_met(place, self.counts[inside], self.rows[inside], many)


def _sums(place: Integers, values: Floats, many: int) -> Floats:
    return np.bincount(place, values, many).astype(np.float64)
