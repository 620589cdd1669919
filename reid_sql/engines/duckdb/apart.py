"""DuckDB: the packed records that a few columns do not tell apart.

A record that no other shares its values of some columns with is alone by any more columns, too: a count by
these needs the others only. Where records are nearly all distinct, these are few.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Final

from reid_sql.engines.duckdb.digits import Ask

MANY: Final = 200_000  # packed records; below, each count is quick
LOOKED_AT: Final = 65_536  # by these it is told how many a set of columns would leave
SHARED: Final = 0.25  # of the records, the most that are worth leaving

Keys = Callable[[Sequence[str]], list[str]]


class Apart:
    """Sets of columns by which the packed records are nearly all alone, found as they are asked for."""

    def __init__(self, ask: Ask, packed: str, bases: dict[str, int], keys: Keys) -> None:
        """`keys` spells the key of a packed row `c` by columns; the digits of each are below its base."""
        self.ask = ask
        self.packed = packed
        self.bases = bases
        self.keys = keys
        self.rows = int(ask(f"SELECT count(*) FROM {packed}")[0][0])
        self.looked_at: str | None = None
        self.estimated: dict[frozenset[str], float] = {}
        self.found: dict[frozenset[str], tuple[int, str]] = {}
        self.refused: set[frozenset[str]] = set()

    def rest(self, columns: Sequence[str]) -> str | None:
        """Name the relation of all packed rows that may share their values with another, if these are few."""
        if not self.rows or self.rows < MANY:
            return None
        known = [left for told, left in self.found.items() if told <= set(columns)]
        if known:
            return min(known)[1]
        base = self._base(columns)
        return self._left(base) if base and frozenset(base) not in self.refused else None

    def forget(self) -> None:
        """Take the relations away."""
        for relation in (self.looked_at, *(relation for _, relation in self.found.values())):
            if relation is not None:
                self.ask(f"DROP TABLE {relation}")

    def _base(self, columns: Sequence[str]) -> list[str]:
        """Choose some of the columns that tell nearly all apart, or none; such as no other set has first."""
        taken = frozenset().union(*self.found)
        ordered = sorted(columns, key=lambda column: (column in taken, -self.bases[column]))
        for many in range(1, len(ordered)):
            base = ordered[:many]
            if prod(self.bases[column] for column in base) > self.rows and self._shared(base) <= SHARED:
                return base
        return []

    def _shared(self, base: Sequence[str]) -> float:
        key = frozenset(base)
        if self.looked_at is None:
            self.looked_at = f"{self.packed}_looked_at"
            step = -(-self.rows // LOOKED_AT)
            some = f"SELECT * FROM {self.packed} WHERE hash(rowid) % {step} = 0"
            self.ask(f"CREATE TEMP TABLE {self.looked_at} AS {some}")
        if key not in self.estimated:
            some = f"SELECT {', '.join(self.keys(base))} FROM {self.looked_at} AS c"
            self.estimated[key] = _sharing(self.ask, some, self.rows)
        return self.estimated[key]

    def _left(self, base: Sequence[str]) -> str | None:
        keys = [f"{key} AS reid_{place}" for place, key in enumerate(self.keys(base))]
        names = ", ".join(f"reid_{place}" for place in range(len(keys)))
        keyed = f"SELECT c.*, {', '.join(keys)} FROM {self.packed} AS c"
        shared = f"SELECT {names} FROM ({keyed}) GROUP BY {names} HAVING count(*) > 1"
        relation = f"{self.packed}_rest_{len(self.found)}"
        self.ask(
            f"CREATE TEMP TABLE {relation} AS SELECT * EXCLUDE ({names}) FROM ({keyed}) "
            f"SEMI JOIN ({shared}) USING ({names})"
        )
        left = int(self.ask(f"SELECT count(*) FROM {relation}")[0][0])
        if 2 * left > self.rows:
            self.ask(f"DROP TABLE {relation}")
            self.refused.add(frozenset(base))
            return None
        self.found[frozenset(base)] = left, relation
        return relation


def nearly_distinct(ask: Ask, source: str) -> bool:
    """Whether so few records are the same, as far as the first of them tell, that grouping would not pay."""
    records = int(ask(f"SELECT count(*) FROM {source}")[0][0])
    return records >= MANY and _sharing(ask, f"SELECT * FROM {source} LIMIT {LOOKED_AT}", records) <= SHARED


def _sharing(ask: Ask, some: str, records: int) -> float:
    """The share of so many records that are the same as another, as far as some of them tell.

    Three that are the same among them are of a large class, whose share they show; where two are, many a
    record among them has its like among the others.
    """
    alike = f"SELECT *, count(*) AS n FROM ({some}) GROUP BY ALL"
    parts = ", ".join(f"coalesce(sum(n) {kept}, 0)" for kept in ("", "FILTER (n > 2)", "FILTER (n = 2)"))
    [(drawn, of_many, of_two)] = ask(f"SELECT {parts} FROM ({alike})")
    return float(of_many + of_two * records / drawn) / drawn if drawn else 0.0
