import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.models.numerics.correlation import factorised, nearest_correlation


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
    kept = np.array([[1, 0.5], [0.5, 1]])
    assert (nearest_correlation(kept) == kept).all()
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
    steps = list(factorised(matrix, rng.permutation(size).tolist()))
    assert sorted(column for step in steps for column in step.columns) == list(range(size))
    triangle = np.zeros((size, len(steps)))
    for place, step in enumerate(steps):
        triangle[step.columns, place] = step.slopes
        triangle[step.later, place] = step.ahead
    assert triangle @ triangle.T == pytest.approx(matrix, abs=1e-5)
