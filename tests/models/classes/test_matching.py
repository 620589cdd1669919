from itertools import combinations, permutations

import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.matching import Matches, matching_curve, sparse_matching_curve
from tests.cells import each_cell


def by_drawing_every_gallery(true: list[float], false: list[list[float]], n: int) -> float:
    """Mean over probes and over every choice of n − 1 of their false scores, a tie of t shared by t."""
    shares = []
    for own, others in zip(true, false, strict=True):
        for gallery in combinations(others, n - 1):
            tied = sum(score == own for score in gallery)
            shares.append(0.0 if any(score > own for score in gallery) else 1 / (tied + 1))
    return float(np.mean(shares))


TRUE = [0.9, 0.5, 0.5, 0.2]
FALSE = [
    [0.1, 0.9, 0.9, 0.3, 0.95],
    [0.5, 0.5, 0.5, 0.1, 0.2],
    [0.4, 0.1, 0.6, 0.2, 0.1],
    [0.9, 0.1, 0.1, 0.2, 0.2],
]


@pytest.mark.parametrize("n", range(1, 7))
def test_every_gallery_of_everybodys_own_scores(n: int) -> None:
    flat = [score for own in FALSE for score in own]
    of = [person for person in range(4) for _ in range(5)]
    found = matching_curve(TRUE, flat, [n], [0, 1, 2, 3], of)[0]
    assert found.correctness == pytest.approx(by_drawing_every_gallery(TRUE, FALSE, n))
    assert found.people == 4


@each_cell("n", range(1, 8))
def test_every_gallery_of_all_scores(n: int) -> None:
    pooled = [0.1, 0.5, 0.5, 0.9, 0.3, 0.2, 0.7]
    found = matching_curve(TRUE, pooled, [n])[0]
    assert found.correctness == pytest.approx(by_drawing_every_gallery(TRUE, [pooled] * 4, n))


def test_scores_that_are_all_alike_are_right_once_in_n() -> None:
    for point in matching_curve(np.ones(3), np.ones(5000), [2, 7, 500]):
        assert point.correctness == pytest.approx(1 / point.n, rel=1e-9)


def test_order_makes_no_difference() -> None:
    curves = {
        tuple(point.correctness for point in matching_curve(list(true), [0.3, 0.6, 0.5], [2, 3]))
        for true in permutations([0.2, 0.55, 0.9])
    }
    assert len({tuple(np.round(curve, 12)) for curve in curves}) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ([0.5], [0.1], [3]),
            "sizes must be whole numbers from 1 to 2, the false scores of a probe and itself, got 3",
        ),
        (([0.5], [0.1], None, [1]), "true_persons must go with false_persons, got NULL"),
        (
            ([0.5], [0.1], None, [1], [1, 2]),
            "false_persons must be as many as false_scores, got 2 for 1",
        ),
        (
            ([0.5], [0.1], None, [1], [2]),
            "false_scores must contain scores of every probe, got none of person 1",
        ),
        (([float("nan")], [0.1]), "true_scores must be a finite score, got nan"),
    ],
)
def test_scores_that_do_not_go_together_are_refused(
    arguments: tuple[list[float] | None, ...], sentence: str
) -> None:
    with pytest.raises(OutOfDomainError, match=sentence):
        matching_curve(*arguments)  # type: ignore[arg-type]


def test_a_gallery_holds_a_random_share_of_the_rivals() -> None:
    rng = np.random.default_rng(0)
    people, rivals, n = 50, 9, 20
    drawn = np.array([(rng.permutation(people - 1)[: n - 1] < rivals).sum() for _ in range(20_000)])
    none = np.array([0])
    size, weight = np.array([rivals + 1]), np.array([1.0])
    matches = Matches(none + 1, size, weight, np.array([people]), none, none, none, [None])
    found = sparse_matching_curve(matches, [n])[0]
    assert found.correctness == pytest.approx((1 / (1 + drawn)).mean(), abs=0.003)
    assert found.uniqueness == pytest.approx((drawn == 0).mean(), abs=0.003)


def test_the_standard_error_is_that_of_the_draws() -> None:
    # 30 draws are right for sure, 10 in one of four cases; the whole table is the gallery.
    points, people, none = np.array([1, 1]), np.array([8, 8]), np.array([0, 0])
    size, draws = np.array([1, 4]), np.array([40, 40])
    matches = Matches(points, size, np.array([30.0, 10.0]), people, none, draws, none, [None] * 2)
    values = np.r_[np.ones(30), np.full(10, 0.25)]
    found = sparse_matching_curve(matches, [8])[0]
    assert found.correctness == pytest.approx(values.mean())
    assert found.standard_error == pytest.approx(values.std(ddof=1) / np.sqrt(40))
