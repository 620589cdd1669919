"""Whether another combination of the model's parts would rank persons better by uniqueness, and by how much.

`python -m benchmarks.accuracy.people_combined adult 0.01 20` prints the AUC of the model, of the geometric
mean of tree and donors, of a composite of all pairs of columns, and of a correction that is fitted to the
true uniqueness of persons under other choices of columns of the same table. No user knows the latter: it
shows what a correction could gain at most.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

from benchmarks.accuracy.copulas import PERSONS, Population, populations
from benchmarks.accuracy.people_cases import Coded, table
from benchmarks.accuracy.people_persons import auc
from reid_sql.models.people.evidence import PeopleEvidence, row_keys
from reid_sql.models.people.fit import fit
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.people.tree import PairTables
from reid_sql.parameters import Floats, Integers

FOLDS: Final = 5
COMPOSITE_WEIGHT: Final = 0.3
LEAST: Final = -60.0  # ln q below which no person has a twin in any of these tables
PENALTY: Final = 1e-4


@dataclass(frozen=True)
class Ranked:
    """Persons of one population who are not in the sample."""

    unique: Floats
    alone: npt.NDArray[np.bool_]  # nobody in the sample has the person's record
    log_q: dict[str, Floats]
    features: Floats  # (persons, features)


def ranked(whole: Coded, population: Population, fraction: float) -> Ranked:
    """Fit the sample of a population, and combine what its parts say of a thousand others."""
    columns = [whole.columns.index(name) for name in population.columns]
    order = np.random.default_rng(population.seed).permutation(len(whole.codes))
    size = round(fraction * len(whole.codes))
    rows, others = order[:size], order[size : size + PERSONS]
    key = row_keys(whole.codes[:, columns])
    evidence = whole.sampled(columns, rows)[1]
    model = fit(evidence)
    values = [[whole.values[j][code] for code in whole.codes[others, j].tolist()] for j in columns]
    log_q = np.log(np.maximum(model.cell_probability(values).probability, np.exp(LEAST)))
    codes = model.replace_values_without_share(model.codes(values))
    unique = (np.bincount(key)[key] == 1)[others].astype(np.float64)
    alone = np.bincount(key[rows], minlength=key.max() + 1)[key[others]] == 0
    return Ranked(unique, alone, *_combined(model, evidence, codes, log_q))


def _combined(
    model: PeopleModel, evidence: PeopleEvidence, codes: Integers, log_q: Floats
) -> tuple[dict[str, Floats], Floats]:
    """ln q by each combination, and the features of the correction, each also squared and times ln q."""
    mixture = replace(model.mixture, classes=None)
    assert mixture.donors is not None
    of_mixture = codes[:, list(model.free_columns)]
    tree, donors = mixture.tree.log_q(of_mixture), mixture.donors.log_q(of_mixture)
    rest = log_q - mixture.log_q(of_mixture)  # of determined columns and of values without a share
    shares = np.array([column.log_share[codes[:, j]] for j, column in enumerate(model.marginals)])
    pairs = composite(model, evidence, codes) + shares.sum(axis=0) + rest
    named = {
        "model": log_q,
        "geometric mean": (tree + donors) / 2 + rest,
        "composite": (1 - COMPOSITE_WEIGHT) * log_q + COMPOSITE_WEIGHT * pairs,
    }
    rarest = np.sort(shares, axis=0)[:2].sum(axis=0)
    parts = [log_q, tree, donors, shares.sum(axis=0), shares.min(axis=0), rarest, shares.std(axis=0)]
    own = np.clip(np.stack(parts, axis=1), LEAST, None)
    width = np.full((len(codes), 1), len(model.columns))
    return named, np.concatenate([own, own**2, own * own[:, :1], width], axis=1)


def composite(model: PeopleModel, evidence: PeopleEvidence, codes: Integers) -> Floats:
    """2/m times the sum over pairs of ln p(x, y)/(p(x) p(y)): the mean over all trees of m columns."""
    tables, count = PairTables(model.marginals, evidence), len(model.marginals)
    bins = [column.bins[codes[:, j]] for j, column in enumerate(model.marginals)]
    total = np.zeros(len(codes))
    for one, other in permutations(range(count), 2):
        chance = tables.conditional(one, other).log_chance[bins[one], bins[other]]
        total += chance - np.log(model.marginals[other].bin_mass[bins[other]])
    return total / count


def corrected(learnt: Sequence[Ranked]) -> Callable[[Ranked], Floats]:
    """Fit a logistic regression of being unique on the features."""
    x = np.concatenate([one.features[one.alone] for one in learnt])
    unique = np.concatenate([one.unique[one.alone] for one in learnt])
    mean, scale = x.mean(axis=0), x.std(axis=0) + 1e-9

    def design(features: Floats) -> Floats:
        return np.column_stack([(features - mean) / scale, np.ones(len(features))])

    z = design(x)

    def loss(beta: Floats) -> tuple[float, Floats]:
        score = z @ beta
        slope = z.T @ (expit(score) - unique) / len(unique) + 2 * PENALTY * beta
        return float(np.mean(np.logaddexp(0, score) - unique * score) + PENALTY * beta @ beta), slope

    beta = minimize(loss, np.zeros(z.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 2000}).x
    return lambda one: np.asarray(-(design(one.features) @ beta))


def main() -> None:
    """Print the mean AUC of each combination over the populations of a table."""
    corpus, fraction, count = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    whole = table(corpus)
    found = [ranked(whole, population, fraction) for population in populations(corpus, count, 2025)]
    found = [one for one in found if 0 < one.unique.mean() < 1]
    areas: dict[str, list[float]] = {}
    for fold in range(FOLDS):
        correct = corrected([one for place, one in enumerate(found) if place % FOLDS != fold])
        for one in found[fold::FOLDS]:
            for name, log_q in (one.log_q | {"correction by the truth": correct(one)}).items():
                scores = np.where(one.alone, -log_q, -np.inf)
                areas.setdefault(name, []).append(auc(scores, one.unique))
    for name, area in areas.items():
        print(f"{corpus} {fraction}: {name} {np.mean(area):.4f} ({len(area)} populations)")


if __name__ == "__main__":
    main()
