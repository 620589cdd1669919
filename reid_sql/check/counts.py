"""Counts over the distinct records of a table: one SQL text, run by the engine that has the records.

The text is what DuckDB and Spark both understand. A warehouse has no table of its distinct records between
two statements: it counts by the public functions, and reads its table once for all sets of columns.
"""

from collections.abc import Callable, Sequence
from typing import Any

Rows = list[tuple[Any, ...]]
Ask = Callable[[str], Rows]


class DistinctCounts:
    """The distinct records on some columns, with how many records have each; NULL is a value of its own.

    The columns are q0, q1, … of the `relation`; `count` adds up the records of its rows.
    """

    def __init__(self, ask: Ask, columns: Sequence[str], relation: str, count: str = "sum(records)") -> None:
        """Remember how to ask, and of what."""
        self.ask, self.relation, self.count = ask, relation, count
        self.aliases = {column: f"q{place}" for place, column in enumerate(columns)}

    def count_records(self) -> int:
        """Count the records of the table."""
        return int(self.ask(f"SELECT coalesce({self.count}, 0) AS records FROM {self.relation}")[0][0])

    def select_groups(self, by: Sequence[str]) -> str:
        """Select the groups by some columns, NULL first: g0, g1, …, records."""
        keys = [f"{self.aliases[column]} AS g{place}" for place, column in enumerate(by)]
        order = ", ".join(f"g{place} NULLS FIRST" for place in range(len(by)))
        listed = ", ".join([*keys, f"{self.count} AS records"])
        return f"SELECT {listed} FROM {self.relation} GROUP BY ALL ORDER BY {order}"

    def count_gaps(self, columns: Sequence[str], by: Sequence[str]) -> Rows:
        """Count records by group and by which columns are NULL: the values, whether any is, the records."""
        groups = [f"{self.aliases[column]} AS g{place}" for place, column in enumerate(by)]
        gaps = [f"{self.aliases[column]} IS NULL AS n{place}" for place, column in enumerate(columns)]
        listed = ", ".join([*groups, *gaps, f"{self.count} AS records"])
        lacking = " OR ".join(f"n{place}" for place in range(len(columns)))
        shown = ", ".join([*(f"g{place}" for place in range(len(by))), f"{lacking} AS lacking", "records"])
        return self.ask(f"SELECT {shown} FROM (SELECT {listed} FROM {self.relation} GROUP BY ALL) AS counted")

    def count_sizes(
        self, qi: Sequence[str], by: Sequence[str], *, drop: bool, relation: str | None = None
    ) -> Rows:
        """Count the classes of each size in each group: the group's values, the size, the classes.

        The records are grouped by the columns, then the classes by their size. With `drop`, records that lack
        a value in `qi` are left out. `relation` has some of the records.
        """
        named = [f"{self.aliases[column]} AS k{place}" for place, column in enumerate([*by, *qi])]
        grouped = ", ".join(str(place + 1) for place in range(len(named)))
        source = f"{relation or self.relation} AS r {self.where_known(qi if drop else ())}"
        classes = f"SELECT {', '.join(named)}, {self.count} AS n FROM {source} GROUP BY {grouped}"
        shown = ", ".join([*(f"k{place}" for place in range(len(by))), "n"])
        sizes = f"SELECT {shown}, count(*) AS classes FROM ({classes}) AS c"
        return self.ask(f"{sizes} GROUP BY {shown} ORDER BY {shown}")

    def where_known(self, columns: Sequence[str]) -> str:
        """Write the condition that no column is NULL."""
        tests = " AND ".join(f"{self.aliases[column]} IS NOT NULL" for column in columns)
        return f"WHERE {tests}" if tests else ""
