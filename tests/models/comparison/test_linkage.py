"""How a column was changed: shares of changes by counting, mixtures against the law that was drawn from."""

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from reid_sql.models.comparison.disturbed_numbers import (
    BY_DISTANCE,
    BY_FREQUENCY,
    RECODED,
    UNCHANGED,
    DisturbedNumbers,
    Frequencies,
    Histogram,
    Laplace,
    Normal,
    classify_column,
)
from reid_sql.models.comparison.linkage import ExactMatches, wilson_interval
from reid_sql.models.comparison.paired_records import CodedColumn, PairedColumn, group_records
from reid_sql.parameters import Floats, Integers
from tests.cells import each_cell


def column(pairs: list[tuple[str | None, str | None]]) -> PairedColumn:
    """The column of records of one pair each."""
    records = np.ones(len(pairs), dtype=np.int64)
    original, released = (coded([pair[side] for pair in pairs], records) for side in (0, 1))
    return PairedColumn("c", original, released, records)


def coded(texts: list[str | None], records: Integers) -> CodedColumn:
    values = [value for value in dict.fromkeys(texts) if value is not None]
    codes = [0 if text is None else 1 + values.index(text) for text in texts]
    return CodedColumn(np.array(codes), values, records)


@each_cell(
    "pairs, kind",
    [
        ([("3", "3.0"), (None, None)], UNCHANGED),
        ([("21", "20"), ("29", "20"), ("31", "30")], RECODED),
        ([("21", "20 to 29"), ("39", "30 to 39")], RECODED),
        ([("a", "x"), ("b", "x")], RECODED),
        ([("a", "x"), ("a", None)], BY_FREQUENCY),
        ([("1", "7"), ("2", "5"), ("3", "9")], BY_DISTANCE),
        ([("2001-01-01", "2001-01-03"), ("2001-01-02", "2001-01-01")], BY_DISTANCE),
        ([("1", "7"), ("2", "5")] * 5, RECODED),  # a code book: pairs that repeat identify nobody
        ([("1", "1"), ("1", "2"), ("2", "2")] * 5, BY_FREQUENCY),
    ],
)
def test_a_column_is_classified_by_what_its_values_became(
    pairs: list[tuple[str | None, str | None]], kind: str
) -> None:
    assert classify_column(column(pairs)).kind == kind


def test_changes_are_as_likely_as_they_are_frequent() -> None:
    pairs: list[tuple[str | None, str | None]] = [
        ("a", "x"),
        ("a", "x"),
        ("a", None),
        ("b", "x"),
        (None, "y"),
    ]
    made = column(pairs)
    own, out = [None, *made.original.values], [None, *made.released.values]
    found = Frequencies(made).scores(np.arange(len(own)), np.arange(len(out)))
    for i, mine in enumerate(own):
        for j, theirs in enumerate(out):
            share = Counter(pairs)[mine, theirs] / Counter(m for m, _ in pairs)[mine]
            assert found[i, j] == pytest.approx(math.log(share) if share else -math.inf)


def test_a_mixture_is_weighed_as_the_law_that_numbers_were_drawn_from() -> None:
    """Half stay, three in ten move by up to 3, one in ten becomes 0, others are anybody's or suppressed."""
    people, values = 40_000, 500
    rng = np.random.default_rng(1)
    own = rng.integers(1, values + 1, people)
    way = rng.choice(5, people, p=[0.5, 0.3, 0.1, 0.05, 0.05])
    anybody = rng.integers(1, values + 1, people)
    out = np.choose(
        way, [own, own + rng.integers(-3, 4, people), np.zeros(people, dtype=int), anybody, own]
    )
    texts = [
        None if suppressed else str(r) for suppressed, r in zip(way == 4, out.tolist(), strict=True)
    ]
    made = column(list(zip(map(str, own.tolist()), texts, strict=True)))
    weights = DisturbedNumbers(made)
    known = [int(text) for text in made.original.values]
    numbers = [None, *map(int, made.released.values)]
    mine = [1 + known.index(o) for o in (50, 250, 450)]
    found = weights.scores(np.array(mine), np.arange(len(numbers)))
    # of those with a number
    share_of = {text: n / people / 0.95 for text, n in Counter(texts).items()}
    for row, o in zip(found, (50, 250, 450), strict=True):
        for weight, r in zip(row, numbers, strict=True):
            if r is None:
                assert weight == pytest.approx(0.0, abs=1e-9)
                continue
            moved = 0.3 / 7 * (abs(r - o) <= 3)
            law = 0.5 * (r == o) + moved + 0.1 * (r == 0) + 0.05 / values * (r > 0)
            if abs(r - o) <= 3 or r == 0:
                assert weight == pytest.approx(math.log(law / 0.95 / share_of[str(r)]), abs=0.2), (
                    o,
                    r,
                )
            else:
                assert weight < math.log(0.5), (o, r)


