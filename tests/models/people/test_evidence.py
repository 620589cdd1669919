import numpy as np
import pytest

from reid_sql.errors import NoRecordsError, OutOfDomainError, UnknownNameError
from reid_sql.models.evidence import (
    CLASS_SIZE,
    DRAWN_RECORD,
    MARGINAL_SHARE,
    PAIR,
    VALUE,
    EvidenceRow,
    rows_from_columns,
    rows_from_tuples,
)
from reid_sql.models.people.evidence import count_records, evidence_from_rows
from reid_sql.models.people.functional_dependencies import find_dependencies

# two columns, three records: (1, a), (1, a), (NULL, b)
LINES = [
    EvidenceRow(VALUE, 1, label="n", first_value=None, records=1, weight=1.0),
    EvidenceRow(VALUE, 1, label="n", first_value="1", records=2, weight=2.0),
    EvidenceRow(VALUE, 2, label="t", first_value="b", records=1, weight=1.0),
    EvidenceRow(VALUE, 2, label="t", first_value="a", records=2, weight=2.0),
    EvidenceRow(PAIR, 1, 2, first_value="1", second_value="a", records=2, weight=2.0),
    EvidenceRow(PAIR, 1, 2, first_value=None, second_value="b", records=1, weight=1.0),
    EvidenceRow(CLASS_SIZE, class_size=2, records=2),
    EvidenceRow(CLASS_SIZE, class_size=1, records=1),
    EvidenceRow(DRAWN_RECORD, class_size=2, texts=["1", "a"]),
    EvidenceRow(DRAWN_RECORD, class_size=1, texts=[None, "b"]),
    EvidenceRow(DRAWN_RECORD, class_size=2, texts=["1", "a"]),
]


def test_lines_become_counts() -> None:
    found = evidence_from_rows(rows_from_tuples(LINES))
    assert found.columns == ("n", "t")
    assert found.values == ((None, "1"), ("a", "b"))
    assert [counts.tolist() for counts in found.counts] == [[1, 2], [2, 1]]
    one, other, count = found.pairs[0, 1]
    assert list(zip(one.tolist(), other.tolist(), count.tolist(), strict=True)) == [
        (0, 1, 1.0),
        (1, 0, 2.0),
    ]
    assert found.histogram.records.tolist() == [1, 2]
    drawn = [
        (*codes, size)
        for codes, size in zip(found.drawn.tolist(), found.drawn_size.tolist(), strict=True)
    ]
    assert sorted(drawn) == [(0, 1, 1), (1, 0, 2), (1, 0, 2)]
    assert found.records == 3


def test_the_order_of_lines_does_not_matter() -> None:
    one, two = (
        evidence_from_rows(rows_from_tuples(LINES)),
        evidence_from_rows(rows_from_tuples(LINES[:8][::-1] + LINES[8:])),
    )
    assert one.values == two.values
    np.testing.assert_array_equal(one.pairs[0, 1][2], two.pairs[0, 1][2])


def test_pairs_that_are_too_many_are_counted_among_the_drawn() -> None:
    found = evidence_from_rows(rows_from_tuples([line for line in LINES if line.kind != PAIR]))
    assert found.pairs[0, 1][2].tolist() == [1.0, 2.0]


def test_what_is_counted_among_the_drawn_is_not_scaled_up() -> None:
    """A record that stood for several would be told by the others of itself, however rare it is."""
    drawn = [line for line in LINES if line.kind != PAIR][:-1]
    found = evidence_from_rows(rows_from_tuples(drawn))
    one, other, count = found.pairs[0, 1]
    assert found.records == 3
    assert list(zip(one.tolist(), other.tolist(), count.tolist(), strict=True)) == [
        (0, 1, 1.0),
        (1, 0, 1.0),
    ]


def test_a_column_follows_from_no_other_by_records_that_were_not_drawn() -> None:
    """Numbers that two people share, one drawn of each: that their sexes differ is not to be seen."""
    numbers = [str(number) for number in range(400)]
    lines = [
        *(
            EvidenceRow(VALUE, 1, label="phone", first_value=n, records=2, weight=2.0)
            for n in numbers
        ),
        *(
            EvidenceRow(VALUE, 2, label="sex", first_value=sex, records=400, weight=400.0)
            for sex in "FM"
        ),
        EvidenceRow(CLASS_SIZE, class_size=1, records=800),
    ]
    lines += [
        EvidenceRow(DRAWN_RECORD, class_size=1, draw_order=place, texts=[number, "FM"[place % 2]])
        for place, number in enumerate(numbers)
    ]
    assert find_dependencies(evidence_from_rows(rows_from_tuples(lines))) == []


