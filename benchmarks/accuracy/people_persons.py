"""Persons under the model of people: who is unique, by scores of persons not in the sample (protocol A).

The populations and samples are those of benchmarks/accuracy/copulas.py: the same seeds, the same thousand
others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import rankdata

from benchmarks.accuracy.copulas import PERSONS, Population, populations
from benchmarks.accuracy.people_cases import Coded, table
from benchmarks.accuracy.people_judge import balance
from reid_sql.models.people.evidence import row_keys
from reid_sql.models.people.fit import fit
from reid_sql.models.people.scores import (
    MIN_UNIQUE_SHARE,
    Shrinkage,
    clipped_log_odds,
    shrink_scores,
)
from reid_sql.models.population_risk import shares
from reid_sql.parameters import Floats

LEVELS: Final = (0.9, 0.95, 0.99)
LEAST: Final = 50  # records of a sample, as in the paper
BINS: Final = 10


@dataclass(frozen=True)
class Scored:
    """Scores of the persons of one population, whether they are unique, and Ξ as foretold and as counted."""

    corpus: str
    fraction: float
    bare: Floats  # ξ before caution
    share: float  # of unique people, by the model
    xi: Floats
    unique: Floats
    estimate: float
    truth: float


def scored(corpus: str, count: int, fraction: float, seed: int = 2025) -> list[Scored]:
    """Fit samples of a corpus's populations and score a thousand others of each."""
    whole = table(corpus)
    found = []
    for population in populations(corpus, count, seed):
        size = round(fraction * len(whole.codes))
        if size >= LEAST:
            found.append(_scored(whole, population, fraction, size))
    return found


def _scored(whole: Coded, population: Population, fraction: float, size: int) -> Scored:
    columns = [whole.columns.index(name) for name in population.columns]
    order = np.random.default_rng(population.seed).permutation(len(whole.codes))
    rows, others = order[:size], order[size : size + PERSONS]
    key = row_keys(whole.codes[:, columns])
    alone = np.bincount(key)[key] == 1
    evidence = whole.sampled(columns, rows)[1]
    model = fit(evidence)
    values = [[whole.values[j][code] for code in whole.codes[others, j].tolist()] for j in columns]
    known = 1 + np.bincount(key[rows], minlength=key.max() + 1)[key[others]]
    people = len(whole.codes)
    cells = replace(model.cell_probability(values), left_out=None)  # they are not in the sample
    bare, _ = cells.overdispersion.known(cells.probability, known, people)
    return Scored(
        population.corpus,
        fraction,
        bare,
        model.unique_share(people),
        cells.known(known, people)[0],
        alone[others].astype(np.float64),
        shares.predict_shares(model, people).uniqueness.estimate,
        float(alone.mean()),
    )


def learnt(found: Sequence[Scored]) -> Shrinkage:
    """Fit the shrinkage by logistic regression of being unique, each corpus with the same weight."""
    corpora = [one.corpus for one in found]
    parts = [(*_features(one), each) for one, each in zip(found, balance(corpora), strict=True)]
    x, log, unique = (np.concatenate([part[place] for part in parts]) for place in range(3))
    weight = np.concatenate(
        [np.full(len(own), each / max(len(own), 1)) for _, own, _, each in parts]
    )

    def loss(beta: Floats) -> tuple[float, Floats]:
        z = log + x @ beta
        return float(weight @ (np.logaddexp(0, z) - unique * z)), x.T @ (
            weight * (expit(z) - unique)
        )

    offset, slope, bend, bend_by_rarity, offset_by_rarity = minimize(
        loss, np.zeros(5), jac=True, method="BFGS"
    ).x
    return Shrinkage(*map(float, (offset, offset_by_rarity, 1 + slope, bend, bend_by_rarity)))


def _features(one: Scored) -> tuple[Floats, Floats, Floats]:
    """Of persons outside the sample: what the shrinkage adds to the log-odds, these, and whether unique."""
    some = one.bare > 0
    log = clipped_log_odds(one.bare[some], 1e-9)
    rarity = float(clipped_log_odds(np.array(one.share), MIN_UNIQUE_SHARE))
    above, ones = np.maximum(log, 0), np.ones(len(log))
    x = np.stack([ones, log, above, above * rarity, ones * rarity], axis=1)
    return (1 - one.fraction) * x, log, one.unique[some]


def held_out(found: Sequence[Scored]) -> list[Scored]:
    """Score the persons of each corpus anew by what the other corpora teach."""
    taught = {
        corpus: learnt([one for one in found if one.corpus != corpus])
        for corpus in dict.fromkeys(one.corpus for one in found)
    }
    return [
        replace(one, xi=shrink_scores(one.bare, one.share, one.fraction, taught[one.corpus]))
        for one in found
    ]


def figures(found: Sequence[Scored]) -> dict[str, float]:
    """AUC, false discoveries and recall by level, Brier score over the constant's, calibration, MAE of Ξ.

    The constant is the best one.
    """
    xi, unique = (
        np.concatenate([getattr(one, name) for one in found]) for name in ("xi", "unique")
    )
    ranked = [auc(one.xi, one.unique) for one in found]
    brier = [
        float(np.mean((one.xi - one.unique) ** 2)) / max(float(np.var(one.unique)), 1e-9)
        for one in found
    ]
    told = {
        "populations": float(len(found)),
        "auc": float(np.nanmean(ranked)),
        "brier": float(
            np.mean([b for b, one in zip(brier, found, strict=True) if 0 < one.unique.mean() < 1])
        ),
        "calibration": _calibration(xi, unique),
        "mae": float(np.mean([abs(one.estimate - one.truth) for one in found])),
        "bias": float(np.mean([one.estimate - one.truth for one in found])),
    }
    for level in LEVELS:
        named = xi > level
        told[f"fdr_{level}"] = float(1 - unique[named].mean()) if named.any() else float("nan")
        told[f"recall_{level}"] = float(named[unique > 0].mean())
    bare = np.concatenate([one.bare for one in found]) > LEVELS[1]
    told["bare fdr"] = float(1 - unique[bare].mean()) if bare.any() else float("nan")
    told["bare recall"], told["named"] = (
        float(bare[unique > 0].mean()),
        float((xi > LEVELS[1]).sum()),
    )
    return told


def _calibration(xi: Floats, unique: Floats) -> float:
    """Mean distance of scores and shares of unique persons over tenths of the scores, by persons."""
    place = np.minimum((xi * BINS).astype(np.int64), BINS - 1)
    count = np.bincount(place, minlength=BINS)
    away = np.bincount(place, xi - unique, minlength=BINS)
    return float(np.abs(away).sum() / count.sum())


def auc(scores: Floats, unique: Floats) -> float:
    """Chance that a unique person scores above another one; ties count half."""
    yes = unique > 0
    a, b = int(yes.sum()), int((~yes).sum())
    return (
        float((rankdata(scores)[yes].sum() - a * (a + 1) / 2) / (a * b))
        if a and b
        else float("nan")
    )
