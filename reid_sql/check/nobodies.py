"""Rows of a table that a column of people attributes to nobody: refused, or a caution."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from reid_sql.check.measured import WHOLE, Group
from reid_sql.check.picks import Row
from reid_sql.check.remarks import RefusedTableError, Remark, nobody_remark, unidentified_remark
from reid_sql.function import Function
from reid_sql.models.columns.identifiers import MAX_NOBODIES, count_nobodies
from reid_sql.reduction import REFUSAL_UNIDENTIFIED_ROW
from reid_sql_udfs import declared


class Engine(Protocol):
    """What counts the rows of a table."""

    def count_records(self) -> int:
        """Count the records."""

    def count_values(self, names: Sequence[str]) -> tuple[Sequence[int], Sequence[int]]:
        """Count the distinct values of each column, and the records that have one."""

    def call(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str], group: Group
    ) -> list[Row]:
        """Call a public function on the records of one group."""


def refuse_nobodies(engine: Engine, entity: str) -> None:
    """Refuse rows without a value in the column of people: they would count as one person."""
    rows, filled = engine.count_records(), int(engine.count_values([entity])[1][0])
    if filled < rows:
        raise RefusedTableError(REFUSAL_UNIDENTIFIED_ROW, unidentified_remark(entity, rows - filled, rows))


def find_nobodies(engine: Engine, entity: str) -> tuple[Remark, ...]:
    """Return the caution on values that have far more rows than any other, if there are some."""
    given = {"nulls": "value", "entity": None}
    rows = engine.call(declared()["class_size_histogram"], [entity], given, (), WHOLE)
    sizes = _largest(rows)
    nobodies, records = count_nobodies(sizes), sum(int(row["records"]) for row in rows)
    found = sum(sizes[:nobodies])
    return (nobody_remark(entity, nobodies, found, records - found),) if nobodies else ()


def _largest(rows: Sequence[Any]) -> list[int]:
    """The rows of each of the most frequent values, largest first."""
    most = MAX_NOBODIES + 1
    sizes = (int(row["class_size"]) for row in rows for _ in range(min(most, int(row["classes"]))))
    return sorted(sizes, reverse=True)[:most]
