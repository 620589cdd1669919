"""A saved model of either kind, read under its name."""

from reid_sql.engines import registry
from reid_sql.function import Answer, Question, table_function
from reid_sql.models import fitted
from reid_sql.models.copula import copula_file
from reid_sql.models.copula.copula_file import ModelSummary, SavedModels
from reid_sql.parameters import NewModel
from reid_sql.reductions.distinct_records import SAVED


@table_function(
    "name, tbl",
    answer=Answer.ROW,
    reduction=SAVED,
    question=Question.FITTED_MODELS,
    source="JSON with a version and a SHA-256 checksum",
    models=True,
)
def load_model(saved: SavedModels, name: NewModel) -> ModelSummary:
    """Read the model of this name from a table or file of saved models, with the columns of model_json.

    Nothing in the file is executed. Refuses a text that is not a model, that has another version, or that has
    changed since it was written.

    >>> import numpy as np
    >>> load_model(SavedModels(np.array([1]), ["town"], ["{}"]), "town")
    Traceback (most recent call last):
    reid_sql.errors.OutOfDomainError: a saved model must say that its format is 'reid-sql gaussian copula', \
got other JSON; pass what model_json wrote
    """
    model = fitted.from_json(copula_file.model_to_text(saved, name))
    registry.keep(name, model)
    return fitted.summary(name, model)
