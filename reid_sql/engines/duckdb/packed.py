"""DuckDB: a table's records as packed whole numbers, for the class sizes of any set of columns.

Each value becomes a digit (0 for NULL) and each record one or a few whole numbers, exactly: no hash is
involved. Records that are the same are packed once, unless so few are that it would not pay. The table is
read once; a set of columns, groups, and values made coarser then cost a GROUP BY of whole numbers, and of
those records only that fewer columns do not tell apart.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, Final

import numpy as np

from reid_sql.engines.duckdb.apart import Apart, nearly_distinct
from reid_sql.engines.duckdb.collations import folded, refuse
from reid_sql.engines.duckdb.digits import Ask, Codes, coded
from reid_sql.models.classes.disclosure import Histogram, Integers
from reid_sql.models.classes.wildcard import wildcard_class_sizes
from reid_sql.parameters import quoted

WORD: Final = 2**62  # what a BIGINT holds, with room to spare
NUMBERS: Final = count(1)


@dataclass(frozen=True)
class Digit:
    """Where a column's value stands: word // place % base."""

    word: int
    place: int
    base: int

    def sql(self, row: str = "c") -> str:
        """Spell the digit of a row."""
        return f"({row}.w{self.word} // {self.place} % {self.base})"


@dataclass(frozen=True)
class Group:
    """A part of the table: the digits and the values by which it is told, and its records."""

    digits: tuple[int, ...]
    values: tuple[Any, ...]
    records: int


WHOLE: Final = Group((), (), 0)


