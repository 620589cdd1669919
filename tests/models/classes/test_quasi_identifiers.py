from itertools import combinations
from math import comb

import numpy as np
import pytest

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
from tests.qar import coded, draw

WIDE = coded(draw(0, 5, 12, 3))


def test_all_combinations_in_lexical_order() -> None:
    for p in range(1, 13):
        assert [tuple(row) for row in choose_quasi_identifiers(WIDE, p).places] == list(
            combinations(range(12), p)
        )
        assert choose_quasi_identifiers(WIDE, p).remark == []


@pytest.mark.parametrize("sample", [1, 100, 400, 494])
def test_a_sample_has_none_twice_and_is_the_same_for_the_same_seed(sample: int) -> None:
    chosen = choose_quasi_identifiers(WIDE, 4, sample, 7)
    rows = [tuple(row) for row in chosen.places.tolist()]
    assert len(set(rows)) == len(rows) == sample
    assert rows == sorted(rows)
    assert set(rows) <= set(combinations(range(12), 4))
    assert rows == [
        tuple(row) for row in choose_quasi_identifiers(WIDE, 4, sample, 7).places.tolist()
    ]
    assert chosen.remark == [
        f"quasi_identifiers_drawn: measured on a sample of {sample} of the 495 quasi-identifiers, seed 7"
    ]


def test_a_sample_draws_each_quasi_identifier_equally_often() -> None:
    found = np.zeros(comb(6, 2))
    names = {row: place for place, row in enumerate(combinations(range(6), 2))}
    narrow = coded(draw(0, 5, 6, 3))
    for seed in range(3000):
        found[
            [
                names[tuple(row)]
                for row in choose_quasi_identifiers(narrow, 2, 3, seed).places.tolist()
            ]
        ] += 1
    assert found == pytest.approx(np.full(15, 600.0), abs=5 * np.sqrt(600))


def test_a_sample_of_all_is_no_sample() -> None:
    assert (
        choose_quasi_identifiers(WIDE, 2, 66, 1).remark
        == choose_quasi_identifiers(WIDE, 2, 5000, 1).remark
        == []
    )
    assert len(choose_quasi_identifiers(WIDE, 2, 5000, 1)) == 66


def test_a_sample_among_more_than_can_be_listed() -> None:
    chosen = choose_quasi_identifiers(coded(draw(0, 2, 64, 3)), 32, 50)
    assert chosen.possible == comb(64, 32)
    assert len({tuple(row) for row in chosen.places.tolist()}) == 50
    assert (np.diff(chosen.places, axis=1) > 0).all()


def test_records_come_in_the_order_of_their_positions() -> None:
    shuffled = Codes(["a"], [True], [np.array([3, 1, 2])], np.array([7, 2, 5]))
    table = choose_quasi_identifiers(shuffled, 1).table
    assert table.codes[0].tolist() == [1, 2, 3]
    assert table.position.tolist() == [2, 5, 7]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((13,), "p must be at most the 12 columns given, got 13; pass more columns or a smaller p"),
        ((0,), "p must be a whole number of columns from 1 to 64, got 0"),
        ((2.5,), "p must be a whole number of columns from 1 to 64, got 2.5"),
        ((2, -1), "sample must be a whole number of quasi-identifiers from 0 to 200000, got -1"),
        ((2, 5, -1), "seed must be a whole number from 0 to 2147483646, got -1"),
    ],
)
def test_what_cannot_be_chosen_is_refused(arguments: tuple[int, ...], sentence: str) -> None:
    with pytest.raises(OutOfDomainError, match=sentence):
        choose_quasi_identifiers(WIDE, *arguments)


def test_too_many_to_count_need_a_sample_by_name() -> None:
    wide = coded(draw(0, 2, 40, 3))
    with pytest.raises(
        OutOfDomainError,
        match="at most 200000, got 658008; pass sample := 10000 to measure so many",
    ):
        choose_quasi_identifiers(wide, 5)
    assert len(choose_quasi_identifiers(wide, 5, 1000)) == 1000


def test_no_records_are_refused() -> None:
    with pytest.raises(NoRecordsError, match="at least one record"):
        choose_quasi_identifiers(
            Codes(["a"], [True], [np.array([], dtype=np.int32)], np.array([], dtype=np.int64)), 1
        )
