import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.minimal_uniques import minimal_uniques
from reid_sql.models.extreme.quasi_identifiers import Codes
from tests.qar import coded, draw
from tests.singled import Found, minimal

TABLES = st.integers(1, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 3), min_size=width, max_size=width), min_size=1, max_size=14
    )
)


def found(table: Codes, max_size: int) -> list[Found]:
    answer = minimal_uniques(table, max_size)
    places = zip(answer.record.tolist(), answer.place.tolist(), strict=True)
    return [(record, answer.sets[place]) for record, place in places]


@given(TABLES, st.integers(1, 6))
def test_sets_are_those_that_a_loop_finds(rows: list[list[int]], max_size: int) -> None:
    assert found(coded(rows), max_size) == minimal([tuple(row) for row in rows], max_size)


def test_records_in_another_order_are_told_by_their_positions() -> None:
    rows = draw(3, 30, 4, 6)
    mixed = np.random.default_rng(0).permutation(30)
    table = coded([rows[place] for place in mixed])
    moved = Codes(table.names, table.ordinal, table.codes, mixed)
    assert found(moved, 3) == found(coded(rows), 3)


def test_a_large_table_on_several_threads_is_as_a_sort_of_its_rows_says() -> None:
    rows = np.array(draw(5, 60_000, 4, 60))
    answer = minimal_uniques(coded(rows.tolist()), 2)
    for number, each in enumerate(answer.sets):
        _, first, count = np.unique(rows[:, list(each)], axis=0, return_index=True, return_counts=True)
        alone = set(first[count == 1].tolist())
        smaller = {
            r for r, p in zip(answer.record, answer.place, strict=True) if set(answer.sets[p]) < set(each)
        }
        assert set(answer.record[answer.place == number].tolist()) == alone - smaller


def test_many_columns_of_many_values_keep_their_keys_apart() -> None:
    values = np.random.default_rng(1).integers(0, 2**31 - 2, (200, 6))
    values[100:] = values[:100]
    values[150, 5] += 1
    assert found(coded(values.tolist()), 6) == [(50, (5,)), (150, (5,))]


def test_no_records_and_too_many_sets_are_refused() -> None:
    with pytest.raises(NoRecordsError, match="the table must hold at least one record, got 0"):
        minimal_uniques(Codes(["a"], [True], [np.array([], dtype=np.int64)], np.arange(0)))
    wide = coded([[1] * 64])
    with pytest.raises(OutOfDomainError, match="must be at most 200000, got 679120; pass fewer columns"):
        minimal_uniques(wide, 4)
    with pytest.raises(OutOfDomainError, match="memory_mb must be at least"):
        minimal_uniques(coded(draw(1, 60_000, 4, 60)), 2, 1)
