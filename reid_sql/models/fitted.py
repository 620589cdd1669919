"""Forecasts, samples, the text and the summary of a fitted model of either kind."""

from typing import Final

import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.models.copula import copula_file, gaussian_copula
from reid_sql.models.copula.copula_file import ModelSummary
from reid_sql.models.copula.gaussian_copula import CopulaForecast, GaussianCopula
from reid_sql.models.fitted_model import FittedModel
from reid_sql.models.people import diagnostics
from reid_sql.models.people import fit as people_file
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.population_risk import shares

KINDS: Final = "a model of fit_copula or fit_people"


def forecast(model: FittedModel, populations: npt.ArrayLike) -> list[CopulaForecast]:
    """Ξ and κ of populations of these sizes."""
    if isinstance(model, PeopleModel):
        return shares.forecast(model, populations)
    return gaussian_copula.forecast_copula(_copula(model), populations)


def to_json(model: FittedModel) -> str:
    """Write the model as JSON; a model of people as its tree alone."""
    if isinstance(model, PeopleModel):
        return people_file.to_json(model)
    return copula_file.copula_to_json(_copula(model))


def from_json(text: str) -> FittedModel:
    """Read either kind of model by the format that it names; refuses what is none."""
    if isinstance(text, str) and people_file.FORMAT in text[: len(people_file.FORMAT) + 20]:
        return people_file.from_json(text)
    return copula_file.copula_from_json(text)


def summary(name: str, model: FittedModel) -> ModelSummary:
    """Describe the model in one line."""
    if isinstance(model, PeopleModel):
        return diagnostics.summarize_model(name, model)
    return copula_file.summarize_copula(name, _copula(model))


def _copula(model: FittedModel) -> GaussianCopula:
    if not isinstance(model, GaussianCopula):
        raise OutOfDomainError(f"model must be {KINDS}, got {type(model).__name__}; pass its name")
    return model
