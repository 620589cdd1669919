"""Samples with weights: some people are likelier to be in the sample than others."""

from dataclasses import replace

import numpy as np
import pytest

from reid_sql.models.people.evidence import PeopleEvidence, count_records
from reid_sql.models.people.fit import fit
from reid_sql.models.population_risk.answer import answer
from reid_sql.parameters import Floats, Integers

PEOPLE = 60_000


def town(rng: np.random.Generator) -> Integers:
    """A stratum, a street by stratum, an age and a job, of which a fifth is rare."""
    stratum = rng.integers(0, 2, PEOPLE)
    street = stratum * 150 + (150 * rng.random(PEOPLE) ** 2).astype(np.int64)
    job = (80 * rng.random(PEOPLE) ** 3).astype(np.int64)
    return np.stack([stratum, street, rng.integers(18, 80, PEOPLE), job], axis=1)


def weighted(codes: Integers, weight: Floats) -> PeopleEvidence:
    """Count a sample as an engine does: each drawn record has the mean weight of its class."""
    coded = [np.unique(column, return_inverse=True) for column in codes.T]
    table = np.stack([code.ravel() for _, code in coded], axis=1)
    names = [[str(value) for value in seen.tolist()] for seen, _ in coded]
    evidence = count_records(
        table, [f"c{j}" for j in range(len(names))], names, [False] * len(names)
    )
    scaled = weight * len(weight) / weight.sum()
    sums = tuple(
        np.bincount(own, scaled, len(some)).astype(np.float64)
        for own, some in zip(table.T, names, strict=True)
    )
    _, place, size = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    mean = (np.bincount(place.ravel(), weight) / size)[place.ravel()]
    drawn = mean[np.random.default_rng(0).permutation(len(codes))]
    return replace(evidence, value_weights=sums, drawn_weight=drawn)


def test_effective_records_are_those_whose_mean_varies_as_much() -> None:
    """The variance of a weighted mean of independent records is Σ w² / (Σ w)²; without weights it is 1/n."""
    weight = np.repeat([1.0, 4.0], [300, 100])
    evidence = weighted(np.arange(400)[:, None], weight)
    means = np.random.default_rng(1).normal(size=(40_000, 400)) @ (weight / weight.sum())
    assert evidence.effective_records == pytest.approx(1 / means.var(), rel=0.03)
    assert weighted(np.arange(400)[:, None], np.full(400, 3.0)).effective_records == pytest.approx(
        400
    )


def test_the_model_has_the_shares_of_the_weights() -> None:
    codes = town(np.random.default_rng(2))
    chance = np.where(codes[:, 0] == 0, 0.01, 0.04)
    rows = np.flatnonzero(np.random.default_rng(3).random(PEOPLE) < chance)
    model = fit(weighted(codes[rows], 1 / chance[rows]))
    place = model.free_columns.index(0) if 0 in model.free_columns else None
    drawn = model.mixture.tree.draw(20_000, np.random.default_rng(4))
    texts = model.marginals[1].texts(drawn[:, model.free_columns.index(1)])
    in_first = np.mean([int(text) < 150 for text in texts if text is not None])
    assert in_first == pytest.approx(0.5, abs=0.03)  # of the sample it is a fifth
    assert place is None or model.marginals[0].mass[0] == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("inside", [True, False])
def test_intervals_of_weighted_samples_contain_the_truth(inside: bool) -> None:  # noqa: FBT001
    codes = town(np.random.default_rng(5))
    first = codes[:, 0] == 0 if inside else np.random.default_rng(6).random(PEOPLE) < 0.5
    chance = np.where(first, 0.01, 0.04)
    asked = codes if inside else codes[:, 1:]
    _, place, size = np.unique(asked, axis=0, return_inverse=True, return_counts=True)
    own = size[place.ravel()]
    truth = {
        "uniqueness": (own == 1).mean(),
        "correctness": (1 / own).mean(),
        "below_k": (own < 5).mean(),
    }
    for seed in range(3):
        rows = np.flatnonzero(np.random.default_rng([7, seed]).random(PEOPLE) < chance)
        row = answer(weighted(asked[rows], 1 / chance[rows]), [PEOPLE])[0]
        for name, share in truth.items():
            assert getattr(row, f"{name}_low") <= share <= getattr(row, f"{name}_high")
            assert getattr(row, f"{name}_high") - getattr(row, f"{name}_low") < 0.5
        assert "weighted: " in row.status
