"""Cross tables that matter: how much the table of two columns changes from the original to the release."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from reid_sql.check.duckdb_table import DuckDBRelease
from reid_sql.check.policy_model import Preparing, columns_named
from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.models.numerics.quantiles import percent
from reid_sql.models.release.cross_table import (
    RecodedColumn,
    column_at_level,
    cross_table_change,
    unchanged_column,
)
from reid_sql.models.release.lattice import DistinctRecords, Lattice, Node
from reid_sql.models.release.suppression import CellSuppression, match_classes
from reid_sql.parameters import quoted
from reid_sql.release.problem import Generalization, columns_to_generalize
from reid_sql.release.target import mask_share
from reid_sql.suggestion import suggestion

MAX_VALUES: Final = 500  # of a column of a cross table
DIGITS: Final = 4
Recoded = tuple[Sequence[RecodedColumn], DistinctRecords, NDArray[np.bool_]]  # columns, rows, rows that stay


@dataclass(frozen=True)
class CrossTables:
    """Pairs of columns, and the lattice that has all of them: the generalized ones, then the others."""

    pairs: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    wider: Lattice


def refuse_cross_tables(wanted: Preparing, release: DuckDBRelease) -> None:
    """Refuse columns that the table or the release lacks, or that have too many values."""
    shipped = {*columns_named(release.table), *wanted.keep, *columns_to_generalize(release)}
    for name in dict.fromkeys(name for pair in wanted.cross_tables for name in pair):
        if name not in release.engine.columns:
            rule = f"prepare.cross_tables must name columns of {release.table.name}, got '{name}'"
            raise UnknownNameError(f"{rule}; {suggestion(name, release.engine.columns)}")
        if name not in shipped:
            rule = f"prepare.cross_tables must name columns of the release, got '{name}'"
            raise OutOfDomainError(f"{rule}; add it to prepare.keep")
        many = int(
            release.engine.ask(f"SELECT count(DISTINCT {quoted(name)}) FROM {release.engine.whole}")[0][0]
        )
        if many > MAX_VALUES:
            rule = f"prepare.cross_tables must have columns of at most {MAX_VALUES} distinct values"
            raise OutOfDomainError(f"{rule}, got '{name}' with {many:,}; make bands of it in a view")


def cross_tables_of(generalization: Generalization, pairs: Sequence[tuple[str, str]]) -> CrossTables | None:
    """Return the cross tables, None if the policy names none."""
    names = (*(each.column for each in generalization.hierarchies), *generalization.others)
    wider = generalization.wider or generalization.lattice
    return CrossTables(tuple(pairs), names, wider) if pairs else None


def describe_global(
    cross: CrossTables | None, lattice: Lattice, node: Node, made: CellSuppression, below: int
) -> list[dict[str, Any]]:
    """Describe how much each cross table changes by a transformation at a node."""
    if cross is None:
        return []
    extra = len(cross.wider.shape) - len(node)
    rows = cross.wider.records_at((*node, *(0,) * extra))
    place = match_classes(cross.wider, node, lattice.records_at(node), rows)
    recoded = [
        column_at_level(column, level, codes, blank)
        for column, level, codes, blank in zip(
            cross.wider.level_codes[: len(node)], node, rows.codes, made.blank[:, place], strict=False
        )
    ]
    before = cross.wider.records_at((0,) * len(cross.wider.shape))
    return describe_pairs(cross, before, (recoded, rows, ~made.gone[place]), below)


def describe_pairs(
    cross: CrossTables, before: DistinctRecords, after: Recoded, below: int
) -> list[dict[str, Any]]:
    """Describe the change of each cross table; a change of few records is given as the largest of few."""
    recoded, rows, stays = after
    unchanged = [
        unchanged_column(column.sizes[0], codes)
        for column, codes in zip(
            cross.wider.level_codes[len(recoded) :], rows.codes[len(recoded) :], strict=True
        )
    ]
    columns = [*recoded, *unchanged]
    described = []
    for pair in cross.pairs:
        one, two = (cross.columns.index(name) for name in pair)
        first, second = (RecodedColumn(columns[at].shown[stays], columns[at].spread) for at in (one, two))
        change = cross_table_change(
            (before.codes[one], before.codes[two], before.counts), (first, second, rows.counts[stays])
        )
        records = int(before.counts.sum())
        variation = mask_share(change.variation, records, below)
        is_few = 0 < round(change.variation * records) < below
        described.append(
            {
                "columns": list(pair),
                "variation": variation,
                "chi_square": None if is_few else float(f"{change.chi_square:.{DIGITS}g}"),
            }
        )
    return described


def cross_table_words(page: dict[str, Any]) -> str:
    """Describe the change of a cross table."""
    first, second = page["columns"]
    distance = page["chi_square"]
    squared = "" if distance is None else f"; chi-square distance {distance:.2g}"
    return f"Cross table of {first} and {second}: {percent(page['variation'])} of the records moved{squared}."
