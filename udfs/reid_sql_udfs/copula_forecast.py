"""Ξ and κ of populations of a fitted model."""

from reid_sql.engines import registry
from reid_sql.function import Answer, Question, table_function
from reid_sql.models import fitted
from reid_sql.models.copula.gaussian_copula import CopulaForecast
from reid_sql.parameters import Model, Populations


@table_function(
    "model, populations",
    answer=Answer.ROWS,
    question=Question.FITTED_MODELS,
    source="Rocher, Hendrickx & de Montjoye 2019, eq. 15, averaged over records of the model",
    models=True,
)
def copula_forecast(model: Model, populations: Populations) -> list[CopulaForecast]:
    """Forecast the share of unique people and of right matches in any population, under a fitted model.

    The answer is the mean of ξ and of κ over 4,096 records drawn from the model, so 300 million people take
    no longer than a thousand. Of a copula, `_low` and `_high` are NULL: its error is not known. Under a model
    of people they are the ends of a 95 % interval, and `status` has the doubts on the model.

    >>> with registry.within("a database without models"):
    ...     copula_forecast("nowhere", [1000])
    Traceback (most recent call last):
    reid_sql.errors.UnknownNameError: model must be a fitted model, got 'nowhere'; there are no models
    """
    return fitted.forecast(registry.known(model), populations)
