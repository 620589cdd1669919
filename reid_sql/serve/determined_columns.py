"""Columns whose values determine those of another, as a town determines its region.

Which towns a region has is no secret: counts by town and counts by region subtract, though no cell has both
columns. So a cell by town is recorded as one by town and region.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Final

import duckdb
import numpy as np

from reid_sql.engines.drawn_rows import encode_columns
from reid_sql.parameters import Integers, quoted
from reid_sql.reductions.tables import MIN_EXPECTED_DISAGREEMENTS
from reid_sql.serve.record import MAX_CELLS, read_rows

ROWS_DRAWN: Final = 10_000
FIRST_ROWS: Final = 500  # which show of most columns that they determine no other
SEED: Final = 1


@dataclass(frozen=True)
class DeterminedColumns:
    """The columns of a table that others determine; names in small letters, values as cells write them."""

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    values: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)

    def add_columns(self, names: Iterable[str]) -> frozenset[str]:
        """Add to the columns those that they determine."""
        known = frozenset(names)
        return known.union(*(self.columns.get(name, ()) for name in known))

    def add_values(self, cell: Mapping[str, str]) -> dict[str, str]:
        """Add to the values of a cell those that they determine."""
        added = {
            other: self.values[name, other][value]
            for name, value in cell.items()
            for other in self.columns.get(name, ())
            if value in self.values[name, other]
        }
        return {**added, **cell}


def find_determined(data: duckdb.DuckDBPyConnection, table: str) -> DeterminedColumns:
    """Find the columns of a served table that another one determines: in a draw, then in all rows."""
    source = f"memory.main.{quoted(table)}"
    drawn = data.sql(
        f"FROM {source} USING SAMPLE reservoir({ROWS_DRAWN} ROWS) REPEATABLE ({SEED})"
    ).to_arrow_table()
    codes = encode_columns(drawn)
    columns: dict[str, tuple[str, ...]] = {}
    values: dict[tuple[str, str], Mapping[str, str]] = {}
    for one, other in permutations(codes, 2):
        if not determines(codes[one], codes[other]):
            continue
        pairs = data.sql(f"SELECT DISTINCT {quoted(one)}, {quoted(other)} FROM {source}")
        rows = read_rows(data, pairs.to_arrow_table(), 2)
        named = {repr(row[one]): repr(row[other]) for row in rows}
        if len(named) == len(rows):
            names = one.casefold(), other.casefold()
            columns[names[0]] = (*columns.get(names[0], ()), names[1])
            values[names] = named if len(named) <= MAX_CELLS else {}
    return DeterminedColumns(columns, values)


def determines(one: Integers, other: Integers) -> bool:
    """Whether each value of a column has one value of the other, and would not by chance.

    >>> town = np.repeat(np.arange(20), 5)
    >>> determines(town, town // 4), determines(town // 4, town), determines(np.arange(100), town)
    (True, False, False)
    """
    for rows in (slice(FIRST_ROWS), slice(None)):
        pairs = one[rows] * (int(other.max(initial=0)) + 2) + other[rows]
        values = len(np.unique(one[rows]))
        if len(np.unique(pairs)) > values:
            return False
    by_chance = float(np.sum((np.unique(other, return_counts=True)[1] / len(other)) ** 2))
    return (1 - by_chance) * (len(one) - values) >= MIN_EXPECTED_DISAGREEMENTS
