from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.class_keys import Key, map_keys
from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
from tests.qar import cells, coded, distinct, draw, within

LEVELS = st.sampled_from([1, 2, 5, 1000, 2**30])


def sizes(key: Key) -> list[int]:
    ids, counts = key.classes()
    return counts[ids].tolist()  # type: ignore[no-any-return]


@given(
    st.lists(LEVELS, min_size=1, max_size=6), st.integers(1, 30), st.integers(0, 1000), st.data()
)
def test_classes_of_every_quasi_identifier_whatever_the_number_of_values(
    levels: list[int], records: int, seed: int, data: st.DataObject
) -> None:
    p = data.draw(st.integers(1, len(levels)))
    generator = np.random.default_rng(seed)
    columns = [
        generator.integers(level + 1, size=records) // generator.integers(1, 3) for level in levels
    ]
    table = Codes(
        [str(place) for place in range(len(levels))],
        [True] * len(levels),
        columns,
        np.arange(records),
    )
    rows = np.array(columns).T.tolist()
    expected = [[Counter(values)[value] for value in values] for values in cells(rows, p)]
    chosen = choose_quasi_identifiers(table, p)
    assert map_keys(chosen, lambda _, key: sizes(key)) == expected
    assert map_keys(chosen, lambda _, key: key.distinct()) == distinct(rows, p)
    assert map_keys(chosen, lambda _, key: len(key.numbered()[1])) == distinct(rows, p)


@pytest.mark.parametrize("values", [9, 3000])
def test_threads_answer_in_order(values: int) -> None:
    rows = draw(1, 60_000, 4, values)
    chosen = choose_quasi_identifiers(coded(rows), 2)
    counted = map_keys(chosen, lambda number, key: (number, key.distinct()))
    assert counted == list(enumerate(distinct(rows, 2)))


def test_some_of_them_only() -> None:
    rows = draw(1, 40, 5, 4)
    expected = distinct(rows, 2)
    assert map_keys(
        choose_quasi_identifiers(coded(rows), 2), lambda _, key: key.distinct(), only=[7, 2]
    ) == [
        expected[7],
        expected[2],
    ]


def test_records_and_keys_too_large_for_one_word_are_sorted_apart() -> None:
    values = np.array([2**62, 5, 2**62, 2**61])
    assert sizes(Key(values, 2**62 + 1)) == [2, 1, 2, 1]


def test_too_little_memory_is_refused_with_what_is_needed() -> None:
    table = coded(draw(1, 60_000, 4, 9))
    less, enough = (choose_quasi_identifiers(within(table, megabytes), 2) for megabytes in (4, 5))
    with pytest.raises(
        OutOfDomainError,
        match=r"memory_limit must be at least 5 MB for 60000 records of 4 columns, got 3\.8 MiB; raise it",
    ):
        map_keys(less, lambda _, key: key.space)
    assert len(map_keys(enough, lambda _, key: key.space)) == 6
