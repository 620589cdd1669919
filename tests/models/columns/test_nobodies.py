"""Which numbers stand for nobody: those apart from a column whose values are numbers, counted by hand."""

from fractions import Fraction

import pytest

from reid_sql.models.columns.missing_value_codes import MIN_SHARE_OF_FORM
from reid_sql.models.columns.nobodies import IdentifierCounts, find_nobody_codes

CODES = [("0", 3), ("unknown", 2)]
SHARE = Fraction(str(MIN_SHARE_OF_FORM))


@pytest.mark.parametrize(
    ("others", "numbers", "is_numeric"),
    [
        (0, 0, False),  # no other value says what identifiers look like
        (1, 1, True),
        (SHARE.denominator, SHARE.numerator, True),  # as many numbers as make a column of numbers
        (SHARE.denominator, SHARE.numerator - 1, False),
        (SHARE.denominator, SHARE.denominator, True),
    ],
)
def test_a_number_within_a_sequence_of_numbers_is_a_person(
    others: int, numbers: int, *, is_numeric: bool
) -> None:
    """0 follows on from 1, 2, 3, ...: nobody only where most other values are no numbers."""
    counts = IdentifierCounts([], CODES, others, numbers, 1.0, float(max(numbers, 1)))
    assert counts.is_numeric == is_numeric
    assert find_nobody_codes(counts) == CODES[is_numeric:]
