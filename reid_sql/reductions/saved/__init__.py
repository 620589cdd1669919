"""Models in a table that model_json wrote."""

from typing import Final

from reid_sql.models.copula.copula_file import SavedModels
from reid_sql.reduction import TBL, Reduction

SAVED: Final = Reduction(
    __name__,
    name="saved",
    words="the models in a table that model_json wrote",
    arguments=(TBL,),
    columns={"line": "BIGINT", "model": "VARCHAR", "json": "VARCHAR"},
    arrays=SavedModels,
    distinct=True,
    reasons=dict.fromkeys(("entity", "by"), "it reads saved models, and no records of people"),
)
