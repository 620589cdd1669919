"""Downcoding of local recoding: the detail that its ranges and the tree of divisions give back.

A range is the least one of its class, so that both of its ends are values of people of the class: everybody
who sees the release knows it. Of m records whose values are drawn as the table's are within the range, that
both ends occur has the probability P = 1 - (1 - a)^m - (1 - b)^m + (1 - a - b)^m, where a and b are the
shares of the ends; to know it gives back -log2(P) bits of the class.

A class shows a box in each column. Whoever knows the divisions, which the query contains, knows more: the
class consists of the records that reach its leaf. Values that other parts of a division took are not in it.
What a class shows can so be refined to the values of the box that reach the leaf, and every record's own
value is still among them: this is downcoding (Cohen 2022), with certainty, of all records at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from reid_sql.models.generalization.boxes import NONE, NULL, PartitionColumn
from reid_sql.models.generalization.partition import LOW, Generation, Partition
from reid_sql.parameters import Floats, Integers


def count_recovered_bits(columns: Sequence[PartitionColumn], partition: Partition) -> Floats:
    """Give the bits that each column regains, by the ends of ranges and by what reaches each leaf.

    They are the sums of -log2(P) over ranges and of n log2(N(box)/N(values of the box that reach the leaf)).

    >>> from reid_sql.models.generalization.lattice import DistinctRecords, LevelCodes
    >>> from reid_sql.models.generalization.partition import ClassRequirement, divide
    >>> job = LevelCodes((np.arange(4), np.zeros(4, dtype=int)), np.array([0, 6, 1, 1]))
    >>> columns = [PartitionColumn(job, ordered=False)]
    >>> rows = DistinctRecords(np.array([[1, 2, 3]]), np.array([6, 1, 1]))
    >>> partition = divide(columns, rows, ClassRequirement(2), "greedy")
    >>> count_recovered_bits(columns, partition).tolist()  # 2 log2(8/2)
    [4.0]
    """
    tree = _Tree(columns, partition.generations)
    return np.array(
        [
            _recover_ranges(tree, at, partition)
            if column.ordered
            else _recover_levels(tree, at, partition)
            for at, column in enumerate(columns)
        ]
    )


@dataclass
class _Tree:
    """For each node its parent, the end of each ordered column, and the codes that other parts took."""

    columns: Sequence[PartitionColumn]
    generations: Sequence[Generation]
    parent: Integers = field(init=False)
    high: list[Integers] = field(init=False)  # (columns) of (nodes,)
    taken: dict[int, tuple[int, int, Integers]] = field(init=False)  # column, level, codes

    def __post_init__(self) -> None:
        """Follow the divisions from the root."""
        nodes = 1 + sum(generation.parts for generation in self.generations)
        self.parent = np.full(nodes, NONE, dtype=np.int64)
        self.high = [np.full(nodes, len(column.levels.records) - 1) for column in self.columns]
        self.taken = {}
        for generation in self.generations:
            self._inherit(generation.edge_node, generation.edge_child)
            pooled = generation.rest != NONE
            self._inherit(generation.node[pooled], generation.rest[pooled])
            # Lower the end of the ranges of parts up to a cut.
            divided = zip(generation.column.tolist(), generation.cut.tolist(), strict=True)
            cuts = dict(zip(generation.node.tolist(), divided, strict=True))
            edges = generation.edge_node, generation.edge_key, generation.edge_child
            for node, key, child in zip(*(each.tolist() for each in edges), strict=True):
                column, cut = cuts[node]
                if cut != NONE and key == LOW:
                    self.high[column][child] = min(self.high[column][child], cut)
            for at in np.flatnonzero(pooled):
                keys = generation.edge_key[generation.edge_node == generation.node[at]]
                column, level = int(generation.column[at]), int(generation.level[at])
                self.taken[int(generation.rest[at])] = column, level, keys

    def _inherit(self, above: Integers, below: Integers) -> None:
        self.parent[below] = above
        for high in self.high:
            high[below] = high[above]

    def ancestors(self, node: int) -> Iterator[tuple[int, int, Integers]]:
        """List what was taken from a node and those above it."""
        while node != NONE:
            if node in self.taken:
                yield self.taken[node]
            node = int(self.parent[node])


def _recover_ranges(tree: _Tree, at: int, partition: Partition) -> float:
    """A range is the least one of the records, but with NULL it shows every value: then its end is known."""
    column, boxes = tree.columns[at], partition.boxes[at]
    shows_all = (boxes.low == NULL) & (boxes.high > NULL)
    inside = column.below[tree.high[at][partition.leaves[shows_all]] + 1]
    regained = float(partition.sizes[shows_all] @ np.log2(column.below[-1] / inside))
    # Both ends of a range are values of its records.
    is_range = (boxes.low != boxes.high) & (boxes.low != NULL)
    low, high, size = boxes.low[is_range], boxes.high[is_range], partition.sizes[is_range]
    within = column.within(low, high)
    first, last = (column.levels.records[end] / within for end in (low, high))
    # 1 - (1 - a)^m less (1 - b)^m (1 - ((1 - a - b) / (1 - b))^m), which keeps digits of small shares
    with np.errstate(divide="ignore"):
        has_first = -np.expm1(size * np.log1p(-first))
        among_rest = np.minimum(1.0, first / (1 - last))
        only_first = (1 - last) ** size * -np.expm1(size * np.log1p(-among_rest))
    return regained + float(-np.log2(has_first - only_first).sum())


def _recover_levels(tree: _Tree, at: int, partition: Partition) -> float:
    column, boxes = tree.columns[at], partition.boxes[at]
    shown, regained = column.records_within(boxes), 0.0
    for place, leaf in enumerate(partition.leaves.tolist()):
        level, code, gone = int(boxes.level[place]), int(boxes.low[place]), 0
        for divided, below, keys in tree.ancestors(leaf):
            if divided == at and below <= level:
                inside = keys[column.levels.upwards(below, level)[keys] == code]
                gone += int(column.records[below][inside].sum())
        if gone:
            regained += float(partition.sizes[place]) * float(
                np.log2(shown[place] / (shown[place] - gone))
            )
    return regained
