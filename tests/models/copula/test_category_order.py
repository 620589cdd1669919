import numpy as np
import pytest

from reid_sql.models.copula.association import normal_table
from reid_sql.models.copula.category_order import category_orders, likeliest_correlation


def test_an_order_that_was_lost_is_found_again() -> None:
    rng = np.random.default_rng(3)
    shares = np.full(6, 1 / 6), np.full(5, 1 / 5), np.full(7, 1 / 7)
    lost = [rng.permutation(len(own)) for own in shares]
    pairs = {}
    for one, other in ((0, 1), (0, 2), (1, 2)):
        table = 1000 * normal_table(shares[one], shares[other], 0.8)
        rows, columns = np.indices(table.shape)
        pairs[one, other] = lost[one][rows.ravel()], lost[other][columns.ravel()], table.ravel()
    for order, hidden in zip(category_orders(shares, pairs, [False] * 3), lost, strict=True):
        true = [int(np.flatnonzero(hidden == code)[0]) for code in order]
        assert true in (sorted(true), sorted(true, reverse=True))


@pytest.mark.parametrize("correlation", [-0.9, 0.0, 0.4])
def test_the_likeliest_correlation_is_that_of_the_table(correlation: float) -> None:
    shares = np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.4])
    table = normal_table(*shares, correlation)
    rows, columns = np.indices(table.shape)
    found = likeliest_correlation(*shares, (rows.ravel(), columns.ravel(), table.ravel()))
    assert found == pytest.approx(correlation, abs=2e-3)
