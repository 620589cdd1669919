"""Small models whose answers are known, and tables to fit them to."""

import numpy as np
import polars as pl

import reid_sql.polars as rp
from reid_sql.engines import registry
from reid_sql.models.copula.gaussian_copula import GaussianCopula
from reid_sql.models.copula.marginals import fit_marginal
from tests.tables import by_duckdb


def people(count: int = 400, seed: int = 1) -> pl.DataFrame:
    """Two independent columns, one of them with a missing value, and one that goes with the first."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 30, count)
    sex = [None if chance < 0.05 else "F" if chance < 0.5 else "M" for chance in rng.random(count)]
    return pl.DataFrame({"age": age, "sex": sex, "grade": age // 4 + rng.integers(0, 2, count)})


def fitted(name: str, frame: pl.DataFrame, columns: list[str], **options: object) -> GaussianCopula:
    """Fit in both engines under the same name, and give the model."""
    extras = "".join(f", {option} := {value!r}" for option, value in options.items())
    by_duckdb(f"FROM fit_copula('{name}', t, {columns}{extras})", t=frame)
    rp.fit_copula(name, frame, columns, **options).collect()  # type: ignore[arg-type]
    found = registry.known(name)
    assert isinstance(found, GaussianCopula)
    return found


def independent() -> GaussianCopula:
    """Two columns that have nothing to do with each other."""
    marginals = (
        fit_marginal(["F", "M"], [60, 40]),
        fit_marginal(["1", "2", "3"], [10, 20, 70], ordered=True),
    )
    return GaussianCopula(("sex", "size"), marginals, np.eye(2), 100, "paper", 0)
