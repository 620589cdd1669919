"""What singles a record out, as somebody finds it by hand: every set, every record, every other record."""

from collections.abc import Sequence
from itertools import combinations
from math import factorial

from tests.tables import Row

Found = tuple[int, tuple[int, ...]]  # a record, and the places of the columns of a set


def unique(rows: Sequence[Row], record: int, places: Sequence[int]) -> bool:
    values = [rows[record][place] for place in places]
    return not any(
        [row[place] for place in places] == values
        for other, row in enumerate(rows)
        if other != record
    )


def minimal(rows: Sequence[Row], max_size: int) -> list[Found]:
    """By the definition: a unique set of which no proper part is unique."""
    width = len(rows[0]) if rows else 0
    found = []
    for record in range(len(rows)):
        for size in range(1, min(max_size, width) + 1):
            for places in combinations(range(width), size):
                parts = (part for less in range(1, size) for part in combinations(places, less))
                if unique(rows, record, places) and not any(
                    unique(rows, record, part) for part in parts
                ):
                    found.append((record, places))
    return found


def score(size: int, columns: int, max_size: int) -> float:
    """The product of A − i for i from k to min(M, A − 1), as a ratio of factorials."""
    return factorial(columns - size) / factorial(columns - min(max_size, columns - 1) - 1)