def test_weights_are_scaled_to_the_records() -> None:
    heavy = [line._replace(weight=10 * line.weight) for line in LINES]
    assert [counts.tolist() for counts in evidence_from_rows(rows_from_tuples(heavy)).counts] == [
        [1, 2],
        [2, 1],
    ]


def test_numbers_and_dates_have_an_order_unless_nominal_names_them() -> None:
    def column(values: list[str | None]) -> list[EvidenceRow]:
        return [
            *(
                EvidenceRow(VALUE, 1, label="c", first_value=v, records=1, weight=1.0)
                for v in values
            ),
            EvidenceRow(CLASS_SIZE, class_size=1, records=len(values)),
            *(EvidenceRow(DRAWN_RECORD, class_size=1, texts=[value]) for value in values),
        ]

    numbers = column(["1", "2", "3", "4", None])
    assert evidence_from_rows(rows_from_tuples(numbers)).ordered == (True,)
    assert evidence_from_rows(rows_from_tuples(numbers), nominal=["c"]).ordered == (False,)
    assert evidence_from_rows(
        rows_from_tuples(column([f"2024-01-0{n}" for n in range(1, 6)]))
    ).ordered == (True,)
    words = column(["a", "b", "c", "d", "e"])
    assert evidence_from_rows(rows_from_tuples(words)).ordered == (False,)
    assert evidence_from_rows(rows_from_tuples(words), ordered=["c"]).ordered == (True,)
    assert evidence_from_rows(rows_from_tuples(column(["1", "2", "1.0", "2.0"]))).ordered == (
        False,
    )


def test_refusals() -> None:
    with pytest.raises(NoRecordsError):
        evidence_from_rows(rows_from_tuples([EvidenceRow(CLASS_SIZE)]))
    with pytest.raises(UnknownNameError, match="must name columns of the model, got 'agee'"):
        evidence_from_rows(rows_from_tuples(LINES), ordered=["agee"])
    bad = [line._replace(weight=float("nan")) for line in LINES]
    with pytest.raises(OutOfDomainError, match="weight must be a number of at least 0"):
        evidence_from_rows(rows_from_tuples(bad))
    unknown = EvidenceRow(MARGINAL_SHARE, 0, label="xx", first_value="1", weight=1.0)
    with pytest.raises(UnknownNameError, match="marginals must name columns"):
        evidence_from_rows(rows_from_tuples([*LINES, unknown]))


@pytest.mark.parametrize("shares", [(-1.0, 2.0), (float("nan"), 1.0), (0.0, 0.0)])
def test_a_share_below_0_is_refused_before_shares_of_a_value_are_added_up(
    shares: tuple[float, float],
) -> None:
    outside = [
        EvidenceRow(MARGINAL_SHARE, 2, label="t", first_value="a", weight=share) for share in shares
    ]
    with pytest.raises(OutOfDomainError, match="must be a number of at least 0 for every value"):
        evidence_from_rows(rows_from_tuples([*LINES, *outside]))


def test_shares_from_outside_are_added_up() -> None:
    known = [
        EvidenceRow(MARGINAL_SHARE, 2, label="t", first_value="a", weight=share)
        for share in (1.0, 2.0)
    ]
    values, shares = evidence_from_rows(rows_from_tuples([*LINES, *known])).known_shares[1]
    assert (values, shares.tolist()) == (["a"], [3.0])


def test_a_table_counted_in_python_is_one_counted_as_codes() -> None:
    rng = np.random.default_rng(4)
    columns = {
        "a": [str(v) for v in rng.integers(0, 4, 60)],
        "b": [[None, "x"][v] for v in rng.integers(0, 2, 60)],
    }
    found = evidence_from_rows(rows_from_columns(columns))
    values = [sorted(set(columns["a"])), [None, "x"]]
    codes = np.array(
        [
            [own.index(v) for v in column]
            for own, column in zip(values, columns.values(), strict=True)
        ]
    ).T
    want = count_records(codes, ["a", "b"], values, [True, False])
    assert found.values == want.values
    for one, other in zip(
        (*found.counts, *found.pairs[0, 1]), (*want.counts, *want.pairs[0, 1]), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found.histogram.classes, want.histogram.classes)
    assert not rows_from_columns(columns).is_weighted
