"""What ends of ranges give back, draw by draw, and the tree of divisions, by following every value."""

from math import isclose, log2

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.generalization.boxes import PartitionColumn
from reid_sql.models.generalization.downcoding import count_recovered_bits
from reid_sql.models.generalization.partition import STRATEGIES, ClassRequirement, Partition, divide
from tests.models.generalization.brute import lattice, tables
from tests.models.generalization.test_partition import Drawn, columns_of, members, rows_of


def reached(columns: list[PartitionColumn], made: Partition, column: int, value: int) -> set[int]:
    """The leaves that a record with this value may reach, whatever its other values are."""
    nodes = {0}
    for step in made.generations:
        after: set[int] = set()
        for node in nodes:
            (places,) = np.nonzero(step.node == node)
            if not len(places):
                after.add(node)
                continue
            at = int(places[0])
            edges = {
                int(key): int(child)
                for start, key, child in zip(
                    step.edge_node, step.edge_key, step.edge_child, strict=True
                )
                if start == node
            }
            rest = set() if step.rest[at] == -1 else {int(step.rest[at])}
            if step.column[at] != column:
                after |= {*edges.values(), *rest}
                continue
            if step.level[at] == -1:
                key = int(value > step.cut[at])
            else:
                key = int(columns[column].levels.codes[step.level[at]][value])
            after |= {edges[key]} if key in edges else rest
        nodes = after
    return nodes


def chance_of_ends(counts: list[int], low: int, high: int, size: int) -> float:
    """The chance that so many draws from a range contain both of its ends, draw by draw."""
    values, total = range(low, high + 1), sum(counts[low : high + 1])
    seen = {(False, False): 1.0}
    for _ in range(size):
        after: dict[tuple[bool, bool], float] = {}
        for (first, last), chance in seen.items():
            for value in values:
                state = first or value == low, last or value == high
                after[state] = after.get(state, 0.0) + chance * counts[value] / total
        seen = after
    return seen[True, True]


@settings(max_examples=200, deadline=None)
@given(tables(), st.integers(1, 4), st.sampled_from(STRATEGIES), st.data())
def test_what_comes_back_is_what_cannot_reach_a_leaf(
    drawn: Drawn, k: int, strategy: str, data: st.DataObject
) -> None:
    table, hierarchies = drawn
    ordered = [data.draw(st.booleans()) for _ in hierarchies]
    columns = columns_of(drawn, ordered)
    made = divide(columns, rows_of(drawn), ClassRequirement(k), strategy)
    if made is None:
        return
    found = count_recovered_bits(columns, made)
    for at, name in enumerate(table.columns):
        counts = lattice(*drawn).level_codes[at].records
        expected = 0.0
        leaves = {
            value: reached(columns, made, at, value) for value in range(len(hierarchies[at][0]))
        }
        for place, leaf in enumerate(made.leaves.tolist()):
            shown = members(drawn, ordered, made, at, place)
            left = {value for value in shown if leaf in leaves[value]}
            ratio = sum(counts[value] for value in shown) / sum(counts[value] for value in left)
            expected += float(made.sizes[place]) * log2(ratio)
            low, high = (int(end[place]) for end in (made.boxes[at].low, made.boxes[at].high))
            if ordered[at] and 0 < low < high:
                size = int(made.sizes[place])
                expected -= log2(chance_of_ends(counts.tolist(), low, high, size))
        assert isclose(found[at], expected, abs_tol=1e-9), name
