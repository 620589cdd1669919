"""A fitted model as text."""

from dataclasses import dataclass

from reid_sql.engines import registry
from reid_sql.function import Answer, Question, table_function
from reid_sql.models import fitted
from reid_sql.parameters import Model


@dataclass(frozen=True)
class SavedModel:
    """A model's name and its JSON."""

    model: str
    json: str


@table_function(
    "model",
    answer=Answer.ROW,
    question=Question.FITTED_MODELS,
    source="JSON with a version and a SHA-256 checksum",
    models=True,
)
def model_json(model: Model) -> SavedModel:
    """Write a fitted model as JSON, to be stored, reviewed, and read back by load_model.

    It contains each column's values with their shares, and the correlations; no record. For a model of people
    it contains only the tree. Refuses an unknown model:

    >>> with registry.within("a database without models"):
    ...     model_json("nowhere")
    Traceback (most recent call last):
    reid_sql.errors.UnknownNameError: model must be a fitted model, got 'nowhere'; there are no models
    """
    return SavedModel(model, fitted.to_json(registry.known(model)))
