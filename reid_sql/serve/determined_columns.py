"""Values that determine those of another column, as a town determines its region, and pregnancy the sex.

Which towns a region has is no secret: counts by town and counts by region subtract, though no cell has both
columns. So a cell by town is audited as one by town and region.
"""

from collections.abc import Iterable, Mapping
from itertools import permutations
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa

from reid_sql.engines.drawn_rows import encode_columns
from reid_sql.parameters import Integers, quoted
from reid_sql.reductions.tables import MIN_EXPECTED_DISAGREEMENTS

ROWS_DRAWN: Final = 10_000
FIRST_ROWS: Final = 500  # which show of most columns that they determine no other
SEED: Final = 1
Cell = Mapping[
    str, str
]  # values by the names of columns, in small letters, as `repr` of their texts


class DeterminedColumns:
    """What the values of a served table determine."""

    def __init__(self, data: duckdb.DuckDBPyConnection, table: str) -> None:
        """Find the columns that another one determines: in a draw, then in all rows."""
        self._source = f"memory.main.{quoted(table)}"
        try:
            drawn = data.sql(
                f"FROM {self._source} USING SAMPLE reservoir({ROWS_DRAWN} ROWS) REPEATABLE ({SEED})"
            ).to_arrow_table()
        except duckdb.CatalogException:  # a table of the record that is served no more
            drawn = pa.table({})
        codes = {name.casefold(): each for name, each in encode_columns(drawn).items()}
        self._names = {name.casefold(): quoted(name) for name in drawn.column_names}
        self._pairs = {
            (one, other)
            for one, other in permutations(codes, 2)
            if determines(codes[one], codes[other]) and self._is_in_all_rows(data, one, other)
        }
        self._values: dict[tuple[str, str], dict[str, str]] = {}

    def add_columns(self, names: Iterable[str]) -> frozenset[str]:
        """Add to the columns those that they determine."""
        columns = frozenset(names)
        return columns.union(other for one, other in self._pairs if one in columns)

    def add_values(
        self, data: duckdb.DuckDBPyConnection, cells: Iterable[Cell]
    ) -> list[tuple[Cell, Cell]]:
        """Name each cell by the columns that its own determine, and by the values that its own determine.

        Columns are added that any of the cells has. The first names are those of a whole table of cells; the
        second, of a few cells of a table, are names of the same people beside them.
        """
        cells = list(cells)
        names = self._names.keys() & frozenset().union(*cells)
        for one in sorted(names):
            for other in sorted(names - {one}):
                if (one, other) not in self._values:
                    self._values[one, other] = self._find_values(data, one, other)
        by_columns = [self._add(cell, self._pairs) for cell in cells]
        return [(cell, self._add(cell, permutations(names, 2))) for cell in by_columns]

    def _add(self, cell: Cell, pairs: Iterable[tuple[str, str]]) -> Cell:
        added = {
            other: self._values[one, other][cell[one]]
            for one, other in pairs
            if cell.get(one) in self._values.get((one, other), {})
        }
        return {**added, **cell}

    def _is_in_all_rows(self, data: duckdb.DuckDBPyConnection, one: str, other: str) -> bool:
        name, column = self._names[one], self._names[other]
        pairs = f"(SELECT DISTINCT {name}, {column} FROM {self._source})"
        sql = f"SELECT count(*) = (SELECT count(*) FROM (SELECT DISTINCT {name} FROM {self._source})) FROM {pairs}"
        return bool(data.sql(sql).fetchall()[0][0])

    def _find_values(self, data: duckdb.DuckDBPyConnection, one: str, other: str) -> dict[str, str]:
        """Find the values of a column that have one value of another, and would not by chance."""
        name, column = self._names[one], self._names[other]
        # a value, what its records have of the other column, and how many of them have another by chance
        rows = data.sql(f"""
            WITH whole AS (SELECT {column} AS o, count(*) AS records FROM {self._source} GROUP BY ALL),
            values_of AS (SELECT {name} AS v, max({column}) AS o, count(*) AS records FROM {self._source}
                GROUP BY ALL HAVING count({column}) IN (0, count(*))
                AND min({column}) IS NOT DISTINCT FROM max({column}))
            SELECT v::VARCHAR, values_of.o::VARCHAR,
                values_of.records * (1 - whole.records / (SELECT sum(records) FROM whole))
            FROM values_of JOIN whole ON whole.o IS NOT DISTINCT FROM values_of.o""").fetchall()
        return {
            name_value(value): name_value(determined)
            for value, determined, expected in rows
            if (one, other) in self._pairs or expected >= MIN_EXPECTED_DISAGREEMENTS
        }


def name_value(text: str | None) -> str:
    """Name a value by its text; of zero, DuckDB writes the sign of the one that it finds first.

    >>> name_value("-0.0"), name_value("None"), name_value(None)
    ("'0.0'", "'None'", 'None')
    """
    return repr("0.0" if text == "-0.0" else text)


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
