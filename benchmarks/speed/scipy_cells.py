"""Some cells of a fitted copula by scipy, one after the other, taken as all of them.

In one order of the nominal columns.
"""

import numpy as np
import polars as pl
from scipy.special import ndtri
from scipy.stats import multivariate_normal

import reid_sql.polars as rp
from benchmarks.speed.stopwatch import Stopwatch
from reid_sql.engines import registry
from reid_sql.models.copula.gaussian_copula import GaussianCopula

FEW = 40


def run(file: str, columns: list[str], ordered: list[str]) -> tuple[Stopwatch, dict[str, int]]:
    """Integrate a few distinct records, and say how long all would take."""
    people = pl.read_parquet(file, columns=columns).select(columns)
    rp.fit_copula("adult", people, columns, ordered=ordered).collect()
    model = registry.known("adult")
    assert isinstance(model, GaussianCopula)
    distinct = people.unique(maintain_order=True)
    some = distinct.sample(FEW, seed=0)
    codes = model.codes([some[name].cast(pl.String).to_list() for name in columns])
    bounds = [np.append(0.0, np.cumsum(marginal.shares)).clip(0, 1) for marginal in model.marginals]
    lower, upper = (
        np.stack(
            [ndtri(own[code + step]) for own, code in zip(bounds, codes.T, strict=True)], axis=1
        )
        for step in (0, 1)
    )
    mean = np.zeros(len(columns))
    with Stopwatch() as took:
        for low, high in zip(lower, upper, strict=True):
            multivariate_normal.cdf(
                high, mean, model.correlation, lower_limit=low, allow_singular=True
            )
    took.seconds, took.cpu_seconds = (
        took.seconds * distinct.height / FEW,
        took.cpu_seconds * distinct.height / FEW,
    )
    return took, {"records": people.height}
