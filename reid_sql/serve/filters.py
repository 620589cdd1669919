"""Which values of a column a filter names one by one, so that their cells can be counted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, repeat
from math import inf
from typing import Any, Final

from reid_sql.serve.catalogue import ServedColumn
from reid_sql.serve.tree import Node, columns_in
from reid_sql.sql.tolerance import WHOLE_TYPES

MAX_VALUES: Final = 10_000  # of a range
LOWER: Final = {"COMPARE_GREATERTHANOREQUALTO": 0, "COMPARE_GREATERTHAN": 1}  # from the bound to it
UPPER: Final = {"COMPARE_LESSTHANOREQUALTO": 0, "COMPARE_LESSTHAN": 1}
MIRRORED: Final = {
    "COMPARE_GREATERTHANOREQUALTO": "COMPARE_LESSTHANOREQUALTO",
    "COMPARE_GREATERTHAN": "COMPARE_LESSTHAN",
    "COMPARE_LESSTHANOREQUALTO": "COMPARE_GREATERTHANOREQUALTO",
    "COMPARE_LESSTHAN": "COMPARE_GREATERTHAN",
}


@dataclass
class Values:
    """The values of a column that a filter names: one by one, and between two ends."""

    listed: set[object] | None = None
    lowest: float = -inf  # a whole number, where it is bounded
    highest: float = inf

    def number(self) -> int | None:
        """How many values these are; None where the filter does not tell."""
        if self.listed is not None:
            return len([value for value in self.listed if self._is_between(value)])
        number = self.highest - self.lowest + 1
        return int(number) if 0 < number <= MAX_VALUES else None

    def keep(self, listed: Sequence[object]) -> None:
        """Keep the listed values alone."""
        self.listed = set(listed) if self.listed is None else self.listed & set(listed)

    def bound(self, low: float = -inf, high: float = inf) -> None:
        """Keep the values between two ends, of which one may be open."""
        self.lowest, self.highest = max(self.lowest, low), min(self.highest, high)

    def _is_between(self, value: object) -> bool:
        place = _place(value)
        if place is None:
            return self.lowest == -inf and self.highest == inf
        return self.lowest <= place <= self.highest


@dataclass(frozen=True)
class Filter:
    """The conditions of a WHERE on columns of a table; `compute` computes constants."""

    columns: Mapping[str, ServedColumn]
    compute: Callable[[Sequence[Node]], Sequence[Any]]

    def number_of_cells(self, where: Node | None, plain: Sequence[str]) -> int | None:
        """How many cells of a group a filter names one by one; None where it names them in another way."""
        named: dict[str, Values] = {}
        for part in conjuncts(where):
            columns = columns_in(part)
            if set(columns) <= set(plain) and columns:
                continue
            if len(columns) != 1 or not self._narrow(
                named.setdefault(columns[0], Values()), columns[0], part
            ):
                return None
        numbers = [values.number() for values in named.values()]
        number = 1
        for each in numbers:
            if each is None:
                return None
            number *= each
        return number

    def lists_values(self, column: str, parts: Sequence[Node]) -> bool:
        """Whether conditions on a column list values of it."""
        values = Values()
        is_named = all(self._narrow(values, column, part) for part in parts)
        return is_named and values.listed is not None

    def _narrow(self, values: Values, column: str, part: Node) -> bool:
        """Narrow the values of a column by a condition; False where it does not name them one by one."""
        kind = part["type"]
        if kind == "CONJUNCTION_OR":  # as clients write several values
            ways = [Values() for _ in part["children"]]
            is_named = all(map(self._narrow, ways, repeat(column), part["children"]))
            listed = [way.listed for way in ways if way.listed is not None]
            values.keep([*chain(*listed)])
            return is_named and len(listed) == len(ways)
        if kind == "OPERATOR_IS_NULL" and _is_column(part["children"][0]):
            values.keep([None])
            return True
        if kind == "COMPARE_IN":
            first, *constants = part["children"]
            return _is_column(first) and self._keep(values, column, constants)
        if kind == "COMPARE_BETWEEN" and _is_column(part["input"]):
            low, high = (self._end(column, part[name]) for name in ("lower", "upper"))
            if low is None or high is None:
                return False
            values.bound(low, high)
            return True
        return "left" in part and self._compare(values, column, part)

    def _compare(self, values: Values, column: str, part: Node) -> bool:
        """Narrow the values of a column by a comparison with a constant."""
        kind, left, right = part["type"], part["left"], part["right"]
        if _is_column(right):
            kind, left, right = MIRRORED.get(kind, kind), right, left
        if not _is_column(left):
            return False
        if kind == "COMPARE_EQUAL":
            return self._keep(values, column, [right])
        end = self._end(column, right) if kind in MIRRORED else None
        if end is None:
            return False
        if kind in LOWER:
            values.bound(low=end + LOWER[kind])
        else:
            values.bound(high=end - UPPER[kind])
        return True

    def _keep(self, values: Values, column: str, nodes: Sequence[Node]) -> bool:
        """Keep the values that constants name; False where one is not sure."""
        constants = self._constants(column, nodes)
        if constants is None:
            return False
        values.keep(constants)
        return True

    def _end(self, column: str, node: Node) -> int | None:
        """Return the place of a constant among the values of a column that has an order of places."""
        constants = self._constants(column, [node])
        return _place(constants[0]) if constants else None

    def _constants(self, column: str, nodes: Sequence[Node]) -> list[object] | None:
        """Compute constants as values of a column's type; None where one may stand for several of them."""
        if columns_in(list(nodes)):
            return None
        kind = self.columns[column].type
        values = [_as_type(each, kind) for each in self.compute(nodes)]
        return None if None in values else values


def _as_type(value: object, kind: str) -> object | None:
    """Read a constant as the one value of a type that equals it; None where that is not sure."""
    try:
        if kind == "VARCHAR":
            return value if isinstance(value, str) else None
        if kind in WHOLE_TYPES:
            return (
                int(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
            )
        if kind == "DATE":
            day = date.fromisoformat(value) if isinstance(value, str) else value
            return day if type(day) is date else None
        if kind == "BOOLEAN":
            return value if isinstance(value, bool) else None
    except ValueError:
        pass
    return None


def _is_column(part: Node) -> bool:
    return bool(part["type"] == "COLUMN_REF")


def _place(value: object) -> int | None:
    """Return the place of a whole number or of a day among all of its kind."""
    if isinstance(value, date):
        return value.toordinal()
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def conjuncts(part: Node | None) -> Iterator[Node]:
    """Yield the conditions that must all hold."""
    if part is None:
        return
    if part["type"] == "CONJUNCTION_AND":
        for each in part["children"]:
            yield from conjuncts(each)
    else:
        yield part
