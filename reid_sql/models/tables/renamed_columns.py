"""Columns of two published tables that are one column under two names.

Nothing would link the cells by region in one table with those by area in another. Each table would total
the other's column, and a hidden count would be called protected, although the other table shows its total.
Two columns are one if they have the same categories, and as many people in each as hidden counts allow. What
is left is chance: other columns of the same categories, such as yes and no, have these very counts with about
one chance in as many as there are people. So such columns are named, and not refused.
"""

from collections.abc import Sequence
from itertools import combinations, product
from math import log
from typing import Final

from reid_sql.models.tables.published_tables import (
    Counted,
    Reading,
    depth,
    group_by_table,
)
from reid_sql.models.tables.undeclared_totals import PLAUSIBLE

MAX_CHANCE: Final = 0.1
MIN_CATEGORIES: Final = 2
Ends = tuple[float, float]  # the people of a category, at least and at most


def find_renamed_columns(
    counted: Sequence[Counted], columns: Sequence[str], reading: Reading, k: int
) -> dict[str, list[int]]:
    """Give pairs of columns that no table has both of, and that count people alike by the same categories.

    Each pair is named "region and area", with the two tables.

    >>> from reid_sql.models.tables.published_tables import Cell
    >>> first = [Counted(1, (name, None), Cell(n, n, n)) for name, n in [("N", 31.0), ("S", 60.0)]]
    >>> other = [Counted(2, (None, name), Cell(n, n, n)) for name, n in [("N", 31.0), ("S", 60.0)]]
    >>> find_renamed_columns([*first, *other], ["region", "area"], Reading(), 5)
    {'region and area': [1, 2]}
    """
    tables = group_by_table(counted)
    places = {number: _places_of(cells, len(columns)) for number, cells in tables.items()}
    found: dict[str, list[int]] = {}
    for one, other in combinations(tables, 2):
        for place, renamed in product(places[one] - places[other], places[other] - places[one]):
            if any({place, renamed} <= each for each in places.values()):
                continue  # a table has both
            first = _count_people(tables[one], place, reading, k)
            second = _count_people(tables[other], renamed, reading, k)
            if first.keys() == second.keys() and _are_alike(first, second):
                found.setdefault(f"{columns[place]} and {columns[renamed]}", [one, other])
    return found


def _places_of(cells: Sequence[Counted], width: int) -> set[int]:
    """The columns that a table has."""
    return {place for place in range(width) if any(each.key[place] is not None for each in cells)}


def _count_people(
    cells: Sequence[Counted], place: int, reading: Reading, k: int
) -> dict[str | None, Ends]:
    """The people of each category of a column, from the cells that are no totals."""
    most = max(depth(each.key) for each in cells)
    ends: dict[str | None, Ends] = {}
    for each in cells:
        if depth(each.key) < most:
            continue
        low, high = each.cell.bounds
        slack = reading.distance if each.cell.value is not None else 0
        low, high = low - slack, min(high, max(low, PLAUSIBLE * k)) + slack
        before = ends.get(each.key[place], (0.0, 0.0))
        ends[each.key[place]] = before[0] + low, before[1] + high
    return ends


def _are_alike(first: dict[str | None, Ends], second: dict[str | None, Ends]) -> bool:
    """Whether all categories may have as many people in both, more often than by chance."""
    chance = 0.0
    for category, (low, high) in first.items():
        other_low, other_high = second[category]
        if low > other_high or other_low > high:
            return False
        width = high - low + other_high - other_low
        chance += log(min(1.0, (width + 1) / (min(high, other_high) + 1)))
    return len(first) >= MIN_CATEGORIES and chance <= log(MAX_CHANCE)
