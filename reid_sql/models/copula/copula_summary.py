"""What there is to say of a fitted copula in one line."""

from dataclasses import dataclass

import numpy as np

from reid_sql.models.copula.gaussian_copula import GaussianCopula


@dataclass(frozen=True)
class CopulaSummary:
    """A model by its name: what it was fitted to, and how."""

    model: str
    records: int
    columns: list[str]
    ordered: list[str]
    values: int  # of all columns together
    strongest: float | None  # correlation of two columns; None where a model has none
    marginals: str
    method: str
    calibration: float  # how many times more often rare records repeat than the copula says
    status: str


def summary(name: str, model: GaussianCopula) -> CopulaSummary:
    """Describe the model."""
    pairs = model.correlation[np.triu_indices(len(model.columns), 1)]
    families = [marginal.family for marginal in model.marginals]
    told = ", ".join(f"{families.count(family)} {family}" for family in dict.fromkeys(families))
    ordered = [
        column for column, marginal in zip(model.columns, model.marginals, strict=True) if marginal.ordered
    ]
    values = sum(len(marginal.values) for marginal in model.marginals)
    strongest = float(np.abs(pairs).max(initial=0.0))
    return CopulaSummary(
        name,
        model.records,
        list(model.columns),
        ordered,
        values,
        strongest,
        told,
        model.method,
        model.calibration,
        model.status,
    )
