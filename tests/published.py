"""Published tables with hidden cells, and every table of people that fits them, by enumeration."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from reid_sql.models.tables.published_tables import PublishedRows

Row = dict[str, Any]
Atoms = tuple[Row, ...]  # the categories of the finest cells, which no table need show


@dataclass(frozen=True)
class Published:
    """One table: the columns that it shows, and of which atoms it counts the people."""

    columns: tuple[str, ...]
    only: frozenset[int] | None = None
    constant: tuple[str, str] | None = None  # a column of its own with one value

    def cells(self, atoms: Atoms) -> list[tuple[Row, np.ndarray[Any, Any]]]:
        """The categories of each of its cells, and which atoms it counts."""
        found: dict[tuple[str, ...], list[int]] = {}
        for place, atom in enumerate(atoms):
            if self.only is None or place in self.only:
                found.setdefault(tuple(atom[name] for name in self.columns), []).append(place)
        every = {name: None for atom in atoms for name in atom}
        own = dict([self.constant]) if self.constant else {}
        return [
            (
                {**every, **dict(zip(self.columns, key, strict=True)), **own},
                np.isin(range(len(atoms)), places),
            )
            for key, places in found.items()
        ]


@cache
def tables_of(cells: int, people: int) -> np.ndarray[Any, Any]:
    """Every table of so many cells and people: stars and bars."""
    bars = np.array(list(combinations(range(people + cells - 1), cells - 1)), dtype=int)
    bars = bars.reshape(-1, cells - 1)
    ends = np.full((len(bars), 1), people + cells - 1)
    edges = np.hstack([np.full((len(bars), 1), -1), bars, ends])
    return np.diff(edges, axis=1) - 1


@dataclass(frozen=True)
class Case:
    """What is published of one table, and which of its cells are hidden."""

    rows: PublishedRows
    hidden: list[tuple[int, Row, np.ndarray[Any, Any]]]  # table, categories, atoms
    fitting: np.ndarray[Any, Any]  # every table that fits, (tables, atoms)
    with_zeros: np.ndarray[Any, Any]  # the same, if a hidden count may be 0


def draw_case(  # noqa: PLR0917 - a table, and what is published of it
    seed: Sequence[int],
    atoms: Atoms,
    tables: Sequence[Published],
    people: int,
    lowest: int,
    share: float,
) -> Case:
    """Draw a table, publish it with hidden cells, and find every table that fits what is published."""
    rng = np.random.default_rng(seed)
    truth = rng.multinomial(people, rng.dirichlet(np.full(len(atoms), 0.8)))
    possible = with_zeros = tables_of(len(atoms), people)
    numbers, texts, hidden = [], [], []
    for number, table in enumerate(tables, 1):
        for categories, members in table.cells(atoms):
            count, counts = int(truth[members].sum()), possible[:, members].sum(axis=1)
            is_hidden = count > 0 and any(categories.values()) and rng.random() < share
            if not is_hidden:
                with_zeros = with_zeros[with_zeros[:, members].sum(axis=1) == count]
            possible = possible[counts >= lowest if is_hidden else counts == count]
            if not count:  # a table lists no cell of nobody
                continue
            numbers.append(number)
            texts.append(json.dumps({**categories, "records": None if is_hidden else count}))
            if is_hidden:
                hidden.append((number, categories, members))
    return Case(PublishedRows(np.array(numbers), texts), hidden, possible, with_zeros)
