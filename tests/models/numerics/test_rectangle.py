import json
from itertools import product
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from reid_sql.errors import OutOfDomainError
from reid_sql.models.numerics.rectangle import (
    Precision,
    factorize,
    nearest_correlation,
)
from tests.cells import each_cell
from tests.conftest import DATA
from tests.rectangles import rectangle_probabilities


@given(st.integers(2, 8), st.integers(0, 10_000))
def test_the_nearest_correlation_is_one_and_no_sampled_one_is_nearer(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.tril(rng.uniform(-1, 1, (size, size)), -1)
    matrix = matrix + matrix.T + np.eye(size)
    found = nearest_correlation(matrix)
    assert np.linalg.eigvalsh(found)[0] > -1e-9
    assert np.allclose(np.diag(found), 1)
    least = np.linalg.norm(found - matrix)
    for _ in range(20):
        factors = rng.normal(size=(size, size))
        other = factors @ factors.T
        other /= np.sqrt(np.outer(np.diag(other), np.diag(other)))
        for share in (1, 0.1, 0.01):
            assert np.linalg.norm(found + share * (other - found) - matrix) >= least - 1e-6


def test_a_correlation_stays_as_it_is_and_higham_s_example_comes_out() -> None:
    remaining = np.array([[1, 0.5], [0.5, 1]])
    assert (nearest_correlation(remaining) == remaining).all()
    found = nearest_correlation([[1, 1, 0], [1, 1, 1], [0, 1, 1]])  # Higham 2002, section 4
    assert found == pytest.approx(
        np.array([[1, 0.7607, 0.1573], [0.7607, 1, 0.7607], [0.1573, 0.7607, 1]]), abs=5e-5
    )


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 10_000))
def test_the_factors_give_the_matrix_back(size: int, rank: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(size, min(rank, size)))
    matrix = factors @ factors.T
    matrix /= np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    steps = list(factorize(matrix, rng.permutation(size).tolist()))
    assert sorted(column for step in steps for column in step.columns) == list(range(size))
    triangle = np.zeros((size, len(steps)))
    for place, step in enumerate(steps):
        triangle[step.columns, place] = step.slopes
        triangle[step.later, place] = step.ahead
    assert triangle @ triangle.T == pytest.approx(matrix, abs=1e-5)


REFERENCE = DATA.parent / "maths" / "rectangle_probabilities.json"
INFINITE = float("inf")


def one(
    lower: list[float], upper: list[float], correlation: list[list[float]], **precision: float
) -> tuple[float, float]:
    """Probability and standard error of a single rectangle."""
    found = rectangle_probabilities(
        [lower],
        [upper],
        correlation,
        Precision(**precision),  # type: ignore[arg-type]
    )
    return float(found.probability[0]), float(found.standard_error[0])


def equicorrelated(size: int, correlation: float) -> list[list[float]]:
    return [
        [1.0 if row == column else correlation for column in range(size)] for row in range(size)
    ]


def by_conditioning(lower: list[float], upper: list[float], correlation: float) -> float:
    """Two coordinates, by quadrature over the first."""
    with mpmath.workdps(30):
        rest = mpmath.sqrt(1 - mpmath.mpf(correlation) ** 2)

        def inside(z: mpmath.mpf) -> mpmath.mpf:
            ends = [(bound - correlation * z) / rest for bound in (lower[1], upper[1])]
            return (mpmath.ncdf(ends[1]) - mpmath.ncdf(ends[0])) * mpmath.npdf(z)

        breaks = {end / correlation for end in (lower[1], upper[1])} if correlation else set()
        near = {at + sign * 8 * float(rest) for at in breaks for sign in (-1, 0, 1)}
        return float(
            mpmath.quad(
                inside, sorted({lower[0], upper[0], *(x for x in near if lower[0] < x < upper[0])})
            )
        )


def test_independent_coordinates_multiply() -> None:
    lower, upper = [-1.0, 0.3, 2.0, -INFINITE], [0.5, 0.4, INFINITE, 1.0]
    found, error = one(lower, upper, np.eye(4).tolist())
    assert found == pytest.approx(float(np.prod(ndtr(upper) - ndtr(lower))), rel=1e-10)
    assert error <= 1e-12


@each_cell("correlation", [-0.99, -0.3, 0.2, 0.9, 0.999, 1 - 1e-6, 1 - 1e-9])
@pytest.mark.first(cells=2)
def test_two_coordinates(correlation: float) -> None:
    for lower, upper in (
        ([-1.0, -0.5], [0.3, 2.0]),
        ([0.4, -1.0], [0.6, 0.45]),
        ([1.0, 1.01], [3.0, 1.02]),
    ):
        matrix = [[1.0, correlation], [correlation, 1.0]]
        exact = by_conditioning(lower, upper, correlation)
        if exact > 1e-12:
            assert one(lower, upper, matrix)[0] == pytest.approx(exact, rel=1e-3)


def test_orthants() -> None:
    found, _ = one([0.0] * 3, [INFINITE] * 3, equicorrelated(3, 0.5))
    assert found == pytest.approx(0.25, rel=1e-3)  # 1/(d + 1) at a correlation of one half


