"""Which values of a column a filter lists, so that their cells can be counted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce
from math import prod
from typing import Any

from reid_sql.serve.catalogue import ServedColumn
from reid_sql.serve.tree import Node, columns_in
from reid_sql.sql.tolerance import WHOLE_TYPES


@dataclass(frozen=True)
class Filter:
    """The conditions of a WHERE on columns of a table; `compute` computes constants."""

    columns: Mapping[str, ServedColumn]
    compute: Callable[[Sequence[Node]], Sequence[Any]]

    def number_of_cells(self, where: Node | None, plain: Sequence[str]) -> int | None:
        """How many cells of a group a filter lists; None where it names them in another way."""
        of_column: dict[str, list[Node]] = {}
        for part in conjuncts(where):
            columns = columns_in(part)
            if columns and set(columns) <= set(plain):
                continue
            if len(columns) != 1:
                return None
            of_column.setdefault(columns[0], []).append(part)
        listed = [self.list_values(column, parts) for column, parts in of_column.items()]
        return None if None in listed else prod(len(values or ()) for values in listed)

    def list_values(self, column: str, parts: Sequence[Node]) -> set[object] | None:
        """List the values that all conditions on a column list; None where one does not list any."""
        listed = [values for part in parts if (values := self._listed(column, part)) is not None]
        return reduce(set.intersection, listed) if len(listed) == len(parts) else None

    def _listed(self, column: str, part: Node) -> set[object] | None:
        kind = part["type"]
        if kind == "CONJUNCTION_OR":  # as clients write several values
            ways = [self._listed(column, each) for each in part["children"]]
            return None if None in ways else {value for way in ways for value in way or ()}
        if kind == "OPERATOR_IS_NULL" and _is_column(part["children"][0]):
            return {None}
        if kind == "COMPARE_IN" and _is_column(part["children"][0]):
            return self._constants(column, part["children"][1:])
        if kind == "COMPARE_EQUAL":
            constants = [part[side] for side in ("left", "right") if not _is_column(part[side])]
            return self._constants(column, constants) if len(constants) == 1 else None
        return None

    def _constants(self, column: str, nodes: Sequence[Node]) -> set[object] | None:
        """Compute constants as values of a column's type; None where one may stand for several of them."""
        if columns_in(list(nodes)):
            return None
        kind = self.columns[column].type
        values = {_as_type(each, kind) for each in self.compute(nodes)}
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


def conjuncts(part: Node | None) -> Iterator[Node]:
    """Yield the conditions that must all hold."""
    if part is None:
        return
    if part["type"] == "CONJUNCTION_AND":
        for each in part["children"]:
            yield from conjuncts(each)
    else:
        yield part
