"""Published tables of rounded counts: their base, where nobody gives it, and cells that are left out.

A count that is rounded to 0 is often no row, as in GROUP BY with HAVING, so that a cell which is not listed
may have people. If some zeros are rows and other cells are not listed, these are of nobody, and a row of 0
has people.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, permutations, product
from math import gcd, prod
from typing import Final

from reid_sql.errors import OutOfDomainError
from reid_sql.models.tables.published_tables import (
    Cells,
    Counted,
    Key,
    Reading,
    add_cell,
    cell_between,
    depth,
    group_by_table,
)

MAX_UNLISTED: Final = 100_000  # cells of a table that may have been left out
LEAST_EVIDENCE: Final = 1e4  # to one, against counts that are multiples by chance


def guess_base(counted: Sequence[Counted]) -> int:
    """The largest number that divides all counts; 1 if this may be chance.

    Only the finest cells count as evidence, as totals of multiples are multiples.

    >>> from reid_sql.models.tables.published_tables import Cell
    >>> cells = [Counted(1, (str(count),), Cell(1.0, 9.0, float(count))) for count in (5, 10, 20, 5, 35, 15)]
    >>> guess_base(cells), guess_base(cells[:3])
    (5, 1)
    """
    shown = [(each.key, int(each.cell.value)) for each in counted if each.cell.value]
    base = gcd(*(count for _, count in shown))
    finest = max((depth(key) for key, _ in shown), default=0)
    evidence = sum(depth(key) == finest for key, _ in shown)
    return base if base > 1 and float(base) ** min(evidence, 64) >= LEAST_EVIDENCE else 1


def add_unlisted(cells: Cells, counted: Sequence[Counted], reading: Reading) -> None:
    """Add the cells that rounding may have left out of each table, or take its zeros for cells of people."""
    for number, cells_of_table in group_by_table(counted).items():
        absent = _absent_keys([each.key for each in cells_of_table])
        zeros = [each.key for each in cells_of_table if each.cell.value == 0]
        for key in zeros if absent else ():
            cells[key].low = max(cells[key].low, min(reading.lowest, cells[key].high))
        for key in absent if not zeros else ():
            is_new = key not in cells
            add_cell(cells, key, cell_between(0.0, reading), number, is_shown=True)
            cells[key].is_listed &= not is_new


def _absent_keys(keys: Sequence[Key]) -> list[Key]:
    """The cells that the categories of a table make, and it does not list; of tables with totals alone.

    Where each category of a column has one of another, as each town one region, other pairs are impossible.
    """
    layouts = {tuple(category is None for category in key) for key in keys}
    if len(layouts) == 1:
        return []
    categories = [sorted({*column} - {None}, key=str) for column in zip(*keys, strict=True)]
    choices = [
        [[None] if is_total else each for each, is_total in zip(categories, layout, strict=True)]
        for layout in sorted(layouts)
    ]
    if sum(prod(map(len, each)) for each in choices) > MAX_UNLISTED:
        raise OutOfDomainError(
            f"rounded tables must have at most {MAX_UNLISTED:,} cells, with those of nobody, got more; "
            "list the cells that are rounded to 0, or name fewer columns"
        )
    parents = [_parents(keys, *pair) for pair in permutations(range(len(categories)), 2)]
    listed = set(keys)
    return [
        key
        for key in chain.from_iterable(product(*each) for each in choices)
        if key not in listed and all(_is_possible(key, each) for each in parents)
    ]


Parents = tuple[int, int, dict[str | None, str | None]]


def _parents(keys: Iterable[Key], child: int, parent: int) -> Parents:
    """The category of one column that each of another has, if each has one and some share it; else none."""
    parents_of: dict[str | None, set[str | None]] = {}
    for key in keys:
        if key[child] is not None and key[parent] is not None:
            parents_of.setdefault(key[child], set()).add(key[parent])
    single = {category: next(iter(of)) for category, of in parents_of.items() if len(of) == 1}
    is_hierarchy = len(single) == len(parents_of) > len({*single.values()}) > 1
    return child, parent, single if is_hierarchy else {}


def _is_possible(key: Key, parents: Parents) -> bool:
    child, parent, of = parents
    return key[parent] is None or of.get(key[child], key[parent]) == key[parent]
