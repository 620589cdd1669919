"""The models that are known."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models import fitted, registry
from reid_sql.models.copula.copula_file import CopulaSummary


@table_function(
    "",
    answer=Answer.ROWS,
    question=Question.FITTED_MODELS,
    source="the models of fit_copula and load_copula",
    models=True,
)
def copula_models() -> list[CopulaSummary]:
    """List the fitted models that this database knows, by name.

    >>> with registry.within("a database without models"):
    ...     copula_models()
    []
    """
    return [fitted.summary(name, model) for name, model in registry.models().items()]
