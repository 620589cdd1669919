"""What an answer may show of its figures: no small count of the records, and nothing that reveals one.

How a figure may be shown belongs to the declaration of its column (reid_sql/check/figures.toml). Nothing is
guessed from a value: a column that nobody declared is NULL.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from reid_sql.check.masking import (
    is_small,
    mask_counts_in_text,
    round_above,
    round_between,
    shows_diversity,
)
from reid_sql.check.measure import Kind, kind_of, whole_of
from reid_sql.function import Function
from reid_sql.serve.record import ask, read_rows

# Shown as they are: what no record was counted for, and sums of cells that their suppression lets through.
PUBLIC: Final = frozenset({Kind.LABEL, Kind.SETTING, Kind.CELLS, Kind.CELL_SUM})
MANY: Final = 10**15  # of which a figure that is no share is rounded to two digits
NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?!\w)")
NUMBER_OR_NAME: Final = re.compile(rf"'[^']*'|{NUMBER.pattern}")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Masking:
    """What masks the figures of a function's answer: the mask, and what is known of those whom it counts.

    `records` are those of the table. `few_values` are the groups, by their values, in which a sensitive value
    has few records in some class.
    """

    function: str
    below: int
    records: int
    few_values: frozenset[str] = frozenset()

    def column(self, name: str, rows: Sequence[Row], groups: Sequence[str]) -> list[Any]:
        """Mask the column of an answer, of which each row is about a group."""
        pairs = zip(rows, groups, strict=True)
        return [self._mask(name, row[name], row, group) for row, group in pairs]

    def _mask(self, name: str, value: Any, row: Row, group: str) -> Any:  # noqa: ANN401 - a cell of an answer
        """Mask a cell by what its column is declared to be; NULL where it may not be shown."""
        kind = kind_of(self.function, name)
        if kind in PUBLIC or value is None:
            return value
        if isinstance(value, list):
            masked = [self._mask(name, each, row, group) for each in value]
            return masked if masked == value else None
        if kind is Kind.STATUS:
            return mask_counts_in_text(value, self.below)
        # What nobody declared is not shown. An infinite figure counts nobody, and its status names it.
        if kind is None or not math.isfinite(value):
            return None if kind is None else value
        return self._mask_number(kind, name, value, row, group)

    def _mask_number(
        self, kind: Kind, name: str, value: float, row: Row, group: str
    ) -> float | None:
        """Mask a number: a small count becomes NULL, and a share is rounded."""
        if kind is Kind.DISTRIBUTION:
            return value if self._shows_values(value, row, group) else None
        # The size of any class tells how many are in all others; that of the smallest, k, tells nothing.
        if kind is Kind.COUNT or name == "class_size":
            return None if self._is_few(value, name, row) else value
        if kind is Kind.SINGLE and isinstance(value, int):
            return None if is_small(value, self.below) else value
        return self._round(name, value, self._whole(row))

    def counts_people(self, name: str) -> bool:
        """Whether a column is a figure of class sizes, besides how many its row is about."""
        kind = kind_of(self.function, name)
        return kind not in PUBLIC and kind is not Kind.STATUS and name != whole_of(self.function)

    def has_small_class(self, row: Row) -> bool:
        """Whether a class of the row's group is small: the other figures of few classes would tell how small.

        Of 4 people in 2 classes, of whom nobody is unique, both classes have two.
        """
        return "k" in row and row["k"] is not None and is_small(int(row["k"]), self.below)

    def _whole(self, row: Row) -> int:
        """Return how many records, or people, a row is about: its group's, else the table's."""
        whole = row.get(whole_of(self.function))
        return self.records if whole is None else int(whole)

    def _is_few(self, count: float, name: str, row: Row) -> bool:
        """Whether a count, or what it leaves of those whom its row is about, is small."""
        rest = self.records if name == whole_of(self.function) else self._whole(row)
        return is_small(round(count), self.below) or is_small(rest - round(count), self.below)

    def _shows_values(self, value: float, row: Row, group: str) -> bool:
        """Whether a figure of sensitive values may be shown: none of them has few records in a class."""
        if group not in self.few_values:
            return True
        is_diversity = self.function == "l_diversity"
        return is_diversity and shows_diversity(row["variant"], value, row["k"])

    def _round(self, name: str, value: float, whole: int) -> float | None:
        """Round a share so far that no count follows: up, or down where it is a lower bound."""
        is_low = name.endswith("low")
        if value < 0:
            return -self._round_share(-value, whole, up=is_low)
        if value in {0, 1}:  # of nobody, and of everybody
            return value
        if value > 1:
            return value if is_low else round_above(value, MANY, self.below)
        if any(math.isclose(value * size, 1) for size in range(2, self.below)):
            return None  # the risk of a small class
        return self._round_share(value, whole, up=not is_low)

    def _round_share(self, share: float, whole: int, *, up: bool) -> float:
        low, high = round_between(share, max(whole, 1), self.below)
        return min(1.0, high) if up else low


def mask_answer(answer: pa.Table, rows: Sequence[Row], masking: Masking, by: int) -> pa.Table:
    """Mask every figure of an answer that is a small count of the records, or reveals one.

    The first columns are its groups. Class sizes that are hidden are no rows: how many they are narrows them.
    """
    groups = [group_key(row, by) for row in rows]
    parts = [*_places_of(groups).values(), range(len(rows))]
    masked = answer
    for place, name in enumerate(answer.column_names):
        if place >= by:
            column = answer[name]
            values = masking.column(name, rows, groups) if masking.below > 1 else column.to_pylist()
            if by and masking.counts_people(name):
                values = [
                    None if masking.has_small_class(row) else value
                    for row, value in zip(rows, values, strict=True)
                ]
            if kind_of(masking.function, name) is Kind.COUNT:
                _hide_second(values, column.to_pylist(), masking.below, parts)
            masked = masked.set_column(place, name, pa.array(values, column.type))
    is_histogram = "class_size" in answer.column_names
    return masked.filter(pc.is_valid(masked["class_size"])) if is_histogram else masked


def find_few_values(
    data: duckdb.DuckDBPyConnection,
    function: Function,
    arguments: Mapping[str, Any],
    by: int,
    below: int,
) -> frozenset[str]:
    """Return the groups of an answer in which a sensitive value has few records in some class.

    A figure of the values of these groups may reveal how few, as in a report (check/small_counts.py).
    """
    if not any(kind_of(function.key, name) is Kind.DISTRIBUTION for name in function.columns):
        return frozenset()
    qi = [arguments["qi"]] if isinstance(arguments["qi"], str) else arguments["qi"]
    shared = {
        name: arguments[name] for name in ("tbl", "by", "entity", "nulls") if arguments.get(name)
    }
    sizes = ask(data, "class_size_histogram", {**shared, "qi": [*qi, arguments["sensitive"]]})
    rows = [
        row for row in read_rows(data, sizes, by) if row["classes"] and row["class_size"] < below
    ]
    return frozenset(group_key(row, by) for row in rows)


def drop_undeclared(answer: pa.Table, function: str, by: int) -> pa.Table:
    """Put NULL in place of the columns that nobody declared, where nothing else is masked."""
    for place, name in enumerate(answer.column_names):
        if place >= by and kind_of(function, name) is None:
            nulls = pa.nulls(len(answer), answer[name].type)
            answer = answer.set_column(place, name, nulls)
    return answer


def hide_numbers(refusal: str, call: str) -> str:
    """Hide the numbers that a refusal got from the data: how many rows lack a value, which may be few.

    Those of the rule, of the call, of names and of the remedy are left.

    >>> hide_numbers("id must be known, got none of 'id 2' in 3 of 1,600 rows; leave it out", "people")
    "id must be known, got none of 'id 2' in … of … rows; leave it out"
    """
    rule, got, rest = refusal.partition(", got ")
    found, semicolon, remedy = rest.partition("; ")
    asked = set(NUMBER.findall(call))

    def hide(number: re.Match[str]) -> str:
        return number[0] if number[0] in asked or not number[0][0].isdigit() else "…"

    return rule + got + NUMBER_OR_NAME.sub(hide, found) + semicolon + remedy


def group_key(row: Row, by: int) -> str:
    """Name the group of a row by the values of its first columns."""
    return repr(list(row.values())[:by])


def _places_of(groups: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    return places


def _hide_second(
    masked: list[Any], values: Sequence[Any], below: int, parts: Collection[Sequence[int]]
) -> None:
    """Where hidden counts of a part are small together, hide the smallest other: their sum may be known."""
    for places in parts:
        hidden = sum(_number(values[place]) for place in places if masked[place] is None)
        counts = [place for place in places if masked[place] and _number(masked[place])]
        if is_small(hidden, below) and counts:
            masked[min(counts, key=lambda place: _number(values[place]))] = None


def _number(value: Any) -> int:  # noqa: ANN401 - a cell of an answer
    return value if isinstance(value, int) else 0
