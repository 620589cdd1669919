"""Keys that were numbered anew: people of one key agree no better than strangers.

Whoever shuffles a table and numbers its rows again pairs each person with another one. Every change is then
that of two strangers, and no link is right, so that the release seems to protect everybody. People of one key
are compared with the same people paired at random: in each column by equal values, by their order if they are
numbers, and by how often two pairs have the same two values, as of 23 and "20 to 29".
"""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from reid_sql.models.comparison.paired_records import (
    PairedColumn,
    PairedRecords,
    parse_numbers,
)
from reid_sql.parameters import Floats, Integers

STATUS_STRANGERS: Final = "not_comparable: people of one key agree no better than strangers"
MIN_PEOPLE: Final = 30  # in both, with fewer of whom strangers may agree as well
MAX_PEOPLE: Final = 20_000  # who are compared, drawn evenly
PAIRINGS: Final = 60  # at random, to which that of the key is compared
MIN_DISTANCE: Final = (
    3.5  # standard deviations of these, beyond which people agree better than strangers
)
SAME_ROWS: Final = (
    0.9  # of the rows that both tables have, from which one is the other in another order
)
MIN_COLUMNS: Final = 2  # of which no value was swapped alone
Measure = Callable[[Integers], float]  # of the order of one side


def agrees_as_strangers(paired: PairedRecords) -> bool:
    """Whether people of one key agree no better than strangers do; false if no column could show it.

    >>> ages, values = np.tile(np.arange(1, 5), 20), ["20", "30", "40", "50"]
    >>> def pair(original, released):
    ...     codes = (original[None], released[None], np.ones(80, dtype=int))
    ...     return PairedRecords(["age"], [True], *codes, [values], [values])
    >>> agrees_as_strangers(pair(ages, ages)), agrees_as_strangers(pair(ages, np.sort(ages)))
    (False, True)
    """
    both = np.flatnonzero(paired.in_original & paired.in_release)
    rows = np.repeat(both, paired.records[both])
    if len(rows) < MIN_PEOPLE:
        return False
    rows = rows[:: -(-len(rows) // MAX_PEOPLE)]
    rng = np.random.default_rng(len(rows))
    orders = [rng.permutation(len(rows)) for _ in range(PAIRINGS)]
    is_judged = False
    for column in paired.columns():
        original, released = column.original.codes[rows], column.released.codes[rows]
        for measure in _measures(column, original, released):
            by_chance = np.array([measure(order) for order in orders])
            if by_chance.std() > 0:
                is_judged = True
                distance = (measure(np.arange(len(rows))) - by_chance.mean()) / by_chance.std()
                if abs(distance) > MIN_DISTANCE:
                    return _has_same_rows(paired, rows)
    return is_judged


def _measures(column: PairedColumn, original: Integers, released: Integers) -> Iterator[Measure]:
    """How well two codes of each person agree, as functions of the order of the second ones."""
    place = {value: at for at, value in enumerate(column.original.canonical)}
    theirs = np.array([place.get(value, -1) for value in column.released.canonical])[released]
    yield lambda order: float((original == theirs[order]).sum())
    width = int(released.max()) + 1
    yield lambda order: float(
        (np.unique(original * width + released[order], return_counts=True)[1] ** 2.0).sum()
    )
    numbers = parse_numbers(column.original.values), parse_numbers(column.released.values)
    if numbers[0] is not None and numbers[1] is not None:
        mine, other = (
            _rank(np.concatenate([[np.nan], each])[codes])
            for each, codes in zip(numbers, (original, released), strict=True)
        )
        yield lambda order: float(mine @ other[order])


def _rank(numbers: Floats) -> Floats:
    """Ranks around 0; 0 for NULL."""
    is_known = ~np.isnan(numbers)
    ranks = np.zeros(len(numbers))
    places = np.unique(numbers[is_known], return_inverse=True)[1]
    ranks[is_known] = places - places.mean() if len(places) else 0.0
    return ranks


def _has_same_rows(paired: PairedRecords, rows: Integers) -> bool:
    """Whether the release has the rows of the original, most of them of other people.

    Rows that are sorted before they are numbered agree partly in the column that they are sorted by. Values
    of one column that were swapped, perhaps among people who agree in another, make the same rows, too.
    """
    columns = paired.columns()
    sides = [
        list(
            zip(
                *(
                    np.array(each.canonical, dtype=object)[each.codes[rows]].tolist()
                    for each in side
                ),
                strict=True,
            )
        )
        for side in ([each.original for each in columns], [each.released for each in columns])
    ]
    counts: dict[tuple[object, ...], int] = {}
    for row in sides[0]:
        counts[row] = counts.get(row, 0) + 1
    agreeing = [
        sum(one == other for one, other in zip(*pair, strict=True))
        for pair in zip(*(zip(*side, strict=True) for side in sides), strict=True)
        if len(set(pair[0])) > 1
    ]
    if len(agreeing) < MIN_COLUMNS or max(agreeing) >= SAME_ROWS * len(rows):
        return False
    is_detailed = len(counts) > len(rows) / 2
    common = 0
    for row in sides[1]:
        common += counts.get(row, 0) > 0
        counts[row] = counts.get(row, 0) - 1
    same = sum(one == other for one, other in zip(*sides, strict=True))
    return is_detailed and common >= SAME_ROWS * len(rows) and same < common / 2
