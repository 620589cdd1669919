import mpmath as mp
import numpy as np
import pytest

from reid_sql.models.marginals import fit_column
from reid_sql.models.marginals.column import Column
from reid_sql.models.marginals.fit_column import (
    EDGES,
    MIN_CLASS_WEIGHT,
    estimate_unseen,
    fit_nominal,
)
from tests.cells import each_cell


def column(sample: np.ndarray) -> Column:
    counts = np.unique(sample, return_counts=True)[1].astype(np.float64)
    return fit_nominal("x", [str(place) for place in range(len(counts))], counts, 256)


@each_cell("records", [1000, 10_000])
@each_cell(
    "law, near",
    [
        ("zipf 1.2", 0.06),
        ("zipf 1.5", 0.02),
        ("zipf 2.2", 0.01),
        ("one of 1e6", 0.25),
        ("one of 1e4", 0.05),
    ],
)
def test_uniques_of_a_population_whose_law_is_known(law: str, near: float, records: int) -> None:
    """Of 300,000 people with one column, by count: no single share of all unseen values predicts it."""
    rng = np.random.default_rng(7)
    kind, parameter = law.split(" ", 1)
    if kind == "zipf":
        people = np.minimum(rng.zipf(float(parameter), 300_000), 10**12)
    else:
        people = rng.integers(0, int(float(parameter.removeprefix("of "))), 300_000)
    sizes = np.unique(people, return_counts=True)[1]
    true = (sizes == 1).sum() / len(people)
    found = column(people[:records])
    codes = np.append(np.arange(len(found.seen)), np.full(20_000, found.other_code))
    weight = np.append(found.mass[:-1], np.full(20_000, found.mass[-1] / 20_000))
    log_q = found.log_share[codes] + found.draw_log_rarity(codes, rng)
    assert weight @ np.exp(-len(people) * np.exp(log_q)) == pytest.approx(true, abs=near)


def test_the_law_of_the_rarity_by_another_way() -> None:
    """Weights of r and θ from the counts of 1 to 8, and the gamma law's integral, all in 30 digits."""
    mp.mp.dps = 30
    tail = {1: 30, 2: 9, 3: 4, 5: 1}
    counts = np.array([float(j) for j, many in tail.items() for _ in range(many)] + [40.0] * 5)
    weights, level = {}, mp.mpf(0)
    for r in fit_column.TAIL_EXPONENTS.tolist():
        for theta in fit_column.TAIL_RATIOS.tolist():
            terms = {j: mp.gamma(r + j) / mp.factorial(j) * mp.mpf(theta) ** j for j in range(1, 9)}
            all_terms = mp.fsum(terms.values())
            weights[r, theta] = mp.fprod((terms[j] / all_terms) ** many for j, many in tail.items())
    for (r, theta), weight in weights.items():
        level += weight * mp.gammainc(mp.mpf(r) + 1, 0, mp.mpf(EDGES[16]) / theta, regularized=True)
    level /= mp.fsum(weights.values())
    found = estimate_unseen(counts)
    shares = np.exp(found.rarity.log_ratio) * found.share * counts.sum()
    assert float(found.rarity.weight[shares <= EDGES[16]].sum()) == pytest.approx(
        float(level), abs=1e-4
    )
    assert found.rarity.weight.sum() == pytest.approx(1)
    assert (found.rarity.weight > MIN_CLASS_WEIGHT / 2).all()


def test_all_values_unseen_but_one_record_each() -> None:
    found = column(np.arange(500))
    assert found.mass[-1] > 0.99
    assert found.mass.sum() == pytest.approx(1)
    assert np.exp(found.log_share[0]) < 1e-4


@pytest.mark.parametrize(
    ("once", "twice", "mass", "values"),
    # Chao: 30 · 29 / (2 · 2) and 40 · 39 / (2 · 6) values. The last would be 40 · 39 / (2 · 11) = 71, each of
    # more than half a record; at half a record, 40 records are of 80 values.
    [(30, 1, 0.3, 217.5), (40, 5, 0.4, 130), (40, 10, 0.4, 80)],
)
def test_how_many_values_were_never_seen(once: int, twice: int, mass: float, values: float) -> None:
    """Of 100 records, as many values once and twice, and one value for the rest."""
    counts = np.repeat([1.0, 2.0, 100.0 - once - 2 * twice], [once, twice, 1])
    found = estimate_unseen(counts)
    assert found.mass == pytest.approx(mass)
    assert found.mass / found.share == pytest.approx(values)
