"""Share of unique people on some columns: against all cells of a small model, and against a copula's own."""

import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError
from reid_sql.models.copula import gaussian_copula
from reid_sql.models.copula.gaussian_copula import GaussianCopula
from reid_sql.models.copula.marginals import fit_marginal
from reid_sql.models.population.people_subsets import SubsetShapes
from reid_sql.models.population.subset_uniqueness import (
    DRAWS,
    score_tree_columns,
    unique_share_by_subset,
)
from tests.cells import each_cell
from tests.models.population.test_people_subsets import CELLS, CHOICES, MODEL, OF_MIXTURE, Q

COPULA = GaussianCopula(
    ("a", "b", "c"),
    tuple(
        fit_marginal(list("123456"), counts, ordered=True) for counts in ([9, 8, 7, 6, 5, 65],) * 3
    ),
    np.array([[1.0, 0.6, 0.2], [0.6, 1.0, 0.1], [0.2, 0.1, 1.0]]),
    100,
    "paper",
    0,
)


@each_cell("chosen", CHOICES)
def test_the_tree_of_some_columns_is_the_whole_summed_over_the_others(chosen: np.ndarray) -> None:
    tree = MODEL.mixture.tree
    whole = np.exp(tree.log_q(OF_MIXTURE)) * np.prod(
        [column.multiplicity[own] for column, own in zip(tree.columns, OF_MIXTURE.T, strict=True)],
        axis=0,
    )
    places = np.flatnonzero(chosen).tolist()
    found = np.exp(score_tree_columns(tree, OF_MIXTURE, places))
    keys, back = np.unique(OF_MIXTURE[:, places], axis=0, return_inverse=True)
    sums = np.bincount(back.ravel(), whole)
    several = np.prod([tree.columns[j].multiplicity[OF_MIXTURE[:, j]] for j in places], axis=0)
    assert len(keys) <= len(OF_MIXTURE)
    assert found * several == pytest.approx(sums[back.ravel()], rel=1e-9)


@each_cell("people", [300.0, 3_000.0, 1e5])
@each_cell("chosen", CHOICES)
def test_unique_people_are_those_of_all_cells_within_the_chance_of_the_draws(
    chosen: np.ndarray, people: float
) -> None:
    several = np.prod(
        [MODEL.marginals[j].multiplicity[CELLS[:, j]] for j in np.flatnonzero(chosen)], axis=0
    )
    back = np.unique(CELLS[:, chosen], axis=0, return_inverse=True)[1].ravel()
    q = np.bincount(back, Q)[back] / several
    shapes = np.exp(SubsetShapes(MODEL).log_shapes(chosen[None, :], people)[0])
    xi = ((1 + people * q[:, None] / shapes) ** -(shapes + 1)) @ MODEL.shapes
    want = float(Q @ xi)
    chance = np.sqrt(max(float(Q @ xi**2) - want**2, 0.0) / DRAWS)
    found = unique_share_by_subset(MODEL, people)(np.flatnonzero(chosen).tolist())
    assert found == pytest.approx(want, abs=4 * chance + 2e-3 * want + 1e-9)


def test_all_columns_are_as_unique_as_the_model_says() -> None:
    people = 300.0
    found = unique_share_by_subset(MODEL, people)([0, 1, 2])
    assert found == pytest.approx(MODEL.unique_share(people), rel=0.15)
    assert found > 0.01
    tree = MODEL.mixture.tree
    assert np.exp(tree.log_q(OF_MIXTURE)) == pytest.approx(
        np.exp(score_tree_columns(tree, OF_MIXTURE, [0, 1, 2]))
    )


@pytest.mark.parametrize("places", [[0], [0, 1], [1, 2], [0, 1, 2]])
def test_part_of_a_copula_is_as_unique_as_its_own_population(places: list[int]) -> None:
    want = gaussian_copula.forecast_copula(COPULA.select(places), [40.0])[0].uniqueness
    assert unique_share_by_subset(COPULA, 40.0)(places) == pytest.approx(want, abs=0.03)
    assert want > 0.001


def test_nothing_known_tells_nobody_apart() -> None:
    for model in (MODEL, COPULA):
        assert unique_share_by_subset(model, 1000.0)([]) == 0
        assert unique_share_by_subset(model, 1.0)([]) == 1


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(
        OutOfDomainError, match="model must be a model of fit_copula or fit_people, got str"
    ):
        unique_share_by_subset("m", 10.0)  # type: ignore[arg-type]
