import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.uniqueness import (
    correctness_from_probability,
    correctness_from_uniqueness,
    uniqueness_from_probability,
)


@given(st.floats(0, 1), st.floats(1, 8e9))
def test_probabilities_stay_probabilities_and_uniqueness_never_exceeds_correctness(
    p: float, n: float
) -> None:
    xi, kappa = float(uniqueness_from_probability(p, n)), float(correctness_from_probability(p, n))
    assert 0 <= xi <= kappa * (1 + 1e-12) <= 1 + 1e-12
    assert kappa * (1 + 1e-12) >= 1 / n


@given(st.floats(1e-6, 0.5), st.floats(2, 1e4))
def test_correctness_by_either_way_is_the_same(p: float, n: float) -> None:
    xi = uniqueness_from_probability(p, n)
    if xi > 1e-300:
        assert correctness_from_uniqueness(xi, n) == pytest.approx(
            float(correctness_from_probability(p, n)), rel=1e-6
        )


def test_arguments_broadcast() -> None:
    assert uniqueness_from_probability(np.array([[0.1], [0.2]]), [1, 2, 3]).shape == (2, 3)


@pytest.mark.parametrize("bad", [-1e-9, 1.0000001, float("nan"), float("inf")])
def test_what_is_no_probability_is_refused(bad: float) -> None:
    for function in (uniqueness_from_probability, correctness_from_probability, correctness_from_uniqueness):
        with pytest.raises(OutOfDomainError, match="must be a probability between 0 and 1, got"):
            function(bad, 10)
        with pytest.raises(OutOfDomainError, match="n must be a number of people of at least 1"):
            function(0.5, 0.99)
