"""Rows of a table that a column of people attributes to nobody: refused, or a caution."""

from collections.abc import Sequence
from typing import Protocol

from reid_sql.check.remarks import RefusedTableError, Remark, nobody_remarks, unidentified_remark
from reid_sql.models.columns.nobodies import UNIT_PERSON, IdentifierCounts
from reid_sql.reduction import REFUSAL_UNIDENTIFIED_ROW


class Engine(Protocol):
    """What counts the rows of a table."""

    def count_records(self) -> int:
        """Count the records."""

    def count_values(self, names: Sequence[str]) -> tuple[Sequence[int], Sequence[int]]:
        """Count the distinct values of each column, and the records that have one."""

    def count_nobodies(self, column: str) -> IdentifierCounts:
        """Count the values of a column, from which those that stand for nobody stand out."""


def refuse_nobodies(engine: Engine, entity: str) -> None:
    """Refuse rows without a value in the column of people: they would count as one person."""
    rows, filled = engine.count_records(), int(engine.count_values([entity])[1][0])
    if filled < rows:
        raise RefusedTableError(REFUSAL_UNIDENTIFIED_ROW, unidentified_remark(entity, rows - filled, rows))


def find_nobodies(engine: Engine, column: str, unit: str = UNIT_PERSON) -> tuple[Remark, ...]:
    """Return the cautions on values of a column of people or households that may stand for nobody."""
    return tuple(nobody_remarks(column, engine.count_nobodies(column), engine.count_records(), unit))
