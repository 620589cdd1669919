import mpmath as mp
import numpy as np
import pytest

from reid_sql.models.pyc import pitman_yor
from reid_sql.models.pyc.measurements import (
    LATTICE_SHARES,
    MEASURES,
    SURPRISAL,
    equal_sets_law,
    measure_at_share,
    pitman_yor_law,
    skew_lognormal_law,
    surprisal_kernel,
)
from tests.cells import each_cell


def of_one_person(measure: str, n: int, p: float, k: int) -> float:
    """What happens to a person among n − 1 others, each in the same set with chance p: in many digits.

    It is counted out.
    """
    with mp.workdps(40):
        share = mp.mpf(p)
        chance = [mp.binomial(n - 1, j) * share**j * (1 - share) ** (n - 1 - j) for j in range(n)]
        if measure == "correctness":
            return float(mp.fsum(c / (j + 1) for j, c in enumerate(chance)))
        return float(mp.fsum(chance[: 1 if measure == "uniqueness" else k - 1]))


@each_cell("measure", MEASURES.words)
@each_cell("k", [1, 2, 5, 9])
def test_each_point_is_the_chance_of_a_person_among_others(measure: str, k: int) -> None:
    for n in (1, 2, 5, 40):
        row = surprisal_kernel(measure, np.array([float(n)]), k)[0]
        for place in (1, 8, 40, 160, 320):
            expected = of_one_person(measure, n, float(LATTICE_SHARES[place]), k)
            assert row[place] == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_two_small_classes_are_counted_out() -> None:
    assert measure_at_share("k_violation", 3, 0.5, 2) == pytest.approx(0.25)
    assert measure_at_share("k_violation", 4, 0.5, 5) == 1
    assert measure_at_share("correctness", 2, 0.5) == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("entropy", "tail"), [(6.0, 0.0), (9.0, 0.4), (12.0, 0.9), (8.0, -0.5), (14.0, 1.0)]
)
def test_the_law_of_a_pitman_yor_process_gives_its_curves(entropy: float, tail: float) -> None:
    law = pitman_yor_law(*(float(value) for value in pitman_yor.parameters(entropy, tail)))
    n = np.array([10.0, 1e3, 1e5, 1e7])
    closed = {
        "correctness": pitman_yor.correctness(entropy, tail, n),
        "uniqueness": pitman_yor.uniqueness(entropy, tail, n),
        "k_violation": pitman_yor.k_violation(entropy, tail, n, 5),
    }
    for measure, expected in closed.items():
        assert surprisal_kernel(measure, n) @ law == pytest.approx(expected, abs=2e-3)


def test_laws_are_laws() -> None:
    for law in (
        skew_lognormal_law(3.0, 5.0, -4.0),
        pitman_yor_law(-0.5, 40.0),
        equal_sets_law(7.3),
        equal_sets_law(60.0),
    ):
        assert law.sum() == pytest.approx(1)
        assert (law >= 0).all()
    assert (
        skew_lognormal_law(12.0, 2.0, 6.0) @ SURPRISAL
        > 12
        > skew_lognormal_law(12.0, 2.0, -6.0) @ SURPRISAL
    )


@pytest.mark.parametrize("people", [2.0, 1e3, 67e6])
def test_among_people_who_are_all_alike_nobody_is_unique(people: float) -> None:
    """At no surprisal at all, the set is everybody: a guess is right for one of them."""
    of = {name: float(surprisal_kernel(name, np.array([people]))[0, 0]) for name in MEASURES.words}
    assert of["uniqueness"] < 1e-9
    assert of["correctness"] == pytest.approx(1 / people, rel=1e-9)
    assert of["k_violation"] == pytest.approx(1.0 if people < 5 else 0.0, abs=1e-9)
