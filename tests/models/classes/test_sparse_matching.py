import numpy as np
import pytest

from reid_sql.models.classes.sparse_matching import Matches, curve


def test_a_gallery_holds_a_random_share_of_the_rivals() -> None:
    rng = np.random.default_rng(0)
    people, rivals, n = 50, 9, 20
    drawn = np.array([(rng.permutation(people - 1)[: n - 1] < rivals).sum() for _ in range(20_000)])
    matches = Matches(np.array([rivals + 1]), np.array([1.0]), np.array([people]), np.array([0]))
    assert curve(matches, [n])[0].correctness == pytest.approx((1 / (1 + drawn)).mean(), abs=0.003)


def test_the_standard_error_is_that_of_the_draws() -> None:
    # 30 draws are right for sure, 10 in one of four cases; the whole table is the gallery.
    matches = Matches(np.array([1, 4]), np.array([30.0, 10.0]), np.array([8, 8]), np.array([40, 40]))
    values = np.r_[np.ones(30), np.full(10, 0.25)]
    found = curve(matches, [8])[0]
    assert found.correctness == pytest.approx(values.mean())
    assert found.standard_error == pytest.approx(values.std(ddof=1) / np.sqrt(40))
