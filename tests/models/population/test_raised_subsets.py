"""Scores of subsets of attributes, raised to those within, against all pairs of subsets."""

from itertools import product

import numpy as np

from reid_sql.models.population.subset_uniqueness import SubsetScore, raise_to_subsets


def test_each_subset_scores_as_the_highest_within_it() -> None:
    rng = np.random.default_rng(5)
    subsets = np.array([each for each in product([False, True], repeat=4) if any(each)])
    subsets = subsets[rng.permutation(len(subsets))]
    given = [SubsetScore(0.1, float(rng.random()), float(rng.random()), "ok") for _ in subsets]
    raised = raise_to_subsets(subsets, given)
    for subset, score, before in zip(subsets, raised, given, strict=True):
        within = [place for place, other in enumerate(subsets) if not any(other & ~subset)]
        assert score.uniqueness_xi == max(given[place].uniqueness_xi for place in within)
        assert score.correctness_kappa == max(given[place].correctness_kappa for place in within)
        assert (score.cell_probability, score.status) == (before.cell_probability, before.status)
