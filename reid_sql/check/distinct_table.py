"""DuckDB: the distinct records of a table, from which the class sizes by any of their columns are counted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

import numpy as np

from reid_sql.check.nearly_unique import Ask, NearlyUnique, is_nearly_unique
from reid_sql.engines.duckdb.collations import folded, refuse
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.classes.wildcard import wildcard_class_sizes
from reid_sql.parameters import Integers, quoted

NUMBERS: Final = count(1)


class DistinctTable:
    """The records of a table on some columns, with how many are equal; NULL is a value of its own.

    They are counted once into a temporary table, and every set of columns is then a GROUP BY of it. Where
    nearly all records are distinct, that table would be as long as its source: the source is grouped itself.
    """

    def __init__(self, ask: Ask, tbl: str, columns: Sequence[str]) -> None:
        """Count them: `tbl` is quoted as SQL needs it, the columns are in the table."""
        self.ask = ask
        self.name = f"reid_distinct_{next(NUMBERS)}"
        self.folded = folded(ask, tbl, columns) if columns else set()
        self.aliases = {column: f"q{place}" for place, column in enumerate(columns)}
        self._tables: list[str] = []
        self._values: dict[str, str] = {}
        listed = ", ".join(f"{quoted(column)} AS {alias}" for column, alias in self.aliases.items())
        self._relation, self._count = f"(SELECT {listed} FROM {tbl})", "count(*)"
        unique = bool(columns) and is_nearly_unique(ask, self._relation)
        if columns and not unique:
            select = f"SELECT *, count(*) AS records FROM {self._relation} GROUP BY ALL"
            self._relation, self._count = self._create(self.name, select), "sum(records)::BIGINT"
        self.records = int(ask(f"SELECT coalesce({self._count}, 0) FROM {self._relation}")[0][0])
        self.unique = NearlyUnique(ask, self._relation, self.name, self.records) if unique else None
        self._counted: dict[Any, list[tuple[Any, ...]]] = {}

    def _create(self, name: str, select: str) -> str:
        self.ask(f"CREATE TEMP TABLE {name} AS {select}")
        self._tables.append(name)
        return name

    def drop(self) -> None:
        """Drop the temporary tables."""
        for name in self._tables:
            self.ask(f"DROP TABLE {name}")
        if self.unique:
            self.unique.drop()
        self._tables.clear()
        self._values.clear()

    def values(self, column: str) -> str:
        """Name a table of the column's values: code (from 1), v, records, in the order of v, without NULL."""
        refuse([column], self.folded)
        if column not in self._values:
            alias = self.aliases[column]
            counted = (
                f"SELECT {alias} AS v, {self._count} AS records FROM {self._relation} "
                f"WHERE {alias} IS NOT NULL GROUP BY {alias}"
            )
            ranked = f"SELECT row_number() OVER (ORDER BY v) AS code, v, records FROM ({counted}) ORDER BY v"
            self._values[column] = self._create(f"{self.name}_{alias}", ranked)
        return self._values[column]

    def groups(self, by: Sequence[str]) -> str:
        """Name a table of the groups by some columns, NULL first: place (from 0), g0, g1, …, records."""
        refuse(by, self.folded)
        keys = [f"{self.aliases[column]} AS g{place}" for place, column in enumerate(by)]
        order = ", ".join(f"g{place} NULLS FIRST" for place in range(len(by)))
        counted = f"SELECT {', '.join(keys)}, {self._count} AS records FROM {self._relation} GROUP BY ALL"
        ranked = (
            f"SELECT row_number() OVER (ORDER BY {order}) - 1 AS place, * FROM ({counted}) ORDER BY place"
        )
        return self._create(f"{self.name}_groups_{len(self._tables)}", ranked)

    def class_sizes(
        self,
        qi: Sequence[str],
        by: Sequence[str] = (),
        *,
        drop: bool = False,
        coarser: Mapping[str, str] | None = None,
    ) -> list[tuple[Any, ...]]:
        """Count the classes of each size in each group: the group's values, the size, the classes.

        With `drop`, records that lack a value in `qi` are left out. `coarser` names, for a column, a relation
        (v, coarse) of what its values become.
        """
        refuse([*qi, *by], self.folded)
        merged = {column: relation for column, relation in (coarser or {}).items() if column in qi}
        columns = [self.aliases[column] for column in dict.fromkeys([*qi, *by]) if column not in merged]
        rest = self.unique.rest(columns) if self.unique else None
        rows = self._class_sizes(rest or self._relation, qi, by, drop=drop, merged=merged)
        return self._add_unique(rows, rest, by, qi if drop else ()) if rest else rows

    def _class_sizes(
        self, relation: str, qi: Sequence[str], by: Sequence[str], *, drop: bool, merged: Mapping[str, str]
    ) -> list[tuple[Any, ...]]:
        """Count the classes among the records of one relation."""
        joins = "".join(
            f" LEFT JOIN {values} AS m{at} ON {self.aliases[column]} = m{at}.v"
            for at, (column, values) in enumerate(merged.items())
        )
        keys = [f"{self.aliases[column]} AS g{place}" for place, column in enumerate(by)]
        keys += [f"{self.aliases[column]} AS k{at}" for at, column in enumerate(qi) if column not in merged]
        keys += [f"m{at}.coarse AS c{at}" for at in range(len(merged))]
        grouped = ", ".join(str(place + 1) for place in range(len(keys)))
        classes = (
            f"SELECT {', '.join(keys)}, {self._count.replace('records', 'c.records')} AS n "
            f"FROM {relation} AS c{joins} {self._where_known(qi if drop else ())} GROUP BY {grouped}"
        )
        names = ", ".join([*(f"g{place}" for place in range(len(by))), "n"])
        return self.ask(f"SELECT {names}, count(*) FROM ({classes}) GROUP BY ALL ORDER BY ALL")

    def _add_unique(
        self, rows: Sequence[tuple[Any, ...]], rest: str, by: Sequence[str], known: Sequence[str]
    ) -> list[tuple[Any, ...]]:
        """Add the records that are not among the rest: each is a class of its own."""
        unique = [(*row[:-1], 1, row[-1]) for row in self._count_known(self._relation, by, known)]
        others = [(*row[:-1], 1, -row[-1]) for row in self._count_known(rest, by, known)]
        keys = {repr(row[:-1]): row[:-1] for row in (*rows, *unique)}  # a value may have no hash
        classes = Counter[str]()
        for row in (*rows, *unique, *others):
            classes[repr(row[:-1])] += row[-1]
        return [(*keys[key], number) for key, number in classes.items() if number]

    def _count_known(self, relation: str, by: Sequence[str], known: Sequence[str]) -> list[tuple[Any, ...]]:
        """Count the records of each group, of those that lack no value of the known columns."""
        key = (relation, tuple(by), frozenset(known))
        if key not in self._counted:
            listed = ", ".join([*(self.aliases[column] for column in by), "count(*)"])
            where = self._where_known(known)
            self._counted[key] = self.ask(f"SELECT {listed} FROM {relation} AS c {where} GROUP BY ALL")
        return self._counted[key]

    def _where_known(self, columns: Sequence[str]) -> str:
        tests = " AND ".join(f"{self.aliases[column]} IS NOT NULL" for column in columns)
        return f"WHERE {tests}" if tests else ""

    def count_gaps(self, columns: Sequence[str], by: Sequence[str]) -> list[tuple[Any, ...]]:
        """Count records by group and by which columns are NULL: the values, whether any is, the records."""
        refuse(by, self.folded)
        groups = [self.aliases[column] for column in by]
        gaps = [f"{self.aliases[column]} IS NULL AS n{place}" for place, column in enumerate(columns)]
        lacking = " OR ".join(f"n{place}" for place in range(len(columns)))
        listed = ", ".join([*groups, *gaps])
        counted = f"SELECT {listed}, {self._count} AS records FROM {self._relation} GROUP BY ALL"
        return self.ask(f"SELECT {', '.join([*groups, lacking])}, records FROM ({counted})")

    def select_codes(self, columns: Sequence[str]) -> str:
        """Select the distinct records on some columns: the codes of their values as q0, q1, …, 0 for NULL."""
        joins = " ".join(
            f"LEFT JOIN {self.values(column)} AS v{at} ON c.{self.aliases[column]} = v{at}.v"
            for at, column in enumerate(columns)
        )
        codes = ", ".join(f"coalesce(v{at}.code, 0) AS q{at}" for at in range(len(columns)))
        counted = self._count.replace("records", "c.records")
        return f"SELECT {codes}, {counted} AS records FROM {self._relation} AS c {joins} GROUP BY ALL"

    def match_groups(self, qi: Sequence[str], by: Sequence[str]) -> dict[int, Histogram]:
        """Count the matches within each group, by its place, where NULL in `qi` may be any value.

        The distinct records of all groups come from one GROUP BY; each group is matched alone.
        """
        rows = np.array(self.ask(self.select_codes([*by, *qi])), dtype=np.int64).reshape(
            -1, len(by) + len(qi) + 1
        )
        rows = rows[np.lexsort(rows[:, : len(by)].T[::-1])]
        _, starts = np.unique(rows[:, : len(by)], axis=0, return_index=True)
        parts = np.split(rows[:, len(by) :], starts[1:])
        return {place: _matches(part[:, :-1], part[:, -1]) for place, part in enumerate(parts) if len(part)}


def _matches(codes: Integers, records: Integers) -> Histogram:
    """How many distinct records of a group match so many of its records, with those that are blank."""
    size, place = np.unique(wildcard_class_sizes(codes, codes, records), return_inverse=True)
    blank = np.where((codes == 0).all(axis=1), records, 0)
    counts = np.zeros((3, len(size)), dtype=np.int64)
    for row, values in enumerate((np.ones_like(records), records, blank)):
        np.add.at(counts[row], place.ravel(), values)
    return Histogram(size, counts[0], counts[1], blank_records=counts[2])
