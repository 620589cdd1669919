"""What the first tier leaves of tests/models/pyc/test_extrapolation.py."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.pyc.extrapolation import extrapolate
from tests.models.pyc.test_extrapolation import METHODS, PEOPLE, pyc


def test_the_minimum_of_noisy_points_is_no_worse_than_any_on_a_fine_grid() -> None:
    sizes = np.array([10.0, 50, 200, 1000, 4000])
    kappa = np.array([0.97, 0.9, 0.71, 0.52, 0.36])
    found = extrapolate(sizes, kappa, sizes, "pyc")
    fitted = [pyc(found.parameters["entropy"], found.parameters["tail"], n) for n in sizes]
    least = float(np.log(sizes) @ (kappa - fitted) ** 2)
    for entropy in np.linspace(4, 10, 13):
        for tail in np.linspace(-0.55, 0.95, 16):
            assert np.log(sizes) @ (kappa - [pyc(entropy, tail, n) for n in sizes]) ** 2 >= least


points = st.lists(
    st.tuples(st.floats(2, 1e9), st.floats(0.001, 1)),
    min_size=2,
    max_size=6,
    unique_by=lambda point: point[0],
)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(METHODS), points)
def test_any_points_give_shares_that_never_rise(
    method: str, points: list[tuple[float, float]]
) -> None:
    sizes, kappa = np.array(sorted(points)).T
    found = extrapolate(sizes, kappa, PEOPLE, method)
    assert (np.diff(found.correctness) <= 1e-12).all()
    assert ((found.correctness > 0) & (found.correctness <= 1)).all()
    assert found.status
    if (np.diff(kappa) < 0).all():
        assert (found.correctness[sizes[-1] <= PEOPLE] <= kappa[-1]).all()
        assert (
            found.correctness[kappa[-1] * PEOPLE >= 1] * PEOPLE[kappa[-1] * PEOPLE >= 1]
            >= 1 - 1e-12
        ).all()