def test_values_without_information_are_weighed_by_how_often_they_lose_it() -> None:
    pairs: list[tuple[str | None, str | None]] = [
        *((str(n), str(3 * n % 101)) for n in range(101)),
        *((str(n), None) for n in range(49)),
        *((None, None) for _ in range(30)),
        *((None, "5") for _ in range(20)),
    ]
    made = column(pairs)
    found = DisturbedNumbers(made).scores(np.arange(3), np.arange(3))
    gone = 79 / 200
    assert found[0, 0] == pytest.approx(math.log(30 / 50 / gone))
    assert found[1, 0] == found[2, 0] == pytest.approx(math.log(49 / 150 / gone))
    assert found[0, 1] == found[0, 2] == pytest.approx(math.log(20 / 50 / (1 - gone)))


def test_the_interval_of_a_mean_of_chances_contains_it_in_95_of_100_draws() -> None:
    rng = np.random.default_rng(2)
    for chances in (np.array([0.0, 1.0]), np.array([0.0, 0.0, 0.05, 0.5])):
        contained = 0
        for _ in range(1000):
            low, high = wilson_interval(float(rng.choice(chances, 200).mean()), 200)
            contained += low <= chances.mean() <= high
        assert contained >= 935


def test_a_value_that_was_missing_is_changed_too() -> None:
    """Each pair of values with its records, NULL a value as any other."""
    pairs = [(None, "a"), (None, "a"), ("b", "b"), ("b", None), (None, None), ("c", "a")]
    tried = column(pairs)
    changes = tried.changes
    names = [None, *tried.original.values], [None, *tried.released.values]
    counted = {
        (names[0][one], names[1][other]): records
        for one, other, records in zip(
            changes.original.tolist(),
            changes.released.tolist(),
            changes.records.tolist(),
            strict=True,
        )
    }
    assert counted == Counter(pairs)
    assert int(changes.records[tried.differs].sum()) == sum(one != other for one, other in pairs)


def test_a_record_that_was_added_changes_no_value() -> None:
    """It has no value of the original: -1 is no code of one."""
    ones = np.ones(3, dtype=np.int64)
    original = CodedColumn(np.array([1, -1, 0]), ["a"], ones)
    changes = PairedColumn(
        "c", original, CodedColumn(np.array([1, 1, 1]), ["a"], ones), ones
    ).changes
    assert changes.rows.tolist() == [0, 2]
    assert sorted(changes.original.tolist()) == [0, 1]


def test_an_exact_match_is_right_as_often_as_a_loop_over_the_people_finds() -> None:
    """The tables have their classes in other orders, and of other numbers."""
    original = [("a", "x"), ("a", "y"), ("a", "y"), ("b", "x"), ("c", "x"), ("c", "z")]
    released = [("b", "z"), ("a", "y"), ("a", "x"), ("b", "x"), ("c", "x"), ("a", "y")]
    records = np.ones(len(original), dtype=np.int64)
    columns = [
        column([(mine[at], theirs[at]) for mine, theirs in zip(original, released, strict=True)])
        for at in range(2)
    ]
    codes = [[each.original.codes, each.released.codes] for each in columns]
    one, other = (
        group_records(np.stack(each), records, "a table") for each in zip(*codes, strict=True)
    )
    pair = np.stack([one.class_of_pair, other.class_of_pair])
    on_all = next(ExactMatches(columns, one, other, pair).attack(records))
    chances = [
        (mine == theirs) / max(released.count(mine), 1)
        for mine, theirs in zip(original, released, strict=True)
    ]
    assert on_all.correct == pytest.approx(sum(chances) / len(chances))
    possible = [1 / max(released.count(mine), 1) for mine in original]
    assert on_all.candidates == pytest.approx(sum(possible) / len(possible))


@pytest.mark.parametrize("law", [Histogram.from_distances, Normal.fit, Laplace.fit])
def test_laws_of_distances_describe_the_distances_that_they_are_fitted_to(
    law: Callable[[Floats, Floats], Histogram | Normal],
) -> None:
    rng = np.random.default_rng(4)
    draws = rng.laplace(3, 2, 50_000) if law == Laplace.fit else rng.normal(3, 2, 50_000)
    fitted = law(draws, np.ones(len(draws)))
    heights, widths = fitted.heights(np.ones(len(draws))), np.diff(fitted.edges)
    assert heights @ widths == pytest.approx(1, abs=0.01)
    centres = (fitted.edges[1:] + fitted.edges[:-1]) / 2
    for x, height in zip(centres, heights, strict=True):
        # 0 has no records
        if abs(x - 3) < 4 and not (law == Histogram.from_distances and abs(x) < 1e-2):
            z = (x - 3) / 2
            known = (
                math.exp(-abs(z)) / 4
                if law == Laplace.fit
                else math.exp(-(z**2) / 2) / math.sqrt(8 * math.pi)
            )
            assert height == pytest.approx(known, rel=0.25)
    assert (
        np.mean(
            (fitted.edges[fitted.bin_of_value] <= draws)
            & (draws <= fitted.edges[fitted.bin_of_value + 1])
        )
        > 0.999
    )
