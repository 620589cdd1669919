"""Class sizes when NULL matches anything: how many records agree with each one wherever both have a value.

Such matching is not transitive, so it is no grouping. A record that is blank, NULL in every column, matches
every other, and would make all records look alike: it is left out of the matches of all that are not blank,
as ARX does, and `blank_records` counts such records. Records are sorted by which of their values
are missing (their pattern). Two patterns are compared on the columns that both know, word by word; patterns
of a few records are compared one by one.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import Flags, Integers

Words = npt.NDArray[np.uint64]
WORD_BITS: Final = 63
# Up to so many records for each pattern, comparing one by one is faster than by key
MAX_RECORDS_PER_PATTERN: Final = 1 / 40


@dataclass(frozen=True)
class Packed:
    """Records as bit fields: a value's code, or zeros for NULL, and a mask of ones over present fields.

    A field is present where it has a value.
    """

    values: Words  # (records, words)
    present: Words  # (records, words)
    weights: Integers  # (records,)

    def pick(self, rows: Integers) -> "Packed":
        """Give these records only."""
        return Packed(self.values[rows], self.present[rows], self.weights[rows])


def wildcard_class_sizes(
    codes: Integers, other_codes: Integers, other_counts: Integers
) -> Integers:
    """Count, for each record, the records of the other table that it matches when NULL matches anything.

    Codes are positive integers, one for each value of a column, the same in both tables; 0 is NULL. Exact.
    A blank record matches all; no other matches a blank one.

    >>> people = np.array([[1, 1], [0, 1], [2, 1], [2, 2], [0, 0]])  # sex, zip
    >>> wildcard_class_sizes(people, people, np.array([3, 1, 1, 1, 9]))
    array([ 4,  5,  2,  1, 15])
    """
    sizes = np.full(len(codes), other_counts.sum(), dtype=np.int64)
    has_values, other_has_values = ~_are_blank(codes), ~_are_blank(other_codes)
    # The values of each column are numbered anew without gaps, so that they fit few bits.
    nothing = np.zeros((1, codes.shape[1]), dtype=np.int64)
    both = np.concatenate([nothing, codes[has_values], other_codes[other_has_values]])
    dense = np.stack(
        [np.unique(column, return_inverse=True)[1] for column in both.T], axis=1
    ).astype(np.int64)
    first_other = 1 + int(has_values.sum())
    sizes[has_values] = _count_matches(
        *_pack(dense[1:first_other], dense[first_other:], other_counts[other_has_values])
    )
    return sizes


def blank_records(codes: Integers, counts: Integers) -> int:
    """Count the records of which every column is NULL.

    >>> blank_records(np.array([[1, 0], [0, 0]]), np.array([5, 2]))
    2
    """
    return int(counts[_are_blank(codes)].sum())


def _are_blank(codes: Integers) -> Flags:
    return np.asarray((codes == 0).all(axis=1))


def _count_matches(left: Packed, right: Packed) -> Integers:
    """Count the matches pattern by pattern."""
    sizes = np.zeros(len(left.weights), dtype=np.int64)
    right_patterns = [right.pick(rows) for rows in _group_patterns(right)]
    for rows in _group_patterns(left):
        mine = left.pick(rows)
        if len(rows) <= MAX_RECORDS_PER_PATTERN * len(right_patterns):
            sizes[rows] = [
                _count_record_matches(mine.values[i], mine.present[i], right)
                for i in range(len(rows))
            ]
        else:
            for pattern in right_patterns:
                sizes[rows] += _count_pattern_matches(mine, pattern)
    return sizes


def _pack(codes: Integers, other_codes: Integers, other_counts: Integers) -> tuple[Packed, Packed]:
    """Lay the codes of each column in a bit field of its own, in as few words as they need."""
    tops = np.maximum(codes.max(axis=0, initial=0), other_codes.max(axis=0, initial=0))
    widths = [int(top).bit_length() for top in tops]
    words, shifts = [0], [0]
    for width in widths:
        fits = shifts[-1] + width <= WORD_BITS
        words.append(words[-1] if fits else words[-1] + 1)
        shifts[-1] = shifts[-1] if fits else 0
        shifts.append(shifts[-1] + width)
    places = list(zip(words[1:], shifts[:-1], widths, strict=True))
    ones = np.ones(len(codes), dtype=np.int64)
    return _lay_fields(codes, places, ones), _lay_fields(other_codes, places, other_counts)


def _lay_fields(codes: Integers, places: list[tuple[int, int, int]], weights: Integers) -> Packed:
    count = places[-1][0] + 1
    values = np.zeros((len(codes), count), dtype=np.uint64)
    present = np.zeros_like(values)
    for column, (word, shift, width) in zip(codes.T, places, strict=True):
        checkpoint()
        values[:, word] |= column.astype(np.uint64) << np.uint64(shift)
        present[:, word] |= np.where(
            column > 0, np.uint64(((1 << width) - 1) << shift), np.uint64(0)
        )
    return Packed(values, present, weights)


def _group_patterns(packed: Packed) -> list[Integers]:
    """Rows that miss the same values, together."""
    checkpoint()
    _, inverse = np.unique(packed.present, axis=0, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    bounds = np.flatnonzero(np.diff(inverse.ravel()[order])) + 1
    return np.split(order, bounds) if len(order) else []


def _count_record_matches(values: Words, present: Words, right: Packed) -> int:
    checkpoint()
    agrees = np.ones(len(right.weights), dtype=bool)
    for word in range(len(values)):
        agrees &= (right.values[:, word] ^ values[word]) & right.present[:, word] & present[
            word
        ] == 0
    return int(right.weights[agrees].sum())


def _count_pattern_matches(mine: Packed, theirs: Packed) -> Integers:
    """Match two patterns: masked by the present fields of both, equal words agree."""
    checkpoint()
    left, right = mine.values & theirs.present[0], theirs.values & mine.present[0]
    if len(right) <= len(left):
        group, place, hit = _number_rows(right, left)
        return np.where(hit, np.bincount(group, theirs.weights)[place], 0).astype(np.int64)
    group, place, hit = _number_rows(left, right)
    return np.bincount(place[hit], theirs.weights[hit], len(left)).astype(np.int64)[group]


def _number_rows(few: Words, many: Words) -> tuple[Integers, Integers, Flags]:
    """Number the distinct ones of few rows; of many rows, the number of each, and whether it has one.

    Rows are numbered word by word: of two words, by the pairs of their numbers, which fit 64 bits.
    """
    group, place, hit = _number_values(few[:, 0], many[:, 0])
    for one, other in zip(few.T[1:], many.T[1:], strict=True):
        number, at, is_known = _number_values(one, other)
        pairs = (group * len(few) + number, place * len(few) + at)
        group, place, is_pair = _number_values(*pairs)
        hit &= is_known & is_pair
    return group, place, hit


def _number_values(
    few: Words | Integers, many: Words | Integers
) -> tuple[Integers, Integers, Flags]:
    distinct, group = np.unique(few, return_inverse=True)
    place = np.minimum(np.searchsorted(distinct, many), len(distinct) - 1)
    return group, place, distinct[place] == many
