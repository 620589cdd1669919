import numpy as np
import pytest

from reid_sql.models.numerics.partial_least_squares import predict

DRAWN = np.random.default_rng(2)
COLUMNS = DRAWN.normal(size=(300, 8)) @ DRAWN.normal(size=(8, 8))
RESPONSE = (COLUMNS[:, 0] + COLUMNS[:, 3] ** 2 + DRAWN.normal(size=300) > 1).astype(float)


@pytest.mark.parametrize("factors", [1, 2, 3, 8])
def test_it_is_least_squares_within_the_krylov_space(factors: int) -> None:
    x = (COLUMNS - COLUMNS.mean(axis=0)) / COLUMNS.std(axis=0)
    step = x.T @ (RESPONSE - RESPONSE.mean())
    space = [step / np.linalg.norm(step)]
    for _ in range(factors - 1):
        step = x.T @ (x @ space[-1])
        space.append(step / np.linalg.norm(step))
    basis = x @ np.linalg.qr(np.stack(space, axis=1))[0]
    fitted = RESPONSE.mean() + basis @ np.linalg.lstsq(basis, RESPONSE - RESPONSE.mean(), rcond=None)[0]
    assert predict(list(COLUMNS.T), RESPONSE, factors) == pytest.approx(fitted, abs=1e-8)


def test_constant_columns_and_responses_foresee_the_mean() -> None:
    assert predict([np.ones(4)], [1, 0, 1, 0]).tolist() == [0.5] * 4
    assert predict([np.arange(4)], [1, 1, 1, 1]).tolist() == [1.0] * 4


def test_more_factors_than_columns_are_no_harm() -> None:
    assert predict([np.arange(4)], [0, 0, 1, 1], 9) == pytest.approx(np.array([-0.1, 0.3, 0.7, 1.1]))
