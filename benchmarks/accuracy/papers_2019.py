"""Adult under the protocol of Rocher, Hendrickx & de Montjoye 2019: what their tables and figures measure.

A population is the table under 2 to 10 of its columns, as in benchmarks/accuracy/copulas.py: the same seeds.
`copula` is the paper's model by `fit_copula`, `exact` the same with the marginals of the whole table, and
`people` the answer of `population_risk`.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any, Final

import numpy as np
import polars as pl

import reid_sql.polars as rp
from benchmarks.accuracy import copulas, people_cases
from benchmarks.accuracy.copulas import GIVEN, LEAST, PERSONS, PERSONS_FROM, Population
from benchmarks.accuracy.people_cases import Coded
from reid_sql.models.copula.gaussian_copula import forecast_copula
from reid_sql.models.people.diagnostics import interaction_information
from reid_sql.models.people.evidence import row_keys
from reid_sql.models.people.fit import cache_fits, fit
from reid_sql.models.population_risk.answer import answer
from reid_sql.parameters import Floats, Integers

CORPUS: Final = "adult"
FRACTIONS: Final = (*copulas.FRACTIONS, 0.005)  # of table 1 and supplementary tables 2 and 3
POPULATIONS: Final = 50  # as in the paper
REPEATED: Final = 6  # populations of which several samples are drawn
TRIALS: Final = 4  # samples of one size of a population; the paper has 100
REPLACED: Final = 1000  # values that are drawn anew, as in the paper
SIZES: Final = (50, 200, 800, 3200, 6400)  # records, of supplementary figures 9 and 11
Method = dict[str, dict[str, Any]]


def measure(population: Population) -> dict[str, Any]:
    """Errors of Ξ by method and fraction, and scores of persons from a sample of 1 %."""
    frame = copulas.table(CORPUS).select(population.columns)
    size = frame.select(rp.equivalence_class_size(*population.columns)).to_series().to_numpy()
    order = np.random.default_rng(population.seed).permutation(frame.height)
    found: dict[str, Any] = {
        "columns": len(population.columns),
        "uniqueness": float((size == 1).mean()),
    }
    errors: Method = {"copula": {}, "exact": {}, "people": {}}
    with cache_fits():
        for fraction in FRACTIONS:
            rows = order[: round(fraction * frame.height)]
            if len(rows) < LEAST:
                continue
            estimates = estimate(population, frame, rows)
            for method, value in estimates.items():
                errors[method][str(fraction)] = value - found["uniqueness"]
            if fraction == PERSONS_FROM:
                others = order[len(rows) : len(rows) + PERSONS]
                found["persons"] = score_persons(population, frame, size, (rows, others))
    return found | {"errors": errors}


def estimate(population: Population, frame: pl.DataFrame, rows: Integers) -> dict[str, float]:
    """Ξ by each method that has an estimate."""
    people = frame.height
    evidence = _whole().sampled(_places(population), rows)[1]
    found = {
        name: forecast_copula(copulas.fitted(frame, rows, method), [people])[0].uniqueness
        for name, method in (("copula", "paper"), ("exact", GIVEN))
    }
    of_people = answer(evidence, [people])[0].uniqueness
    return found if of_people is None else found | {"people": of_people}


def score_persons(
    population: Population, frame: pl.DataFrame, size: Integers, parts: tuple[Integers, Integers]
) -> dict[str, Any]:
    """Scores of others and of the sample's unique records; `parts` are the rows of sample and others."""
    (rows, others), people = parts, frame.height
    whole, places = _whole(), _places(population)
    key = row_keys(whole.codes[:, places])
    in_sample = np.bincount(key[rows], minlength=key.max() + 1)[key]
    copula = copulas.fitted(frame, rows, "paper")
    of_people = fit(whole.sampled(places, rows)[1])
    risk = (
        rp.loglinear_risk(frame[rows], frame.columns, len(rows) / people).collect().sort("record")
    )
    single = np.flatnonzero(in_sample[rows] == 1)
    unique = rows[single]
    found: dict[str, Any] = {}
    for name, some, known in (
        ("others", others, 1 + in_sample[others]),
        ("sample", unique, in_sample[unique]),
    ):
        values = [[whole.values[j][code] for code in whole.codes[some, j].tolist()] for j in places]
        cells = of_people.cell_probability(values)
        cells = replace(cells, left_out=None) if name == "others" else cells
        xi = cells.known(known, people)[0]
        by_copula = copulas.scores(copula, frame[some], people)
        found[name] = {"unique": size[some] == 1, "copula": by_copula, "people": xi}
    found["sample"] |= {
        "loglinear": risk["uniqueness"].to_numpy()[single],
        "loglinear_nb": risk["nb_uniqueness"].to_numpy()[single],
    }
    return found


