import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes import suda
from reid_sql.models.classes.minimal_uniques import minimal_uniques
from tests.qar import coded
from tests.singled import minimal, score

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
BOOK = [*[[1, 1, 1, 1]] * 2, *[[1, 1, 2, 1]] * 2, [1, 2, 2, 2], [1, 2, 2, 1], [1, 2, 2, 3], [2, 1, 2, 2]]
# sdcMicro, issue 356: three columns.
ISSUE = [[1, 1, 1], [2, 1, 2], [1, 2, 2], [3, 3, 3], [2, 2, 3], [1, 1, 1], [2, 3, 2]]


def scored(rows: list[list[int]], max_size: int) -> list[float]:
    answer = suda.scores(minimal_uniques(coded(rows), max_size))
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
    found = minimal_uniques(coded([[3, 1, 1], [2, 4, 7], [2, 1, 1]]), 3)
    answer = suda.contributions(found)
    total = suda.scores(found).suda_score.sum()
    shares = {name: answer.score[answer.column_name == name].sum() / total for name in ("c0", "c1", "c2")}
    assert shares == {"c0": 0.5, "c1": 0.375, "c2": 0.375}


@given(
    st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=10), st.integers(1, 4)
)
def test_scores_and_contributions_add_up_the_sets_of_a_loop(rows: list[list[int]], max_size: int) -> None:
    sets = minimal([tuple(row) for row in rows], max_size)
    found = minimal_uniques(coded(rows), max_size)
    expected = [0.0] * len(rows)
    held: dict[tuple[int, str], float] = {}
    for record, places in sets:
        part = score(len(places), 4, max_size)
        expected[record] += part
        for place in places:
            held[record, f"c{place}"] = held.get((record, f"c{place}"), 0.0) + part
    assert scored(rows, max_size) == pytest.approx(expected, rel=1e-12)
    answer = suda.contributions(found)
    keys = zip(answer.record.tolist(), answer.column_name.tolist(), strict=True)
    assert dict(zip(keys, answer.score.tolist(), strict=True)) == pytest.approx(held, rel=1e-12)
    shares = [held[record, name] / expected[record] for record, name in sorted(held)]
    assert answer.contribution.tolist() == pytest.approx(shares, rel=1e-12)


def test_the_risk_of_the_file_is_the_mean_of_its_parts_and_no_part_is_above_1() -> None:
    found = minimal_uniques(coded(GUIDE), 3)
    assert suda.scores(found, 0.2).dis_suda.mean() == pytest.approx(0.2, rel=1e-12)
    assert suda.scores(found, 0.2).dis_suda.tolist() == pytest.approx([0.2 * s / 8.5 for s in (6, 12, 6, 10)])
    assert suda.scores(found, 0.9).dis_suda.max() == 1.0
    with pytest.raises(OutOfDomainError, match="dis must be a probability between 0 and 1, got"):
        suda.scores(found, 1.5)


def test_a_table_in_which_nobody_stands_out_has_no_rows() -> None:
    found = minimal_uniques(coded([[1, 1], [1, 1]]), 2)
    assert len(suda.subsets(found).record) == len(suda.scores(found).record) == 0
    assert len(suda.contributions(found).record) == 0
    assert np.issubdtype(suda.scores(found).dis_suda.dtype, np.floating)
