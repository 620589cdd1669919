"""The counts of a table that left, with those of tables of the same people: what follows from all of them."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Final

import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.models.tables.audit import are_protected
from reid_sql.models.tables.equations import ContradictionError
from reid_sql.models.tables.published_tables import TOTALS, PublishedRows, Reading


class RevealingError(OutOfDomainError):
    """An answer is refused because a hidden group would follow from it and those before."""


Cell = frozenset[tuple[str, str]]
Counts = Mapping[str, int | None]  # by the JSON of a cell's categories, None where hidden
TOTAL: Final = "{}"  # the cell of everybody
REMEDY: Final = "ask for fewer or coarser columns"
REFUSAL_REVEALING: Final = (
    "an answer must reveal no group of fewer than {} with those before, got one that does; "
    + REMEDY
)
REFUSAL_OTHER_PEOPLE: Final = (
    "an answer must count the people of the answers before, got counts that do not add up; omit entity and "
    f"nulls where those answers had none, or {REMEDY}"
)


@dataclass(frozen=True)
class NamedCells:
    """The counts of a table by all names of their cells, and the columns of which all cells are there.

    `joint` are cells that nobody asked for, which link others.
    """

    counts: Counts
    whole: set[frozenset[str]]
    joint: Sequence[Mapping[str, str]] = ()


def contradict(one: Counts, other: Counts) -> bool:
    """Whether a cell has two counts."""
    return any(
        None not in (one.get(cell), count) and one[cell] != count for cell, count in other.items()
    )


def merge_counts(one: Counts, other: Counts) -> dict[str, int | None]:
    """Return all counts; one that is hidden in one answer may be shown in another."""
    return {**one, **{cell: count for cell, count in other.items() if one.get(cell) is None}}


def refuse_counts(merged: NamedCells, published: Mapping[str, NamedCells], below: int) -> None:
    """Refuse counts of a table from which, with those of others, a group below the mask follows."""
    counts, whole = merged.counts, merged.whole
    for other in published.values():
        # Refuse a count, or a sum of counts, near that of another table: few people would be
        # the difference.
        sums = [_sum_cells(merged.counts), _sum_cells(other.counts)]
        if any(
            0 < abs(sums[0][cell] - sums[1][cell]) < below
            for cell in sums[0].keys() & sums[1].keys()
        ):
            raise RevealingError(
                f"a count must differ from that of another table by 0 or at least {below}, got a nearer one; "
                f"{REMEDY}"
            )
        # perhaps the same people
        if other.counts[TOTAL] == counts[TOTAL] and not contradict(counts, other.counts):
            counts, whole = merge_counts(counts, other.counts), whole | other.whole
    if counts.keys() != {TOTAL}:
        _refuse_findings(NamedCells(counts, whole, merged.joint), below)


def _refuse_findings(named: NamedCells, below: int) -> None:
    """Audit all counts of a table together; whatever is not proved to be protected is refused."""
    cells = [json.loads(cell) for cell in named.counts]
    columns = {
        name: f"c{place}"
        for place, name in enumerate(sorted({name for cell in cells for name in cell}))
    }
    rows = []
    for cell, count in zip(cells, named.counts.values(), strict=True):
        row = {columns[name]: value for name, value in cell.items()}
        row[TOTALS] = [columns[name] for name in columns if name not in cell]
        rows.append(json.dumps(row | {"records": count}))
    published = PublishedRows(np.ones(len(rows), dtype=np.int64), rows)
    try:
        whole = [frozenset(columns[name] for name in each) for each in named.whole]
        reading = Reading(list(columns.values()), base=1, whole=whole)
        joint = [tuple(cell.get(name) for name in columns) for cell in named.joint]
        is_protected = are_protected(published, reading, below, joint)
    except ContradictionError:
        raise OutOfDomainError(REFUSAL_OTHER_PEOPLE) from None
    if not is_protected:
        raise RevealingError(REFUSAL_REVEALING.format(below))


def _sum_cells(counts: Counts) -> dict[Cell, int]:
    """Return the counts that are shown, and the totals of tables whose cells are all shown."""
    sums = {
        frozenset(json.loads(cell).items()): count
        for cell, count in counts.items()
        if count is not None
    }
    tables: dict[frozenset[str], dict[Cell, int]] = {}
    for cell, count in sums.items():
        tables.setdefault(frozenset(dict(cell)), {})[cell] = count
    for columns, cells in tables.items():
        if sum(cells.values()) != sums.get(frozenset()):
            continue
        for names in chain(*(combinations(columns, size) for size in range(len(columns)))):
            totals: Counter[Cell] = Counter()
            for cell, count in cells.items():
                totals[frozenset(pair for pair in cell if pair[0] in names)] += count
            sums.update(totals)
    return sums
