"""DuckDB: the records that a few columns do not distinguish, of a table whose records nearly all differ.

A record that shares its values of some columns with no other is unique by any more columns, too: to count
classes by more columns, the other records are enough. Where nearly all differ, these are few.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

Ask = Callable[[str], list[tuple[Any, ...]]]
MIN_RECORDS: Final = 200_000  # below, each count is quick
SAMPLE: Final = 65_536
MAX_SHARED: Final = 0.25  # share of records with an equal one, up to which leaving out the others is a gain


class NearlyUnique:
    """Sets of columns by which nearly all records of a relation are unique, found as they are needed."""

    def __init__(self, ask: Ask, relation: str, name: str, records: int) -> None:
        """`name` begins the names of the temporary tables."""
        self.ask, self.relation, self.name, self.records = ask, relation, name, records
        self.rests: dict[frozenset[str], tuple[int, str]] = {}
        self._sample: str | None = None
        self._values: dict[str, int] = {}
        self._shared: dict[frozenset[str], float] = {}
        self._refused: set[frozenset[str]] = set()

    def rest(self, columns: Sequence[str]) -> str | None:
        """Name the relation of all records that may be equal by these columns, if they are few."""
        known = [rest for base, rest in self.rests.items() if base <= set(columns)]
        if known:
            return min(known)[1]
        base = self._choose_base(columns)
        return self._create_rest(base) if base and frozenset(base) not in self._refused else None

    def drop(self) -> None:
        """Drop the temporary tables."""
        for table in (self._sample, *(rest for _, rest in self.rests.values())):
            if table is not None:
                self.ask(f"DROP TABLE {table}")

    def _choose_base(self, columns: Sequence[str]) -> list[str]:
        """Choose a few columns by which nearly all are unique, or none; first those of no other set."""
        taken = frozenset().union(*self.rests)
        ordered = sorted(columns, key=lambda column: (column in taken, -self._count_values(column)))
        bases = (ordered[:size] for size in range(1, len(ordered)))
        return next((base for base in bases if self._estimate_shared(base) <= MAX_SHARED), [])

    def _count_values(self, column: str) -> int:
        if column not in self._values:
            sample = self._draw_sample()
            self._values[column] = int(self.ask(f"SELECT count(DISTINCT {column}) FROM {sample}")[0][0])
        return self._values[column]

    def _estimate_shared(self, base: Sequence[str]) -> float:
        key = frozenset(base)
        if key not in self._shared:
            sample = f"SELECT {', '.join(base)} FROM {self._draw_sample()}"
            self._shared[key] = estimate_shared(self.ask, sample, self.records)
        return self._shared[key]

    def _draw_sample(self) -> str:
        if self._sample is None:
            self._sample = f"{self.name}_sample"
            select = f"SELECT * FROM {self.relation} USING SAMPLE reservoir({SAMPLE} ROWS) REPEATABLE (1)"
            self.ask(f"CREATE TEMP TABLE {self._sample} AS {select}")
        return self._sample

    def _create_rest(self, base: Sequence[str]) -> str | None:
        names = ", ".join(base)
        shared = f"SELECT {names} FROM {self.relation} GROUP BY {names} HAVING count(*) > 1"
        same = " AND ".join(f"c.{name} IS NOT DISTINCT FROM s.{name}" for name in base)
        table = f"{self.name}_rest_{len(self.rests)}"
        select = f"SELECT c.* FROM {self.relation} AS c SEMI JOIN ({shared}) AS s ON {same}"
        self.ask(f"CREATE TEMP TABLE {table} AS {select}")
        records = int(self.ask(f"SELECT count(*) FROM {table}")[0][0])
        if 2 * records > self.records:
            self.ask(f"DROP TABLE {table}")
            self._refused.add(frozenset(base))
            return None
        self.rests[frozenset(base)] = records, table
        return table


def is_nearly_unique(ask: Ask, relation: str) -> bool:
    """Whether so few records are equal, as far as the first of them show, that counting them is no gain."""
    records = int(ask(f"SELECT count(*) FROM {relation}")[0][0])
    first = f"SELECT * FROM {relation} LIMIT {SAMPLE}"
    return records >= MIN_RECORDS and estimate_shared(ask, first, records) <= MAX_SHARED


def estimate_shared(ask: Ask, sample: str, records: int) -> float:
    """Estimate the share of the records of a table that equal another, from a sample of them.

    Three equal records in the sample belong to a large class, and show its share. Where two are equal, each
    record of the sample has, by expectation, records / sample times as many equals in the whole table.
    """
    classes = f"SELECT *, count(*) AS n FROM ({sample}) GROUP BY ALL"
    sums = ", ".join(f"coalesce(sum(n) {which}, 0)" for which in ("", "FILTER (n > 2)", "FILTER (n = 2)"))
    [(drawn, of_many, of_two)] = ask(f"SELECT {sums} FROM ({classes})")
    return float(of_many + of_two * records / drawn) / drawn if drawn else 0.0
