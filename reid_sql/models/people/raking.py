"""A tree kept to what is known from outside: chances given the parent, fitted to shares of the column.

The chances are the column's. Source: Deming & Stephan 1940 (iterative proportional fitting).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.people.tree import ROOT, Chances, Tree
from reid_sql.parameters import Floats

ROUNDS: Final = 200
CLOSE: Final = 1e-10
TINY: Final = 1e-300


def raked(tree: Tree, given: Sequence[int]) -> Tree:
    """Fit the chances of these columns, from the roots on, so that the tree has just their shares."""
    shares: dict[int, Floats] = {}
    chances = dict(tree.chances)
    for j in tree.order if given else ():
        if tree.parents[j] == ROOT:
            shares[j] = tree.columns[j].bin_mass
            continue
        above, table = shares[tree.parents[j]], np.exp(chances[j].log_chance)
        if j in given:
            table = fitted(table, above, tree.columns[j].bin_mass)
            chances[j] = Chances(np.log(np.maximum(table, TINY)))
        shares[j] = above @ table
    return replace(tree, chances=chances)


def fitted(chances: Floats, rows: Floats, columns: Floats) -> Floats:
    """Scale a table of chances, whose rows have these shares, until its columns have theirs.

    >>> table = fitted(np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    >>> (np.array([0.5, 0.5]) @ table).round(6).tolist()
    [0.5, 0.5]
    """
    table = chances
    for _ in range(ROUNDS):
        checkpoint()
        table = table * (columns / np.maximum(rows @ table, TINY))
        table = table / table.sum(axis=1, keepdims=True)
        if np.abs(rows @ table - columns).max() < CLOSE:
            break
    return np.asarray(table)
