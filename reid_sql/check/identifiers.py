"""Columns of people: rows that one attributes to nobody, and rows that are not people where none is named."""

from collections.abc import Sequence
from typing import Final, Protocol

import duckdb

from reid_sql.check.policy_model import TablePolicy
from reid_sql.check.remarks import (
    RefusedTableError,
    Remark,
    identifier_remark,
    nobody_remarks,
    remark,
    unidentified_remark,
)
from reid_sql.models.columns.identifiers import likely, repeating
from reid_sql.models.columns.nobodies import UNIT_PERSON, IdentifierCounts, count_rows_of_nobodies
from reid_sql.parameters import fold_case
from reid_sql.reduction import REFUSAL_UNIDENTIFIED_ROW

CAUTION_UNCOUNTED: Final = "whether {} repeat, so that rows are not people, could not be counted"
CAUTION_POPULATION_ROWS: Final = "the population table: "
INTERRUPTIONS: Final = (duckdb.InterruptException, KeyboardInterrupt)


class Engine(Protocol):
    """What counts the rows of a table."""

    columns: list[str]
    population_columns: list[str]

    def count_records(self) -> int:
        """Count the records."""

    def count_values(
        self, names: Sequence[str], *, in_population: bool = False
    ) -> tuple[Sequence[int], Sequence[int]]:
        """Count the distinct values of each column, and the records that have one."""

    def count_nobodies(self, column: str) -> IdentifierCounts:
        """Count the values of a column, from which those that stand for nobody stand out."""

    def find_panels(self, described: Sequence[str], *, in_population: bool = False) -> list[str]:
        """Return columns of people by the structure of a draw of rows."""


def refuse_nobodies(engine: Engine, entity: str) -> None:
    """Refuse rows without a value in the column of people: they would count as one person."""
    rows, filled = engine.count_records(), int(engine.count_values([entity])[1][0])
    if filled < rows:
        raise RefusedTableError(REFUSAL_UNIDENTIFIED_ROW, unidentified_remark(entity, rows - filled, rows))


def find_nobodies(engine: Engine, column: str, unit: str = UNIT_PERSON) -> tuple[Remark, ...]:
    """Return the cautions on values of a column of people or households that may stand for nobody."""
    return tuple(nobody_remarks(column, engine.count_nobodies(column), engine.count_records(), unit))


def find_identifiers(
    engine: Engine, table: TablePolicy, records: int | None, errors: tuple[type[Exception], ...]
) -> dict[str, Remark]:
    """Return a caution for each column that looks like an identifier and repeats, or that cannot be counted.

    Without `records`, of the population table.
    """
    in_population = records is None
    columns = engine.population_columns if in_population else engine.columns
    described = (*table.quasi_identifiers, *table.sensitive)
    names = likely(columns, described)
    of = CAUTION_POPULATION_ROWS if in_population else ""
    try:
        found = engine.find_panels(described, in_population=in_population) if columns else ()
        names = list(dict.fromkeys([*names, *found]))
        if not names:
            return {}
        counted = engine.count_values(names, in_population=in_population)
        repeated = repeating(names, *counted, described, of_rows=records or max(counted[1]))
        if not in_population:
            repeated = [
                each._replace(of_nobody=count_rows_of_nobodies(engine.count_nobodies(each.name)))
                for each in repeated
            ]
    except INTERRUPTIONS:
        raise
    except errors:
        words = ", ".join(names) or "rows of people"
        return {words: remark(of + CAUTION_UNCOUNTED.format(words), code="uncounted_identifier")}
    known = {fold_case(name) for name in engine.columns}
    return {
        each.name: identifier_remark(of, each, records, named=fold_case(each.name) in known)
        for each in repeated
    }
