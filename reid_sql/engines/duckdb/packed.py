"""DuckDB: a table's distinct records as packed whole numbers, for the class sizes of any set of columns.

The class sizes follow from them. Each value becomes a digit (0 for NULL) and each record one or a few whole
numbers, exactly: no hash is involved. The table is read once; a set of columns, groups, and values made
coarser then cost a GROUP BY of whole numbers over the distinct records.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, Final

import numpy as np

from reid_sql.domains import quoted
from reid_sql.engines.duckdb.collations import folded, refuse
from reid_sql.models.classes.disclosure import Histogram, Integers
from reid_sql.models.classes.wildcard import wildcard_class_sizes

Ask = Callable[[str], list[tuple[Any, ...]]]
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
    """The distinct records of a table on some columns; NULL is a value of its own."""

    def __init__(self, ask: Ask, tbl: str, columns: Sequence[str]) -> None:
        """Read the table: `tbl` is quoted as SQL needs it, the columns are in the table."""
        self.ask = ask
        self.name = f"reid_packed_{next(NUMBERS)}"
        self.folded = folded(ask, tbl, columns)
        source = (
            f"(SELECT {', '.join(quoted(c) for c in columns)} FROM {tbl} "
            f"AS s) AS t({_numbered('q', len(columns))})"
        )
        distinct = [self._values(source, place) for place in range(len(columns))]
        self.digits = dict(zip(columns, _packed([found + 1 for found in distinct]), strict=True))
        self._pack(source)
        self.records = int(ask(f"SELECT coalesce(sum(records), 0)::BIGINT FROM {self.name}")[0][0])

    def values(self, column: str) -> str:
        """Name the relation of the column's values: code, v, records, in the order of v, without NULL."""
        refuse([column], self.folded)
        return self._values_of(column)

    def _values_of(self, column: str) -> str:
        return f"{self.name}_{list(self.digits).index(column)}"

    def forget(self) -> None:
        """Take the relations away."""
        for name in (self.name, *map(self._values_of, self.digits)):
            self.ask(f"DROP TABLE {name}")

    def _values(self, source: str, place: int) -> int:
        self.ask(f"""CREATE TEMP TABLE {self.name}_{place} AS
            SELECT row_number() OVER (ORDER BY v) AS code, v, records FROM (
            SELECT q{place} AS v, count(*) AS records FROM {source}
            WHERE q{place} IS NOT NULL GROUP BY q{place})""")
        return int(self.ask(f"SELECT count(*) FROM {self.name}_{place}")[0][0])

    def _pack(self, source: str) -> None:
        digits = list(self.digits.values())
        words = [
            " + ".join(
                f"coalesce(d{at}.code, 0) * {digit.place}"
                for at, digit in enumerate(digits)
                if digit.word == word
            )
            for word in range(digits[-1].word + 1)
        ]
        listed = ", ".join(f"{word} AS w{place}" for place, word in enumerate(words))
        joins = " ".join(
            f"LEFT JOIN {self.name}_{at} AS d{at} ON t.q{at} = d{at}.v" for at in range(len(digits))
        )
        grouped = ", ".join(str(place + 1) for place in range(len(words)))
        packed = f"SELECT {listed}, count(*)::BIGINT AS records FROM {source} {joins} GROUP BY {grouped}"
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
        told = [f"{self.digits[column].sql()} AS g{place}" for place, column in enumerate(by)]
        words = [
            f"{self._word(word, [c for c in qi if c not in merged])} AS k{word}" for word in self._words(qi)
        ]
        words += [f"m{at}.coarse AS m{at}" for at in range(len(merged))]
        joins = " ".join(
            f"LEFT JOIN {relation} AS m{at} ON {self.digits[column].sql()} = m{at}.code"
            for at, (column, relation) in enumerate(merged.items())
        )
        dropped = [f"{self.digits[column].sql()} > 0" for column in qi] if drop else []
        where = f"WHERE {' AND '.join(dropped)}" if dropped else ""
        sizes = (
            f"SELECT {', '.join([*told, *words])}, sum(records)::BIGINT AS n FROM "
            f"{self.name} AS c {joins} {where} GROUP BY "
        )
        sizes += ", ".join(str(place + 1) for place in range(len(told) + len(words)))
        names = [f"g{place}" for place in range(len(by))]
        rows = self.ask(
            f"SELECT {', '.join([*names, 'n'])}, count(*) FROM ({sizes}) GROUP BY ALL ORDER BY ALL"
        )
        return _histograms(rows, len(by)) or ({} if by else {(): _histogram([])})

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
