"""Fit Gaussian copulas to samples of random subsets of columns, and hold Ξ and ξ against the whole table.

The protocol of Rocher, Hendrickx & de Montjoye 2019: a population is a table under 2 to 10 of its columns,
drawn at random; samples are fractions of it; persons are scored from a sample of 1 %, 1,000 others a
population.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

import reid_sql.polars as rp
from benchmarks.accuracy.corpora import folder
from reid_sql.engines import registry
from reid_sql.models.classes.uniqueness import uniqueness_from_probability
from reid_sql.models.copula.gaussian_copula import GaussianCopula, Method, forecast_copula
from reid_sql.parameters import Floats

FRACTIONS: Final = (1.0, 0.1, 0.05, 0.01)
PERSONS_FROM: Final = 0.01
PERSONS: Final = 1000
LEAST: Final = 50  # records of a sample, as in the paper
WIDEST: Final = 10
METHODS: Final[tuple[Method, ...]] = ("paper", "calibrated", "sharp")
GIVEN: Final = "given"  # the paper's model with the marginals of the whole table
CORPORA: Final = {
    "adult": """age workclass education_num marital_status occupation relationship race sex
        hours_per_week native_country""",
    "census_income_kdd": """age class_of_worker education marital_status major_industry major_occupation race
        hispanic_origin sex employment_status tax_filer_status household_summary family_members_under18
        father_birth_country mother_birth_country self_birth_country citizenship weeks_worked""",
    "hdv2003": None,
    "cps_tax_units": """age_head age_spouse blind_head blind_spouse state_fips filing_year filing_status
        n_persons n_under6 n_under13 n_under18 n_18_20 n_21plus n_ctc_children n_eitc_children is_dependent
        elderly_dependents agi_bin""",
}
WEIGHTS: Final = ("poids",)


@dataclass(frozen=True)
class Population:
    """A corpus under some of its columns."""

    corpus: str
    columns: list[str]
    seed: int


@dataclass(frozen=True)
class Persons:
    """Scores of persons who are not in the sample, and whether they are unique."""

    xi: list[float]
    unique: list[bool]


@dataclass(frozen=True)
class Fitted:
    """What one population came out as, by method and by fraction."""

    population: Population
    records: int
    uniqueness: float
    errors: dict[str, dict[float, float]]  # forecast less truth
    persons: dict[str, Persons] = field(default_factory=dict)


def populations(corpus: str, count: int, seed: int) -> list[Population]:
    """Draw subsets of the columns: how many, uniformly from 2 to 10, then which."""
    columns = table(corpus).columns
    rng = np.random.default_rng([seed, list(CORPORA).index(corpus)])
    sizes = rng.integers(2, min(WIDEST, len(columns)) + 1, count)
    return [
        Population(
            corpus,
            [columns[place] for place in sorted(rng.choice(len(columns), size, replace=False))],
            seed + number,
        )
        for number, size in enumerate(sizes)
    ]


def table(corpus: str) -> pl.DataFrame:
    """Read the corpus without its weights."""
    chosen, frame = CORPORA[corpus], pl.read_parquet(folder() / f"{corpus}.parquet")
    return frame.select(chosen.split()) if chosen else frame.drop(WEIGHTS, strict=False)


def measure(population: Population) -> Fitted:
    """Fit each sample by each method; score persons from the smallest."""
    frame = table(population.corpus).select(population.columns)
    alone = frame.select(rp.equivalence_class_size(*population.columns) == 1).to_series().to_numpy()
    order = np.random.default_rng(population.seed).permutation(frame.height)
    errors: dict[str, dict[float, float]] = {method: {} for method in (*METHODS, GIVEN)}
    persons: dict[str, Persons] = {}
    for fraction in FRACTIONS:
        size = round(fraction * frame.height)
        if size < LEAST and fraction < 1:
            continue
        others = order[size : size + PERSONS]
        for method, found in errors.items():
            model = fitted(frame, order[:size], method)
            found[fraction] = forecast_copula(model, [frame.height])[0].uniqueness - float(
                alone.mean()
            )
            if fraction == PERSONS_FROM:
                persons[method] = Persons(
                    scores(model, frame[others], frame.height).tolist(), alone[others].tolist()
                )
    return Fitted(population, frame.height, float(alone.mean()), errors, persons)


def fitted(frame: pl.DataFrame, rows: npt.NDArray[np.int64], method: str) -> GaussianCopula:
    """Fit a sample; columns of numbers have an order."""
    ordered = [name for name, kind in frame.schema.items() if kind.is_numeric()]
    given = marginals(frame) if method == GIVEN else None
    known: Method = next((name for name in METHODS if name == method), "paper")
    rp.fit_copula(
        "measured", frame[rows], frame.columns, marginals=given, ordered=ordered, method=known
    ).collect()
    found = registry.known("measured")
    assert isinstance(found, GaussianCopula)
    return found


def marginals(frame: pl.DataFrame) -> pl.DataFrame:
    """Count the values of every column."""
    counted = [
        frame.select(pl.lit(name).alias("column_name"), pl.col(name).cast(pl.String).alias("value"))
        .group_by("column_name", "value")
        .agg(pl.len().cast(pl.Float64).alias("share"))
        for name in frame.columns
    ]
    return pl.concat(counted)


def scores(model: GaussianCopula, frame: pl.DataFrame, people: int) -> Floats:
    """ξ of each record under the model."""
    return uniqueness_from_probability(probabilities(model, frame), people)


def probabilities(model: GaussianCopula, frame: pl.DataFrame) -> Floats:
    """q of each record under the model."""
    values = [frame[name].cast(pl.String).to_list() for name in frame.columns]
    return model.cell_probability(values).probability
