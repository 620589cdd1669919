import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes import minimal_uniques
from reid_sql.models.classes.minimal_uniques import find_minimal_uniques
from reid_sql.models.classes.quasi_identifiers import Codes
from tests.qar import coded, draw, within
from tests.singled import Found, minimal, score

TABLES = st.integers(1, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 3), min_size=width, max_size=width), min_size=1, max_size=14
    )
)


def found(table: Codes, max_size: int) -> list[Found]:
    answer = find_minimal_uniques(table, max_size)
    places = zip(answer.record.tolist(), answer.place.tolist(), strict=True)
    return [(record, answer.sets[place]) for record, place in places]


@given(TABLES, st.integers(1, 6))
def test_sets_are_those_that_a_loop_finds(rows: list[list[int]], max_size: int) -> None:
    assert found(coded(rows), max_size) == minimal([tuple(row) for row in rows], max_size)


def test_records_in_another_order_are_identified_by_their_positions() -> None:
    rows = draw(3, 30, 4, 6)
    mixed = np.random.default_rng(0).permutation(30)
    table = coded([rows[place] for place in mixed])
    moved = Codes(table.names, table.ordinal, table.codes, mixed)
    assert found(moved, 3) == found(coded(rows), 3)


def test_a_large_table_on_several_threads_is_as_a_sort_of_its_rows_says() -> None:
    rows = np.array(draw(5, 60_000, 4, 60))
    answer = find_minimal_uniques(coded(rows.tolist()), 2)
    for number, each in enumerate(answer.sets):
        _, first, count = np.unique(
            rows[:, list(each)], axis=0, return_index=True, return_counts=True
        )
        alone = set(first[count == 1].tolist())
        smaller = {
            r
            for r, p in zip(answer.record, answer.place, strict=True)
            if set(answer.sets[p]) < set(each)
        }
        assert set(answer.record[answer.place == number].tolist()) == alone - smaller


def test_many_columns_of_many_values_keep_their_keys_apart() -> None:
    values = np.random.default_rng(1).integers(0, 2**31 - 2, (200, 6))
    values[100:] = values[:100]
    values[150, 5] += 1
    assert found(coded(values.tolist()), 6) == [(50, (5,)), (150, (5,))]


def test_no_records_and_too_many_sets_are_refused() -> None:
    with pytest.raises(NoRecordsError, match="the table must contain at least one record, got 0"):
        find_minimal_uniques(Codes(["a"], [True], [np.array([], dtype=np.int64)], np.arange(0)))
    wide = coded([[1] * 64])
    with pytest.raises(
        OutOfDomainError, match="must be at most 200000, got 679120; pass fewer columns"
    ):
        find_minimal_uniques(wide, 4)
    with pytest.raises(OutOfDomainError, match="memory_limit must be at least"):
        find_minimal_uniques(within(coded(draw(1, 60_000, 4, 60)), 1), 2)


# Statistical Disclosure Control for Microdata: A Practice Guide, table 4.5.
GUIDE = [
    [1, 1, 1, 1],
    [1, 1, 1, 1],
    [1, 1, 2, 2],
    [1, 2, 3, 1],
    [2, 1, 3, 3],
    [1, 2, 3, 1],
    [1, 1, 4, 2],
    [1, 2, 5, 3],
    [1, 1, 1, 2],
    [1, 1, 1, 2],
]
# Templ 2017, Statistical Disclosure Control for Microdata, chapter 3: age, gender, income, education.
BOOK = [
    *[[1, 1, 1, 1]] * 2,
    *[[1, 1, 2, 1]] * 2,
    [1, 2, 2, 2],
    [1, 2, 2, 1],
    [1, 2, 2, 3],
    [2, 1, 2, 2],
]
# sdcMicro, issue 356: three columns.
ISSUE = [[1, 1, 1], [2, 1, 2], [1, 2, 2], [3, 3, 3], [2, 2, 3], [1, 1, 1], [2, 3, 2]]


