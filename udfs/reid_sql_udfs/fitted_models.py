"""The fitted models of a database."""

from reid_sql.engines import registry
from reid_sql.function import Answer, Question, table_function
from reid_sql.models import fitted
from reid_sql.models.copula.copula_file import ModelSummary


@table_function(
    "",
    answer=Answer.ROWS,
    question=Question.FITTED_MODELS,
    source="the models of fit_copula, fit_people and load_model",
    models=True,
)
def fitted_models() -> list[ModelSummary]:
    """List the fitted models that this database knows, by name.

    >>> with registry.within("a database without models"):
    ...     fitted_models()
    []
    """
    return [fitted.summary(name, model) for name, model in registry.models().items()]
