"""DuckDB: the distinct records of a table, from which the class sizes by any of their columns are counted."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final, NamedTuple

import numpy as np

from reid_sql.check.table_engine import Tuples
from reid_sql.engines.duckdb.source import folded, known_value, refuse
from reid_sql.function import Function
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.classes.wildcard import wildcard_class_sizes
from reid_sql.parameters import Arguments, ColumnNames, Integers, Rows, quoted

Ask = Callable[[str], Tuples]
# of a function on a relation
Call = Callable[[Function, ColumnNames, Arguments, str], Rows]


class DistinctCounts:
    """The distinct records on some columns, with how many records have each; NULL is a value of its own.

    The columns are q0, q1, … of the `relation`; `count` adds up the records of its rows.
    """

    def __init__(
        self, ask: Ask, columns: ColumnNames, relation: str, count: str = "sum(records)"
    ) -> None:
        """Remember how to ask, and of what."""
        self.ask, self.relation, self.count = ask, relation, count
        self.aliases = {column: f"q{place}" for place, column in enumerate(columns)}

    def count_records(self) -> int:
        """Count the records of the table."""
        return int(
            self.ask(f"SELECT coalesce({self.count}, 0) AS records FROM {self.relation}")[0][0]
        )

    def select_groups(self, by: ColumnNames) -> str:
        """Select the groups by some columns, NULL first: g0, g1, …, records."""
        keys = [f"{self.aliases[column]} AS g{place}" for place, column in enumerate(by)]
        order = ", ".join(f"g{place} NULLS FIRST" for place in range(len(by)))
        listed = ", ".join([*keys, f"{self.count} AS records"])
        return f"SELECT {listed} FROM {self.relation} GROUP BY ALL ORDER BY {order}"

    def count_gaps(self, columns: ColumnNames, by: ColumnNames) -> Tuples:
        """Count records by group and by which columns are NULL: the values, whether any is, the records."""
        groups = [f"{self.aliases[column]} AS g{place}" for place, column in enumerate(by)]
        gaps = [
            f"{self.aliases[column]} IS NULL AS n{place}" for place, column in enumerate(columns)
        ]
        listed = ", ".join([*groups, *gaps, f"{self.count} AS records"])
        lacking = " OR ".join(f"n{place}" for place in range(len(columns)))
        shown = ", ".join(
            [*(f"g{place}" for place in range(len(by))), f"{lacking} AS lacking", "records"]
        )
        return self.ask(
            f"SELECT {shown} FROM (SELECT {listed} FROM {self.relation} GROUP BY ALL) AS counted"
        )

    def count_sizes(
        self, qi: ColumnNames, by: ColumnNames, *, drop: bool, relation: str | None = None
    ) -> Tuples:
        """Count the classes of each size in each group: the group's values, the size, the classes.

        The records are grouped by the columns, then the classes by their size. With `drop`, records that lack
        a value in `qi` are left out. `relation` has some of the records.
        """
        named = [f"{self.aliases[column]} AS k{place}" for place, column in enumerate([*by, *qi])]
        grouped = ", ".join(str(place + 1) for place in range(len(named)))
        source = f"{relation or self.relation} AS r {self.where_filled(qi if drop else ())}"
        classes = f"SELECT {', '.join(named)}, {self.count} AS n FROM {source} GROUP BY {grouped}"
        shown = ", ".join([*(f"k{place}" for place in range(len(by))), "n"])
        sizes = f"SELECT {shown}, count(*) AS classes FROM ({classes}) AS c"
        return self.ask(f"{sizes} GROUP BY {shown} ORDER BY {shown}")

    def where_filled(self, columns: ColumnNames) -> str:
        """Write the condition that no column is NULL."""
        tests = " AND ".join(f"{self.aliases[column]} IS NOT NULL" for column in columns)
        return f"WHERE {tests}" if tests else ""


MIN_RECORDS: Final = 200_000  # below, each count is quick
SAMPLE: Final = 65_536
# share of records with an equal one, up to which leaving out the others is a gain
MAX_SHARED: Final = 0.25


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

    def rest(self, columns: ColumnNames) -> str | None:
        """Name the relation of all records that may be equal by these columns, if they are few."""
        narrower = [rest for base, rest in self.rests.items() if base <= set(columns)]
        if narrower:
            return min(narrower)[1]
        base = self._choose_base(columns)
        if not base or frozenset(base) in self._refused:
            return None
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

    def drop(self) -> None:
        """Drop the temporary tables."""
        for table in (self._sample, *(rest for _, rest in self.rests.values())):
            if table is not None:
                self.ask(f"DROP TABLE {table}")

    def _choose_base(self, columns: ColumnNames) -> list[str]:
        """Choose a few columns by which nearly all are unique, or none; those in the fewest others first."""
        taken = Counter(column for base in self.rests for column in base)
        ordered = sorted(columns, key=lambda column: (taken[column], -self._count_values(column)))
        sizes = range(1, len(ordered))  # the more columns, the fewer records share a class
        place = bisect_left(
            sizes, x=True, key=lambda size: self._estimate_shared(ordered[:size]) <= MAX_SHARED
        )
        return ordered[: sizes[place]] if place < len(sizes) else []

    def _count_values(self, column: str) -> int:
        if column not in self._values:
            sample = self._draw_sample()
            self._values[column] = int(
                self.ask(f"SELECT count(DISTINCT {column}) FROM {sample}")[0][0]
            )
        return self._values[column]

    def _estimate_shared(self, base: ColumnNames) -> float:
        key = frozenset(base)
        if key not in self._shared:
            columns = ", ".join(f"{column} AS q{place}" for place, column in enumerate(base))
            sample = f"SELECT {columns} FROM {self._draw_sample()}"
            self._shared[key] = estimate_shared(self.ask, sample, self.records)
        return self._shared[key]

    def _draw_sample(self) -> str:
        if self._sample is None:
            self._sample = f"{self.name}_sample"
            share = f"{min(100, 100 * SAMPLE / (self.records or 1))}% (bernoulli, 1)"  # a reservoir takes longer
            select = f"SELECT * FROM {self.relation} USING SAMPLE {share}"
            self.ask(f"CREATE TEMP TABLE {self._sample} AS {select}")
        return self._sample


class SharedRecords(NamedTuple):
    """A table of the records that may share a class, and of one other record of each of their people.

    Each other record is a class of one person. The table lacks so many of these `classes`, and the `people`
    who share none. As one of their other records is in it, the smallest class of each of the others is right.
    """

    table: str
    records: int
    classes: int
    people: int

    def add_others(self, sizes: Rows) -> Rows:
        """Add the records that the table lacks to its class sizes."""
        alone: dict[str, Any] = {"class_size": 1, "classes": 0, "records": 0, "blank_records": None}
        alone |= next((row for row in sizes if row["class_size"] == 1), {})
        alone["classes"] += self.classes
        alone["records"] += self.people
        return [alone, *(row for row in sizes if row["class_size"] > 1)]


class NearlyUniquePeople(NearlyUnique):
    """Sets of columns by which nearly all records are unique, of which a person may have several."""

    def __init__(self, ask: Ask, relation: str, name: str, person: str) -> None:
        """`person` is the column that names the person of a record; where some lack one, nothing is found."""
        numbers = f"count(*), count({known_value(person)}), count(DISTINCT {person})"
        [(records, named, self._people)] = ask(f"SELECT {numbers} FROM {relation}")
        super().__init__(ask, relation, name, records)
        self._person, self._is_named = person, named == records
        self._shared_records: dict[str, SharedRecords] = {}

    def shared_records(self, columns: ColumnNames) -> SharedRecords | None:
        """Return the records that may share a class by these columns, if they are few."""
        rest = self.rest([quoted(column) for column in columns]) if self._is_named else None
        if rest and rest not in self._shared_records:
            self._shared_records[rest] = self._add_people(rest)
        return self._shared_records[rest] if rest else None

    def _add_people(self, rest: str) -> SharedRecords:
        """Store the records that may share a class, with one other record of each of their people."""
        base = next(base for base, (_, table) in self.rests.items() if table == rest)
        same = " AND ".join(f"c.{name} IS NOT DISTINCT FROM r.{name}" for name in base)
        table = f"{rest}_people"
        self.ask(f"""
            CREATE TEMP TABLE {table} AS
            FROM {rest}
            UNION ALL
            SELECT DISTINCT ON (c.{self._person}) c.*
            FROM {self.relation} AS c
              SEMI JOIN {rest} AS p ON c.{self._person} = p.{self._person}
              ANTI JOIN {rest} AS r ON {same}""")
        [(records,)] = self.ask(f"SELECT count(*) FROM {table}")
        [(people,)] = self.ask(f"SELECT count(DISTINCT {self._person}) FROM {rest}")
        return SharedRecords(table, records, self.records - records, self._people - people)


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
    sums = ", ".join(
        f"coalesce(sum(n) {which}, 0)" for which in ("", "FILTER (n > 2)", "FILTER (n = 2)")
    )
    [(drawn, of_many, of_two)] = ask(f"SELECT {sums} FROM ({classes})")
    return float(of_many + of_two * records / drawn) / drawn if drawn else 0.0


def encode_values(ask: Ask, tbl: str, name: str, columns: ColumnNames) -> str:
    """Store the columns of a large table, values as small numbers, for counts that do not depend on which.

    A text takes 16 bytes or more in each table of groups, a number as many as the values need. The table
    itself where it is small, or where a collation makes one text of several, which the count refuses.
    """
    records = int(ask(f"SELECT count(*) FROM {tbl}")[0][0])
    if records < MIN_RECORDS or folded(ask, tbl, columns):
        return tbl
    listed = ", ".join(map(quoted, columns))
    cells, joins = [], []
    for at, (column, kind, *_) in enumerate(ask(f"DESCRIBE SELECT {listed} FROM {tbl}")):
        alias = quoted(column)
        if kind not in {"VARCHAR", "BIGINT"}:
            cells.append(f"t.{alias}")
            continue
        values = f"SELECT DISTINCT {alias} AS v FROM {tbl} WHERE {alias} IS NOT NULL"
        ask(
            f"CREATE TEMP TABLE {name}_{at} AS SELECT row_number() OVER () AS code, v FROM ({values})"
        )
        number = int(ask(f"SELECT count(*) FROM {name}_{at}")[0][0])
        cells.append(f"v{at}.code::{_narrowest(number)} AS {alias}")
        joins.append(f"LEFT JOIN {name}_{at} AS v{at} ON t.{alias} = v{at}.v")
    ask(f"CREATE TEMP TABLE {name} AS SELECT {', '.join(cells)} FROM {tbl} AS t {' '.join(joins)}")
    for at in range(len(cells)):
        ask(f"DROP TABLE IF EXISTS {name}_{at}")
    return name


def _narrowest(number: int) -> str:
    """The type of the fewest bytes that holds the numbers up to this one."""
    bits = next(bits for bits in (8, 16, 32, 64) if number < 1 << bits)
    return {8: "UTINYINT", 16: "USMALLINT", 32: "UINTEGER", 64: "UBIGINT"}[bits]


class EncodedPeople:
    """A table in which people of classes are counted, without values where it is large."""

    def __init__(self, ask: Ask, tbl: str, columns: ColumnNames, person: str) -> None:
        """Encode the columns, among which is that of people."""
        self.table = encode_values(ask, tbl, f"{tbl}_encoded", columns)
        self._unique = (
            None
            if self.table == tbl
            else NearlyUniquePeople(ask, self.table, self.table, quoted(person))
        )

    def call(self, call: Call, function: Function, qi: ColumnNames, arguments: Arguments) -> Rows:
        """Call a function that counts people; class sizes where nearly all differ by the others alone."""
        is_of_sizes = function.key == "class_size_histogram" and arguments["nulls"] == "value"
        shared = self._unique.shared_records(qi) if self._unique and is_of_sizes else None
        if shared is None:
            return call(function, qi, arguments, self.table)
        return shared.add_others(
            call(function, qi, arguments, shared.table) if shared.records else []
        )


NUMBERS: Final = count(1)


def _select(columns: ColumnNames, tbl: str) -> str:
    listed = ", ".join(f"{quoted(column)} AS q{place}" for place, column in enumerate(columns))
    return f"(SELECT {listed} FROM {tbl})"


class Rest(NamedTuple):
    """Records that may be equal by some columns, in a table of its own; each of the others is a class."""

    table: str
    columns: list[str]  # what the columns are called there
    others: int


class DistinctTable(DistinctCounts):
    """The distinct records of a table in DuckDB.

    They are counted once into a temporary table, and every set of columns is then a GROUP BY of it. Where
    nearly all records are distinct, that table would be as long as its source: the source is grouped itself.
    Where nearly all differ by a few columns, the others alone are grouped.
    """

    def __init__(
        self, ask: Ask, tbl: str, columns: ColumnNames, others: Sequence[str] = ()
    ) -> None:
        """Count them: `tbl` is quoted as SQL needs it, the columns are in the table.

        `others` are columns that the rest has, too, where nearly all records are distinct.
        """
        super().__init__(ask, columns, _select(columns, tbl), "count(*)")
        self.name = f"reid_distinct_{next(NUMBERS)}"
        self.folded = folded(ask, tbl, columns) if columns else set()
        self._tables: list[str] = []
        self._values: dict[str, str] = {}
        unique = bool(columns) and is_nearly_unique(ask, self.relation)
        if unique:
            columns = list(dict.fromkeys([*columns, *others]))
            super().__init__(ask, columns, _select(columns, tbl), "count(*)")
        elif columns:
            select = f"SELECT *, count(*) AS records FROM {self.relation} GROUP BY ALL"
            self.relation, self.count = self._create(self.name, select), "sum(records)::BIGINT"
        lines = self.records = self.count_records()
        if self._tables:
            lines = int(ask(f"SELECT count(*) FROM {self.relation}")[0][0])
        may_be_unique = unique or (columns and lines >= MIN_RECORDS)
        self.unique = NearlyUnique(ask, self.relation, self.name, lines) if may_be_unique else None
        self._counted: dict[Any, Tuples] = {}

    def _create(self, name: str, select: str) -> str:
        self.ask(f"CREATE TEMP TABLE {name} AS {select}")
        self._tables.append(name)
        return name

    def rest(self, qi: ColumnNames, columns: ColumnNames) -> Rest | None:
        """Name the records that may be equal by `qi`, with some columns, where nearly all differ by it."""
        if not self.unique or self.count != "count(*)" or not {*columns} <= self.aliases.keys():
            return None
        table = self.unique.rest([self.aliases[column] for column in qi])
        if table is None:
            return None
        records = next(number for number, name in self.unique.rests.values() if name == table)
        named = [self.aliases[column] for column in columns]
        return Rest(table, named, self.records - records)

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
                f"SELECT {alias} AS v, {self.count} AS records FROM {self.relation} "
                f"WHERE {alias} IS NOT NULL GROUP BY {alias}"
            )
            ranked = f"SELECT row_number() OVER (ORDER BY v) AS code, v, records FROM ({counted}) ORDER BY v"
            self._values[column] = self._create(f"{self.name}_{alias}", ranked)
        return self._values[column]

    def groups(self, by: ColumnNames) -> str:
        """Name a table of the groups by some columns, NULL first: place (from 0), g0, g1, …, records."""
        refuse(by, self.folded)
        order = ", ".join(f"g{place} NULLS FIRST" for place in range(len(by)))
        numbered = f"SELECT row_number() OVER (ORDER BY {order}) - 1 AS place, *"
        ranked = f"{numbered} FROM ({self.select_groups(by)}) ORDER BY place"
        return self._create(f"{self.name}_groups_{len(self._tables)}", ranked)

    def class_sizes(self, qi: ColumnNames, by: ColumnNames = (), *, drop: bool = False) -> Tuples:
        """Count the classes of each size in each group: the group's values, the size, the classes.

        With `drop`, records that lack a value in `qi` are left out.
        """
        refuse([*qi, *by], self.folded)
        columns = [self.aliases[column] for column in dict.fromkeys([*qi, *by])]
        rest = self.unique.rest(columns) if self.unique else None
        rows = self.count_sizes(qi, by, drop=drop, relation=rest)
        if rest is None:
            return rows
        # each distinct record that is not among the rest is a class of its own
        filled = qi if drop else ()
        unique = self._count_filled(self.relation, by, filled)
        without_rest = [(*row[:-1], -row[-1]) for row in self._count_filled(rest, by, filled)]
        keys = {repr(row[:-1]): row[:-1] for row in (*rows, *unique)}  # a value may have no hash
        classes = Counter[str]()
        for row in (*rows, *unique, *without_rest):
            classes[repr(row[:-1])] += row[-1]
        return [(*keys[key], number) for key, number in classes.items() if number]

    def _count_filled(self, relation: str, by: ColumnNames, filled: Sequence[str]) -> Tuples:
        """Count the distinct records of each group and number of equal ones; none lacks a `filled` value."""
        key = (relation, tuple(by), frozenset(filled))
        if key not in self._counted:
            equal = "1" if self.count == "count(*)" else "records"
            listed = ", ".join([*(self.aliases[column] for column in by), equal, "count(*)"])
            where = self.where_filled(filled)
            self._counted[key] = self.ask(
                f"SELECT {listed} FROM {relation} AS c {where} GROUP BY ALL"
            )
        return self._counted[key]

    def count_gaps(self, columns: ColumnNames, by: ColumnNames) -> Tuples:
        """Count records by group and by which columns are NULL; refuses groups that a collation folds."""
        refuse(by, self.folded)
        return super().count_gaps(columns, by)

    def select_codes(self, columns: ColumnNames) -> str:
        """Select the distinct records on some columns: the codes of their values as q0, q1, …, 0 for NULL."""
        joins = " ".join(
            f"LEFT JOIN {self.values(column)} AS v{at} ON c.{self.aliases[column]} = v{at}.v"
            for at, column in enumerate(columns)
        )
        codes = ", ".join(f"coalesce(v{at}.code, 0) AS q{at}" for at in range(len(columns)))
        counted = self.count.replace("records", "c.records")
        return (
            f"SELECT {codes}, {counted} AS records FROM {self.relation} AS c {joins} GROUP BY ALL"
        )

    def match_groups(self, qi: ColumnNames, by: ColumnNames) -> dict[int, Histogram]:
        """Count the matches within each group, by its place, where NULL in `qi` may be any value.

        The distinct records of all groups come from one GROUP BY; each group is matched alone.
        """
        rows = np.array(self.ask(self.select_codes([*by, *qi])), dtype=np.int64).reshape(
            -1, len(by) + len(qi) + 1
        )
        rows = rows[np.lexsort(rows[:, : len(by)].T[::-1])]
        _, starts = np.unique(rows[:, : len(by)], axis=0, return_index=True)
        parts = np.split(rows[:, len(by) :], starts[1:])
        return {
            place: _matches(part[:, :-1], part[:, -1])
            for place, part in enumerate(parts)
            if len(part)
        }


def _matches(codes: Integers, records: Integers) -> Histogram:
    """How many distinct records of a group match so many of its records, with those that are blank."""
    size, place = np.unique(wildcard_class_sizes(codes, codes, records), return_inverse=True)
    blank = np.where((codes == 0).all(axis=1), records, 0)
    counts = np.zeros((3, len(size)), dtype=np.int64)
    for row, values in enumerate((np.ones_like(records), records, blank)):
        np.add.at(counts[row], place.ravel(), values)
    return Histogram(size, counts[0], counts[1], blank_records=counts[2])