class PackedClasses:
    """The records of a table on some columns; NULL is a value of its own."""

    def __init__(self, ask: Ask, tbl: str, columns: Sequence[str]) -> None:
        """Read the table: `tbl` is quoted as SQL needs it, the columns are in the table."""
        self.ask = ask
        self.name = f"reid_packed_{next(NUMBERS)}"
        self.folded = folded(ask, tbl, columns)
        read = f"SELECT {', '.join(quoted(c) for c in columns)} FROM {tbl}"
        source = f"({read} AS s) AS t({_numbered('q', len(columns))})"
        kinds = [row[1] for row in ask(f"DESCRIBE {read}")]
        codes = [
            coded(ask, f"q{place}", source, kind, f"{self.name}_{place}") for place, kind in enumerate(kinds)
        ]
        bases = {column: each.base for column, each in zip(columns, codes, strict=True)}
        self.digits = dict(zip(columns, _packed([each.base for each in codes]), strict=True))
        self._pack(source, codes)
        self.records = int(ask(f"SELECT coalesce(sum(records), 0)::BIGINT FROM {self.name}")[0][0])
        self._alone: dict[tuple[tuple[str, ...], frozenset[str]], list[tuple[Any, ...]]] = {}
        self.apart = Apart(ask, self.name, bases, self._keys)

    def values(self, column: str) -> str:
        """Name the relation of the column's values: code, v, records, in the order of v, without NULL."""
        refuse([column], self.folded)
        return self._values_of(column)

    def _values_of(self, column: str) -> str:
        return f"{self.name}_{list(self.digits).index(column)}"

    def forget(self) -> None:
        """Take the relations away."""
        self.apart.forget()
        for name in (self.name, *map(self._values_of, self.digits)):
            self.ask(f"DROP TABLE {name}")

    def _pack(self, source: str, codes: Sequence[Codes]) -> None:
        digits = list(self.digits.values())
        spelt = [f"coalesce({each.worked_out or f'd{at}.code'}, 0)" for at, each in enumerate(codes)]
        words = [
            " + ".join(
                f"{code} * {digit.place}"
                for code, digit in zip(spelt, digits, strict=True)
                if digit.word == word
            )
            for word in range(digits[-1].word + 1)
        ]
        listed = ", ".join(f"{word} AS w{place}" for place, word in enumerate(words))
        joins = " ".join(
            f"LEFT JOIN {each.relation} AS d{at} ON t.q{at} = d{at}.v"
            for at, each in enumerate(codes)
            if each.worked_out is None
        )
        grouped = ", ".join(str(place + 1) for place in range(len(words)))
        alone = nearly_distinct(self.ask, source)
        counted, grouping = ("1", "") if alone else ("count(*)", f"GROUP BY {grouped}")
        packed = f"SELECT {listed}, {counted}::BIGINT AS records FROM {source} {joins} {grouping}"
        self.ask(f"CREATE TEMP TABLE {self.name} AS {packed}")

    def groups(self, by: Sequence[str]) -> list[Group]:
        """The parts of the table by the values of some columns, in the order of the values, NULL first."""
        told = ", ".join(f"{self.digits[column].sql()} AS g{place}" for place, column in enumerate(by))
        names = _numbered("g", len(by))
        counted = f"SELECT {told}, sum(records)::BIGINT AS records FROM {self.name} AS c GROUP BY {names}"
        joins = " ".join(
            f"LEFT JOIN {self.values(column)} AS v{at} ON g{at} = v{at}.code" for at, column in enumerate(by)
        )
        shown = ", ".join(f"v{at}.v" for at in range(len(by)))
        rows = self.ask(f"SELECT {names}, {shown}, c.records FROM ({counted}) AS c {joins} ORDER BY {names}")
        return [Group(row[: len(by)], row[len(by) : -1], int(row[-1])) for row in rows]

    def histograms(
        self,
        qi: Sequence[str],
        by: Sequence[str] = (),
        *,
        drop: bool = False,
        coarser: Mapping[str, str] | None = None,
    ) -> dict[tuple[int, ...], Histogram]:
        """Count the class sizes within each group, by its digits; within the whole table, by none.

        With `drop`, records that lack a value in `qi` are left out. `coarser` gives, for a column, the
        relation of two columns, code and coarse, that says which of its values become one.
        """
        refuse([*qi, *by], self.folded)
        merged = {column: relation for column, relation in (coarser or {}).items() if column in qi}
        if not by and not merged and len(qi) == 1:
            return {(): self._of_values(qi[0], drop=drop)}
        rest = self.apart.rest([c for c in {*qi, *by} if c not in merged])
        sizes = self._sizes(rest or self.name, qi, by, drop=drop, coarser=merged)
        names = ", ".join([*(f"g{place}" for place in range(len(by))), "n"])
        rows = self.ask(f"SELECT {names}, count(*) FROM ({sizes}) GROUP BY ALL ORDER BY ALL")
        if rest:
            rows = self._with_alone(rows, rest, by, qi if drop else [])
        return _histograms(rows, len(by)) or ({} if by else {(): _histogram([])})

    def _of_values(self, column: str, *, drop: bool) -> Histogram:
        """Count the class sizes by one column: its values have been counted."""
        values = self.values(column)
        known = f"SELECT records FROM {values}"
        gap = f"SELECT {self.records} - coalesce(sum(records), 0) FROM {values}"
        listed = f"{known} UNION ALL {gap}" if not drop else known
        sizes = f"SELECT n::BIGINT, count(*) FROM ({listed}) AS t(n) WHERE n > 0 GROUP BY ALL ORDER BY ALL"
        return _histogram(self.ask(sizes))

    def _sizes(
        self, rows: str, qi: Sequence[str], by: Sequence[str], *, drop: bool, coarser: Mapping[str, str]
    ) -> str:
        """Spell the classes of these packed rows: their groups' digits, and their sizes as n."""
        words = [f"{self._word(word, [c for c in qi if c not in coarser])}" for word in self._words(qi)]
        words += [f"m{at}.coarse" for at in range(len(coarser))]
        joins = " ".join(
            f"LEFT JOIN {relation} AS m{at} ON {self.digits[column].sql()} = m{at}.code"
            for at, (column, relation) in enumerate(coarser.items())
        )
        told = self._told(by)
        keys = [*told, *(f"{word} AS k{at}" for at, word in enumerate(words))]
        grouped = ", ".join(str(place + 1) for place in range(len(keys)))
        return (
            f"SELECT {', '.join(keys)}, sum(records)::BIGINT AS n FROM {rows} AS c {joins} "
            f"{self._known(qi if drop else [])} GROUP BY {grouped}"
        )

    def _told(self, by: Sequence[str]) -> list[str]:
        return [f"{self.digits[column].sql()} AS g{place}" for place, column in enumerate(by)]

    def _known(self, columns: Sequence[str]) -> str:
        """Spell that none of the columns is NULL."""
        known = [f"{self.digits[column].sql()} > 0" for column in columns]
        return f"WHERE {' AND '.join(known)}" if known else ""

    def _with_alone(
        self, rows: list[tuple[Any, ...]], rest: str, by: Sequence[str], known: Sequence[str]
    ) -> list[tuple[Any, ...]]:
        """Add the packed records that are no part of the rest: each is a class of its own."""
        told = ", ".join([*self._told(by), "records"])
        of = f"SELECT {told}, count(*) FROM {{}} AS c {self._known(known)} GROUP BY ALL"
        whole = (tuple(by), frozenset(known))
        if whole not in self._alone:
            self._alone[whole] = self.ask(of.format(self.name))
        found = Counter({row[:-1]: row[-1] for row in self._alone[whole]})
        found.subtract({row[:-1]: row[-1] for row in self.ask(of.format(rest))})
        found.update({row[:-1]: row[-1] for row in rows})
        return [(*key, classes) for key, classes in sorted(found.items()) if classes]

    def matched(self, qi: Sequence[str], by: Sequence[str]) -> dict[tuple[int, ...], Histogram]:
        """Count the matches within each group, by its digits, where NULL in `qi` may be any value.

        Each group's distinct records come from one GROUP BY, and are held against one another alone.
        """
        refuse([*qi, *by], self.folded)
        told = [f"{self.digits[column].sql()} AS g{place}" for place, column in enumerate(by)]
        words = [f"{self._word(word, qi)} AS k{word}" for word in self._words(qi)]
        names = [*_numbered("g", len(by)).split(", "), *(f"k{word}" for word in self._words(qi))]
        rows = self.ask(
            f"SELECT {', '.join([*told, *words])}, sum(records)::BIGINT AS n FROM {self.name} AS c "
            f"GROUP BY {', '.join(names)}"
        )
        found = np.array(rows, dtype=np.int64).reshape(-1, len(names) + 1)
        digits = [self.digits[column] for column in qi]
        at = [len(by) + self._words(qi).index(digit.word) for digit in digits]
        codes = np.stack(
            [found[:, word] // one.place % one.base for word, one in zip(at, digits, strict=True)], axis=1
        )
        groups, group = np.unique(found[:, : len(by)], axis=0, return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(group.ravel(), minlength=len(groups))).tolist()
        parts = (order[start:end] for start, end in pairwise([0, *ends]))
        return {
            tuple(digits): _matches(codes[part], found[part, -1])
            for digits, part in zip(groups.tolist(), parts, strict=True)
        }

    def few_gaps(self, columns: Sequence[str], by: Sequence[str], below: int) -> bool:
        """Whether few records of a group lack the same values, or none where others of it lack some."""
        refuse(by, self.folded)
        told = [f"{self.digits[column].sql()} AS g{place}" for place, column in enumerate(by)]
        gaps = " || ".join(f"({self.digits[column].sql()} = 0)::INT::VARCHAR" for column in columns)
        names = "".join(f"g{place}, " for place in range(len(by)))
        shown = ", ".join([*told, f"{gaps} AS gaps"])
        alike = f"SELECT {shown}, sum(records) AS n FROM {self.name} AS c GROUP BY ALL"
        parts = f"SELECT {names}min(n) AS least, max(gaps) LIKE '%1%' AS lacking FROM ({alike}) GROUP BY ALL"
        return bool(self.ask(f"SELECT count(*) FROM ({parts}) WHERE lacking AND least < {below}")[0][0])

    def _keys(self, qi: Sequence[str]) -> list[str]:
        return [self._word(word, qi) for word in self._words(qi)]

    def _words(self, qi: Sequence[str]) -> list[int]:
        return sorted({self.digits[column].word for column in qi})

    def _word(self, word: int, kept: Sequence[str]) -> str:
        """Spell the word with the digits of all but the kept columns taken away."""
        away = [digit for column, digit in self.digits.items() if digit.word == word and column not in kept]
        stay = [digit for column, digit in self.digits.items() if digit.word == word and column in kept]
        if len(stay) < len(away):
            return " + ".join(f"{digit.sql()} * {digit.place}" for digit in stay) or "0"
        return " - ".join([f"c.w{word}", *(f"{digit.sql()} * {digit.place}" for digit in away)])


def _packed(bases: Sequence[int]) -> list[Digit]:
    digits, word, place = [], 0, 1
    for base in bases:
        if place * base > WORD:
            word, place = word + 1, 1
        digits.append(Digit(word, place, base))
        place *= base
    return digits


def _histograms(rows: list[tuple[Any, ...]], by: int) -> dict[tuple[int, ...], Histogram]:
    found: dict[tuple[int, ...], list[tuple[Any, ...]]] = {}
    for row in rows:
        found.setdefault(row[:by], []).append(row[by:])
    return {digits: _histogram(sizes) for digits, sizes in found.items()}


def _histogram(sizes: list[tuple[Any, ...]]) -> Histogram:
    size, classes = np.array(sizes, dtype=np.int64).reshape(-1, 2).T
    return Histogram(size, classes, size * classes)


def _matches(codes: Integers, records: Integers) -> Histogram:
    """How many distinct records of a group match so many of its records, with those that are blank."""
    size, place = np.unique(wildcard_class_sizes(codes, codes, records), return_inverse=True)
    blank = np.where((codes == 0).all(axis=1), records, 0)
    counts = np.zeros((3, len(size)), dtype=np.int64)
    for row, values in enumerate((np.ones_like(records), records, blank)):
        np.add.at(counts[row], place.ravel(), values)
    return Histogram(size, counts[0], counts[1], blank_records=counts[2])


def _numbered(letter: str, number: int) -> str:
    return ", ".join(f"{letter}{place}" for place in range(number))