def measure_divergence(population: Population) -> dict[str, float]:
    """D(p ‖ q) in nats over persons whose values the sample has, and the share of these persons."""
    frame = copulas.table(CORPUS).select(population.columns)
    size = frame.select(rp.equivalence_class_size(*frame.columns)).to_series().to_numpy()
    order = np.random.default_rng(population.seed).permutation(frame.height)
    records = round(PERSONS_FROM * frame.height)
    others = order[records : records + PERSONS]
    q = copulas.probabilities(copulas.fitted(frame, order[:records], "paper"), frame[others])
    known = q > 0
    log_ratio = np.log(size[others][known] / frame.height) - np.log(q[known])
    return {"nats": float(log_ratio.mean()), "known": float(known.mean())}


def measure_sizes(population: Population) -> dict[str, Any]:
    """Standard deviation of Ξ over samples of a size; errors of Ξ and of the correlations at small sizes."""
    frame = copulas.table(CORPUS).select(population.columns)
    truth = float(frame.select((rp.equivalence_class_size(*frame.columns) == 1).mean()).item())
    rng = np.random.default_rng(population.seed)
    order = rng.permutation(frame.height)
    full = copulas.fitted(frame, order, "paper").correlation
    upper = np.triu_indices(len(full), 1)
    found: dict[str, Any] = {"deviation": {}, "errors": {}, "exact": {}, "correlation": {}}
    for fraction in FRACTIONS[1:]:
        samples = [
            rng.permutation(frame.height)[: round(fraction * frame.height)] for _ in range(TRIALS)
        ]
        estimates = [_by_copula(frame, rows, "paper")[0] for rows in samples]
        found["deviation"][str(fraction)] = float(np.std(estimates, ddof=1))
    for size in SIZES:
        estimate, correlation = _by_copula(frame, order[:size], "paper")
        found["errors"][str(size)] = estimate - truth
        found["exact"][str(size)] = _by_copula(frame, order[:size], GIVEN)[0] - truth
        found["correlation"][str(size)] = (correlation - full)[upper].tolist()
    return found


def replace_values() -> dict[str, Any]:
    """ξ of one person after one value is drawn anew from its shares, by column; the person is of medium ξ."""
    frame = copulas.table(CORPUS)
    rng = np.random.default_rng(REPLACED)
    order = rng.permutation(frame.height)
    model = copulas.fitted(frame, order[: round(PERSONS_FROM * frame.height)], "paper")
    others = frame[order[-PERSONS:]]
    xi = copulas.scores(model, others, frame.height)
    person = others[[int(np.argsort(xi)[len(xi) // 2])]]
    found: dict[str, Any] = {
        "before": float(copulas.scores(model, person, frame.height)[0]),
        "after": {},
    }
    for name in frame.columns:
        drawn = frame[name].gather(rng.integers(0, frame.height, REPLACED))
        changed = pl.concat([person] * REPLACED).with_columns(drawn.alias(name))
        after = copulas.scores(model, changed, frame.height)
        found["after"][name] = np.quantile(after, [0.25, 0.5, 0.75]).tolist()
    return found


def interactions() -> list[float]:
    """Interaction information of every three of the ten columns, in nats."""
    codes = _whole().codes
    return [
        interaction_information(codes[:, list(three)])
        for three in combinations(range(codes.shape[1]), 3)
    ]


def populations(count: int = POPULATIONS) -> list[Population]:
    """The populations of `make accuracy`."""
    return copulas.populations(CORPUS, count, 2025)


def _by_copula(frame: pl.DataFrame, rows: Integers, method: str) -> tuple[float, Floats]:
    model = copulas.fitted(frame, rows, method)
    return forecast_copula(model, [frame.height])[0].uniqueness, model.correlation


@cache
def _whole() -> Coded:
    return people_cases.table(CORPUS)


def _places(population: Population) -> Sequence[int]:
    return [_whole().columns.index(name) for name in population.columns]
