from itertools import product

import numpy as np
import pytest

from reid_sql.models.people.fit import fit
from reid_sql.models.people.tree import ROOT
from reid_sql.models.population.people_subsets import PeopleSubsets, tree_information
from tests.models.people.test_tree import every_cell
from tests.people_tables import three_columns

MODEL = fit(three_columns(300))
CELLS, MANY = every_cell(MODEL.marginals)
OF_MIXTURE = CELLS[:, list(MODEL.free_columns)]  # its columns have an order of their own
Q = np.exp(MODEL.mixture.log_q(OF_MIXTURE)) * MANY  # of all values that a category stands for
CHOICES = np.array([choice for choice in product([False, True], repeat=3) if any(choice)])


@pytest.mark.parametrize("person", [["F", "33", "A"], ["M", "39", None], ["X", "29", "Z"]])
def test_the_others_are_summed_over(person: list[str | None]) -> None:
    codes = MODEL.codes([[value] for value in person])[0]
    found = PeopleSubsets(MODEL, codes).scores(CHOICES, 1e5)[0]
    for chosen, q in zip(CHOICES, found, strict=True):
        alike = (CELLS[:, chosen] == codes[chosen]).all(axis=1)
        several = np.prod(
            [c.multiplicity[codes[j]] for j, c in enumerate(MODEL.marginals) if chosen[j]]
        )
        assert q == pytest.approx(Q[alike].sum() / several, rel=1e-4)


def test_all_columns_score_as_the_model_does() -> None:
    codes = MODEL.codes([["F"], ["33"], ["B"]])
    q, xi, kappa = PeopleSubsets(MODEL, codes[0]).scores(np.ones((1, 3), dtype=bool), 1e5)
    want = MODEL.scored(codes)
    assert q == pytest.approx(want.probability, rel=1e-5)
    assert xi == pytest.approx(want.uniqueness(1e5), abs=1e-3)
    assert kappa == pytest.approx(want.correctness(1e5), abs=1e-3)


def test_mutual_information_is_that_of_all_cells() -> None:
    tree = MODEL.mixture.tree
    assert any(parent != ROOT for parent in tree.parents)
    q = np.exp(tree.log_q(OF_MIXTURE)) * MANY
    bins = np.stack(
        [column.bins[OF_MIXTURE[:, j]] for j, column in enumerate(tree.columns)], axis=1
    )
    found = tree_information(tree)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        joint = np.zeros((len(tree.columns[one].bin_mass), len(tree.columns[other].bin_mass)))
        np.add.at(joint, (bins[:, one], bins[:, other]), q)
        apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        some = joint > 0
        want = float((joint[some] * np.log(joint[some] / apart[some])).sum())
        assert found[one, other] == pytest.approx(want, abs=1e-8)
