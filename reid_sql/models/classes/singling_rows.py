"""For each person, a small number of rows that singles them out: how few an attacker needs to know.

The smallest such number is that of a set cover, for which no fast exact method is known. The greedy one takes
the row that fewest of the people have who still match, until nobody else does. It is an upper bound: fewer
rows may do. Where even all rows leave others, no choice of them does, and the people who match are exact.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import NO_RECORDS
from reid_sql.models.classes.quasi_identifiers import Codes
from reid_sql.parameters import Integers

Membership = npt.NDArray[np.bool_]  # (people, items)

MAX_CELLS: Final = 200_000_000  # rows of people, each held against everyone with the person's rarest row
REFUSAL_COMMON_ROWS: Final = (
    "unicity_people must compare at most {:,} rows of people who share a person's rarest row, got {:,}; "
    "pass finer columns, or a view of fewer people"
)


@dataclass(frozen=True)
class SinglingRows:
    """How many rows single each person out, one row each."""

    record: Integers  # of the person's first row
    rows: Integers  # distinct rows of the person
    known_rows: Integers  # rows that were found to leave the fewest matches: an upper bound of how many do so
    matches: Integers  # people who have these rows: 1 where they single the person out


def find_singling_rows(table: Codes) -> SinglingRows:
    """Find for each person the rows that single them out, one after the other.

    >>> ward = np.array([1, 2, 1, 3, 2, 3])
    >>> pairs = Codes(["ward"], [True], [ward], np.arange(6), people=np.array([0, 0, 1, 1, 2, 2]))
    >>> find_singling_rows(pairs).known_rows.tolist()
    [2, 2, 2]
    """
    if not len(table.position):
        raise NoRecordsError(NO_RECORDS)
    order = np.argsort(table.position)
    _, first, person = np.unique(table.people[order], return_index=True, return_inverse=True)
    _, item = np.unique(np.stack([codes[order] for codes in table.codes]), axis=1, return_inverse=True)
    covers = _search(person.astype(np.int64), item.ravel().astype(np.int64))
    by_position = np.argsort(first)
    return SinglingRows(first[by_position], *covers[by_position].T)


def _search(person: Integers, item: Integers) -> Integers:
    """Return each person's rows, those taken, and who matches these; the same rows are tried once."""
    support = np.bincount(item)
    holders = np.split(person[np.argsort(item, kind="stable")], np.cumsum(support)[:-1])
    ordered = item[np.lexsort((item, person))]
    rows = np.split(ordered, np.cumsum(np.bincount(person))[:-1])
    distinct = {own.tobytes(): own for own in rows}
    cells = sum(int(support[own].min()) * len(own) for own in distinct.values())
    if cells > MAX_CELLS:
        raise OutOfDomainError(REFUSAL_COMMON_ROWS.format(MAX_CELLS, cells))
    pairs = np.sort(person * len(support) + item)
    covers = {}
    for key, own in distinct.items():
        rarest = holders[own[np.argmin(support[own])]]
        covers[key] = (len(own), *_cover(_have(pairs, rarest, own, len(support))))
    return np.array([covers[own.tobytes()] for own in rows], dtype=np.int64)


def _have(pairs: Integers, people: Integers, items: Integers, width: int) -> Membership:
    """Which of the people have which of the items."""
    wanted = people[:, None] * width + items[None, :]
    place = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
    return pairs[place] == wanted  # type: ignore[no-any-return]


def _cover(have: Membership) -> tuple[int, int]:
    """Take the item that fewest of those have who are left, until none leaves fewer.

    All of the people have the rarest item, which is the first to be taken.
    """
    left, taken = np.ones(len(have), dtype=np.bool_), 1
    while left.sum() > 1:
        fewest = int(np.argmin(have[left].sum(axis=0)))
        after = left & have[:, fewest]
        if after.sum() == left.sum():
            break
        left, taken = after, taken + 1
    return taken, int(left.sum())