def scored(rows: list[list[int]], max_size: int) -> list[float]:
    answer = minimal_uniques.score_records(find_minimal_uniques(coded(rows), max_size))
    if answer.record is None:
        return [0.0] * len(rows)
    found = dict(zip(answer.record.tolist(), answer.suda_score.tolist(), strict=True))
    return [found.get(record, 0.0) for record in range(len(rows))]


@pytest.mark.parametrize(
    ("rows", "published"),
    [
        (GUIDE, [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]),
        (BOOK, [0, 0, 0, 0, 4, 2, 6, 8]),
        (ISSUE, [0, 2, 3, 3, 3, 0, 2]),
    ],
)
def test_scores_are_those_published(rows: list[list[int]], published: list[int]) -> None:
    assert scored(rows, 3) == published


def test_columns_contribute_as_published() -> None:
    """sdcMicro, issue 275: shares of the whole table's score of 50, 37.5 and 37.5 per cent."""
    found = find_minimal_uniques(coded([[3, 1, 1], [2, 4, 7], [2, 1, 1]]), 3)
    answer = minimal_uniques.score_columns(found)
    total = minimal_uniques.score_records(found).suda_score.sum()
    shares = {
        name: answer.score[answer.column_name == name].sum() / total for name in ("c0", "c1", "c2")
    }
    assert shares == {"c0": 0.5, "c1": 0.375, "c2": 0.375}


@given(
    st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=10),
    st.integers(1, 4),
)
def test_scores_and_contributions_add_up_the_sets_of_a_loop(
    rows: list[list[int]], max_size: int
) -> None:
    sets = minimal([tuple(row) for row in rows], max_size)
    found = find_minimal_uniques(coded(rows), max_size)
    expected = [0.0] * len(rows)
    members: dict[tuple[int, str], float] = {}
    for record, places in sets:
        part = score(len(places), 4, max_size)
        expected[record] += part
        for place in places:
            members[record, f"c{place}"] = members.get((record, f"c{place}"), 0.0) + part
    assert scored(rows, max_size) == pytest.approx(expected, rel=1e-12)
    answer = minimal_uniques.score_columns(found)
    if answer.record is None or answer.column_name is None:
        assert not sets
        assert answer.status != "ok"
        return
    keys = zip(answer.record.tolist(), answer.column_name.tolist(), strict=True)
    assert dict(zip(keys, answer.score.tolist(), strict=True)) == pytest.approx(members, rel=1e-12)
    shares = [members[record, name] / expected[record] for record, name in sorted(members)]
    assert answer.contribution.tolist() == pytest.approx(shares, rel=1e-12)


def test_the_risk_of_the_file_is_the_mean_of_its_parts_and_no_part_is_above_1() -> None:
    found = find_minimal_uniques(coded(GUIDE), 3)
    assert minimal_uniques.score_records(found, 0.2).dis_suda.mean() == pytest.approx(
        0.2, rel=1e-12
    )
    assert minimal_uniques.score_records(found, 0.2).dis_suda.tolist() == pytest.approx(
        [0.2 * s / 8.5 for s in (6, 12, 6, 10)]
    )
    assert minimal_uniques.score_records(found, 0.9).dis_suda.max() == 1.0
    with pytest.raises(OutOfDomainError, match="dis must be a probability between 0 and 1, got"):
        minimal_uniques.score_records(found, 1.5)


def test_a_table_in_which_nobody_stands_out_has_no_rows() -> None:
    found = find_minimal_uniques(coded([[1, 1], [1, 1]]), 2)
    assert (
        len(minimal_uniques.list_subsets(found).size)
        == len(minimal_uniques.score_records(found).subsets)
        == 0
    )
    assert len(minimal_uniques.score_columns(found).subsets) == 0
    assert np.issubdtype(minimal_uniques.score_records(found).dis_suda.dtype, np.floating)