def test_a_singular_matrix_leaves_what_its_columns_share() -> None:
    lower, upper = [-1.0, -0.5, -3.0], [0.3, 2.0, 0.1]
    found, _ = one(lower, upper, equicorrelated(3, 1.0))
    assert found == pytest.approx(float(ndtr(0.1) - ndtr(-0.5)), rel=1e-12)
    opposite = [[1.0, -1.0], [-1.0, 1.0]]
    assert one([0.0, -0.7], [1.0, 5.0], opposite)[0] == pytest.approx(
        float(ndtr(0.7) - 0.5), rel=1e-12
    )
    assert one([0.0, 0.0], [1.0, 5.0], opposite)[0] <= 1e-300


def test_a_sum_of_two_coordinates_settles_the_third() -> None:
    root = 0.5**0.5
    matrix = [[1.0, 0.0, root], [0.0, 1.0, root], [root, root, 1.0]]
    with mpmath.workdps(20):

        def inside(z: mpmath.mpf) -> mpmath.mpf:
            low, high = max(-1.0, 0.2 / root - z), min(1.0, 1.0 / root - z)
            return mpmath.npdf(z) * (mpmath.ncdf(high) - mpmath.ncdf(low) if high > low else 0)

        exact = float(mpmath.quad(inside, np.linspace(-1, 1, 41).tolist()))
    found, _ = one([-1.0, -1.0, 0.2], [1.0, 1.0, 1.0], matrix)
    assert found == pytest.approx(exact, rel=1e-3)


@pytest.mark.skipif(not REFERENCE.exists(), reason="no folder of reference values beside the data")
def test_reference_rectangles() -> None:
    cases = json.loads(Path(REFERENCE).read_text(encoding="utf-8"))["cases"]
    for case in cases:
        found, error = one(case["lower"], case["upper"], case["corr"])
        assert found == pytest.approx(case["probability"], rel=1e-3), case["id"]
        assert abs(found - case["probability"]) <= 5 * error + 1e-4 * found


def test_cells_of_a_table_add_up_to_one() -> None:
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(4, 2))
    matrix = factors @ factors.T + np.eye(4)
    matrix /= np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    cuts = [[-INFINITE, -1.0, 0.0, 0.1, INFINITE]] * 4
    cells = np.array(
        [
            [(row[at], row[at + 1]) for row, at in zip(cuts, some, strict=True)]
            for some in product(range(4), repeat=4)
        ]
    )
    found = rectangle_probabilities(cells[..., 0], cells[..., 1], matrix)
    assert found.probability.sum() == pytest.approx(1, abs=1e-3)


def test_a_rectangle_depends_on_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    lower = rng.normal(size=(300, 5)).round(1)
    upper = lower + 0.5
    matrix = equicorrelated(5, 0.4)
    together = rectangle_probabilities(lower, upper, matrix, Precision(256, 256)).probability
    monkeypatch.setattr("reid_sql.models.numerics.rectangle.os.cpu_count", lambda: 1)
    turned = rectangle_probabilities(
        lower[::-1], upper[::-1], matrix, Precision(256, 256)
    ).probability[::-1]
    assert (together == turned).all()
    order = np.argsort((ndtr(upper) - ndtr(lower)).mean(axis=0), kind="stable")
    for place in range(0, 300, 60):
        ends = lower[place : place + 1], upper[place : place + 1]
        if (np.argsort((ndtr(ends[1]) - ndtr(ends[0])).mean(axis=0), kind="stable") == order).all():
            assert (
                rectangle_probabilities(*ends, matrix, Precision(256, 256)).probability[0]
                == together[place]
            )


def test_nothing_is_ever_zero_and_the_far_tail_is_exact() -> None:
    assert one([9.0, 9.0], [9.1, 9.1], equicorrelated(2, 0.0))[0] == pytest.approx(
        float((ndtr(-9) - ndtr(-9.1)) ** 2), rel=1e-9
    )
    assert one([39.0, 39.0], [39.5, 39.5], equicorrelated(2, 0.0))[0] > 0


@pytest.mark.parametrize(
    ("lower", "upper", "matrix", "words"),
    [
        ([1.0, 0.0], [0.0, 1.0], equicorrelated(2, 0.0), "lower must be at most upper"),
        ([0.0, float("nan")], [1.0, 1.0], equicorrelated(2, 0.0), "lower must be at most upper"),
        (
            [0.0],
            [1.0],
            equicorrelated(2, 0.0),
            "correlation must be a 1 x 1 matrix of finite numbers, got",
        ),
        (
            [0.0] * 2,
            [1.0] * 2,
            [[1.0, 2.0], [2.0, 1.0]],
            "correlation must have no negative eigenvalue, got -1",
        ),
        (
            [0.0] * 2,
            [1.0] * 2,
            [[1.0, 0.1], [0.2, 1.0]],
            "correlation must be symmetric with ones on its diagonal, got",
        ),
    ],
)
def test_bad_input_is_refused(
    lower: list[float], upper: list[float], matrix: list[list[float]], words: str
) -> None:
    with pytest.raises(OutOfDomainError, match=words):
        one(lower, upper, matrix)
