"""Records of nobody, drawn from a fitted model."""

from reid_sql.function import Question, drawn_function
from reid_sql.models import fitted
from reid_sql.models.fitted_model import FittedModel
from reid_sql.parameters import Integers, Seed


@drawn_function(
    question=Question.FITTED_MODELS,
    source="Rocher, Hendrickx & de Montjoye 2019, supplement, algorithm 1",
)
def sample_copula(model: FittedModel, places: Integers, seed: Seed = 0) -> Integers:
    """Draw records from a fitted model: a table, as text, of any length, never in memory as a whole.

    It has the columns of the model. The same seed draws the same records on every engine, whatever is asked
    of them; `calibration` moves scores alone. A view over it is a population that risk_summary and the others
    count. Refuses an unknown model.

    >>> import numpy as np
    >>> from reid_sql.models.copula.gaussian_copula import GaussianCopula
    >>> from reid_sql.models.copula.marginals import fit_marginal
    >>> always = GaussianCopula(("sex",), (fit_marginal(["F"], [9]),), np.eye(1), 9, "paper", 0)
    >>> sample_copula(always, np.arange(2)).tolist()
    [[0], [0]]
    """
    return fitted.sample_codes(model, places, int(seed))
