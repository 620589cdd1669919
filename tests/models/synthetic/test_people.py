"""Attacks on people of several rows, against loops over people and their rows."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.synthetic.attacks import attack_by_nearest_records
from reid_sql.models.synthetic.audited_tables import draw_people
from reid_sql.models.synthetic.membership import score_members
from tests.audited import Row, encode_people, encode_row, measure

ROW = st.tuples(
    st.sampled_from(["p", "q", None]),
    st.sampled_from([None, 1, 2, 5, 50]),
    st.sampled_from([0, 3, 4]),
    st.sampled_from(["x", "y"]),
)
PEOPLE = st.lists(st.lists(ROW, min_size=1, max_size=3), min_size=1, max_size=4)
People = list[list[Row]]


def distances_of(*tables: People) -> list[object]:
    """Distances by column; ranks are among the records, of which a person has each once."""
    every = [row for table in tables for own in table for row in set(own)]
    return [measure(every, at) for at in range(4)]


@given(PEOPLE, PEOPLE, PEOPLE)
@settings(max_examples=60)
def test_the_next_person_is_another_one(
    original: People, synthetic: People, holdout: People
) -> None:
    """A person's own rows are no neighbours of theirs; who has a row of another's is next to them."""
    persons = [*original, *holdout]
    distances = distances_of(original, synthetic, holdout)
    rows = sorted(
        {row for own in persons for row in own}, key=lambda row: encode_row(row, every_row(persons))
    )
    records = [row for own in synthetic for row in set(own)]

    def away(one: Row, other: Row) -> int:
        return sum(distances[at](one[at], other[at]) for at in range(4))  # type: ignore[operator]

    def next_and_fifth(row: Row) -> tuple[int, int]:
        mine = [own for own in persons if row in own]
        strangers = [own for own in persons if own is not mine[0]] if len(mine) == 1 else persons
        others = {other for own in strangers for other in own} - {row}
        far = sorted(away(row, other) for other in others)
        fifth = far[min(4, len(far) - 1)] if far else 0
        return 0 if len(mine) > 1 or not far else far[0], fifth

    tables = encode_people(original, synthetic, holdout).in_order()
    found = score_members(tables, np.flatnonzero(tables.originals + tables.controls), (0.0, 1.0))
    for place, row in enumerate(rows):
        nearest = min(away(row, record) for record in records)
        after, fifth = next_and_fifth(row)
        assert found["nearest_of_rare_person"][place] == pytest.approx((after + 1) / (nearest + 1))
        within = sum(away(row, record) <= fifth for record in records)
        assert found["density_ratio"][place] == within


def every_row(people: Sequence[Sequence[Row]]) -> list[Row]:
    return [row for own in people for row in own]


@given(PEOPLE, PEOPLE, PEOPLE)
@settings(max_examples=60)
def test_who_is_linked_is_linked_by_the_row_that_is_linked_most(
    original: People, synthetic: People, holdout: People
) -> None:
    distances = distances_of(original, synthetic, holdout)
    records = [row for own in synthetic for row in set(own)]

    def nearest(row: Row, columns: Sequence[int]) -> list[int]:
        away = [
            sum(distances[at](row[at], other[at]) for at in columns)  # type: ignore[operator]
            for other in records
        ]
        return [place for place, each in enumerate(away) if each == min(away)]

    def chance(row: Row, half: Sequence[int], rest: Sequence[int]) -> float:
        one, other = nearest(row, half), nearest(row, rest)
        return len(set(one) & set(other)) / (len(one) * len(other))

    tables = encode_people(original, synthetic, holdout).in_order()
    people = draw_people(tables, 1000, np.random.default_rng(0))
    link = next(
        iter(attack_by_nearest_records(tables, people, np.random.default_rng(0), (0.0, 1.0)))
    )
    half, rest = (
        [int(name[1:]) for name in side.split(", ")] for side in str(link.column_name).split(" / ")
    )
    for table, figure in ((original, "original"), (holdout, "holdout")):
        expected = sum(max(chance(row, half, rest) for row in own) for own in table) / len(table)
        assert getattr(link, figure) == pytest.approx(expected)


def test_people_are_drawn_whole_and_about_as_many_rows_as_asked() -> None:
    people = [[(f"v{person}", row, 0, "x") for row in range(5)] for person in range(40)]
    tables = encode_people(people, people[:3], people[:20]).in_order()
    drawn = draw_people(tables, 60, np.random.default_rng(0))
    assert drawn.sizes == (12, 12)
    assert len(drawn.holders.rows) == 120
    ends = np.r_[drawn.holders.starts, 120]
    for start, end in pairwise(ends):
        assert len(set(tables.codes[0][drawn.holders.rows[start:end]].tolist())) == 1
