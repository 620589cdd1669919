"""Columns of one category in each table and another in the next: the year, or the state, of publication.

As a column of categories it would part the tables: no cell would be in both, and nobody could subtract. Where
each table counts some of the people of the one before, it says nothing of the people, and is left out. Where
all count the same, it is left out if the tables show the same counts without it: a draft and its final
version. Else it says of which people each table is, as tables of several regions do.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Final

from reid_sql.models.tables.published_tables import Counted, Key, Reading

STATUS_LEFT_OUT: Final = "left_out: {} has one value in each table, and was left out"
MAX_CHANCE: Final = 0.01  # that tables of other people show the same counts


def leave_out_constants(
    counted: Sequence[Counted], columns: Sequence[str], reading: Reading, *, nested: bool
) -> Reading:
    """Leave out the columns that part the tables by one category in each.

    >>> from reid_sql.models.tables.published_tables import Cell
    >>> cells = [(1, ("2020", "N"), 60.0), (1, ("2020", "S"), 98.0), (2, ("2021", "N"), 60.0)]
    >>> counted = [Counted(number, key, Cell(1.0, 9.0, count)) for number, key, count in cells]
    >>> leave_out_constants(counted, ["year", "town"], Reading(), nested=True).left_out
    ('year',)
    """
    numbers = {each.table for each in counted}
    places = [
        place
        for place in range(len(columns))
        if all(
            len({each.key[place] for each in counted if each.table == number} | {None}) == 2  # noqa: PLR2004
            for number in numbers
        )
        and len({each.key[place] for each in counted}) > 1
        and all(each.key[place] is not None for each in counted)
    ]
    if not places or len(places) == len(columns):
        return reading
    if not nested and (reading.columns or not _show_the_same(counted, places)):
        return reading
    return replace(reading, left_out=tuple(columns[place] for place in places))


def _show_the_same(counted: Sequence[Counted], places: Sequence[int]) -> bool:
    """Whether the counts that tables show are the same without the columns, more often than by chance."""
    counts: dict[Key, float] = {}
    chance = 0.0
    for each in counted:
        key = tuple(category for place, category in enumerate(each.key) if place not in places)
        if each.cell.value is None:
            continue
        if key in counts:
            if counts[key] != each.cell.value:
                return False
            chance -= log(each.cell.value + 1)
        counts[key] = each.cell.value
    return chance <= log(MAX_CHANCE)
