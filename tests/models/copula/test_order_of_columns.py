"""The order of a table's columns moves no figure of a copula."""

from itertools import permutations

import numpy as np
import pytest

from reid_sql.models.copula.copula_fit import fit_copula
from reid_sql.models.copula.gaussian_copula import GaussianCopula, forecast_copula, sample_codes
from reid_sql.models.evidence import rows_from_columns
from tests.cells import each_cell

NAMES = ("town", "age", "sex", "trade")


def draw_table() -> dict[str, list[str]]:
    rng = np.random.default_rng(11)
    age, sex = rng.integers(20, 60, 400), rng.integers(0, 2, 400)
    columns = rng.integers(0, 15, 400), age, sex, (age // 8 + sex + rng.integers(0, 3, 400)) % 9
    return {name: [str(value) for value in own] for name, own in zip(NAMES, columns, strict=True)}


TABLE = draw_table()


def fit_in_order(names: tuple[str, ...], method: str) -> GaussianCopula:
    return fit_copula(rows_from_columns({name: TABLE[name] for name in names}), ["age"], method)


@each_cell("names", list(permutations(NAMES))[7::8])
@each_cell("method", ["paper", "calibrated", "sharp"])
@pytest.mark.first(cells=3)
def test_correlations_scores_forecasts_and_samples_are_the_same(
    names: tuple[str, ...], method: str
) -> None:
    first, other = fit_in_order(NAMES, method), fit_in_order(names, method)
    places = [names.index(name) for name in NAMES]
    np.testing.assert_allclose(
        other.correlation[np.ix_(places, places)], first.correlation, atol=1e-9
    )
    scores = [
        model.cell_probability([TABLE[name][:30] for name in own]).probability
        for model, own in ((first, NAMES), (other, names))
    ]
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-6)
    shares = [forecast_copula(model, [1e4])[0].uniqueness for model in (first, other)]
    assert shares[1] == pytest.approx(shares[0], abs=1e-6)
    drawn, others = (model.texts(sample_codes(model, np.arange(20), 0)) for model in (first, other))
    assert [others[place] for place in places] == drawn
